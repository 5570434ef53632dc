"""Debugging: the debugger tests hypotheses in rounds, and a proven cause is fixed.

The file of a session records every round, so that no round is asked twice; files of other tools
can be continued. A search stops after four rounds, or earlier if the debugger keeps proposing the
same next step. The fix is a plan with one task, which goes through the same gate as other work.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from fairlead.agents.budget import Cost, estimate
from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass, replace
from fairlead.jobs.context import JobSetup
from fairlead.jobs.model import JobStatus
from fairlead.plans.documents import read_plan
from fairlead.project.service import ProjectService, ProjectSnapshot, edit_of
from fairlead.project.state.documents import moment
from fairlead.project.state.entries import below, last_filled_line
from fairlead.store.files import ChangeSet, Files
from fairlead.store.intent import TreeChanges
from fairlead.store.moves import Move
from fairlead.text.document import Document
from fairlead.text.inline import one_line
from fairlead.text.yaml_emit import block_lines
from fairlead.workflows import paths
from fairlead.workflows.artefacts import any_line, read_answer
from fairlead.workflows.errors import UnknownSession
from fairlead.workflows.questions import PendingQuestion, WorkflowContext, answer_to
from fairlead.workflows.quick import (
    PlannedFix,
    QuickTask,
    QuickTasks,
    fix_plan,
    quick_id,
    require_quick,
)
from fairlead.workflows.role_calls import RoleAnswer, RoleCalls, RoleRequest
from fairlead.workflows.roles import role
from fairlead.workflows.service import JobPurpose, WorkflowEnd, WorkflowReport, Workflows

OPEN_STATUSES = ("gathering", "investigating", "fixing", "verifying", "awaiting_human_verify")
SYMPTOMS = ("expected", "actual", "errors", "reproduction", "started")
RESOLUTION = ("root_cause", "fix", "verification", "files_changed")
_FIRST_FOCUS = {
    "hypothesis": "none yet",
    "test": "reproduce it",
    "expecting": "the fault as described",
    "next_action": "reproduce the fault",
}
_FIELD = lazy_pattern(r"([a-z_]+):[ \t]*(.*)\Z")
_MAX_ROUNDS = 4  # of one run
_MAX_REPEATS = 2  # of the same next step
_MAX_NAME = 30
_PROMPT_CHARACTERS = 6000  # for the estimate
_CONTINUE, _STOP = "continue", "stop"
_DIAGNOSE = "Find the cause only, and prove it. Describe the fix in words; change nothing."
_FIX = (
    "Find the cause and say exactly how to fix it: the files, the change, and one command that "
    "fails now and succeeds once it is fixed. Change nothing yourself: another agent does it."
)
_StateChange = Callable[[Document, datetime], Document]


# -- values --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class DebugSearch:
    """What is searched for, and how far."""

    name: str
    text: str = ""
    symptoms: Mapping[str, str] | None = None
    is_diagnosis: bool = False  # find the cause, do not fix it
    goes_on: bool = False  # a person wants more rounds

    @property
    def path(self) -> str:
        """Its file while it is open."""
        return paths.debug_path(self.name)


@dataclass(frozen=True, slots=True)
class DebugFinding:
    """The result of one hypothesis."""

    hypothesis: str = ""
    test: str = ""
    result: str = ""  # confirmed, refuted or open
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class DebugRound:
    """The answer of the debugger in one round."""

    status: str  # root_cause, fixed, inconclusive
    hypotheses: tuple[DebugFinding, ...]
    root_cause: str
    fix: str
    files: Any  # list of paths
    verify: Any  # kept as written: a command of several lines is refused later, not joined
    next_action: str

    @property
    def is_solved(self) -> bool:
        """Whether the cause is known."""
        return self.status.lower() in ("root_cause", "fixed") and bool(self.root_cause)

    def planned_fix(self, name: str) -> PlannedFix:
        """The fix as the content of a plan."""
        done = f"the cause is gone: {self.root_cause}"
        return PlannedFix(f"Fix {name}", self.fix or self.root_cause, self.files, self.verify, done)


@dataclass(frozen=True, slots=True)
class DebugFile:
    """A session according to its file."""

    path: str
    slug: str
    status: str
    trigger: str
    updated: str
    next_action: str
    root_cause: str
    rounds: str  # `job/2`: the last recorded round

    @property
    def is_open(self) -> bool:
        """Whether there is something left to do."""
        return self.status in OPEN_STATUSES


class _Abandoned(Exception):
    """A person ended the search."""


# -- sessions ------------------------------------------------------------------------------------


class Debugging(ProjectService):
    """The debug sessions of one project."""

    def __init__(self, files: Files, roles: Workflows, quick: QuickTasks) -> None:
        super().__init__(files, roles.clock)
        self._roles = roles
        self._quick = quick

    def all(self) -> tuple[DebugFile, ...]:
        """Every session, open ones first."""
        sessions = []
        for folder in (paths.DEBUG, paths.DEBUG_RESOLVED):
            for name in self._files.names(folder):
                path = f"{folder}/{name}"
                loaded = self._files.load_for_display(path) if name.endswith(".md") else None
                if loaded and path != paths.KNOWLEDGE:
                    sessions.append(read_session(path, loaded.text))
        return tuple(sorted(sessions, key=lambda session: not session.is_open))

    def one(self, name: str) -> DebugFile:
        """A session by its name."""
        sessions = self.all()
        for session in sessions:
            if session.slug == name:
                return session
        raise UnknownSession(name, tuple(each.slug for each in sessions if each.is_open))

    def new(self, text: str, symptoms: Mapping[str, str], *, is_diagnosis: bool) -> DebugSearch:
        """A search with a free name; nothing is written."""
        title = one_line(text, "the text")
        stem = paths.short_slug(title, "fault", _MAX_NAME)
        taken = {session.slug for session in self.all()}
        names = (stem, *(f"{stem[: _MAX_NAME - 4]}-{at}" for at in range(2, 999)))
        name = next(name for name in names if name not in taken)
        return DebugSearch(name, text, {"actual": title, **symptoms}, is_diagnosis)

    def estimate(self, search: DebugSearch) -> Cost:
        """The estimated cost: two rounds, and the fix if one is wanted."""
        roles = ["debugger"] * 2 + ([] if search.is_diagnosis else ["executor", "architect"])
        size = _PROMPT_CHARACTERS + len(search.text)
        return sum((estimate(name, size) for name in roles), Cost())

    # -- the search --------------------------------------------------------------------------

    def carry_out(
        self, search: DebugSearch, setup: JobSetup, execution: JobSetup
    ) -> WorkflowReport:
        """Search and fix, or resume."""

        def work(context: WorkflowContext) -> WorkflowEnd:
            resolved = self._files.load_if_present(paths.debug_path(search.name, resolved=True))
            if resolved and not self._files.exists(search.path):
                return WorkflowEnd(note=read_session(resolved.path, resolved.text).root_cause)
            self._create(search)
            try:
                round_ = self._search(context, search)
            except _Abandoned:
                return WorkflowEnd(JobStatus.FAILED, "a person ended the search", (search.path,))
            if isinstance(round_, WorkflowEnd):
                return round_
            if search.is_diagnosis:
                self._set_status(search, "diagnosed")
                message = f"docs(debug): the cause of {search.name}"
                return WorkflowEnd(note=round_.root_cause, written=(search.path,), message=message)
            return self._fix(context, search, round_, execution)

        command = f"fairlead debug continue {search.name}"
        return self._roles.run(JobPurpose("debug", search.name, command, search.text), setup, work)

    def _create(self, search: DebugSearch) -> None:
        if not self._files.exists(search.path):
            text = new_session(search.text, search.symptoms or {}, self._clock.now())
            self._files.create_all({search.path: text}, command=f"debug {search.name}")

    def _search(self, context: WorkflowContext, search: DebugSearch) -> DebugRound | WorkflowEnd:
        """Ask for rounds until the cause is known or no progress is made."""
        last, repeats, before = self._last_round(context, search), 0, ""
        round_ = self._recorded_round(context, last)
        if last and not (round_ and round_.is_solved):
            self._require_consent(context, search, last)
        for number in range(last + 1, last + 1 + _MAX_ROUNDS):
            if round_ and round_.is_solved:
                break
            reply = self._ask(context, search, number)
            if isinstance(reply, str):
                note = f"the debugger cannot go on: {reply}"
                return WorkflowEnd(JobStatus.BLOCKED, note, is_over=False)
            round_, last = reply, number
            self._record_round(search, reply, f"{context.job.id}/{number}")
            repeats = repeats + 1 if reply.next_action == before else 0
            before = reply.next_action
            if repeats >= _MAX_REPEATS:
                break
        if round_ and round_.is_solved:
            return round_
        # The question is only recorded now: a person should read the file before answering.
        self._require_consent(
            context.answered_by(lambda _: ""), replace(search, goes_on=False), last
        )
        return WorkflowEnd(JobStatus.BLOCKED, "the cause is not known yet", is_over=False)

    def _last_round(self, context: WorkflowContext, search: DebugSearch) -> int:
        """The number of the last round of this job in the file."""
        job, _, number = self._session(search).rounds.rpartition("/")
        return int(number) if job == context.job.id and number.isdigit() else 0

    def _recorded_round(self, context: WorkflowContext, number: int) -> DebugRound | None:
        call = context.folder.load_call(f"round-{number}") if number else None
        return read_round(call.answer) if call and call.is_ok else None

    def _ask(self, context: WorkflowContext, search: DebugSearch, number: int) -> DebugRound | str:
        """The answer of a round, or the reason why there is none."""
        recorded = self._recorded_round(context, number)
        if recorded is not None:  # answered, but the run ended before the file was written
            return recorded
        knowledge = self._files.load_for_display(paths.KNOWLEDGE)
        pieces = {
            "session": self._files.load(search.path).text,
            "knowledge": knowledge.text if knowledge else "",
        }
        goal = _DIAGNOSE if search.is_diagnosis else _FIX
        words = {"session": search.name, "round": str(number), "goal": goal}

        def read(answer: RoleAnswer) -> DebugRound:
            round_ = read_round(answer.fields)
            if round_.is_solved and not search.is_diagnosis:  # the fix must be executable
                text = fix_plan(search.name, round_.planned_fix(search.name))
                require_quick(read_plan(search.path, text))
            return round_

        request = RoleRequest(role("debugger"), f"round-{number}", pieces, words)
        reply = RoleCalls(context).call(request, read)
        return reply.note if reply.value is None else reply.value

    def _require_consent(self, context: WorkflowContext, search: DebugSearch, number: int) -> None:
        """Ask whether to pay for more rounds, unless a person has requested them."""
        next_action = self._session(search).next_action or "nothing"
        text = f"the cause is not known after {number} rounds; next: {next_action}. Continue?"
        pending = PendingQuestion(f"rounds-{number}", text, (_CONTINUE, _STOP))
        person = (lambda _: _CONTINUE) if search.goes_on else context.person
        if answer_to(context.answered_by(person), pending) == _STOP:
            self._set_status(search, "abandoned")
            raise _Abandoned

    # -- the fix -----------------------------------------------------------------------------

    def _fix(
        self,
        context: WorkflowContext,
        search: DebugSearch,
        round_: DebugRound,
        execution: JobSetup,
    ) -> WorkflowEnd:
        self._set_status(search, "fixing")
        id_ = quick_id(datetime.fromisoformat(context.job.started_at))
        title = f"Fix: {one_line(self._session(search).trigger)}"[:80]
        task = QuickTask(id_, paths.quick_folder(id_, f"fix-{search.name}"), title)
        if not self._files.exists(task.plan):
            text = fix_plan(task.name, round_.planned_fix(search.name))
            self._quick.write_plan(context, task, text)
        plan = read_plan(task.plan, self._files.load(task.plan).text)
        end = self._quick.execute(context, task, plan, execution)
        if end.status is not JobStatus.DONE:
            return end
        self._set_status(search, "awaiting_human_verify")
        text = f"{round_.verify!r} succeeds now. Is the fault gone?"
        pending = PendingQuestion("verified", text, ("yes", "no"), policy="yes")
        if answer_to(context, pending) == "no":
            self._set_status(search, "investigating")
            return WorkflowEnd(JobStatus.FAILED, "a person says that the fault is still there")
        written = (*self._resolve(search, round_), *end.written)
        message = f"docs(debug): {search.name} is resolved"
        return WorkflowEnd(note=round_.root_cause, written=written, message=message)

    def _resolve(self, search: DebugSearch, round_: DebugRound) -> tuple[str, ...]:
        """Add the fault to the knowledge base, and move the file to the resolved sessions."""
        target = paths.debug_path(search.name, resolved=True)

        def change(document: Document, now: datetime) -> Document:
            document = with_resolution(
                document,
                root_cause=round_.root_cause,
                fix=round_.fix,
                verification=one_line(round_.verify),
                files_changed=", ".join(round_.files),
            )
            return with_status(document, "resolved", now)

        self._edit(search, change)
        session = self._session(search)

        def decide(look: ProjectSnapshot) -> ChangeSet:
            def add(text: str) -> str:
                return with_knowledge(text, session, round_.files, look.now)

            moves = TreeChanges(moves=(Move(search.path, target),))
            return ChangeSet({paths.KNOWLEDGE: add}, moves, frozenset((paths.KNOWLEDGE,)))

        self._transact(f"debug {search.name}", decide, dry_run=False)
        return target, paths.KNOWLEDGE

    # -- the file ----------------------------------------------------------------------------

    def _session(self, search: DebugSearch) -> DebugFile:
        return read_session(search.path, self._files.load(search.path).text)

    def _record_round(self, search: DebugSearch, round_: DebugRound, mark: str) -> None:
        self._edit(search, lambda document, now: with_round(document, round_, mark, now))

    def _set_status(self, search: DebugSearch, status: str) -> None:
        self._edit(search, lambda document, now: with_status(document, status, now))

    def _edit(self, search: DebugSearch, change: _StateChange) -> None:
        now = self._clock.now()
        edit = edit_of(lambda document: change(document, now))
        self._files.update(search.path, edit, command=f"debug {search.name}")


# -- answers and documents -----------------------------------------------------------------------


def read_round(answer: Mapping[str, Any]) -> DebugRound:
    """Read the answer of the debugger; a missing field is empty."""
    entries = answer.get("hypotheses")
    entries = entries if isinstance(entries, list) else []
    maps = [entry for entry in entries if isinstance(entry, dict)]
    round_ = read_answer(DebugRound, {**answer, "hypotheses": maps}, _line)
    files = tuple(map(str, round_.files)) if isinstance(round_.files, list) else ()
    return replace(round_, files=files, verify=str(round_.verify or "").strip())


def new_session(trigger: str, symptoms: Mapping[str, str], now: datetime) -> str:
    """The text of a new session."""
    front = {
        "status": "investigating",
        "trigger": " ".join(trigger.split()),
        "created": moment(now),
        "updated": moment(now),
    }
    values = {key: _line(symptoms.get(key, "")) or "not told" for key in SYMPTOMS}
    lines = ["---", *block_lines(front, 0, quotes={"trigger": '"'}), "---", ""]
    lines += ["## Current Focus", "", *map(": ".join, _FIRST_FOCUS.items()), ""]
    lines += ["## Symptoms", "", *map(": ".join, values.items()), ""]
    lines += ["## Eliminated", "", "## Evidence", "", "## Resolution", ""]
    lines += [f"{key}:" for key in RESOLUTION]
    return "\n".join((*lines, ""))


def read_session(path: str, text: str) -> DebugFile:
    """Read a session of any tool."""
    document = Document(text)
    front = document.shown_front
    return DebugFile(
        path=path,
        slug=path.rpartition("/")[2].removesuffix(".md"),
        status=str(front.get("status") or "unknown"),
        trigger=str(front.get("trigger") or ""),
        updated=str(front.get("updated") or ""),
        next_action=_value(document, "Current Focus", "next_action"),
        root_cause=_value(document, "Resolution", "root_cause"),
        rounds=str(front.get("fairlead_round") or ""),
    )


def with_round(document: Document, round_: DebugRound, mark: str, now: datetime) -> Document:
    """The session with one more round; a recorded round is not added again."""
    document.require_writable()
    if str(document.value("fairlead_round")) == mark:
        return document
    at = moment(now)
    for finding in round_.hypotheses:
        evidence = finding.evidence or "-"
        entry = f"- timestamp: {at}\n  checked: {finding.test or '-'}\n  found: {evidence}"
        entry += f"\n  implication: {finding.hypothesis} is {finding.result or 'open'}"
        document = _with_entry(document, "Evidence", entry)
        if finding.result == "refuted":
            entry = f"- hypothesis: {finding.hypothesis}\n  evidence: {evidence}"
            document = _with_entry(document, "Eliminated", f"{entry}\n  timestamp: {at}")
    last = round_.hypotheses[-1] if round_.hypotheses else DebugFinding()
    focus = {"hypothesis": last.hypothesis, "test": last.test, "next_action": round_.next_action}
    if round_.is_solved:
        focus["next_action"] = "fix it"
        document = with_resolution(document, root_cause=round_.root_cause, fix=round_.fix)
    document = _with_fields(document, "Current Focus", focus)
    return document.set_front(("fairlead_round",), mark).set_front(("updated",), at)


def with_status(document: Document, status: str, now: datetime) -> Document:
    """The session with another status."""
    if document.value("status") == status:
        return document
    return document.set_front(("status",), status).set_front(("updated",), moment(now))


def with_resolution(document: Document, **values: str) -> Document:
    """The session with its cause and its fix."""
    return _with_fields(document, "Resolution", values)


def with_knowledge(text: str, session: DebugFile, files: tuple[str, ...], now: datetime) -> str:
    """The knowledge base with a resolved fault; an existing entry is not repeated."""
    heading = f"## {session.slug}"
    if heading in text.splitlines():
        return text
    lines = (
        heading,
        f"- **Date:** {now:%Y-%m-%d}",
        f"- **Error patterns:** {_line(session.trigger)}",
        f"- **Root cause:** {session.root_cause or '-'}",
        f"- **Files changed:** {', '.join(files) or '-'}",
        "",
    )
    return (text or "# Knowledge base of faults\n") + "\n" + "\n".join(lines)


def _line(value: object) -> str:
    """Any value as one printable line without Markdown structure."""
    text = "".join(mark for mark in any_line(value) if mark.isprintable())
    return one_line(text) if text else ""


def _value(document: Document, title: str, name: str) -> str:
    section = document.section(title)
    for line in document.section_lines(section, own=True) if section else ():
        match = _FIELD.match(line.text.strip())
        if match and match[1] == name:
            return match[2].strip()
    return ""


def _with_fields(document: Document, title: str, values: Mapping[str, str]) -> Document:
    """Set lines `name: value` of a section; a missing line is added at its end."""
    for name, value in values.items():
        section = document.section(title)
        if section is None or not value:
            continue
        field = f"{name}: {value}"
        for line in document.section_lines(section, own=True):
            match = _FIELD.match(line.text.strip())
            if match and match[1] == name:
                text = document.text[: line.start] + field + document.text[line.end :]
                break
        else:
            text = below(document, last_filled_line(document, section), field)
        document = document.replaced(text)
    return document


def _with_entry(document: Document, title: str, entry: str) -> Document:
    section = document.section(title)
    if section is None:
        return document
    text = entry.replace("\n", document.ending)
    return document.replaced(below(document, last_filled_line(document, section), text))
