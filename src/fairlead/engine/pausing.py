"""Pausing: what is open is written down, and the next session finds it.

A pause is one step: HANDOFF.json, a page for people, and STATE.md. Resuming shows all that was
left, of ours and of others, and names one command; our own files go in the same step that ends
the pause, to the shelf of the desk. What somebody else wrote on a page stays.
"""

from __future__ import annotations

from fairlead.engine.look import Look
from fairlead.engine.sessions import Sessions
from fairlead.errors import DocumentError
from fairlead.model.inventory import Phase
from fairlead.model.job import Job, JobStatus, Question
from fairlead.model.standing import Next
from fairlead.records import session as sessions
from fairlead.records.blockers import BLOCKERS
from fairlead.records.entries import Listing, entries_of, is_resolved
from fairlead.records.pause import (
    Found,
    Pause,
    Work,
    handoff_text,
    page_text,
    read_handoff,
    read_page,
)
from fairlead.records.plan_sheet import read_plan
from fairlead.records.waiting import question_of
from fairlead.store import layout, layout_daily
from fairlead.store.files import Draft, Outcome
from fairlead.store.intent import Places
from fairlead.store.jobs import JobFiles, job_ids
from fairlead.store.layout_roles import lock_of
from fairlead.store.moves import Move
from fairlead.store.running import is_running
from fairlead.text.document import Document
from fairlead.text.inline import file_name, one_line, plain_text
from fairlead.values import dataclass

_DECISIONS = Listing(("Decisions", "Recent Decisions"), "Decisions")
_SHOWN_DECISIONS = 5
_WORDS = {
    "waits": "waits for a person",
    "running": "is running",
    "interrupted": "was interrupted",
    "open": "has not come to its end",
}


@dataclass(frozen=True, slots=True)
class OpenJob:
    """A job that waits for a person, or that nobody carries on."""

    id: str
    state: str  # waits, interrupted, running, or open: a council between two stages
    told: str
    command: str


@dataclass(frozen=True, slots=True)
class Left:
    """All that an earlier session left."""

    paused_at: str
    jobs: tuple[OpenJob, ...]
    handoffs: tuple[Found, ...]
    pages: tuple[Found, ...]
    plans: tuple[str, ...]  # open plans of phases that were begun
    question: str  # what WAITING.json asks
    next: Next

    @property
    def is_empty(self) -> bool:
        """Whether nothing was left that the files alone would not tell."""
        return not (self.paused_at or self.jobs or self.handoffs or self.pages or self.question)


@dataclass(frozen=True, slots=True)
class Paused:
    """A pause that was made."""

    outcome: Outcome
    pause: Pause
    page: str


@dataclass(frozen=True, slots=True)
class Taken:
    """A pause that was ended, and what had been left."""

    outcome: Outcome
    left: Left


class Pausing(Sessions):
    """Pauses and resumes one project."""

    def pause(self, note: str, uncommitted: tuple[str, ...], *, dry_run: bool = False) -> Paused:
        """Write down what is open, where, and what comes next."""
        made: list[tuple[Pause, str]] = []

        def decide(look: Look) -> Draft:
            words = note or self._words(look)
            pause = self._pause(look, words, uncommitted)
            handoff, page = self._free_handoff(look), self._free_page(look, pause.phase_dir)
            made.append((pause, page))
            at = f"{pause.place}: {pause.note}" if words else pause.place

            def change(held: Document, at_look: Look) -> Document:
                told = sessions.paused(held, at, at_look.now)
                return sessions.record_session(told, sessions.Stop(at, page), at_look.now)

            held = look.draft(change)
            edits = {
                handoff: lambda _: handoff_text(pause, look.now),
                page: lambda _: page_text(pause, look.now),
                **held.edits,
            }
            return Draft(edits, may_create=held.may_create | {handoff, page})

        outcome = self._step("pause", decide, dry_run=dry_run)
        return Paused(outcome, *made[-1])

    def left(self) -> Left:
        """What an earlier session left; reading changes nothing."""
        return self._left(Look(self._files, self._clock.now(), self._workstream))

    def go_on(self, *, dry_run: bool = False) -> Taken:
        """End the pause: STATE.md goes on, and our own files of it go to the shelf."""
        found: list[Left] = []

        def decide(look: Look) -> Draft:
            left = self._left(look)
            found.append(left)
            done = [each.path for each in left.handoffs if each.is_read]
            done += [each.path for each in left.pages if each.is_ours]
            moves = tuple(Move(each, layout.removed_path(each, look.stamp)) for each in done)
            stay = sorted(left.pages, key=lambda each: not each.is_gate)
            ahead = next((each.path for each in stay if each.path not in done), "")

            def change(held: Document, at: Look) -> Document:
                held = sessions.resumed(held, at.standing, at.now)
                return sessions.with_resume_file(held, ahead) if done else held

            return Draft(look.draft(change).edits, Places(moves=moves))

        outcome = self._step("resume", decide, dry_run=dry_run)
        return Taken(outcome, found[-1])

    # -- what is open ---------------------------------------------------------------------

    def _pause(self, look: Look, note: str, uncommitted: tuple[str, ...]) -> Pause:
        standing, state = look.standing, look.state()
        phase = standing.current
        jobs = self._jobs()
        told = one_line(note, "the note") if note else standing.words
        return Pause(
            note=plain_text(told),
            next_command=_first(jobs, standing.next).command,
            phase=phase.id.short if phase else "",
            phase_name=phase.name if phase else "",
            phase_dir=phase.folder.path if phase and phase.folder else "",
            plan=standing.plan.id if standing.plan else "",
            tasks=self._tasks(standing.plan.path) if standing.plan else (),
            blockers=tuple(
                plain_text(each.text)
                for each in entries_of(state, BLOCKERS)
                if not is_resolved(state, each)
            ),
            questions=tuple((each.told, each.command) for each in jobs if each.state == "waits"),
            decisions=tuple(
                plain_text(each.text) for each in entries_of(state, _DECISIONS)[-_SHOWN_DECISIONS:]
            ),
            jobs=tuple(each.id for each in jobs),
            uncommitted=tuple(map(file_name, uncommitted)),
        )

    def _tasks(self, path: str) -> tuple[Work, ...]:
        try:
            sheet = read_plan(path, self._files.load(path).text)
        except DocumentError:
            return ()
        gates = {
            gate.task: gate
            for job in job_ids(self._files)
            for gate in self._job_files(job).load_gates()
            if gate.plan == sheet.id
        }
        found = []
        for task in sheet.tasks:
            gate = gates.get(f"{sheet.id}-{task.number:02d}")
            word = (
                "done"
                if gate and gate.passes(task.digest)
                else "in_progress"
                if gate
                else "not_started"
            )
            found.append(Work(task.number, task.name, word, gate.commit if gate else ""))
        return tuple(found)

    def _left(self, look: Look) -> Left:
        document = look.state()
        held = document.value("paused_at")
        waiting = self._files.load_for_display(layout.WAITING)
        jobs = self._jobs()
        return Left(
            paused_at=str(held) if held and str(held) != "null" else "",
            jobs=jobs,
            handoffs=tuple(
                found
                for path in layout_daily.handoff_paths(self._workstream, self._files.names)
                if (loaded := self._files.load_for_display(path))
                and self._is_mine(found := read_handoff(path, loaded.text))
            ),
            pages=self._pages(look),
            plans=tuple(
                plan.path
                for phase in look.standing.scope.phases
                for plan in (phase.folder.live_plans if phase.folder else ())
                if not plan.is_complete
            ),
            question=question_of(waiting.text) if waiting else "",
            next=_first(jobs, look.standing.next),
        )

    def _pages(self, look: Look) -> tuple[Found, ...]:
        """Every hand-over page but those of phases that are complete: they have done their duty."""
        policy = look.standing.policy
        over = [_folder_of(each) for each in look.standing.scope.phases if each.is_complete(policy)]
        paths = [*self._paths(), layout_daily.ROOT_PAGE]
        for name in layout_daily.CORNERS:
            folder = f"{layout.PLANNING}/{name}"
            paths += [f"{folder}/{each}" for each in self._files.names(folder)]
        found = []
        for path in filter(layout.is_handover_name, paths):
            loaded = None if path.rpartition("/")[0] in over else self._files.peek(path)
            if loaded:
                found.append(read_page(path, loaded.text))
        return tuple(filter(self._is_mine, found))

    def _is_mine(self, found: Found) -> bool:
        """Whether it is for this memory: a pause of ours elsewhere is resumed there, if it can be."""
        owner = _owner(found)
        is_gone = bool(owner) and owner not in self._files.streams()
        return not found.is_ours or owner == self._workstream or is_gone

    def _is_own(self, found: Found) -> bool:
        """Whether this memory wrote it, and may write over it."""
        return found.is_ours and _owner(found) == self._workstream

    def _jobs(self) -> tuple[OpenJob, ...]:
        found = []
        for name in job_ids(self._files):
            files = self._job_files(name)
            try:
                job, questions = files.load_record(), files.load_questions()
            except DocumentError:
                continue
            is_open = job.is_open if isinstance(job, Job) else not job.ended_at
            if not is_open or job.is_rehearsed:
                continue
            if not isinstance(job, Job):
                found.append(OpenJob(job.id, "open", str(job.status), job.command))
            else:
                is_live = is_running(
                    self._files.folder, lock_of(job.kind, job.phase, job.workstream)
                )
                found.append(_open_job(job, questions, is_live=is_live))
        return tuple(sorted(found, key=lambda each: each.state != "waits"))

    def _job_files(self, job: str) -> JobFiles:
        return JobFiles(self._files.folder, job, is_read_only=self._files.is_read_only)

    # -- where it is written --------------------------------------------------------------

    def _words(self, look: Look) -> str:
        """What a person said of the pause that is on: pausing once more without words keeps it."""
        held = self._handoff()
        at = str(look.state().value("paused_at") or "")
        return held.note if held and self._is_own(held) and at.endswith(f": {held.note}") else ""

    def _free_handoff(self, look: Look) -> str:
        """Ours is written anew; beside one of somebody else ours gets another name."""
        held = self._handoff()
        is_free = held is None or self._is_own(held)
        return layout_daily.handoff_path(self._workstream, "" if is_free else look.stamp)

    def _handoff(self) -> Found | None:
        """The pause that stands where ours is written."""
        loaded = self._files.load_for_display(layout_daily.handoff_path(self._workstream))
        return read_handoff(loaded.path, loaded.text) if loaded else None

    def _free_page(self, look: Look, folder: str) -> str:
        folder = folder or layout.planning_of(self._workstream)
        path = layout_daily.pause_path(folder)
        if folder == layout.PLANNING and self._files.exists(layout.ULTRAPLAN):
            path = layout.handover_path("", in_ultraplan=True)
        loaded = self._files.load_for_display(path)
        is_free = loaded is None or read_page(path, loaded.text).is_ours
        return path if is_free else layout_daily.pause_path(folder, look.stamp)


def _open_job(job: Job, questions: tuple[Question, ...], *, is_live: bool) -> OpenJob:
    asked = [each for each in questions if not each.answer]
    if asked:
        told = asked[0].text.partition("\n")[0]
        return OpenJob(job.id, "waits", told, asked[0].command(job.id, asked))
    if is_live and job.status is JobStatus.EXECUTING:
        return OpenJob(job.id, "running", job.note, f"fairlead job watch {job.id}")
    return OpenJob(job.id, "interrupted", job.note, job.command)


def _first(jobs: tuple[OpenJob, ...], otherwise: Next) -> Next:
    """What comes first: a job that waits or was interrupted, else what the files ask for."""
    for each in jobs:
        return Next("resume", "", each.command, f"job {each.id} {_WORDS[each.state]}")
    return otherwise


def _folder_of(phase: Phase) -> str:
    return phase.folder.path if phase.folder else ""


def _owner(found: Found) -> str:
    """The workstream that a pause is of; older versions wrote all of them into the project's own."""
    return layout_daily.workstream_of(found.phase_dir) or layout_daily.workstream_of(found.path)
