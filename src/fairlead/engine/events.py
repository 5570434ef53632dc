"""Events: what happens to a project, each recorded in one step that is durable when it returns.

Everything is decided while the lock is held: the document is read, the files are scanned where
the event needs them, and what has to leave STATE.md arrives in the archive in the same step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from fairlead.engine.look import Change, Look, Steps
from fairlead.errors import ChangedMeanwhile, UnknownPhase
from fairlead.model.duration import duration_in
from fairlead.model.ids import PhaseId
from fairlead.model.inventory import Inventory
from fairlead.model.standing import Standing
from fairlead.records import (
    activity,
    blockers,
    events,
    evolution,
    metrics,
    position,
    prune,
    session,
    tasks,
    values,
)
from fairlead.records import archive as archive_file
from fairlead.records.phase_files import summary_head
from fairlead.records.summary import read_summary
from fairlead.records.waiting import Question, same_question, waiting_text
from fairlead.store import layout
from fairlead.store.files import Draft, Edit, Outcome
from fairlead.store.intent import Places
from fairlead.store.moves import Move
from fairlead.text.document import Document
from fairlead.values import dataclass, replace

PhaseEvent = Callable[[Document, Standing, str, datetime], Document]


@dataclass(frozen=True, slots=True)
class Landed:
    """A plan that is done, with the summary that is about to prove it."""

    plan: str  # its path
    summary: str
    text: str  # of the summary
    edits: Mapping[str, Edit]

    def inventory(self, before: Inventory) -> Inventory:
        """What will be on disk."""
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


class Events(Steps):
    """Records the events of one project."""

    # -- phases and plans -----------------------------------------------------------------

    def discussion_started(self, phase: str, *, dry_run: bool = False) -> Outcome:
        """A phase is being discussed."""
        command = "state begin-phase --step discuss"
        return self._begin(command, events.discussion_started, phase, dry_run=dry_run)

    def planning_started(self, phase: str, *, dry_run: bool = False) -> Outcome:
        """The plans of a phase are being made."""
        command = "state planned-phase --started"
        return self._begin(command, events.planning_started, phase, dry_run=dry_run)

    def verification_started(self, phase: str, *, dry_run: bool = False) -> Outcome:
        """A phase whose plans are done is being verified."""
        command = "state begin-phase --step verify"
        return self._begin(command, events.verification_started, phase, dry_run=dry_run)

    def plans_ready(self, phase: str, *, dry_run: bool = False) -> Outcome:
        """The plans of a phase are there."""
        command = "state planned-phase"
        return self._begin(command, events.plans_ready, phase, reopens=True, dry_run=dry_run)

    def execution_started(self, phase: str, *, dry_run: bool = False) -> Outcome:
        """The plans of a phase are being executed."""
        command = "state begin-phase"
        return self._begin(command, events.execution_started, phase, reopens=True, dry_run=dry_run)

    def plan_completed(self, phase: str = "", *, plan: str = "", dry_run: bool = False) -> Outcome:
        """A plan has its summary, and the position follows."""

        def change(held: Document, at: Look) -> Document:
            moved = events.plan_completed(held, at.standing, phase, at.now, plan=plan)
            return metrics.with_plans_completed(moved, at.standing, at.inventory)

        return self._record_of(phase, "state advance-plan", change, dry_run=dry_run)

    def task_result(self, result: tasks.TaskResult, *, dry_run: bool = False) -> Outcome:
        """An executor returned a result."""

        def change(held: Document, at: Look) -> Document:
            told = tasks.task_result(held, result, at.standing, at.now)
            if result.duration and told is not held:
                phase = result.phase or position.recorded_phase(held, at.standing)
                plan = result.plan or str(position.recorded_plan(held))
                took = metrics.Metric(phase, plan, result.duration)
                told = metrics.add_time(told, took, at.standing, at.inventory, at.now)
            return metrics.with_plans_completed(told, at.standing, at.inventory)

        return self._record_of(result.phase, "state task-result", change, dry_run=dry_run)

    def metric(self, metric: metrics.Metric, *, dry_run: bool = False) -> Outcome:
        """What a plan took."""
        phase = PhaseId.parse(metric.phase)

        def change(held: Document, at: Look) -> Document:
            if phase not in at.inventory.known:
                raise UnknownPhase(phase.short, [each.short for each in sorted(at.inventory.known)])
            return metrics.record_metric(held, metric, at.standing, at.inventory, at.now)

        return self._record("state record-metric", change, dry_run=dry_run)

    def sync(self, *, dry_run: bool = False) -> Outcome:
        """Write everything that follows from the files anew."""
        return self.follow("", dry_run=dry_run)

    def follow(
        self, carried_out: str, landed: Landed | None = None, *, dry_run: bool = False
    ) -> Outcome:
        """The same, after the phase that is being carried out, if one is: the work stopped at its
        last plan, and its marks in the roadmap follow; with the plan that lands in one step.
        """

        def change(held: Document, at: Look) -> Document:
            moved = events.synced(held, at.standing, at.now)
            here = position.phase_of(at.standing, carried_out).folder if carried_out else None
            done = [each for each in here.live_plans if each.is_complete] if here else []
            if done:
                moved = activity.with_stop(moved, f"Completed {done[-1].path.rpartition('/')[2]}")
            untimed = [
                (row, plan.summary)
                for plan in done
                if not metrics.has_row(moved, row := metrics.Metric(carried_out, plan.id, ""))
            ]
            for row, path in untimed:
                is_new = landed is not None and path == landed.summary
                told = landed.text if landed and is_new else at.files.load(path).text
                moved = _with_time(moved, row, told, at)
            return metrics.with_plans_completed(moved, at.standing, at.inventory)

        def decide(look: Look) -> Draft:
            sight = look.after(landed.inventory(look.inventory)) if landed else look
            draft = sight.draft(change)
            here = (position.phase_of(sight.standing, carried_out),) if carried_out else ()
            edits = {**sight.marking(here)[0], **draft.edits}
            if not landed:
                return replace(draft, edits=edits)
            made = frozenset((landed.summary,))
            return Draft({**landed.edits, **edits}, may_create=draft.may_create | made)

        return self._step("state sync", decide, dry_run=dry_run)

    # -- context --------------------------------------------------------------------------

    def blocker_added(self, text: str, *, phase: str = "", dry_run: bool = False) -> Outcome:
        """Something stands in the way."""
        return self._record(
            "state add-blocker",
            lambda held, at: blockers.add_blocker(held, text, at.now, phase=phase),
            dry_run=dry_run,
        )

    def blocker_resolved(self, text: str, *, dry_run: bool = False) -> Outcome:
        """It does not any more."""
        return self._record(
            "state resolve-blocker",
            lambda held, at: blockers.resolve_blocker(held, text, at.now),
            dry_run=dry_run,
        )

    def roadmap_evolved(self, change: evolution.Evolution, *, dry_run: bool = False) -> Outcome:
        """The roadmap changed, and why."""
        return self._record(
            "state add-roadmap-evolution",
            lambda held, at: evolution.add_evolution(held, change, at.now),
            dry_run=dry_run,
        )

    # -- fields ---------------------------------------------------------------------------

    def value(self, name: str) -> object:
        """What a field of STATE.md says."""
        return values.get_value(Document(self._files.load(self._state).text), name)

    def text(self) -> str:
        """The whole of STATE.md."""
        return self._files.load(self._state).text

    def set_value(self, name: str, value: str, *, dry_run: bool = False) -> Outcome:
        """Another value for one field."""

        def change(held: Document, at: Look) -> Document:
            if name == "paused_at" and value == "null":
                return session.resumed(held, at.standing, at.now)  # no place is left half paused
            return values.set_true_value(held, name, value, at.standing, at.now)

        return self._record("state set", change, dry_run=dry_run)

    # -- pause and wait -------------------------------------------------------------------

    def paused(self, at: str, *, dry_run: bool = False) -> Outcome:
        """The project is paused."""
        return self._record(
            "state pause", lambda held, look: session.paused(held, at, look.now), dry_run=dry_run
        )

    def waiting(self, question: Question, *, dry_run: bool = False) -> Outcome:
        """The project waits for an answer; the same question is asked once."""
        if question.phase:
            PhaseId.parse(question.phase)
        now = self._clock.now()

        def edit(text: str) -> str:
            return text if same_question(text, question) else waiting_text(question, now)

        def decide() -> Draft:
            return Draft({layout.WAITING: edit}, may_create=frozenset((layout.WAITING,)))

        return self._files.carry_out(decide, command="state wait", dry_run=dry_run)

    def answered(self, *, dry_run: bool = False) -> Outcome:
        """The project waits no longer."""
        look = Look(self._files, self._clock.now(), self._workstream)

        def decide() -> Draft:
            if not self._files.exists(layout.WAITING):
                return Draft({})
            target = layout.removed_path(layout.WAITING, look.stamp)
            return Draft({}, Places(moves=(Move(layout.WAITING, target),)))

        return self._files.carry_out(decide, command="state wait --clear", dry_run=dry_run)

    # -- size -----------------------------------------------------------------------------

    def prune(
        self,
        *,
        target: int = prune.TARGET_LINES,
        keep: int = prune.KEPT_DECISIONS,
        dry_run: bool = False,
    ) -> Outcome:
        """Move the oldest entries to the archive until STATE.md is short enough."""

        def decide(look: Look) -> Draft:
            before, now = look.state(), look.now
            cut = look.changed(
                before, lambda held, _: prune.pruned(held, now, target=target, keep=keep).document
            )
            moved = prune.pruned(before, now, target=target, keep=keep).moved
            if not moved:
                return Draft({})
            archive = layout.archive_of(self._workstream)

            def shorter(text: str) -> str:
                if text == before.text:
                    return cut.text
                again = prune.pruned(Document(text), now, target=target, keep=keep)
                if again.moved != moved:  # what left it would be missing from the archive
                    raise ChangedMeanwhile(self._state)
                return again.document.text

            return Draft(
                {
                    archive: lambda text: archive_file.kept_in_archive(text, moved, "pruned", now),
                    self._state: shorter,
                },
                may_create=frozenset((archive,)),
            )

        return self._step("state prune", decide, dry_run=dry_run)

    @property
    def _state(self) -> str:
        return layout.documents_of(self._workstream)[0]

    def _begin(
        self,
        command: str,
        event: PhaseEvent,
        phase: str,
        *,
        reopens: bool = False,
        dry_run: bool,
    ) -> Outcome:
        def change(held: Document, at: Look) -> Document:
            return event(held, at.standing, phase, at.now)

        return self._record_of(phase, command, change, reopens=reopens, dry_run=dry_run)

    def _record_of(
        self, phase: str, command: str, change: Change, *, reopens: bool = False, dry_run: bool
    ) -> Outcome:
        """An event of a phase, else of the one that is worked on: its marks follow in ROADMAP.md."""

        def decide(look: Look) -> Draft:
            draft = look.draft(change)
            named = phase or position.recorded_phase(look.state(), look.standing)
            number = PhaseId.parse(named) if named else None
            here = (each for each in look.standing.scope.phases if each.id == number)
            return replace(draft, edits={**look.marking(here, reopens=reopens)[0], **draft.edits})

        return self._step(command, decide, dry_run=dry_run)

    def _record(self, command: str, change: Change, *, dry_run: bool) -> Outcome:
        return self._step(command, lambda look: look.draft(change), dry_run=dry_run)


def _with_time(document: Document, row: metrics.Metric, summary: str, at: Look) -> Document:
    """The document with what a plan took, as its summary says, where it keeps such rows."""
    told = read_summary(summary)
    if not told.ledger or duration_in(told.duration) is None:
        return document  # somebody else's, who counts in their own way
    files = len(told.created) + len(told.modified)
    took = replace(row, duration=told.duration, tasks=told.actuals.tasks, files=files)
    return metrics.record_metric(document, took, at.standing, at.inventory, at.now)
