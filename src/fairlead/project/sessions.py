"""Sessions: the gate of a task, and the handover from which another session can continue.

A gate step and its handover file are written in one transaction. A handover whose session is
not running was left by a process that died. It is offered, and removed only after the session
that took it over has recorded a step itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from fairlead.core.errors import MalformedId
from fairlead.core.ids import PhaseId, is_name
from fairlead.core.values import dataclass, replace
from fairlead.project.derive.position import position_of
from fairlead.project.derive.scan import scan
from fairlead.project.errors import NoHandover, NoPlans, PhaseFinished, SeveralHandovers
from fairlead.project.handoff import (
    Handover,
    HandoverOffer,
    handover_offers,
    handover_text,
    marked_resumed,
    read_handover,
    session_name,
    workstream_of,
)
from fairlead.project.paths import ULTRAPLAN, WAITING, aside_path, handover_path
from fairlead.project.service import ProjectService, ProjectSnapshot
from fairlead.project.state import session as session_edits
from fairlead.project.state.blockers import TaskOrigin, with_blocker_of, without_blockers_of
from fairlead.project.state.contradictions import contradicted_fields
from fairlead.project.state.digest import (
    active_phase,
    may_be_active,
    with_active,
    with_fields,
    with_next_step,
)
from fairlead.project.state.documents import stamped
from fairlead.project.state.edits import (
    TaskResult,
    execution_started,
    task_result,
    with_task_result,
)
from fairlead.project.state.gate import (
    MAIN_SESSION,
    OpenTask,
    after_event,
    read_task,
    with_task,
    without_open_task,
)
from fairlead.project.state.gate_rules import GateEvent, GateStatus
from fairlead.store.errors import SessionHeld
from fairlead.store.files import ChangeSet, WriteOutcome
from fairlead.store.intent import TreeChanges
from fairlead.store.lock import SessionLock
from fairlead.store.moves import Move
from fairlead.store.staging import removed_path
from fairlead.text.document import Document

ShownGate = tuple[OpenTask, str]  # a task, and the path of its handover


@dataclass(frozen=True, slots=True)
class ResumeResult:
    """The result of resuming."""

    outcome: WriteOutcome
    chosen: Handover | None
    offers: tuple[HandoverOffer, ...]


class Sessions(ProjectService):
    """The sessions of one project."""

    def hold(self, session: str = MAIN_SESSION) -> SessionLock:
        """Be this session while the context lasts; the lock ends with the process."""
        name = session_name(_checked(session), self._workstream)
        return SessionLock(self._files.folder, name)

    def offers(self) -> tuple[HandoverOffer, ...]:
        """All handovers of the project; nothing is changed."""
        unchecked = self._files.unchecked()
        inventory = scan(self._files.folder, workstream=self._workstream, unchecked=unchecked)
        position, folders = position_of(inventory), inventory.folders
        return handover_offers(self._files, self._workstream, position=position, folders=folders)

    def task(self, session: str = MAIN_SESSION) -> OpenTask | None:
        """The task that a session works on."""
        snapshot = ProjectSnapshot(self._files, self._clock.now(), self._workstream)
        return self._task_of(snapshot.state(), _checked(session), self._offers_here())[0]

    # -- gates ----------------------------------------------------------------------------

    def gate(self, event: GateEvent, task: OpenTask, *, dry_run: bool = False) -> WriteOutcome:
        """Record a step of a gate in STATE.md and in the handover."""
        now = self._clock.now()
        return self._record(
            task,
            lambda recorded: after_event(recorded, event, task, now),
            command=f"state gate {event}",
            dry_run=dry_run,
        )

    def show(self, task: OpenTask, result: TaskResult | None = None) -> WriteOutcome:
        """Show a gate that a job records elsewhere, and the result of its task if it has one."""
        return self._record(task, lambda _: task, result, command=f"job {task.plan}", dry_run=False)

    def closed(self, session: str) -> None:
        """Remove the handover of a finished session from the folder and from STATE.md."""
        self.given_up(session, ())

    def given_up(self, session: str, tasks: Sequence[TaskOrigin]) -> None:
        """Remove the handover and the blockers of tasks that their session abandoned."""

        def decide(snapshot: ProjectSnapshot) -> ChangeSet:
            # Read under the lock, where a killed transaction has been completed or undone.
            handovers = [offer.handover for offer in self._offers_here() if offer.handover.is_ours]
            finished = [each.path for each in handovers if each.session == session]
            if not finished and not tasks:
                return ChangeSet({})
            others = [(each.task, each.path) for each in handovers if each.session != session]
            moves = tuple(Move(path, removed_path(path, snapshot.stamp)) for path in finished)

            def change(state: Document, at: ProjectSnapshot) -> Document:
                oldest = _oldest_unfinished(others)
                if session_edits.resume_file(state) in finished:
                    state = session_edits.with_resume_file(state, oldest[1] if oldest else "")
                state = without_open_task(state, session, at.now)
                shown = read_task(state)
                if oldest and (shown is None or shown.session == session):
                    state = with_task(state, oldest[0], at.now)
                return reduce(without_blockers_of, tasks, state)

            return replace(snapshot.state_change(change), places=TreeChanges(moves=moves))

        self._transact(f"job {session}", decide, dry_run=False)

    def _record(
        self,
        named: OpenTask,
        task_after: Callable[[OpenTask | None], OpenTask],
        result: TaskResult | None = None,
        *,
        command: str,
        dry_run: bool,
    ) -> WriteOutcome:
        _checked(named.session)
        if named.phase:
            PhaseId.parse(named.phase)

        def decide(snapshot: ProjectSnapshot) -> ChangeSet:
            before = snapshot.state()
            offers = self._offers_here()
            recorded, owners = self._task_of(before, named.session, offers)
            task = task_after(recorded)
            path = self._path_for(named.session)
            shown = _shown_gate(before, (task, path), offers, owners)

            def change(state: Document, _: ProjectSnapshot) -> Document:
                state = (
                    _with_result(state, result, snapshot) if result else _with_blocker(state, task)
                )
                return _with_step(state, task, shown, snapshot)

            changes = snapshot.state_change(change)
            text = handover_text(task, snapshot.now)
            return ChangeSet(
                {**changes.edits, path: lambda _: text},
                TreeChanges(moves=_superseded(offers, named.session, path, snapshot)),
                may_create=changes.may_create | {path},
            )

        return self._transact(command, decide, dry_run=dry_run)

    # -- start and end --------------------------------------------------------------------

    def ended(
        self,
        stop: session_edits.Stop,
        *,
        session: str = MAIN_SESSION,
        dry_run: bool = False,
        command: str = "state record-session",  # that undo shows; a hook names itself
    ) -> WriteOutcome:
        """Record the regular end of a session; its handover stays only if its task is open."""
        _checked(session)

        def decide(snapshot: ProjectSnapshot) -> ChangeSet:
            handovers = [
                offer.handover for offer in self._offers_here() if offer.handover.session == session
            ]
            unfinished = [each.path for each in handovers if each.is_open]
            finished = [each.path for each in handovers if not each.is_open]
            resume_file = stop.resume_file or (unfinished or [""])[0]

            def change(state: Document, _: ProjectSnapshot) -> Document:
                if finished and not resume_file:
                    state = session_edits.with_resume_file(state, "")
                end = session_edits.Stop(stop.at, resume_file)
                return session_edits.record_session(state, end, snapshot.now)

            moves = tuple(Move(path, removed_path(path, snapshot.stamp)) for path in finished)
            return replace(snapshot.state_change(change), places=TreeChanges(moves=moves))

        return self._transact(command, decide, dry_run=dry_run)

    def resume(
        self,
        *,
        file: str = "",
        session: str = MAIN_SESSION,
        fresh: bool = False,
        dry_run: bool = False,
    ) -> ResumeResult:
        """End the pause and take over a handover.

        With `fresh` the handover is put aside instead, and its task counts as not started.
        """
        _checked(session)
        offers = self._offers_here(self.offers())
        chosen = _chosen(offers, file)

        def change(state: Document, snapshot: ProjectSnapshot) -> Document:
            state = session_edits.resumed(state, snapshot.position, snapshot.now)
            if not (fresh and chosen):
                return state
            owner = chosen.session or MAIN_SESSION
            state = without_open_task(state, owner, snapshot.now)
            state = with_next_step(state, snapshot.position)
            return session_edits.with_resume_file(state, "")

        def decide(snapshot: ProjectSnapshot) -> ChangeSet:
            state = snapshot.state_change(change)
            edits = dict(state.edits)
            moves: list[Move] = []
            if self._files.exists(WAITING):
                moves.append(Move(WAITING, removed_path(WAITING, snapshot.stamp)))
            if fresh and chosen:
                moves.append(Move(chosen.path, aside_path(chosen.path, snapshot.stamp)))
            elif chosen and chosen.is_ours and chosen.resumed_by != session:
                edits[chosen.path] = lambda text: marked_resumed(text, session, snapshot.now)
            return ChangeSet(edits, TreeChanges(moves=tuple(moves)), state.may_create)

        command = "state resume --fresh" if fresh else "state resume"
        outcome = self._transact(command, decide, dry_run=dry_run)
        return ResumeResult(outcome, chosen, offers)

    # -- where things are -----------------------------------------------------------------

    def _offers_here(
        self, offers: tuple[HandoverOffer, ...] | None = None
    ) -> tuple[HandoverOffer, ...]:
        """The handovers that a session of this workstream may continue.

        Unless they are given, none of them is called stale: that needs a look at all files.
        """
        if offers is None:
            offers = handover_offers(self._files, self._workstream)
        return tuple(
            offer
            for offer in offers
            if not offer.handover.is_ours or self._is_here(offer.handover.path)
        )

    def _is_here(self, path: str) -> bool:
        return workstream_of(path, self._workstream) == self._workstream

    def _task_of(
        self, document: Document, session: str, offers: tuple[HandoverOffer, ...]
    ) -> tuple[OpenTask | None, tuple[str, ...]]:
        """The task of a session, and the sessions that may own the task shown in STATE.md.

        Until a session has recorded a step, its task is the one that it took over.
        """
        handovers = [offer.handover for offer in offers if offer.handover.is_ours]
        resumed = (each.session for each in handovers if each.resumed_by == session)
        owners = (session, *resumed)
        shown = read_task(document)
        if shown is not None and shown.session in owners:
            return replace(shown, session=session), owners
        for owner in owners:
            for handover in handovers:
                if handover.session == owner:
                    return replace(handover.task, session=session), owners
        return None, owners

    def _path_for(self, session: str) -> str:
        """The handover file of a session: the common one if it is free, otherwise its own."""
        in_ultraplan = self._files.exists(ULTRAPLAN)
        own, common = (
            handover_path(name, in_ultraplan=in_ultraplan, workstream=self._workstream)
            for name in (session, "")
        )
        if self._files.exists(own):
            return own
        loaded = self._files.load_for_display(common)
        if loaded is None:
            return common
        handover = read_handover(common, loaded.text)
        is_of_session = handover.is_ours and session in (handover.session, handover.resumed_by)
        return common if is_of_session else own


def _checked(session: str) -> str:
    if not is_name(session):
        raise MalformedId("session", session, "main, 5f0c or agent-2")
    return session


def _chosen(offers: tuple[HandoverOffer, ...], file: str) -> Handover | None:
    """The handover to resume: the named one, or the only one with work left and nobody at it."""
    if file:
        candidates = [offer for offer in offers if offer.handover.path == file]
        if not candidates:
            raise NoHandover(file, tuple(offer.handover.path for offer in offers))
    else:
        candidates = [offer for offer in offers if not (offer.is_live or offer.is_stale)]
    if len(candidates) > 1:
        raise SeveralHandovers(tuple(offer.handover.path for offer in candidates))
    if candidates and candidates[0].is_live:
        raise SessionHeld(candidates[0].handover.session)
    return candidates[0].handover if candidates else None


def _superseded(
    offers: tuple[HandoverOffer, ...], session: str, path: str, snapshot: ProjectSnapshot
) -> tuple[Move, ...]:
    """Moves of the handovers that this session took over; its first step replaces them."""
    return tuple(
        Move(offer.handover.path, removed_path(offer.handover.path, snapshot.stamp))
        for offer in offers
        if offer.handover.resumed_by == session and offer.handover.path != path
    )


def _with_result(state: Document, result: TaskResult, snapshot: ProjectSnapshot) -> Document:
    """STATE.md after a task result; a task outside every phase does not move the position."""
    phases = [phase.id for phase in snapshot.position.scope.phases] if result.phase else []
    if result.phase and PhaseId.parse(result.phase) in phases:
        return task_result(state, result, snapshot.position, snapshot.now)
    return with_task_result(state, result, snapshot.now)


def _with_active_phase(state: Document, phase: PhaseId, snapshot: ProjectSnapshot) -> Document:
    """STATE.md with a phase in execution, or merely active if it has no open plan."""
    try:
        return execution_started(state, snapshot.position, phase.short, snapshot.now)
    except (NoPlans, PhaseFinished):
        state = with_active(state, phase.short)
        return with_fields(state, contradicted_fields(state, snapshot.position))


def _with_blocker(state: Document, task: OpenTask) -> Document:
    """STATE.md with the blocker of a failed or blocked gate, or without those of a passed one."""
    gate, origin = task.gate, TaskOrigin(task.phase, task.plan, task.name)
    if gate.status in (GateStatus.APPROVED, GateStatus.SKIPPED):
        return without_blockers_of(state, origin)
    if gate.status not in (GateStatus.BLOCKED, GateStatus.FAILED):
        return state
    last = str(gate.failures[-1].kind) if gate.status is GateStatus.FAILED else str(gate.status)
    return with_blocker_of(state, origin, task.note or last)


def _shown_gate(
    state: Document, own: ShownGate, offers: tuple[HandoverOffer, ...], owners: tuple[str, ...]
) -> ShownGate:
    """The gate that STATE.md shows after a step: the oldest open one, and its handover."""
    handovers = [offer.handover for offer in offers if offer.handover.is_ours]
    others = [(each.task, each.path) for each in handovers if each.session not in owners]
    recorded = read_task(state)
    sessions = (*owners, *(task.session for task, _ in others))
    if recorded is not None and recorded.session not in sessions:
        others.append((recorded, ""))  # its handover is gone
    return _oldest_unfinished([own, *others]) or own


def _oldest_unfinished(gates: Sequence[ShownGate]) -> ShownGate | None:
    """The gate that began first: of those in progress, or else of those that failed or block."""
    closed = (None, GateStatus.APPROVED, GateStatus.SKIPPED)
    unfinished = [each for each in gates if each[0].gate.status not in closed]
    in_progress = [each for each in unfinished if each[0].gate.is_open]
    return min(in_progress or unfinished, key=lambda each: each[0].started_at, default=None)


def _with_step(
    state: Document, task: OpenTask, shown: ShownGate, snapshot: ProjectSnapshot
) -> Document:
    """STATE.md after a step of a gate; it shows one gate, which may be another one."""
    if shown[0] != task:
        if read_task(state) != shown[0]:
            state = with_task(state, shown[0], snapshot.now)
        if shown[1]:
            state = session_edits.with_resume_file(state, shown[1])
        return stamped(state, snapshot.now)
    state = with_task(state, task, snapshot.now)
    if task.phase and task.gate.is_open:
        phase = PhaseId.parse(task.phase)
        # Repeating a task of a finished phase does not make the phase active again.
        if phase != active_phase(state) and may_be_active(phase, "", snapshot.position):
            state = _with_active_phase(state, phase, snapshot)
    return session_edits.with_resume_file(state, shown[1])
