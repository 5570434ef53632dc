"""The master plan: reads its steps and answers, checks it, and splits it into plans.

The seats vote on the exact bytes; nothing here changes them. The checks run before the vote, so
that no seat spends a ballot on what code can see. After the vote each wave becomes plans of the
phase, in the same words.
"""

import re
from collections.abc import Collection
from functools import lru_cache
from itertools import pairwise
from textwrap import dedent

from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass
from fairlead.council.seats import MAX_PLAN_TOKENS, tokens_of
from fairlead.council.tally import ItemAnswer
from fairlead.plans.model import MustHaves, PlanDocument, Task
from fairlead.plans.waves import FileClaims, normal_path
from fairlead.text.inline import one_line
from fairlead.text.outline import Line
from fairlead.text.printable import visible
from fairlead.text.tables import tables_of
from fairlead.workflows.artefacts import Entry, Parts

PARTS = ("Goal", "Requirements", "Decisions", "Steps", "Tests", "Risks", "Dissent")
ANSWERS = "Answers"
MAX_STEPS = 40
TASKS_PER_PLAN = 3
_WAVE = lazy_pattern(r"wave\s+([0-9]{1,3})\b", re.IGNORECASE)
_STEP = lazy_pattern(r"step\s+([0-9]{1,3}[a-z]?)\s*[:.–-]?\s*(.*)\Z", re.IGNORECASE)
_FIELD = lazy_pattern(
    r"[-*+] +[*_]{0,3}([a-z][a-z ]{2,20}?)[*_]{0,3}:[*_]{0,3}[ \t]*(.*)\Z", re.IGNORECASE
)
_FIELD_NAMES = {
    "files": "files",
    "file": "files",
    "verify": "verify",
    "commands": "verify",
    "command": "verify",
    "done": "done",
    "done when": "done",
    "success criterion": "done",
    "criterion": "done",
    "action": "action",
    "requirements": "requirements",
    "requirement": "requirements",
}
_ID = lazy_pattern(r"[A-Za-z][A-Za-z_]{0,14}-?[0-9]{1,3}(?:\.[0-9]{1,3})?")
_FORBIDDEN_PATH = lazy_pattern(
    r"\A/|\A~|(?:\A|/)\.\.(?:/|\Z)|\A[A-Za-z]:|[\x00-\x1f\\]|\A\.git(?:/|\Z)|\A\.planning(?:/|\Z)"
)


@dataclass(frozen=True, slots=True)
class MasterPlanStep:
    """One step: work for one agent in one call."""

    id: str
    title: str
    wave: int
    files: tuple[str, ...] = ()
    action: str = ""
    verify: str = ""
    done: str = ""
    requirements: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MasterPlan:
    """A master plan by its parts."""

    title: str
    goal: str
    requirements: tuple[str, ...]  # the ids in its table
    steps: tuple[MasterPlanStep, ...]
    decisions: tuple[Entry, ...]
    dissent: tuple[Entry, ...]
    answers: tuple[ItemAnswer, ...]
    parts: tuple[str, ...]  # the parts that exist
    tokens: int
    has_invisible: bool = False  # contains control or invisible characters

    @property
    def places(self) -> tuple[str, ...]:
        """The places that an item of a ballot can point at."""
        return (*(step.id for step in self.steps), *PARTS, ANSWERS)


@lru_cache(maxsize=8)  # a round reads the same plan many times
def read_master_plan(text: str) -> MasterPlan:
    """Read a master plan as far as possible; `faults_of` says what is missing."""
    parts = Parts(text)
    title = next((section.title for section in parts.sections if section.level == 1), "")
    return MasterPlan(
        re.sub(r"\Amaster plan:?\s*", "", title, flags=re.IGNORECASE),
        parts.prose("goal"),
        tuple(row[0] for row in _rows(parts.under("requirements"))),
        _steps(parts),
        parts.entries("decisions"),
        parts.entries("dissent"),
        tuple(_answers(parts)),
        tuple(name for name in (*PARTS, ANSWERS) if parts.section(name) is not None),
        tokens_of(parts.text),
        visible(parts.text, keep="\n\r\t") != parts.text,
    )


def faults_of(
    plan: MasterPlan, requirements: Collection[str], open_ids: Collection[str] = ()
) -> tuple[str, ...]:
    """Say why the plan cannot be put to the vote; empty if it can."""
    faults = [f"the part {name!r} is missing" for name in PARTS if name not in plan.parts]
    if plan.tokens > MAX_PLAN_TOKENS:
        faults.append(f"the plan has {plan.tokens} tokens, more than {MAX_PLAN_TOKENS}")
    if plan.has_invisible:
        faults.append("the plan holds control or invisible characters")
    covered = {name for step in plan.steps for name in step.requirements}
    for name in requirements:
        if name not in plan.requirements:
            faults.append(f"requirement {name} is not in the table")
        elif covered and name not in covered:
            faults.append(f"no step carries requirement {name}")
    faults += _step_faults(plan.steps)
    answered = {answer.id for answer in plan.answers}
    faults += [f"{name} is not answered" for name in open_ids if name not in answered]
    faults += [
        f"{answer.id} is answered without a reason" for answer in plan.answers if not answer.reason
    ]
    return tuple(faults)


def split_into_plans(master_plan: MasterPlan, phase: str, folder: str) -> tuple[PlanDocument, ...]:
    """Make the plans of a phase (`03`, in `03-sign-in`); each wave becomes one wave.

    The steps of a wave touch different files, so they can be grouped in any way. A plan has two or
    three tasks, or one where a wave has only one step.
    """
    plans: list[PlanDocument] = []
    previous: tuple[str, ...] = ()  # the plans of the wave before
    for wave, number in enumerate(sorted({step.wave for step in master_plan.steps}), 1):
        ids = []
        for steps in _grouped([step for step in master_plan.steps if step.wave == number]):
            plan_id = f"{phase}-{len(plans) + 1:02d}"
            plans.append(_plan_document(steps, plan_id, folder, wave, previous))
            ids.append(plan_id)
        previous = tuple(ids)
    return tuple(plans)


def _plan_document(
    steps: list[MasterPlanStep], plan_id: str, folder: str, wave: int, previous: tuple[str, ...]
) -> PlanDocument:
    tasks = tuple(
        Task(
            number=at,
            name=f"Task {at}: {step.title}",
            files=step.files,
            action=step.action or step.title,
            verify=step.verify,
            done=step.done,
            is_automated=True,
        )
        for at, step in enumerate(steps, 1)
    )
    return PlanDocument(
        id=plan_id,
        phase=folder,
        number=int(plan_id.rpartition("-")[2]),
        wave=wave,
        depends_on=previous,
        files=tuple(dict.fromkeys(path for step in steps for path in step.files)),
        requirements=tuple(dict.fromkeys(name for step in steps for name in step.requirements)),
        must_haves=MustHaves(truths=tuple(step.done for step in steps)),
        objective="\n".join(one_line(f"Step {step.id}: {step.title}") for step in steps),
        tasks=tasks,
    )


def _grouped(steps: list[MasterPlanStep]) -> list[list[MasterPlanStep]]:
    """Divide steps into as few groups as possible, of nearly equal size."""
    count = -(-len(steps) // TASKS_PER_PLAN)
    size, larger = divmod(len(steps), count)
    starts = [at * size + min(at, larger) for at in range(count + 1)]
    return [steps[first:last] for first, last in pairwise(starts)]


# -- reading ---------------------------------------------------------------------------------


def _steps(parts: Parts) -> tuple[MasterPlanStep, ...]:
    part = parts.section("steps")
    if part is None:
        return ()
    sections = [section for section in parts.sections if part.heading < section.heading < part.last]
    if not sections:
        return ()
    ends = [*(section.heading for section in sections[1:]), part.last]
    wave, steps = 1, []
    for section, end in zip(sections, ends, strict=True):
        if match := _WAVE.match(section.title):
            wave = int(match[1])
        elif match := _STEP.match(section.title):
            lines = parts.lines[section.first : min(end, section.last)]
            steps.append(_step(match[1].casefold(), match[2], wave, lines))
    return tuple(steps)


def _step(name: str, title: str, wave: int, lines: tuple[Line, ...]) -> MasterPlanStep:
    fields, prose = _fields(lines)
    return MasterPlanStep(
        name,
        title,
        wave,
        files=_files(fields.get("files", "")),
        action="\n\n".join(text for text in (fields.get("action", ""), prose) if text),
        verify=_command(fields.get("verify", "")),
        done=" ".join(fields.get("done", "").split()),
        requirements=tuple(dict.fromkeys(_ID.findall(fields.get("requirements", "")))),
    )


def _fields(lines: tuple[Line, ...]) -> tuple[dict[str, str], str]:
    """Read the fields of a step with everything indented below them, and the remaining prose."""
    fields: dict[str, list[str]] = {}
    prose: list[str] = []
    current = prose
    for line in lines:
        match = _FIELD.match(line.text) if line.is_prose else None
        name = _FIELD_NAMES.get(match[1].casefold()) if match else None
        is_below = not line.text.strip() or line.text[0] in " \t"
        if match and name:
            current = fields.setdefault(name, [])
            current.append(match[2])
        elif current is not prose and is_below:
            current.append(line.text)
        else:
            current = prose
            prose.append(line.text)
    texts = {
        name: "\n".join((first, dedent("\n".join(rest)))).strip()
        for name, (first, *rest) in fields.items()
    }
    return texts, "\n".join(prose).strip()


def _files(text: str) -> tuple[str, ...]:
    # A remark in brackets may follow a path: `app/1.py` (new).
    paths = (
        re.sub(r"\s+\([^)]*\)\Z", "", piece.strip(" -*+")).strip("`* ")
        for piece in re.split(r"[,\n]", text)
    )
    return tuple(dict.fromkeys(path for path in paths if path and path.casefold() != "none"))


def _command(text: str) -> str:
    """Return the verify command; several become one that stops at the first failure."""
    commands = re.findall(r"(?<!`)`([^`\n]+)`(?!`)", text) or [
        line for line in text.splitlines() if not line.lstrip().startswith(("```", "~~~"))
    ]
    return " && ".join(command.strip() for command in commands if command.strip())


def _step_faults(steps: tuple[MasterPlanStep, ...]) -> list[str]:
    if not steps:
        return ["there are no steps"]
    faults = []
    if len(steps) > MAX_STEPS:
        faults.append(f"there are {len(steps)} steps, more than {MAX_STEPS}")
    names = [step.id for step in steps]
    faults += [
        f"there are two steps {name}" for name in dict.fromkeys(names) if names.count(name) > 1
    ]
    claims: dict[int, FileClaims] = {}
    for step in steps:
        required = {
            "files": step.files,
            "command that verifies it": step.verify,
            "criterion": step.done,
        }
        faults += [
            f"step {step.id} has no {title}" for title, value in required.items() if not value
        ]
        faults += [
            f"step {step.id}: {path} is not a file of the project"
            for path in step.files
            if _FORBIDDEN_PATH.search(path)
        ]
        # Steps of a wave run at the same time, so they must not write to the same file.
        taken = claims.setdefault(step.wave, FileClaims())
        if clash := taken.clash(step.files):
            pair = f"steps {clash[1]} and {step.id} of wave {step.wave}"
            faults.append(f"{pair} both touch {normal_path(clash[2])}")
        taken.add(step.files, step.id)
    return faults


def _answers(parts: Parts) -> list[ItemAnswer]:
    answers = []
    for row in _rows(parts.under(ANSWERS)):
        name, decision, reason, *_ = (*row, "", "")
        verdict = decision.casefold()
        if verdict in ("changed", "declined"):
            answers.append(ItemAnswer(name, verdict == "changed", reason))
    return answers


def _rows(lines: tuple[Line, ...]) -> list[list[str]]:
    """List the rows of the tables in these lines whose first cell is an id."""
    cells = [
        [cell.text.strip("*_` ") for cell in row]
        for table in tables_of(lines)
        for row in table.rows
    ]
    return [row for row in cells if row and _ID.fullmatch(row[0])]
