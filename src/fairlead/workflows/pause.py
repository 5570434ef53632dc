"""Pausing: record what is open, so that the next session finds it.

A pause is one step: HANDOFF.json for programs, a page for people, and STATE.md. Resuming shows
everything that was left, by Fairlead or another tool, and names one command. Fairlead's own files
are moved to the staging folder in the step that ends the pause; files of other tools stay.
"""

from __future__ import annotations

import json
from datetime import datetime

from fairlead.core.clock import Clock
from fairlead.core.errors import DocumentError
from fairlead.core.serialization import plain
from fairlead.core.values import dataclass, replace
from fairlead.jobs.folder import JobFolder, job_ids
from fairlead.jobs.service import Jobs
from fairlead.plans.documents import read_plan
from fairlead.project.derive.position import Next
from fairlead.project.handoff import handover_paths, is_stale, question_of, read_handover
from fairlead.project.open_jobs import JobState, OpenJob, concerning, next_with_jobs
from fairlead.project.paths import ULTRAPLAN, WAITING, handover_path, is_handover_name
from fairlead.project.service import ProjectSnapshot
from fairlead.project.sessions import Sessions
from fairlead.project.state import session as sessions
from fairlead.project.state.documents import moment
from fairlead.project.state.entries import entries_of, is_resolved
from fairlead.project.state.fields import BLOCKERS
from fairlead.store import layout
from fairlead.store.files import ChangeSet, Files, WriteOutcome
from fairlead.store.intent import TreeChanges
from fairlead.store.moves import Move
from fairlead.store.staging import removed_path
from fairlead.text.document import Document
from fairlead.text.inline import file_name, one_line, plain_text
from fairlead.text.yaml_emit import block_lines
from fairlead.workflows import paths

WRITER = "fairlead"  # a file with another writer belongs to another tool
_DECISIONS = ("Decisions", "Recent Decisions")
_MAX_DECISIONS = 5
_MAX_LINE = 200  # characters of a value from the file of another tool


# -- values --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TaskProgress:
    """A task of the current plan, and its progress."""

    id: int
    name: str
    status: str  # done, in_progress or not_started
    commit: str = ""


@dataclass(frozen=True, slots=True)
class Pause:
    """What the next session has to know."""

    note: str
    next_command: str
    phase: str = ""
    phase_name: str = ""
    phase_dir: str = ""
    plan: str = ""
    tasks: tuple[TaskProgress, ...] = ()
    blockers: tuple[str, ...] = ()
    questions: tuple[tuple[str, str], ...] = ()  # text, and the command that answers it
    decisions: tuple[str, ...] = ()
    jobs: tuple[str, ...] = ()
    uncommitted: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """The position of the project in a few words."""
        phase = f"Phase {self.phase}" if self.phase else "no phase"
        return f"{phase}, plan {self.plan}" if self.plan else phase

    @property
    def done(self) -> list[TaskProgress]:
        """The tasks that are done."""
        return [task for task in self.tasks if task.status == "done"]

    @property
    def remaining(self) -> list[TaskProgress]:
        """The tasks that are not done."""
        return [task for task in self.tasks if task.status != "done"]

    @property
    def next_task(self) -> int:
        """The number of the first task that is not done; 0 if there is none."""
        return next((task.id for task in self.remaining), 0)


@dataclass(frozen=True, slots=True)
class PauseRecord:
    """A pause that Fairlead or another tool wrote, as far as it can be read."""

    path: str
    is_ours: bool  # removed when the pause ends
    place: str = ""
    next_action: str = ""
    note: str = ""
    at: str = ""
    open: tuple[str, ...] = ()  # remaining tasks
    is_read: bool = True
    phase_dir: str = ""
    is_gate: bool = False  # the handover of a gate, which ends with the next step of the gate

    @property
    def owner(self) -> str:
        """The workstream it belongs to. Older versions wrote all pauses to the project's folder."""
        return paths.workstream_of(self.phase_dir) or paths.workstream_of(self.path)


@dataclass(frozen=True, slots=True)
class PausedWork:
    """Everything that an earlier session left."""

    paused_at: str
    jobs: tuple[OpenJob, ...]
    handoffs: tuple[PauseRecord, ...]
    pages: tuple[PauseRecord, ...]
    plans: tuple[str, ...]  # open plans of phases that have begun
    question: str  # of WAITING.json
    next: Next

    @property
    def is_empty(self) -> bool:
        """Whether nothing was left apart from open plans."""
        return not (self.paused_at or self.jobs or self.handoffs or self.pages or self.question)

    @property
    def is_resumable(self) -> bool:
        """Whether work was begun that can be continued or given up."""
        is_gate = any(page.is_gate for page in self.pages)
        return is_gate or any(not job.is_running for job in self.jobs)


@dataclass(frozen=True, slots=True)
class PauseOutcome:
    """A pause that was made."""

    outcome: WriteOutcome
    pause: Pause
    page: str


@dataclass(frozen=True, slots=True)
class Resumption:
    """A pause that was ended, and what had been left."""

    outcome: WriteOutcome
    left: PausedWork


# -- pausing and resuming ------------------------------------------------------------------------


class Pausing(Sessions):
    """Pauses and resumes one project."""

    def __init__(
        self, files: Files, clock: Clock, workstream: str = "", *, jobs: Jobs | None = None
    ) -> None:
        super().__init__(files, clock, workstream)
        self._project_jobs = jobs  # without them, only documents are read

    def pause(
        self, note: str, uncommitted: tuple[str, ...], *, dry_run: bool = False
    ) -> PauseOutcome:
        """Record what is open, where, and what comes next."""
        made: list[tuple[Pause, str]] = []

        def decide(look: ProjectSnapshot) -> ChangeSet:
            words = note or self._present_note(look)
            pause = self._pause(look, words, uncommitted)
            handoff, page = self._free_handoff(look), self._free_page(look, pause.phase_dir)
            made.append((pause, page))
            stopped_at = f"{pause.place}: {pause.note}" if words else pause.place

            def change(document: Document, at: ProjectSnapshot) -> Document:
                paused = sessions.paused(document, stopped_at, at.now)
                return sessions.record_session(paused, sessions.Stop(stopped_at, page), at.now)

            state = look.state_change(change)
            edits = {
                handoff: lambda _: handoff_text(pause, look.now),
                page: lambda _: page_text(pause, look.now),
                **state.edits,
            }
            return ChangeSet(edits, may_create=state.may_create | {handoff, page})

        outcome = self._transact("pause", decide, dry_run=dry_run)
        return PauseOutcome(outcome, *made[-1])

    def open_work(self) -> PausedWork:
        """What an earlier session left; nothing is changed."""
        return self._open_work(ProjectSnapshot(self._files, self._clock.now(), self._workstream))

    def end_pause(self, *, dry_run: bool = False) -> Resumption:
        """End the pause: update STATE.md, and move Fairlead's own files to the staging folder."""
        found: list[PausedWork] = []

        def decide(look: ProjectSnapshot) -> ChangeSet:
            left = self._open_work(look)
            found.append(left)
            done = [record.path for record in left.handoffs if record.is_read]
            done += [record.path for record, _ in self._pages(look) if record.is_ours]
            moves = tuple(Move(path, removed_path(path, look.stamp)) for path in done)
            stay = sorted(left.pages, key=lambda record: not record.is_gate)
            resume_file = next((each.path for each in stay if each.path not in done), "")

            def change(document: Document, at: ProjectSnapshot) -> Document:
                document = sessions.resumed(document, at.position, at.now)
                return sessions.with_resume_file(document, resume_file) if done else document

            return replace(look.state_change(change), places=TreeChanges(moves=moves))

        outcome = self._transact("resume", decide, dry_run=dry_run)
        return Resumption(outcome, found[-1])

    # -- what is open ------------------------------------------------------------------------

    def _pause(self, look: ProjectSnapshot, note: str, uncommitted: tuple[str, ...]) -> Pause:
        position, state = look.position, look.state()
        phase = position.current
        jobs = self._open_jobs()
        blockers = entries_of(state, BLOCKERS)
        return Pause(
            note=plain_text(one_line(note, "the note") if note else position.words),
            next_command=next_with_jobs(jobs, position.next).command,
            phase=phase.id.short if phase else "",
            phase_name=phase.name if phase else "",
            phase_dir=phase.folder.path if phase and phase.folder else "",
            plan=position.plan.id if position.plan else "",
            tasks=self._tasks(position.plan.path) if position.plan else (),
            blockers=tuple(
                plain_text(entry.text) for entry in blockers if not is_resolved(state, entry)
            ),
            questions=tuple((job.note, job.command) for job in jobs if job.state is JobState.WAITS),
            decisions=tuple(
                plain_text(entry.text) for entry in entries_of(state, _DECISIONS)[-_MAX_DECISIONS:]
            ),
            jobs=tuple(job.id for job in jobs),
            uncommitted=tuple(map(file_name, uncommitted)),
        )

    def _tasks(self, path: str) -> tuple[TaskProgress, ...]:
        try:
            plan = read_plan(path, self._files.load(path).text)
        except DocumentError:
            return ()
        gates = {
            gate.task: gate
            for job in job_ids(self._files)
            for gate in self._job_folder(job).load_gates()
            if gate.plan == plan.id
        }
        tasks = []
        for task in plan.tasks:
            gate = gates.get(f"{plan.id}-{task.number:02d}")
            status = "in_progress" if gate else "not_started"
            if gate and gate.passes(task.digest):
                status = "done"
            commit = gate.commit if gate else ""
            tasks.append(TaskProgress(task.number, task.name, status, commit))
        return tuple(tasks)

    def _open_work(self, look: ProjectSnapshot) -> PausedWork:
        paused_at = look.state().value("paused_at")
        waiting = self._files.load_for_display(WAITING)
        jobs = self._open_jobs()
        handoffs = [
            read_handoff(path, loaded.text)
            for path in paths.handoff_paths(self._workstream, self._files.names)
            if (loaded := self._files.load_for_display(path))
        ]
        return PausedWork(
            paused_at=str(paused_at) if paused_at and str(paused_at) != "null" else "",
            jobs=jobs,
            handoffs=tuple(filter(self._concerns_us, handoffs)),
            pages=tuple(page for page, is_done in self._pages(look) if not is_done),
            plans=tuple(
                plan.path
                for phase in look.position.scope.phases
                for plan in (phase.folder.live_plans if phase.folder else ())
                if not plan.is_complete
            ),
            question=question_of(waiting.text) if waiting else "",
            next=next_with_jobs(jobs, look.position.next),
        )

    def _pages(self, look: ProjectSnapshot) -> tuple[tuple[PauseRecord, bool], ...]:
        """Every handover page that no session works with, and whether its work is done."""
        places = [*handover_paths(self._workstream, self._files.names), paths.ROOT_PAGE]
        for name in paths.FOREIGN_PAGE_FOLDERS:
            folder = f"{layout.PLANNING}/{name}"
            places += [f"{folder}/{file}" for file in self._files.names(folder)]
        live = {offer.handover.path for offer in self.offers() if offer.is_live}
        pages = []
        for path in filter(is_handover_name, places):
            loaded = None if path in live else self._files.peek(path)
            if loaded and self._concerns_us(page := read_page(path, loaded.text)):
                handover = read_handover(path, loaded.text)
                pages.append((page, is_stale(handover, look.position, look.inventory.folders)))
        return tuple(pages)

    def _concerns_us(self, record: PauseRecord) -> bool:
        """Whether to show it here: a pause of another existing workstream is resumed there."""
        is_gone = bool(record.owner) and record.owner not in self._files.streams()
        return not record.is_ours or record.owner == self._workstream or is_gone

    def _is_own(self, record: PauseRecord) -> bool:
        """Whether this workstream wrote it, and may overwrite it."""
        return record.is_ours and record.owner == self._workstream

    def _open_jobs(self) -> tuple[OpenJob, ...]:
        jobs = self._project_jobs.open_jobs() if self._project_jobs else ()
        return concerning(jobs, self._workstream)

    def _job_folder(self, job: str) -> JobFolder:
        return JobFolder(self._files.folder, job, is_read_only=self._files.is_read_only)

    # -- where it is written -----------------------------------------------------------------

    def _present_note(self, look: ProjectSnapshot) -> str:
        """The user's note of the present pause, which a second pause without a note keeps."""
        record = self._handoff()
        stopped_at = str(look.state().value("paused_at") or "")
        if record and self._is_own(record) and stopped_at.endswith(f": {record.note}"):
            return record.note
        return ""

    def _free_handoff(self, look: ProjectSnapshot) -> str:
        """The path of the hand-off; a second name if another tool's file is in its place."""
        record = self._handoff()
        is_free = record is None or self._is_own(record)
        return paths.handoff_path(self._workstream, "" if is_free else look.stamp)

    def _handoff(self) -> PauseRecord | None:
        """The hand-off at the usual path."""
        loaded = self._files.load_for_display(paths.handoff_path(self._workstream))
        return read_handoff(loaded.path, loaded.text) if loaded else None

    def _free_page(self, look: ProjectSnapshot, folder: str) -> str:
        folder = folder or layout.planning_of(self._workstream)
        path = paths.pause_path(folder)
        if folder == layout.PLANNING and self._files.exists(ULTRAPLAN):
            path = handover_path("", in_ultraplan=True)
        loaded = self._files.load_for_display(path)
        is_free = loaded is None or read_page(path, loaded.text).is_ours
        return path if is_free else paths.pause_path(folder, look.stamp)


# -- documents -----------------------------------------------------------------------------------


def handoff_text(pause: Pause, now: datetime) -> str:
    """HANDOFF.json, in the format that other tools read."""
    content = {
        "version": "1.0",
        "writer": WRITER,
        "timestamp": moment(now),
        "phase": pause.phase or None,
        "phase_name": pause.phase_name or None,
        "phase_dir": pause.phase_dir or None,
        "plan": pause.plan or None,
        "task": pause.next_task,
        "total_tasks": len(pause.tasks),
        "status": "paused",
        "completed_tasks": [plain(task) for task in pause.done],
        "remaining_tasks": [
            {"id": task.id, "name": task.name, "status": task.status} for task in pause.remaining
        ],
        "blockers": [
            {"description": text, "type": "technical", "workaround": ""} for text in pause.blockers
        ],
        "async_jobs": list(pause.jobs),
        "human_actions_pending": [
            {"action": text, "context": command, "blocking": True}
            for text, command in pause.questions
        ],
        "decisions": [
            {"decision": text, "rationale": "", "phase": pause.phase} for text in pause.decisions
        ],
        "uncommitted_files": list(pause.uncommitted),
        "next_action": pause.next_command,
        "context_notes": pause.note,
    }
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def page_text(pause: Pause, now: datetime) -> str:
    """The page for people."""
    front: dict[str, str | int] = {
        "context": "phase" if pause.phase else "default",
        "phase": pause.phase or "none",
        "task": pause.next_task,
        "total_tasks": len(pause.tasks),
        "status": "paused",
        "last_updated": moment(now),
        "writer": WRITER,
    }
    blockers = (*pause.blockers, *map(": ".join, pause.questions))
    parts = (
        ("current_state", [f"{pause.place}: {pause.note}"]),
        ("completed_work", [f"- Task {task.id}: {task.name}" for task in pause.done]),
        (
            "remaining_work",
            [f"- Task {task.id}: {task.name} ({task.status})" for task in pause.remaining],
        ),
        ("decisions_made", [f"- {text}" for text in pause.decisions]),
        ("blockers", [f"- {text}" for text in blockers]),
        ("context", [f"- not committed: {path}" for path in pause.uncommitted]),
        ("next_action", [pause.next_command]),
    )
    lines = ["---", *block_lines(front, 0), "---", ""]
    for tag, body in parts:
        lines += [f"<{tag}>", *(body or ["None."]), f"</{tag}>", ""]
    return "\n".join(lines)


def read_handoff(path: str, text: str) -> PauseRecord:
    """Read the HANDOFF.json of any tool; one that is not JSON is only named."""
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        content = None
    if not isinstance(content, dict):
        return PauseRecord(path, is_ours=False, note="cannot be read as JSON", is_read=False)
    tasks = content.get("remaining_tasks")
    tasks = tasks if isinstance(tasks, list) else []
    phase, plan = (_short_line(content.get(key)) for key in ("phase", "plan"))
    place = (phase and f"Phase {phase}", plan and f"plan {plan}")
    return PauseRecord(
        path=path,
        is_ours=content.get("writer") == WRITER,
        place=", ".join(filter(None, place)),
        next_action=_short_line(content.get("next_action")),
        note=_short_line(content.get("context_notes")),
        at=_short_line(content.get("timestamp")),
        open=tuple(_short_line(task.get("name")) for task in tasks if isinstance(task, dict)),
        phase_dir=_short_line(content.get("phase_dir")),
    )


def read_page(path: str, text: str) -> PauseRecord:
    """Read the page of any tool: its frontmatter, and the part with the next step."""
    document = Document(text)
    front = document.shown_front
    section = document.section("Next steps", "Next action", "Next Action")
    after = text.partition("<next_action>")[2].partition("</next_action>")[0]
    if not after.strip() and section:
        after = "\n".join(line.text for line in document.section_lines(section))
    steps = [line.strip() for line in after.splitlines() if line.strip()]
    phase = _short_line(front.get("phase"))
    return PauseRecord(
        path=path,
        is_ours=front.get("writer") == WRITER,
        place=f"Phase {phase}" if phase else "",
        next_action=_short_line(steps[0]) if steps else "",
        at=_short_line(front.get("last_updated")),
        is_gate="session" in front,
    )


def _short_line(value: object) -> str:
    """A value from the file of another tool as one short, printable line."""
    if value in (None, 0, "", "null"):
        return ""
    text = "".join(mark if mark.isprintable() else " " for mark in str(value))
    return " ".join(text.split())[:_MAX_LINE]
