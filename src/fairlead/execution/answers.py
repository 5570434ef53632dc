"""Reading the answers of agents: the executor's result and the architect's verdict.

An answer is one fenced block, JSON or simple YAML, with the nonce of this call. All other text is
ignored: a verdict quoted from a file does not have the nonce. Anything ambiguous (two blocks, a
repeated key, contradictory fields) is `Malformed`, which is never an approval.
"""

import re
from collections.abc import Mapping

from fairlead.agents.secrets import value_without_secrets, without_secrets
from fairlead.core.errors import DocumentError
from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass, replace
from fairlead.plans.model import Task
from fairlead.plans.tasks import task_number
from fairlead.project.state.edits import TaskOutcome
from fairlead.project.state.gate_rules import FailureClass
from fairlead.text.json_edit import read_json
from fairlead.text.printable import visible
from fairlead.text.yaml_scalars import Plain, is_null
from fairlead.text.yaml_subset import read_tree

REPLY_LIMIT = 16 * 1024 * 1024
ANSWER_LIMIT = 256 * 1024
LEAST_NONCE = 16  # characters
_QUOTED = 500  # characters of a malformed reply that people are shown
_FILTERED = 64 << 10  # characters of it that are searched for secrets before
_NONCE_FIELD = lazy_pattern(
    r"""["']?\bnonce["']?[ \t]*:[ \t]*["']?[\w.~-]*["']?,?\s*""", re.IGNORECASE
)
_FENCE = lazy_pattern(r"^ {0,3}(`{3,}|~{3,})([^`\n]*)$", re.MULTILINE)
_RESULT_FIELDS = frozenset(
    "nonce status task_name files_modified verification done_criteria_met evidence error "
    "decisions deviations concerns question options metadata".split()
)
_MOST_OPTIONS, _LONGEST_OPTION, _LONGEST_QUESTION = 6, 200, 2000  # options, characters
_FAILING = ("fail", "failed", "false", "no", "rejected")


@dataclass(frozen=True, slots=True)
class Malformed:
    """A reply without a valid answer, and the reason."""

    reason: str
    head: str = ""  # the beginning of the reply, for people


@dataclass(frozen=True, slots=True)
class Result:
    """An executor's report on its task: a claim, which the verify command then tests."""

    status: TaskOutcome
    files: tuple[str, ...] = ()
    evidence: str = ""
    error: str = ""
    done_criteria_met: bool = False
    warnings: tuple[str, ...] = ()
    claimed_exit_code: int | None = None
    failure: FailureClass | None = None  # which kind, if the status is a failure
    decisions: tuple[str, ...] = ()
    deviations: tuple[str, ...] = ()
    concerns: tuple[str, ...] = ()
    question: str = ""  # that it asks the person; the status is blocked then
    options: tuple[str, ...] = ()  # possible answers


@dataclass(frozen=True, slots=True)
class Check:
    """One check that the architect made."""

    what: str
    passed: bool
    details: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The architect's judgement of a task."""

    approved: bool
    checks: tuple[Check, ...] = ()
    feedback: str = ""
    confidence: str = ""  # high, medium or low
    concerns: tuple[str, ...] = ()


def executor_result(text: str, task: Task, nonce: str) -> Result | Malformed:
    """The result in an executor's reply; contradictory fields make it malformed.

    A reply without an answer that ends with a question asks the person who started the run.
    """
    answer = answer_of(text, nonce)
    if isinstance(answer, Malformed):
        question = "" if nonce in text else _final_question(text)
        return _asking(question) if question else answer
    status = str(answer.get("status", "")).strip().lower()
    question = _words(answer.get("question"))
    if status == "question" or (status == TaskOutcome.BLOCKED and question):
        asked = question or _words(answer.get("error"))
        options = tuple(_texts(answer.get("options"))[:_MOST_OPTIONS])
        return _asking(asked, options) if asked else _malformed("it asks nothing", text)
    if status not in tuple(TaskOutcome):
        return _malformed("the status is not success, failure or blocked", text)
    wrong, warnings = _name_faults(answer, task)
    if wrong:
        return _malformed(wrong, text)
    verification = answer.get("verification")
    code = _integer(verification.get("exit_code")) if isinstance(verification, dict) else None
    result = Result(
        TaskOutcome(status),
        _texts(answer.get("files_modified")),
        _words(answer.get("evidence")),
        _words(answer.get("error")),
        _is_true(answer.get("done_criteria_met")),
        (*warnings, *_warnings(answer)),
        code,
        decisions=_shown(answer.get("decisions")),
        deviations=_shown(answer.get("deviations")),
        concerns=_shown(answer.get("concerns")),
    )
    return _consistent(result, text)


def verdict(text: str, nonce: str, task: Task | None = None) -> Verdict | Malformed:
    """The verdict in an architect's reply; several names of the same field are accepted."""
    answer = answer_of(text, nonce)
    if isinstance(answer, Malformed):
        return answer
    word = str(answer.get("verdict", "")).strip().upper()
    if word not in ("APPROVED", "REJECTED"):
        return _malformed("the verdict is not APPROVED or REJECTED", text)
    if task is not None and "task_name" in answer:
        wrong, _ = _name_faults(answer, task)
        if wrong:
            return _malformed(wrong, text)
    checks = tuple(_checks(answer))
    advice = str(answer.get("recommendation", "commit")).strip().lower()
    failed = next((check.what for check in checks if not check.passed), "")
    if word == "APPROVED" and (failed or advice in ("retry", "manual_review")):
        return _malformed(f"it approves and contradicts itself: {failed or advice}", text)
    remarks = (
        answer.get(key) for key in ("feedback", "rationale", "suggestions", "done_assessment")
    )
    confidence = str(answer.get("confidence", "")).strip().lower()
    return Verdict(
        word == "APPROVED",
        checks,
        "\n".join(words for each in remarks if (words := _words(each))),
        confidence if confidence in ("high", "medium", "low") else "",
        (*_texts(answer.get("concerns")), *_texts(answer.get("issues"))),
    )


def answer_of(text: str, nonce: str) -> Mapping[str, object] | Malformed:
    """The fields of the one block with the nonce, by their names in lower case."""
    if len(nonce) < LEAST_NONCE:
        raise ValueError("the nonce is too short: an agent or a file could guess it")
    if len(text) > REPLY_LIMIT:
        return Malformed(f"the reply has {len(text):,} characters, the limit is {REPLY_LIMIT:,}")
    blocks = [block for block in _blocks(text) if nonce in block] if nonce in text else []
    if len(blocks) != 1:
        return _malformed(f"{len(blocks) or 'no'} fenced blocks carry the nonce of this call", text)
    if len(blocks[0]) > ANSWER_LIMIT:
        return _malformed(f"the answer has more than {ANSWER_LIMIT:,} characters", text)
    try:
        fields = _parsed(blocks[0])
    except DocumentError as error:
        return _malformed(f"the answer cannot be read: {error}", text)
    keys = [key.strip().lower() for key in fields]
    if len(set(keys)) != len(keys):
        return _malformed("a field occurs twice", text)
    answer = dict(zip(keys, fields.values(), strict=True))
    if answer.get("nonce") != nonce:
        return _malformed("the nonce is not in its own field", text)
    # Before anything is cut or made visible: half a secret has no sign.
    return value_without_secrets(answer)


def _asking(question: str, options: tuple[str, ...] = ()) -> Result:
    shown = visible(question)[:_LONGEST_QUESTION]
    names = tuple(" ".join(visible(each).split())[:_LONGEST_OPTION] for each in options)
    return Result(TaskOutcome.BLOCKED, error=shown, question=shown, options=names)


def _final_question(text: str) -> str:
    """The last paragraph of a reply, if it is a question; empty: it is none."""
    paragraph = without_secrets(text.rstrip().rpartition("\n\n")[2].strip())[0]
    return paragraph if paragraph.rstrip("*_`\"') ").endswith("?") else ""


def _parsed(block: str) -> dict[str, object]:
    if block.lstrip().startswith("{"):
        value = read_json(block).value
        return dict(value) if isinstance(value, dict) else {}
    return read_tree(block)


def _blocks(text: str) -> list[str]:
    """The closed fenced blocks of a text."""
    blocks = []
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif fence[1].startswith(opened[1]) and not fence[2].strip():
            blocks.append(text[opened.end() + 1 : fence.start()])
            opened = None
    return blocks


def _consistent(result: Result, text: str) -> Result | Malformed:
    match result.status:
        case TaskOutcome.SUCCESS if result.claimed_exit_code:
            error = result.error or f"the verify command ended with {result.claimed_exit_code}"
            return _failed(result, error, FailureClass.VERIFY)
        case TaskOutcome.SUCCESS if not result.done_criteria_met:
            return _malformed("it claims success, but not that the done criteria are met", text)
        case TaskOutcome.SUCCESS if not result.evidence:
            return _malformed("it claims success without evidence", text)
        case TaskOutcome.SUCCESS if result.error:
            return _malformed("it claims success and reports an error", text)
        case TaskOutcome.FAILURE:
            return _failed(result, result.error or "no reason given", FailureClass.EXECUTION)
        case TaskOutcome.BLOCKED if not result.error:
            return _malformed("it is blocked without saying by what", text)
    return result


def _failed(result: Result, error: str, failure: FailureClass) -> Result:
    return replace(
        result,
        status=TaskOutcome.FAILURE,
        error=error,
        failure=failure,
        done_criteria_met=False,
    )


def _shown(given: object) -> tuple[str, ...]:
    """Texts that reach records and terminals; an agent may write any character."""
    return tuple(visible(text, keep="\n\t") for text in _texts(given))


def _name_faults(answer: Mapping[str, object], task: Task) -> tuple[str, tuple[str, ...]]:
    """Why the answer is about another task, or warnings about the name it uses."""
    name = _words(answer.get("task_name"))
    expected = task_number(task.name) or task.number
    number = task_number(name)
    if number is None:
        return "the task_name has no number: `Task 3: …`", ()
    if number != expected:
        return f"it is about task {number} instead of task {expected}", ()
    return "", () if name == task.name else (f"the task is called {task.name!r}, not {name!r}",)


def _warnings(answer: Mapping[str, object]) -> list[str]:
    warnings = [f"unknown field {key}" for key in answer if key not in _RESULT_FIELDS]
    files = _texts(answer.get("files_modified"))
    if str(answer.get("status", "")).strip().lower() == TaskOutcome.BLOCKED and files:
        warnings.append("it is blocked, but changed files")
    return warnings


def _checks(answer: Mapping[str, object]) -> list[Check]:
    checks: list[Check] = []
    for key in ("verification_checks", "findings", "checks"):
        given = answer.get(key)
        if isinstance(given, dict):
            checks += [Check(name, _has_passed(value)) for name, value in given.items()]
        for item in given if isinstance(given, list) else ():
            if isinstance(item, dict):
                what = _words(item.get("check") or item.get("what") or item.get("finding"))
                state = item.get("result", item.get("status", "pass"))
                checks.append(Check(what, _has_passed(state), _words(item.get("details"))))
    return checks


def _has_passed(value: object) -> bool:
    return str(value).strip().lower() not in _FAILING


def _is_true(value: object) -> bool:
    return value is True or (isinstance(value, str) and value.strip().lower() == "true")


def _words(value: object) -> str:
    if isinstance(value, list):
        return "\n".join(map(_words, value))
    is_nothing = value is None or (isinstance(value, Plain) and is_null(value))
    return "" if is_nothing else str(value).strip()


def _texts(value: object) -> tuple[str, ...]:
    items = value if isinstance(value, list) else [value]
    return tuple(words for item in items if (words := _words(item)))


def _integer(value: object) -> int | None:
    text = str(value).strip()
    is_number = text.removeprefix("-").isdigit() and text.isascii() and len(text) < 12
    return int(text) if is_number and not isinstance(value, bool) else None


def _malformed(reason: str, text: str) -> Malformed:
    """A malformed reply; the nonce is not quoted, or the next attempt could use it again."""
    beginning = without_secrets(text[:_FILTERED])[0]
    return Malformed(reason, _NONCE_FIELD.sub("", beginning[: 2 * _QUOTED])[:_QUOTED])
