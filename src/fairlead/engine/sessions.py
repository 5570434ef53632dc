"""Sessions: gates, and the hand-over that lets the next session go on where this one died.

A step of a gate and its hand-over are one step on disk. A hand-over whose session nobody holds
was left by a process that ended abnormally; it is offered, and nothing of it is removed before
the session that took it over has recorded a step of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from functools import reduce

from fairlead.engine.look import Look, Steps
from fairlead.errors import (
    MalformedId,
    NoHandover,
    NoPlans,
    PhaseFinished,
    SessionHeld,
    SeveralHandovers,
)
from fairlead.model.ids import PhaseId, is_name
from fairlead.model.lifecycle import GateEvent, GateStatus
from fairlead.records import session as sessions
from fairlead.records.blockers import BLOCKERS, without_task
from fairlead.records.digest import with_next, with_words
from fairlead.records.entries import with_entry
from fairlead.records.events import execution_started
from fairlead.records.gate import (
    MAIN_SESSION,
    OpenTask,
    after_event,
    read_task,
    with_task,
    without_open_task,
)
from fairlead.records.handoff import Handover, marked_resumed, read_handover, written_ahead
from fairlead.records.position import active_phase, may_be_active, with_active
from fairlead.records.state import stamped
from fairlead.records.tasks import TaskResult, noted, task_result
from fairlead.records.truths import untrue_words
from fairlead.store import layout
from fairlead.store.files import Draft, Outcome
from fairlead.store.intent import Places
from fairlead.store.layout_daily import handover_paths
from fairlead.store.moves import Move
from fairlead.store.session import SessionLock, is_live
from fairlead.text.document import Document
from fairlead.text.inline import one_line
from fairlead.values import dataclass, replace


@dataclass(frozen=True, slots=True)
class Offer:
    """A hand-over that was found, and whether its session is still running."""

    handover: Handover
    is_live: bool


@dataclass(frozen=True, slots=True)
class Resumed:
    """What was resumed, and what that changed."""

    outcome: Outcome
    chosen: Handover | None
    offers: tuple[Offer, ...]


class Sessions(Steps):
    """The sessions of one project."""

    def hold(self, session: str = MAIN_SESSION) -> AbstractContextManager[SessionLock]:
        """Be this session for as long as the context lasts; the kernel ends it with the process."""
        return SessionLock(self._files.folder, _checked(session) + self._mark)

    def offers(self) -> tuple[Offer, ...]:
        """Every hand-over that is there; reading changes nothing."""
        found = []
        for path in self._paths():
            loaded = self._files.peek(path)
            if loaded:
                handover = read_handover(path, loaded.text)
                name = handover.session + (self._mark if self._is_here(path) else "")
                alive = handover.is_ours and is_live(self._files.folder, name)
                found.append(Offer(handover, alive))
        return tuple(found)

    def _mine(self) -> tuple[Offer, ...]:
        """Those that a session may go on with: what another memory's sessions left is theirs."""
        return tuple(
            each
            for each in self.offers()
            if not each.handover.is_ours or self._is_here(each.handover.path)
        )

    def _is_here(self, path: str) -> bool:
        return not self._workstream or path.startswith(f"{layout.planning_of(self._workstream)}/")

    @property
    def _mark(self) -> str:
        """What tells sessions of the same name in two memories apart."""
        return f"@{self._workstream}" if self._workstream else ""

    def task(self, session: str = MAIN_SESSION) -> OpenTask | None:
        """The task that a session is at."""
        look = Look(self._files, self._clock.now(), self._workstream)
        return self._held(look.state(), _checked(session), self._mine())[0]

    # -- gates ----------------------------------------------------------------------------

    def gate(self, event: GateEvent, told: OpenTask, *, dry_run: bool = False) -> Outcome:
        """Record a step of a gate, in STATE.md and in the hand-over."""
        now = self._clock.now()
        return self._recorded(
            told,
            lambda held: after_event(held, event, told, now),
            command=f"state gate {event}",
            dry_run=dry_run,
        )

    def show(self, task: OpenTask, result: TaskResult | None = None) -> Outcome:
        """Show a gate that is kept elsewhere, as it is now, and how its task ended if it did."""
        return self._recorded(
            task, lambda _: task, result, command=f"job {task.plan}", dry_run=False
        )

    def closed(self, session: str) -> None:
        """The hand-over of a session has done its duty, and STATE.md names it no longer."""
        self.given_up(session, ())

    def given_up(self, session: str, tasks: Sequence[str]) -> None:
        """Nobody is at these tasks of a session any more: none is shown as open or as a concern."""

        def decide(look: Look) -> Draft:
            # Under the lock: a step that was killed on the way is completed before anybody looks.
            held = [each.handover for each in self._mine() if each.handover.is_ours]
            mine = [each.path for each in held if each.session == session]
            if not mine and not tasks:
                return Draft({})
            left = [each.path for each in held if each.session != session and each.is_open]
            moves = tuple(Move(path, layout.removed_path(path, look.stamp)) for path in mine)

            def change(document: Document, at: Look) -> Document:
                if sessions.resume_file(document) in mine:
                    document = sessions.with_resume_file(document, (left or [""])[0])
                document = without_open_task(document, session, at.now)
                return reduce(without_task, tasks, document)

            return replace(look.draft(change), places=Places(moves=moves))

        self._step(f"job {session}", decide, dry_run=False)

    def _recorded(
        self,
        told: OpenTask,
        task_of: Callable[[OpenTask | None], OpenTask],
        result: TaskResult | None = None,
        *,
        command: str,
        dry_run: bool,
    ) -> Outcome:
        _checked(told.session)
        if told.phase:
            PhaseId.parse(told.phase)

        def decide(look: Look) -> Draft:
            before = look.state()
            offers = self._mine()
            held, owners = self._held(before, told.session, offers)
            task = task_of(held)
            path = self._own_path(told.session)
            shown = read_task(before)
            is_shown = shown is None or shown.session in owners or not shown.gate.is_open

            def change(held: Document, _: Look) -> Document:
                if result:
                    held = _resulted(held, result, look)
                return _stepped(held, task, path, look, is_shown=is_shown)

            draft = look.draft(change)
            ahead = written_ahead(task, look.now)
            return Draft(
                {**draft.edits, path: lambda _: ahead},
                Places(moves=_taken_over(offers, told.session, path, look)),
                may_create=draft.may_create | {path},
            )

        return self._step(command, decide, dry_run=dry_run)

    # -- ends and beginnings --------------------------------------------------------------

    def ended(
        self, stop: sessions.Stop, *, session: str = MAIN_SESSION, dry_run: bool = False
    ) -> Outcome:
        """A session ends in good order: its hand-over goes, unless its task is still open."""
        _checked(session)

        def decide(look: Look) -> Draft:
            before = look.state()
            mine = [each.handover for each in self._mine() if each.handover.session == session]
            unfinished = [each.path for each in mine if each.is_open]
            done = [each.path for each in mine if not each.is_open]
            told = sessions.Stop(stop.at, stop.resume_file or (unfinished or [""])[0])

            def change(held: Document, _: Look) -> Document:
                if done and not told.resume_file:
                    held = sessions.with_resume_file(held, "")
                return sessions.record_session(held, told, look.now)

            after = look.changed(before, change)
            moves = [Move(path, layout.removed_path(path, look.stamp)) for path in done]
            edits = {look.state_path: look.edit_from(before, after, change)}
            return Draft(edits, Places(moves=tuple(moves)))

        return self._step("state record-session", decide, dry_run=dry_run)

    def resume(
        self,
        *,
        file: str = "",
        session: str = MAIN_SESSION,
        fresh: bool = False,
        dry_run: bool = False,
    ) -> Resumed:
        """Go on: the pause ends, and a hand-over is taken over by this session.

        With `fresh` it is put aside instead, and its task has not started.
        """
        _checked(session)
        offers = self._mine()
        chosen = _chosen(offers, file)

        def change(held: Document, at: Look) -> Document:
            held = sessions.resumed(held, at.standing, at.now)
            if not (fresh and chosen):
                return held
            owner = chosen.session or MAIN_SESSION
            held = with_next(without_open_task(held, owner, at.now), at.standing)
            return sessions.with_resume_file(held, "")

        def decide(look: Look) -> Draft:
            before = look.state()
            after = look.changed(before, change)
            edits = {look.state_path: look.edit_from(before, after, change)}
            moves = self._answered(look)
            if fresh and chosen:
                moves += (Move(chosen.path, layout.aside_path(chosen.path, look.stamp)),)
            elif chosen and chosen.is_ours and chosen.resumed_by != session:
                edits[chosen.path] = lambda text: marked_resumed(text, session, look.now)
            return Draft(edits, Places(moves=moves))

        command = "state resume --fresh" if fresh else "state resume"
        outcome = self._step(command, decide, dry_run=dry_run)
        return Resumed(outcome, chosen, offers)

    # -- where things are -----------------------------------------------------------------

    def _held(
        self, document: Document, session: str, offers: tuple[Offer, ...]
    ) -> tuple[OpenTask | None, tuple[str, ...]]:
        """The task of a session, and the sessions whose task it may be in STATE.md.

        It is its own; or, until it has recorded a step of its own, the one it took over.
        """
        found = [each.handover for each in offers if each.handover.is_ours]
        owners = [session, *(each.session for each in found if each.resumed_by == session)]
        shown = read_task(document)
        if shown is not None and shown.session in owners:
            return replace(shown, session=session), tuple(owners)
        for owner in owners:
            for each in found:
                if each.session == owner:
                    return replace(each.task, session=session), tuple(owners)
        return None, tuple(owners)

    def _own_path(self, session: str) -> str:
        """Where a session writes: the first place if it is free or its own, else one of its own."""
        in_ultraplan = self._files.exists(layout.ULTRAPLAN)
        own, first = (
            layout.handover_path(name, in_ultraplan=in_ultraplan, workstream=self._workstream)
            for name in (session, "")
        )
        if self._files.exists(own):
            return own
        loaded = self._files.load_for_display(first)
        if loaded is None:
            return first
        handover = read_handover(first, loaded.text)
        is_mine = handover.is_ours and session in (handover.session, handover.resumed_by)
        return first if is_mine else own

    def _answered(self, look: Look) -> tuple[Move, ...]:
        if not self._files.exists(layout.WAITING):
            return ()
        return (Move(layout.WAITING, layout.removed_path(layout.WAITING, look.stamp)),)

    def _paths(self) -> tuple[str, ...]:
        return handover_paths(self._workstream, self._files.names)


def _checked(session: str) -> str:
    if not is_name(session):
        raise MalformedId("session", session, "main, 5f0c or agent-2")
    return session


def _chosen(offers: tuple[Offer, ...], file: str) -> Handover | None:
    """The hand-over that is meant; one that is running is nobody's to resume."""
    if file:
        found = [each for each in offers if each.handover.path == file]
        if not found:
            raise NoHandover(file, tuple(each.handover.path for each in offers))
    else:
        found = [each for each in offers if not each.is_live]
    if len(found) > 1:
        raise SeveralHandovers(tuple(each.handover.path for each in found))
    if found and found[0].is_live:
        raise SessionHeld(found[0].handover.session)
    return found[0].handover if found else None


def _taken_over(offers: tuple[Offer, ...], session: str, path: str, look: Look) -> tuple[Move, ...]:
    """The hand-overs that this session resumed: with its first step they have done their duty."""
    return tuple(
        Move(each.handover.path, layout.removed_path(each.handover.path, look.stamp))
        for each in offers
        if each.handover.resumed_by == session and each.handover.path != path
    )


def _resulted(document: Document, result: TaskResult, look: Look) -> Document:
    """STATE.md after a task ended; one that belongs to no phase moves no position."""
    phases = [each.id for each in look.standing.scope.phases] if result.phase else []
    if result.phase and PhaseId.parse(result.phase) in phases:
        return task_result(document, result, look.standing, look.now)
    return noted(document, result, look.now)


def _begun(document: Document, phase: PhaseId, look: Look) -> Document:
    """The phase of a task is being carried out, or worked on where it has no open plan."""
    try:
        return execution_started(document, look.standing, phase.short, look.now)
    except (NoPlans, PhaseFinished):
        document = with_active(document, phase.short)
        return with_words(document, untrue_words(document, look.standing))


def _stepped(
    document: Document, task: OpenTask, path: str, look: Look, *, is_shown: bool
) -> Document:
    """STATE.md after a step of a gate."""
    status = task.gate.status
    if status is GateStatus.BLOCKED and task.note:
        document = with_entry(document, BLOCKERS, f"{task.name}: {one_line(task.note)}")
    elif status in (GateStatus.APPROVED, GateStatus.SKIPPED):
        document = without_task(document, task.name)
    if not is_shown:
        return stamped(document, look.now)
    document = with_task(document, task, look.now)
    if task.phase and task.gate.is_open:
        phase = PhaseId.parse(task.phase)
        # A finished phase does not become active again by a task that is done once more.
        if phase != active_phase(document) and may_be_active(phase, "", look.standing):
            document = _begun(document, phase, look)
    return sessions.with_resume_file(document, path)
