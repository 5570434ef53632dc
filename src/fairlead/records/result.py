"""Answers of agents: the executor's result and the architect's verdict.

An answer is one fenced block, JSON or simple YAML, whose `nonce` is the one made for this call.
Everything else in the text is talk: a verdict that is quoted from a file does not carry the
nonce. What is doubtful in any way (two blocks, a key twice, two words) is `Malformed`, which is
never an approval.
"""

import re
from collections.abc import Mapping

from fairlead.errors import DocumentError
from fairlead.model.lifecycle import FailureClass
from fairlead.model.plan import Task
from fairlead.model.waves import normal_path
from fairlead.records.plan_tasks import task_number
from fairlead.records.tasks import Outcome
from fairlead.text.jsontext import read_json
from fairlead.text.scalars import Plain, is_null
from fairlead.text.subset import read_tree
from fairlead.values import dataclass, replace

REPLY_LIMIT = 16 * 1024 * 1024
ANSWER_LIMIT = 256 * 1024
LEAST_NONCE = 16
_HEAD = 500
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})([^`\n]*)$", re.MULTILINE)
_KNOWN = frozenset(
    "nonce status task_name files_modified verification done_criteria_met evidence error metadata".split()
)
_FAILED = ("fail", "failed", "false", "no", "rejected")


@dataclass(frozen=True, slots=True)
class Malformed:
    """An answer that cannot be taken for one, and why."""

    reason: str
    head: str = ""  # the beginning of what was said, for people


@dataclass(frozen=True, slots=True)
class Result:
    """What an executor says about its task. It is a claim: our own verify run decides."""

    status: Outcome
    files: tuple[str, ...] = ()
    evidence: str = ""
    error: str = ""
    done_criteria_met: bool = False
    warnings: tuple[str, ...] = ()
    claimed_exit_code: int | None = None
    failure: FailureClass | None = None  # of a failure


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that the architect looked at."""

    what: str
    passed: bool
    details: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the architect says about a task."""

    approved: bool
    checks: tuple[Check, ...] = ()
    feedback: str = ""
    confidence: str = ""  # high, medium or low
    concerns: tuple[str, ...] = ()


def executor_result(text: str, task: Task, nonce: str) -> Result | Malformed:
    """The result of an executor, held against the rules that its parts must keep."""
    held = answer_of(text, nonce)
    if isinstance(held, Malformed):
        return held
    status = str(held.get("status", "")).strip().lower()
    if status not in tuple(Outcome):
        return _malformed("status is none of success, failure and blocked", text)
    wrong, warnings = _name_faults(held, task)
    if wrong:
        return _malformed(wrong, text)
    verification = held.get("verification")
    code = _whole(verification.get("exit_code")) if isinstance(verification, dict) else None
    result = Result(
        Outcome(status),
        _texts(held.get("files_modified")),
        _words(held.get("evidence")),
        _words(held.get("error")),
        _is_true(held.get("done_criteria_met")),
        (*warnings, *_warnings(held, task)),
        code,
    )
    return _consistent(result, text)


def verdict(text: str, nonce: str, task: Task | None = None) -> Verdict | Malformed:
    """The verdict of an architect, in any of the vocabularies it is taught."""
    held = answer_of(text, nonce)
    if isinstance(held, Malformed):
        return held
    word = str(held.get("verdict", "")).strip().upper()
    if word not in ("APPROVED", "REJECTED"):
        return _malformed("the verdict is neither APPROVED nor REJECTED", text)
    if task is not None and "task_name" in held:
        wrong, _ = _name_faults(held, task)
        if wrong:
            return _malformed(wrong, text)
    checks = tuple(_checks(held))
    advice = str(held.get("recommendation", "commit")).strip().lower()
    failed = next((check.what for check in checks if not check.passed), "")
    if word == "APPROVED" and (failed or advice in ("retry", "manual_review")):
        return _malformed(f"it approves, and says otherwise: {failed or advice}", text)
    told = (held.get(key) for key in ("feedback", "rationale", "suggestions", "done_assessment"))
    confidence = str(held.get("confidence", "")).strip().lower()
    return Verdict(
        word == "APPROVED",
        checks,
        "\n".join(words for each in told if (words := _words(each))),
        confidence if confidence in ("high", "medium", "low") else "",
        (*_texts(held.get("concerns")), *_texts(held.get("issues"))),
    )


def answer_of(text: str, nonce: str) -> Mapping[str, object] | Malformed:
    """The keys of the one block that carries the nonce, in lower case."""
    if len(nonce) < LEAST_NONCE:
        raise ValueError("a nonce that can be guessed protects nothing")
    if len(text) > REPLY_LIMIT:
        return Malformed(f"the reply has {len(text):,} characters, the limit is {REPLY_LIMIT:,}")
    blocks = [block for block in _blocks(text) if nonce in block] if nonce in text else []
    if len(blocks) != 1:
        return _malformed(f"{len(blocks) or 'no'} fenced blocks carry the nonce of this call", text)
    if len(blocks[0]) > ANSWER_LIMIT:
        return _malformed(f"the answer has more than {ANSWER_LIMIT:,} characters", text)
    try:
        held = _parsed(blocks[0])
    except DocumentError as error:
        return _malformed(f"the answer cannot be read: {error}", text)
    keys = [key.strip().lower() for key in held]
    if len(set(keys)) != len(keys):
        return _malformed("a key stands twice", text)
    answer = dict(zip(keys, held.values(), strict=True))
    if answer.get("nonce") != nonce:
        return _malformed("the nonce does not stand in its own field", text)
    return answer


def _parsed(block: str) -> dict[str, object]:
    if block.lstrip().startswith("{"):
        value = read_json(block).value
        return dict(value) if isinstance(value, dict) else {}
    return read_tree(block)


def _blocks(text: str) -> list[str]:
    """The fenced blocks of a text; one that is never closed is none."""
    found = []
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
        elif fence[1].startswith(opened[1]) and not fence[2].strip():
            found.append(text[opened.end() + 1 : fence.start()])
            opened = None
    return found


def _consistent(result: Result, text: str) -> Result | Malformed:
    match result.status:
        case Outcome.SUCCESS if result.claimed_exit_code:
            error = result.error or f"the verify command ended with {result.claimed_exit_code}"
            return _failed(result, error, FailureClass.VERIFY)
        case Outcome.SUCCESS if not result.done_criteria_met:
            return _malformed("it claims success and not that the criteria are met", text)
        case Outcome.SUCCESS if not result.evidence:
            return _malformed("it claims success and gives no evidence", text)
        case Outcome.SUCCESS if result.error:
            return _malformed("it claims success and an error", text)
        case Outcome.FAILURE:
            return _failed(result, result.error or "no reason given", FailureClass.EXECUTION)
        case Outcome.BLOCKED if not result.error:
            return _malformed("it is blocked and does not say by what", text)
    return result


def _failed(result: Result, error: str, failure: FailureClass) -> Result:
    told = replace(result, error=error, failure=failure)
    return replace(told, status=Outcome.FAILURE, done_criteria_met=False)


def _name_faults(held: Mapping[str, object], task: Task) -> tuple[str, tuple[str, ...]]:
    """What makes the answer one about another task, else what is only odd about its name."""
    told = _words(held.get("task_name"))
    wanted = task_number(task.name) or task.number
    number = task_number(told)
    if number is None:
        return "the task_name has no number: `Task 3: …`", ()
    if number != wanted:
        return f"it speaks of task {number}, the task is {wanted}", ()
    return "", () if told == task.name else (f"the task is called {task.name!r}, not {told!r}",)


def _warnings(held: Mapping[str, object], task: Task) -> list[str]:
    warnings = [f"unknown field {key}" for key in held if key not in _KNOWN]
    declared = {normal_path(path) for path in task.files}
    files = _texts(held.get("files_modified"))
    warnings += [f"{path} is not declared" for path in files if normal_path(path) not in declared]
    if str(held.get("status", "")).strip().lower() == Outcome.BLOCKED and files:
        warnings.append("it is blocked and changed files")
    return warnings


def _checks(held: Mapping[str, object]) -> list[Check]:
    checks: list[Check] = []
    for key in ("verification_checks", "findings", "checks"):
        given = held.get(key)
        if isinstance(given, dict):
            checks += [Check(name, _passed(value)) for name, value in given.items()]
        for item in given if isinstance(given, list) else ():
            if isinstance(item, dict):
                what = _words(item.get("check") or item.get("what") or item.get("finding"))
                state = item.get("result", item.get("status", "pass"))
                checks.append(Check(what, _passed(state), _words(item.get("details"))))
    return checks


def _passed(value: object) -> bool:
    return str(value).strip().lower() not in _FAILED


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


def _whole(value: object) -> int | None:
    text = str(value).strip()
    is_number = text.removeprefix("-").isdigit() and text.isascii() and len(text) < 12
    return int(text) if is_number and not isinstance(value, bool) else None


def _malformed(reason: str, text: str) -> Malformed:
    return Malformed(reason, text[:_HEAD])
