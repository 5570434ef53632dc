"""Events of a project, each recorded in one transaction that is durable when the call returns.

The decision is made under the lock: STATE.md is read, the files are scanned if the event needs
them, and lines that have to leave STATE.md reach the archive in the same transaction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from fairlead.core.duration import duration_in
from fairlead.core.ids import PhaseId
from fairlead.core.values import dataclass, replace
from fairlead.project.derive.inventory import Inventory, Plan
from fairlead.project.derive.phase_files import summary_head
from fairlead.project.derive.position import Position
from fairlead.project.errors import UnknownPhase, UnknownPlan
from fairlead.project.handoff import WaitingQuestion, same_question, waiting_text
from fairlead.project.paths import WAITING, archive_of
from fairlead.project.service import (
    ArchiveLog,
    Change,
    ProjectService,
    ProjectSnapshot,
    no_log,
)
from fairlead.project.state import (
    activity,
    archive,
    digest,
    documents,
    edits,
    metrics,
    session,
    values,
)
from fairlead.project.summary import read_summary
from fairlead.store import layout
from fairlead.store.errors import ChangedMeanwhile
from fairlead.store.files import ChangeSet, Edit, WriteOutcome
from fairlead.store.intent import TreeChanges
from fairlead.store.moves import Move
from fairlead.store.staging import removed_path
from fairlead.text.document import Document

PhaseEvent = Callable[[Document, Position, str, datetime], Document]


@dataclass(frozen=True, slots=True)
class LandedPlan:
    """A finished plan and the summary that this transaction writes for it."""

    plan: str  # its path
    summary: str
    text: str  # of the summary
    edits: Mapping[str, Edit]

    def inventory(self, before: Inventory) -> Inventory:
        """The inventory after the transaction."""
        proof = summary_head(self.text.encode("utf-8", "surrogateescape")).proof
        folders = tuple(
            replace(
                folder,
                plans=tuple(
                    plan._replace(summary=self.summary, proof=proof)
                    if plan.path == self.plan
                    else plan
                    for plan in folder.plans
                ),
            )
            for folder in before.folders
        )
        return replace(before, folders=folders)


class Events(ProjectService):
    """Records the events of one project."""

    # -- phases and plans -----------------------------------------------------------------

    def discussion_started(self, phase: str, *, dry_run: bool = False) -> WriteOutcome:
        """The discussion of a phase has started."""
        command = "state begin-phase --step discuss"
        return self._record_start(command, edits.discussion_started, phase, dry_run=dry_run)

    def planning_started(self, phase: str, *, dry_run: bool = False) -> WriteOutcome:
        """The planning of a phase has started."""
        command = "state planned-phase --started"
        return self._record_start(command, edits.planning_started, phase, dry_run=dry_run)

    def verification_started(self, phase: str, *, dry_run: bool = False) -> WriteOutcome:
        """The verification of a finished phase has started."""
        command = "state begin-phase --step verify"
        return self._record_start(command, edits.verification_started, phase, dry_run=dry_run)

    def plans_ready(self, phase: str, *, dry_run: bool = False) -> WriteOutcome:
        """The plans of a phase are written."""
        command = "state planned-phase"
        return self._record_start(command, edits.plans_ready, phase, reopens=True, dry_run=dry_run)

    def execution_started(self, phase: str, *, dry_run: bool = False) -> WriteOutcome:
        """The execution of a phase has started."""
        command, event = "state begin-phase", edits.execution_started
        return self._record_start(command, event, phase, reopens=True, dry_run=dry_run)

    def plan_completed(
        self, phase: str = "", *, plan: str = "", dry_run: bool = False
    ) -> WriteOutcome:
        """A plan has its summary, and the position moves on."""

        def change(state: Document, snapshot: ProjectSnapshot) -> Document:
            moved = edits.plan_completed(
                state, snapshot.position, phase, snapshot.now, plan=plan, latest=self._latest
            )
            return metrics.with_velocity(moved, snapshot.durations)

        return self._record_for_phase(phase, "state advance-plan", change, dry_run=dry_run)

    def task_result(self, result: edits.TaskResult, *, dry_run: bool = False) -> WriteOutcome:
        """An executor returned a result."""

        def change(state: Document, snapshot: ProjectSnapshot) -> Document:
            changed = edits.task_result(state, result, snapshot.position, snapshot.now)
            if not result.duration or changed is state:
                return metrics.with_velocity(changed, snapshot.durations)
            placed = edits.placed_result(state, result, snapshot.position)
            plan = placed.plan or str(digest.recorded_plan(state))
            metric = metrics.Metric(placed.phase, plan, result.duration)
            return metrics.add_time(changed, metric, snapshot.durations, snapshot.now)

        def log(state: Document, snapshot: ProjectSnapshot) -> tuple[str, ...]:
            """What a blocked task needs: the order of the plans may have to change."""
            if result.outcome is not edits.TaskOutcome.BLOCKED:
                return ()
            placed = edits.placed_result(state, result, snapshot.position)
            return (edits.reanalysis_entry(placed, snapshot.now),)

        return self._record_for_phase(
            result.phase, "state task-result", change, log=log, dry_run=dry_run
        )

    def metric(self, metric: metrics.Metric, *, dry_run: bool = False) -> WriteOutcome:
        """Record how long a plan took."""
        phase = PhaseId.parse(metric.phase)

        def change(state: Document, snapshot: ProjectSnapshot) -> Document:
            inventory = snapshot.inventory
            if phase not in inventory.known:
                raise UnknownPhase(phase.short, [known.short for known in sorted(inventory.known)])
            folders = (*inventory.folders, *inventory.archived)
            plans = [plan.id for each in folders if each.id == phase for plan in each.plans]
            labels = {metrics.Metric(metric.phase, plan, "").name for plan in plans}
            if plans and metric.name not in labels:
                raise UnknownPlan(metric.plan)
            return metrics.record_metric(state, metric, snapshot.durations, snapshot.now)

        return self._record("state record-metric", change, dry_run=dry_run)

    def sync(self, *, dry_run: bool = False) -> WriteOutcome:
        """Correct everything in STATE.md that the files contradict."""
        return self.follow("", dry_run=dry_run)

    def follow(
        self,
        executed: str,
        landed: LandedPlan | None = None,
        *,
        ends: bool = False,
        dry_run: bool = False,
    ) -> WriteOutcome:
        """Sync STATE.md, and with it the stop, the times and the roadmap marks of a phase.

        `executed` is the phase being executed, or empty; with `ends` its run is over, and the
        phase is no longer active. A plan that lands is written in the same transaction.
        """

        def change(state: Document, snapshot: ProjectSnapshot) -> Document:
            position = snapshot.position
            if ends and executed and digest.active_phase(state) == PhaseId.parse(executed):
                state = digest.with_next_step(state, position)
            moved = edits.synced(_with_project_words(state, snapshot), position, snapshot.now)
            folder = digest.phase_in_scope(position, executed).folder if executed else None
            done = [plan for plan in folder.live_plans if plan.is_complete] if folder else []
            names = [plan.path.rpartition("/")[2] for plan in done]
            if landed:
                moved = activity.with_stop(moved, f"Completed {landed.plan.rpartition('/')[2]}")
            elif names and activity.stop_of(moved).removeprefix("Completed ") not in names:
                moved = activity.with_stop(moved, f"Completed {names[-1]}")
            durations = snapshot.durations
            timed = [(metrics.Metric(executed, plan.id, ""), plan.summary) for plan in done]
            untimed = [each for each in timed if not metrics.has_row(moved, each[0], durations)]
            for metric, path in untimed:
                is_new = landed is not None and path == landed.summary
                summary = landed.text if landed and is_new else snapshot.files.load(path).text
                moved = _with_time(moved, metric, summary, snapshot)
            return metrics.with_velocity(moved, snapshot.durations)

        def decide(before: ProjectSnapshot) -> ChangeSet:
            snapshot = before.after(landed.inventory(before.inventory)) if landed else before
            state = snapshot.state_change(change, completes=True)
            phases = (digest.phase_in_scope(snapshot.position, executed),) if executed else ()
            all_edits = {**snapshot.roadmap_marks(phases)[0], **state.edits}
            if not landed:
                return replace(state, edits=all_edits)
            created = state.may_create | {landed.summary}
            return ChangeSet({**landed.edits, **all_edits}, may_create=created)

        return self._transact("state sync", decide, dry_run=dry_run)

    # -- lists ----------------------------------------------------------------------------

    def blocker_added(self, text: str, *, phase: str = "", dry_run: bool = False) -> WriteOutcome:
        """Record a blocker."""
        return self._record(
            "state add-blocker",
            lambda state, snapshot: documents.add_blocker(state, text, snapshot.now, phase=phase),
            dry_run=dry_run,
        )

    def blocker_resolved(self, text: str, *, dry_run: bool = False) -> WriteOutcome:
        """Remove a blocker."""
        return self._record(
            "state resolve-blocker",
            lambda state, snapshot: documents.resolve_blocker(state, text, snapshot.now),
            dry_run=dry_run,
        )

    def roadmap_changed(
        self, entry: documents.RoadmapChange, *, dry_run: bool = False
    ) -> WriteOutcome:
        """Record a change of the roadmap and its reason."""
        return self._record(
            "state add-roadmap-evolution",
            lambda state, snapshot: documents.add_roadmap_change(state, entry, snapshot.now),
            dry_run=dry_run,
        )

    # -- fields ---------------------------------------------------------------------------

    def value(self, name: str) -> object:
        """The value of a field of STATE.md."""
        return values.get_value(Document(self._files.load(self._state).text), name)

    def text(self) -> str:
        """The text of STATE.md."""
        return self._files.load(self._state).text

    def set_value(self, name: str, value: str, *, dry_run: bool = False) -> WriteOutcome:
        """Set a field of STATE.md."""

        def change(state: Document, snapshot: ProjectSnapshot) -> Document:
            if name == "paused_at" and value == "null":
                # The pause is recorded in several places; all of them must end.
                return session.resumed(state, snapshot.position, snapshot.now)
            return values.set_true_value(state, name, value, snapshot.position, snapshot.now)

        return self._record("state set", change, dry_run=dry_run)

    # -- pause and wait -------------------------------------------------------------------

    def paused(self, at: str, *, dry_run: bool = False) -> WriteOutcome:
        """The project is paused."""
        return self._record(
            "state pause",
            lambda state, snapshot: session.paused(state, at, snapshot.now),
            dry_run=dry_run,
        )

    def waiting(self, question: WaitingQuestion, *, dry_run: bool = False) -> WriteOutcome:
        """The project waits for an answer; the same question is recorded once."""
        if question.phase:
            PhaseId.parse(question.phase)
        now = self._clock.now()

        def edit(text: str) -> str:
            return text if same_question(text, question) else waiting_text(question, now)

        def decide() -> ChangeSet:
            return ChangeSet({WAITING: edit}, may_create=frozenset((WAITING,)))

        return self._files.carry_out(decide, command="state wait", dry_run=dry_run)

    def answered(self, *, dry_run: bool = False) -> WriteOutcome:
        """The project no longer waits for an answer."""
        stamp = ProjectSnapshot(self._files, self._clock.now(), self._workstream).stamp

        def decide() -> ChangeSet:
            if not self._files.exists(WAITING):
                return ChangeSet({})
            move = Move(WAITING, removed_path(WAITING, stamp))
            return ChangeSet({}, TreeChanges(moves=(move,)))

        return self._files.carry_out(decide, command="state wait --clear", dry_run=dry_run)

    # -- size -----------------------------------------------------------------------------

    def prune(
        self,
        *,
        target: int = archive.TARGET_LINES,
        keep: int = archive.KEPT_DECISIONS,
        dry_run: bool = False,
    ) -> WriteOutcome:
        """Move the oldest entries to the archive until STATE.md is short enough."""

        def decide(snapshot: ProjectSnapshot) -> ChangeSet:
            before, now = snapshot.state(), snapshot.now

            def pruned(state: Document) -> archive.Pruned:
                return archive.pruned(state, now, target=target, keep=keep)

            after = snapshot.changed(before, lambda state, _: pruned(state).document)
            moved = pruned(before).moved
            if not moved:
                return ChangeSet({})
            path = archive_of(self._workstream)

            def shorten(text: str) -> str:
                if text == before.text:
                    return after.text
                again = pruned(Document(text))
                if again.moved != moved:  # the archive would miss what leaves this version
                    raise ChangedMeanwhile(self._state)
                return again.document.text

            return ChangeSet(
                {
                    path: lambda text: archive.kept_in_archive(text, moved, "pruned", now),
                    self._state: shorten,
                },
                may_create=frozenset((path,)),
            )

        return self._transact("state prune", decide, dry_run=dry_run)

    # -- the parts of an event ------------------------------------------------------------

    @property
    def _state(self) -> str:
        return layout.documents_of(self._workstream)[0]

    def _latest(self, plans: tuple[Plan, ...]) -> Plan:
        """The plan with the newest summary; the last one of several."""
        return max(reversed(plans), key=lambda plan: self._files.changed_at(plan.summary))

    def _record_start(
        self,
        command: str,
        event: PhaseEvent,
        phase: str,
        *,
        reopens: bool = False,
        dry_run: bool,
    ) -> WriteOutcome:
        def change(state: Document, snapshot: ProjectSnapshot) -> Document:
            begun = event(state, snapshot.position, phase, snapshot.now)
            return begun if begun is state else metrics.with_velocity(begun, snapshot.durations)

        return self._record_for_phase(phase, command, change, reopens=reopens, dry_run=dry_run)

    def _record_for_phase(
        self,
        phase: str,
        command: str,
        change: Change,
        *,
        reopens: bool = False,
        log: ArchiveLog = no_log,
        dry_run: bool,
    ) -> WriteOutcome:
        """Record an event of a phase, or of the phase in progress, with its marks in ROADMAP.md."""

        def decide(snapshot: ProjectSnapshot) -> ChangeSet:
            name = phase or digest.recorded_phase(snapshot.state(), snapshot.position)
            number = PhaseId.parse(name) if name else None
            phases = [each for each in snapshot.position.scope.phases if each.id == number]
            marks, _ = snapshot.roadmap_marks(phases, reopens=reopens)
            ahead = snapshot.with_edits(marks) if reopens else snapshot
            state = ahead.state_change(change, log=log)
            return replace(state, edits={**marks, **state.edits})

        return self._transact(command, decide, dry_run=dry_run)

    def _record(self, command: str, change: Change, *, dry_run: bool) -> WriteOutcome:
        return self._transact(
            command, lambda snapshot: snapshot.state_change(change), dry_run=dry_run
        )


def _with_project_words(state: Document, snapshot: ProjectSnapshot) -> Document:
    """STATE.md with the core value and the focus that PROJECT.md states."""
    project = snapshot.files.load_for_display(layout.PROJECT)
    if project is None:
        return state
    changed = activity.with_project_words(state, Document(project.text), snapshot.position)
    return state if changed is state else documents.stamped(changed, snapshot.now)


def _with_time(
    state: Document, metric: metrics.Metric, text: str, snapshot: ProjectSnapshot
) -> Document:
    """STATE.md with the duration that the summary of a plan records, if we wrote the summary."""
    summary = read_summary(text)
    if not summary.ledger or duration_in(summary.duration) is None:
        return state  # another tool's summary, which may measure differently
    files = len(summary.created) + len(summary.modified)
    timed = replace(metric, duration=summary.duration, tasks=summary.actuals.tasks, files=files)
    return metrics.record_metric(state, timed, snapshot.durations, snapshot.now)
