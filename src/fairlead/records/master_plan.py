"""The master plan: read into steps and answers, checked by code, split into plans.

It is voted on as it stands, byte for byte; nothing here changes it. The checks come before any
ballot, so that no seat spends its time on what a machine can see. After the vote each wave
becomes plans of the phase, in the same words.
"""

import re
from collections.abc import Collection, Mapping
from functools import lru_cache
from itertools import pairwise
from textwrap import dedent

from fairlead.model.plan import MustHaves, PlanSheet, Task
from fairlead.model.seats import PLAN_TOKENS, tokens_of
from fairlead.model.tally import Answered
from fairlead.model.waves import Claims, normal_path
from fairlead.records.answer_parts import Entry, Parts
from fairlead.text.inline import one_line
from fairlead.text.outline import Line, Section
from fairlead.text.tables import tables_of
from fairlead.text.visible import visible
from fairlead.values import dataclass

PARTS = ("Goal", "Requirements", "Decisions", "Steps", "Tests", "Risks", "Dissent")
ANSWERS = "Answers"
MOST_STEPS = 40
TASKS_A_PLAN = 3
_WAVE = re.compile(r"wave\s+([0-9]{1,3})\b", re.IGNORECASE)
_STEP = re.compile(r"step\s+([0-9]{1,3}[a-z]?)\s*[:.–-]?\s*(.*)\Z", re.IGNORECASE)
_FIELD = re.compile(
    r"[-*+] +[*_]{0,3}([a-z][a-z ]{2,20}?)[*_]{0,3}:[*_]{0,3}[ \t]*(.*)\Z", re.IGNORECASE
)
_NAMES = {
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
_ID = re.compile(r"[A-Za-z][A-Za-z_]{0,14}-?[0-9]{1,3}(?:\.[0-9]{1,3})?")
_NOWHERE = re.compile(
    r"\A/|\A~|(?:\A|/)\.\.(?:/|\Z)|\A[A-Za-z]:|[\x00-\x1f\\]|\A\.git(?:/|\Z)|\A\.planning(?:/|\Z)"
)


@dataclass(frozen=True, slots=True)
class Step:
    """One step: work for one agent in one sitting."""

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
    """What the council votes on."""

    title: str
    goal: str
    requirements: tuple[str, ...]  # the ids in its table
    steps: tuple[Step, ...]
    decisions: tuple[Entry, ...]
    dissent: tuple[Entry, ...]
    answers: tuple[Answered, ...]
    parts: tuple[str, ...]  # those that are there
    tokens: int
    has_unseen: bool = False  # characters that nobody sees who reads it

    @property
    def places(self) -> tuple[str, ...]:
        """What a ballot can point at."""
        return (*(step.id for step in self.steps), *PARTS, ANSWERS)


@dataclass(frozen=True, slots=True)
class Split:
    """The plans that a master plan becomes, and where each step went: `03-01-02`."""

    sheets: tuple[PlanSheet, ...]
    places: Mapping[str, str]


@lru_cache(maxsize=8)  # a council looks at the same plan many times a round
def read_master_plan(text: str) -> MasterPlan:
    """A master plan, as far as it can be read; `faults_of` says what is missing."""
    parts = Parts(text)
    title = next((each.title for each in parts.sections if each.level == 1), "")
    return MasterPlan(
        re.sub(r"\Amaster plan:?\s*", "", title, flags=re.IGNORECASE),
        parts.prose("goal"),
        tuple(row[0] for row in _rows(parts.under("requirements"))),
        _steps(parts),
        parts.entries("decisions"),
        parts.entries("dissent"),
        tuple(_answers(parts)),
        tuple(each for each in (*PARTS, ANSWERS) if parts.section(each) is not None),
        tokens_of(parts.text),
        visible(parts.text, keep="\n\r\t") != parts.text,
    )


def faults_of(
    plan: MasterPlan, requirements: Collection[str], open_ids: Collection[str] = ()
) -> tuple[str, ...]:
    """Why the plan is not put to the vote; empty if it is."""
    faults = [f"the part {each!r} is missing" for each in PARTS if each not in plan.parts]
    if plan.tokens > PLAN_TOKENS:
        faults.append(f"the plan has {plan.tokens} tokens, {PLAN_TOKENS} are the most")
    if plan.has_unseen:
        faults.append("the plan holds control or invisible characters")
    named = set(plan.requirements)
    carried = {each for step in plan.steps for each in step.requirements}
    for each in requirements:
        if each not in named:
            faults.append(f"requirement {each} is not in the table")
        elif each not in carried and carried:
            faults.append(f"no step carries requirement {each}")
    faults += _step_faults(plan.steps)
    answered = {each.id for each in plan.answers}
    faults += [f"{each} is not answered" for each in open_ids if each not in answered]
    faults += [
        f"{each.id} is answered without a reason" for each in plan.answers if not each.reason
    ]
    return tuple(faults)


def split(plan: MasterPlan, phase: str, folder: str) -> Split:
    """The plans of a phase (`03`, in `03-sign-in`): each wave becomes one wave.

    Steps of a wave touch different files, so they can be dealt out in any way; two or three go
    into a plan, one alone where a wave has no more.
    """
    sheets: list[PlanSheet] = []
    places: dict[str, str] = {}
    before: tuple[str, ...] = ()
    for wave, number in enumerate(sorted({step.wave for step in plan.steps}), 1):
        made = []
        for steps in _dealt([step for step in plan.steps if step.wave == number]):
            at = len(sheets) + 1
            identity = f"{phase}-{at:02d}"
            places |= {each.id: f"{identity}-{task:02d}" for task, each in enumerate(steps, 1)}
            sheets.append(_sheet(steps, identity, folder, (wave, before)))
            made.append(identity)
        before = tuple(made)
    return Split(tuple(sheets), places)


def _sheet(
    steps: list[Step], identity: str, folder: str, order: tuple[int, tuple[str, ...]]
) -> PlanSheet:
    wave, before = order
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
    return PlanSheet(
        id=identity,
        phase=folder,
        number=int(identity.rpartition("-")[2]),
        wave=wave,
        depends_on=before,
        files=tuple(dict.fromkeys(path for step in steps for path in step.files)),
        requirements=tuple(dict.fromkeys(each for step in steps for each in step.requirements)),
        must_haves=MustHaves(truths=tuple(step.done for step in steps)),
        objective="\n".join(one_line(f"Step {step.id}: {step.title}") for step in steps),
        tasks=tasks,
    )


def _dealt(steps: list[Step]) -> list[list[Step]]:
    count = -(-len(steps) // TASKS_A_PLAN)
    size, more = divmod(len(steps), count)
    starts = [at * size + min(at, more) for at in range(count + 1)]
    return [steps[first:last] for first, last in pairwise(starts)]


def _steps(parts: Parts) -> tuple[Step, ...]:
    whole = parts.section("steps")
    if whole is None:
        return ()
    inside = [each for each in parts.sections if whole.heading < each.heading < whole.last]
    wave, found = 1, []
    for section in inside:
        named, step = _WAVE.match(section.title), _STEP.match(section.title)
        if named:
            wave = int(named[1])
        elif step:
            found.append(_step(parts, section, inside, (step[1].casefold(), step[2], wave)))
    return tuple(found)


def _step(
    parts: Parts, section: Section, inside: list[Section], head: tuple[str, str, int]
) -> Step:
    end = min(
        (each.heading for each in inside if each.heading > section.heading), default=section.last
    )
    held, prose = _fields(parts.lines[section.first : min(end, section.last)])
    return Step(
        *head,
        files=_files(held.get("files", "")),
        action="\n\n".join(each for each in (held.get("action", ""), prose) if each),
        verify=_command(held.get("verify", "")),
        done=" ".join(held.get("done", "").split()),
        requirements=tuple(dict.fromkeys(_ID.findall(held.get("requirements", "")))),
    )


def _fields(lines: tuple[Line, ...]) -> tuple[dict[str, str], str]:
    """The fields of a step with all that is indented below them, and what stands beside them."""
    held: dict[str, list[str]] = {}
    prose: list[str] = []
    into = prose
    for line in lines:
        found = _FIELD.match(line.text) if line.is_prose else None
        name = _NAMES.get(found[1].casefold()) if found else None
        is_below = not line.text.strip() or line.text[0] in " \t"
        if found and name:
            into = held.setdefault(name, [])
            into.append(found[2])
        elif into is not prose and is_below:
            into.append(line.text)
        else:
            into = prose
            prose.append(line.text)
    told = {name: "\n".join((said[0], dedent("\n".join(said[1:])))) for name, said in held.items()}
    return {name: text.strip() for name, text in told.items()}, "\n".join(prose).strip()


def _files(text: str) -> tuple[str, ...]:
    said = (re.sub(r"\s+\([^)]*\)\Z", "", each.strip(" -*+")) for each in re.split(r"[,\n]", text))
    found = (each.strip("`* ") for each in said)
    return tuple(dict.fromkeys(each for each in found if each and each.casefold() != "none"))


def _command(text: str) -> str:
    """The command of a step; several become one that fails with the first that does."""
    said = re.findall(r"(?<!`)`([^`\n]+)`(?!`)", text) or [
        line for line in text.splitlines() if not line.lstrip().startswith(("```", "~~~"))
    ]
    return " && ".join(each.strip() for each in said if each.strip())


def _step_faults(steps: tuple[Step, ...]) -> list[str]:
    if not steps:
        return ["there are no steps"]
    faults = []
    if len(steps) > MOST_STEPS:
        faults.append(f"there are {len(steps)} steps, {MOST_STEPS} are the most")
    names = [step.id for step in steps]
    faults += [
        f"there are two steps {name}" for name in dict.fromkeys(names) if names.count(name) > 1
    ]
    claims: dict[int, Claims] = {}
    for step in steps:
        lacking = [what for what in ("files", "verify", "done") if not getattr(step, what)]
        told = {"files": "files", "verify": "command that verifies it", "done": "criterion"}
        faults += [f"step {step.id} has no {told[what]}" for what in lacking]
        faults += [
            f"step {step.id}: {path} is not a file of the project"
            for path in step.files
            if _NOWHERE.search(path)
        ]
        taken = claims.setdefault(step.wave, Claims())
        clash = taken.clash(step.files)
        if clash:
            faults.append(
                f"steps {clash[1]} and {step.id} of wave {step.wave} both touch {normal_path(clash[2])}"
            )
        taken.add(step.files, step.id)
    return faults


def _answers(parts: Parts) -> list[Answered]:
    found = []
    for row in _rows(parts.under(ANSWERS)):
        said = row[1].casefold().strip("*_` ") if len(row) > 1 else ""
        if said in ("changed", "declined"):
            found.append(Answered(row[0], said == "changed", row[2] if len(row) > 2 else ""))
    return found


def _rows(lines: tuple[Line, ...]) -> list[list[str]]:
    """The rows of the tables among these lines whose first cell is an id."""
    cells = [
        [cell.text.strip("*_` ") for cell in row]
        for table in tables_of(lines)
        for row in table.rows
    ]
    return [row for row in cells if row and _ID.fullmatch(row[0])]
