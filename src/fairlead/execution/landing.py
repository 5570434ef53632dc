"""Landing: merges finished plans into the project and writes the summaries that prove them.

One plan lands at a time. The merge commit is made first and moved to the branch in one step. The
summary comes last, together with the documents that follow from it, because it is the proof. A
step that was interrupted is completed by repeating it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import TYPE_CHECKING

from fairlead.agents.secrets import without_secrets
from fairlead.core.concurrency import BackgroundWorker
from fairlead.core.errors import ConflictError, DocumentError, FairleadError
from fairlead.core.values import replace
from fairlead.execution.clean_trees import CleanTrees
from fairlead.execution.decide import ABORT, ACCEPT, EXECUTOR_ASKS, RETRY, question_id
from fairlead.execution.judge import CONFLICT_LINES, conflict_lines, verify_outcome
from fairlead.execution.leftovers import remove_worktrees
from fairlead.execution.model import Act, Action
from fairlead.execution.tamper_check import (
    JobPlace,
    checked_command,
    moved_branch_question,
    settle_ended_job,
)
from fairlead.jobs.approvals import answer_digest
from fairlead.jobs.calls import CallLedger
from fairlead.jobs.kinds import JobAccess
from fairlead.jobs.ledger import MERGED, EntryKind, head
from fairlead.jobs.loop import the_only_run
from fairlead.jobs.model import (
    Job,
    JobStatus,
    Question,
    QuestionKind,
    TaskGate,
    first_base,
    last_work,
    skip_kind,
)
from fairlead.jobs.paths import ledger_path, lock_of, private_folder
from fairlead.plans.model import CommandResult, PlanDocument, task_id
from fairlead.plans.task_boxes import with_tasks_done
from fairlead.plans.waves import FileClaims
from fairlead.project.derive.heads import HeadCache
from fairlead.project.events import Events, LandedPlan
from fairlead.project.naming import summary_path
from fairlead.project.paths import archive_of
from fairlead.project.sessions import Sessions
from fairlead.project.state.blockers import TaskOrigin
from fairlead.project.state.documents import moment
from fairlead.project.state.edits import TaskOutcome, TaskResult
from fairlead.project.state.gate import OpenTask
from fairlead.project.state.gate_rules import LONGEST_SUMMARY, GateEvent, GateStatus
from fairlead.project.summary import Actuals, Summary, new_summary
from fairlead.store import layout
from fairlead.store.errors import SessionHeld
from fairlead.text.document import Document
from fairlead.text.inline import file_name
from fairlead.text.printable import visible
from fairlead.vcs.model import MergeConflict

if TYPE_CHECKING:
    from fairlead.execution.context import ExecutionContext
    from fairlead.jobs.folder import JobFolder
    from fairlead.store.files import Files
    from fairlead.store.lock import SessionLock
    from fairlead.vcs.ports import Workspace

_OUTCOMES: dict[GateStatus | None, TaskOutcome] = {
    GateStatus.FAILED: TaskOutcome.FAILURE,
    GateStatus.BLOCKED: TaskOutcome.BLOCKED,
}

_LANDED_AT_ONCE = 8  # plans whose worktrees are removed together


class Landing:
    """Lands the plans of one job."""

    def __init__(self, context: ExecutionContext) -> None:
        self._context = context
        project = context.files, context.clock, context.job.workstream
        heads = HeadCache()
        self._sessions = Sessions(*project, heads=heads)
        self._events = Events(*project, heads=heads)
        self.ledger = CallLedger(context)
        self.trees = CleanTrees(context)
        self._documents = BackgroundWorker()  # STATE.md follows the gates without delaying them
        self._is_left = False  # whether STATE.md shows that the run is over
        self._landed: list[str] = []  # plans whose worktrees are still there
        self._held: dict[str, SessionLock] = {}  # by plan: its handover belongs to this process

    # -- evidence --------------------------------------------------------------------------

    def record_answers(self, action: Action) -> None:
        """Record the answers about a plan before anything acts on them; at the end, all answers."""
        _, subject_plan = self._context.task_and_plan(action.subject)
        for question in self._context.questions():
            task, plan = self._context.task_and_plan(question.subject)
            is_meant = plan and (plan == subject_plan or action.act is Act.FINISH)
            # The action that performs a skip or an override records it.
            is_skip = question.kind is QuestionKind.ESCALATION and skip_kind(question.answer)
            if question.answer and is_meant and not is_skip:
                with suppress(DocumentError):  # the next entry reports a damaged ledger
                    self._record_answer(plan, task, question)

    def _record_answer(self, plan: str, task: str, question: Question) -> None:
        digest = answer_digest(self._context.job.id, question)
        if digest in {entry.output_sha256 for entry in self.ledger.entries(plan)}:
            return
        gate = self._context.folder.load_gate(task)
        attempt = gate.gate.serial if gate else 1
        entry = replace(
            self.ledger.entry(EntryKind.ANSWER, task, attempt, "a person"),
            verdict=f"{question.kind}: {question.answer}",
            output_sha256=digest,
            tail=question.text,
        )
        self.ledger.record(plan, entry)

    # -- STATE.md --------------------------------------------------------------------------

    def show(self, gate: TaskGate) -> None:
        """Show a gate in STATE.md and in the handover, in the background."""
        note = visible(gate.note.strip().partition("\n")[0])
        phase, status = self._context.job.listed, gate.gate.status
        task = OpenTask(gate.name, phase, gate.plan, gate.plan, gate.gate, gate.started_at, note)
        outcome = TaskOutcome.SUCCESS if gate.gate.is_complete else _OUTCOMES.get(status)
        reason = note[:LONGEST_SUMMARY].strip() or str(status)
        result = TaskResult(gate.name, outcome, phase, reason, plan=gate.plan) if outcome else None
        self._hold_session(gate.plan)
        self._documents.submit(lambda: self._sessions.show(task, result))

    def _hold_session(self, plan: str) -> None:
        """Show that the handover of a plan is in use, so that no other session takes it over."""
        if plan not in self._held:
            with suppress(SessionHeld):
                self._held[plan] = self._sessions.hold(plan).__enter__()

    def _release_session(self, plan: str) -> None:
        if plan in self._held:
            self._held.pop(plan).__exit__()

    def wait_for_documents(self) -> None:
        """Wait until STATE.md shows every gate: before a paid call, and before landing."""
        self._documents.join()

    def show_gates_of_killed_run(self) -> None:
        """Bring STATE.md up to date with the gates that a killed run saved."""
        begun: dict[str, list[TaskGate]] = {}
        for gate in self._context.folder.load_gates():
            begun.setdefault(gate.plan, []).append(gate)
        for plan, gates in begun.items():
            document, shown = self._context.plans.get(plan), self._sessions.task(plan)
            if document and self._context.files.exists(summary_path(document.path)):
                self._sessions.closed(plan)
                continue
            # The next task may have begun before STATE.md showed the end of the one before.
            names = [gate.name for gate in gates]
            first = names.index(shown.name) if shown and shown.name in names else len(names) - 1
            for gate in gates[first:]:
                if shown is None or (shown.name, shown.gate) != (gate.name, gate.gate):
                    self.show(gate)

    # -- merging ---------------------------------------------------------------------------

    def merge(self, plan: str) -> None:
        """Merge the work of a plan into the target branch; a person is asked about any obstacle."""
        context, document = self._context, self._context.plans[plan]
        commit = last_work(self.gates(document))
        while merge := self._merge_commit(document, commit):
            # Nothing else lands meanwhile, but a person may commit: then the merge is made again.
            if not self._is_verified(document, commit, merge[1]):
                return
            with context.turn:
                if context.head() != merge[0]:
                    continue
                has_landed = self._land(document, commit, *merge)
            if not has_landed:
                self._leave_merged_tree(document)
            return

    def _land(self, document: PlanDocument, commit: str, at: str, merged: str) -> bool:
        context, plan = self._context, document.id
        try:
            context.workspace.land(context.job.target, at, merged, layout.PLANNING)
        except ConflictError as error:
            self._ask(plan, commit, f"{plan} cannot land: {visible(str(error))}")
            return False
        context.note_move(context.job.target, merged)
        self._record_merge(plan, merged)
        return True

    def _record_merge(self, plan: str, merged: str) -> None:
        context = self._context
        entry = self.ledger.entry(EntryKind.MERGE, plan, 1, "fairlead")
        tree = context.workspace.tree_id(merged)
        self.ledger.record(plan, replace(entry, tree=tree, verdict="merged", tail=merged))
        context.tell("merged", plan, merged[:10], commit=merged, branch=context.job.target)

    def _record_unrecorded_merge(self, document: PlanDocument) -> None:
        """Record the merge of a run that was killed between landing a plan and recording it."""
        context, plan = self._context, document.id
        if not context.job.is_git or not last_work(self.gates(document)):
            return
        entries = self.ledger.entries(plan)
        if any(each.kind is EntryKind.MERGE and each.job == context.job.id for each in entries):
            return
        message = self._message(document).strip()
        history = context.workspace.first_parents().items()
        merged = next((commit for commit, text in history if text.strip() == message), "")
        if merged:  # otherwise a person has merged it
            self._record_merge(plan, merged)

    def _merge_commit(self, document: PlanDocument, commit: str) -> tuple[str, str] | None:
        """The head of the target and a merge with it; None: landed already, or a person is asked."""
        context, plan = self._context, document.id
        with context.turn:
            at = context.head()
            if not commit or context.workspace.is_ancestor(commit, at):
                return None
            if question := moved_branch_question(context, plan, at):
                self._save_question(question)
                return None
            deleted = ", ".join(map(file_name, self._undeclared_deletions(document, commit)))
            if deleted and not self._is_accepted(plan, commit):
                self._ask(plan, commit, f"{plan} deletes files it did not declare: {deleted}")
                return None
            merged = context.workspace.merged(at, commit, self._message(document))
        if not merged.commit:
            self._ask_about_conflict(plan, at, commit, merged.clashes)
            return None
        return at, merged.commit

    def _is_verified(self, document: PlanDocument, commit: str, merged: str) -> bool:
        """Whether the verify commands of a plan pass on the merged tree; if not, a person is asked.

        Plans are made side by side: each may pass alone and fail together with another.
        """
        context, plan = self._context, document.id
        if not context.job.is_git or self._is_landing_forced(plan, commit):
            return True
        gates = self._verified_gates(document)
        if not gates:
            return True  # nothing verified its work before either
        place = self._worktree_of(gates[-1])
        remarks, fault = self.trees.make(place, merged)
        for at, each in enumerate(gates):
            if at and not context.workspace.is_at(place, merged):
                self.trees.make(place, merged)
            if not self._passes(each, place, merged, remarks, fault):
                self._leave_merged_tree(document)
                return False
        return True

    def _verified_gates(self, document: PlanDocument) -> list[TaskGate]:
        """The tasks of a plan whose work a verify command judges."""
        return [each for each in self.gates(document) if each.work and not each.gate.skip_kind]

    def _worktree_of(self, gate: TaskGate) -> str:
        """The worktree of a task; that of a plan's last one has the dependency folders."""
        return f"{self._context.private}/worktrees/{gate.runs[-1].branch.rpartition('/')[2]}"

    def _leave_merged_tree(self, document: PlanDocument) -> None:
        """Give the worktree of a plan that does not land its own files again."""
        context, gates = self._context, self._verified_gates(document)
        if context.job.is_git and gates:
            with context.placing:
                place = self._worktree_of(gates[-1])
                context.workspace.at_commit(place, gates[-1].commit, context.options.kept)

    def _passes(
        self,
        gate: TaskGate,
        place: str,
        merged: str,
        remarks: tuple[str, ...],
        fault: str,
    ) -> bool:
        """Whether one verify command passes on the merged tree; the result is recorded."""
        context, workspace = self._context, self._context.workspace
        _, task = context.task(gate.task)
        limit = context.options.limits.verify
        if fault:
            result = CommandResult(1, 0.0, "", "", problem=fault)
        else:
            source = context.source(merged, setup=self.trees.setup)
            source = source if context.roster.trusts_workers else None
            run = lambda: context.roster.run_command(  # noqa: E731
                task.verify, workspace.inside(place), limit, lambda: not context.over.is_set, source
            ).seen_from(place)
            result, question = checked_command(context, gate.task, gate.plan, run)
            if question:
                self._save_question(question)
                return False
            remarks = (*remarks, *result.remarks)
        if result.is_stopped or context.over.is_set:
            return False  # the next run repeats the step
        event, why = verify_outcome(result, task, needs_tests=context.options.needs_tests)
        note = "; ".join((MERGED, *remarks))
        entry = self.ledger.entry(EntryKind.VERIFY, gate.task, gate.gate.serial, "fairlead")
        recorded = replace(
            entry,
            command=task.verify,
            tree=workspace.tree_id(merged),
            exit_code=result.exit_code,
            seconds=round(result.seconds, 3),
            output_sha256=result.sha256,
            tail=result.tail,
            verdict=str(event),
            note=note,
        )
        self.ledger.record(gate.plan, recorded)
        if event is GateEvent.VERIFY_PASSED:
            return True
        first = visible(why.partition("\n")[0])
        text = f"{gate.plan} fails its verify command on the merged tree: {gate.task}: {first}"
        details = tuple(visible(line) for line in why.splitlines()[1:][-CONFLICT_LINES:])
        options = (RETRY, ACCEPT, ABORT)
        commit = last_work(self.gates(context.plans[gate.plan]))
        self._ask(gate.plan, commit, f"{text}; accept lands it anyway", details, options)
        return False

    def _is_landing_forced(self, plan: str, commit: str) -> bool:
        """Whether a person accepted that the plan lands although it fails on the merged tree."""
        id_ = question_id(QuestionKind.CLASH, plan)
        return any(
            each.answer == ACCEPT and each.about == commit and RETRY in each.options
            for each in self._context.questions()
            if each.id == id_
        )

    def _ask_about_conflict(
        self, plan: str, at: str, commit: str, conflicts: tuple[MergeConflict, ...]
    ) -> None:
        names = ", ".join(file_name(conflict.path) for conflict in conflicts)
        problem = f"{names} changed differently in {at[:10]} and {commit[:10]}"
        remedy = f"on {self._context.job.target}: git merge {commit[:10]}, resolve and commit"
        text = f"{plan} does not merge: {problem}; {remedy}, then accept"
        self._ask(plan, commit, text, conflict_lines(conflicts, plan))

    def _ask(
        self,
        plan: str,
        commit: str,
        text: str,
        details: tuple[str, ...] = (),
        options: tuple[str, ...] = (ACCEPT, ABORT),
    ) -> None:
        id_ = question_id(QuestionKind.CLASH, plan)
        question = Question(
            id_,
            QuestionKind.CLASH,
            plan,
            text,
            options,
            about=commit,
            details=details,
        )
        self._save_question(question)

    def _save_question(self, question: Question) -> None:
        asked = replace(question, asked_at=self._context.now())
        self._context.folder.save_question(asked)
        self._context.tell("question", question.subject, question.text, id=question.id)

    def _is_accepted(self, plan: str, commit: str) -> bool:
        id_ = question_id(QuestionKind.CLASH, plan)
        questions = (each for each in self._context.questions() if each.id == id_)
        return any(each.answer and each.about in ("", commit) for each in questions)

    def _undeclared_deletions(self, document: PlanDocument, commit: str) -> list[str]:
        declared = FileClaims()
        of_tasks = (name for task in document.tasks for name in task.files)
        declared.add((*document.files, *document.deleted, *of_tasks), "plan")
        base = first_base(self.gates(document)) or commit
        changes = self._context.workspace.changes(base, commit)
        deleted = [change.path for change in changes if change.kind == "D"]
        return [path for path in deleted if not declared.clash([path])]

    def gates(self, document: PlanDocument) -> list[TaskGate]:
        """The gates of a plan, in the order of its tasks."""
        tasks = (task_id(document.id, task.number) for task in document.tasks)
        gates = map(self._context.folder.load_gate, tasks)
        return [gate for gate in gates if gate is not None]

    def _message(self, document: PlanDocument) -> str:
        plan, title = document.id, " ".join(document.objective.split())[:60] or "its tasks"
        return f"merge({plan}): {title}\n\nPlan: {plan}\nJob: {self._context.job.id}\n"

    # -- the proof -------------------------------------------------------------------------

    def summarise(self, plan: str) -> None:
        """Write the summary that proves a plan, and the documents that follow from it."""
        self.wait_for_documents()
        context, document = self._context, self._context.plans[plan]
        path = summary_path(document.path)
        self._record_unrecorded_merge(document)
        text = without_secrets(new_summary(self._summary(document)))[0]
        # Only a rehearsal can have left a summary here: it proves nothing, so it is replaced.
        edits = {path: lambda _: self._noted(path, text)}
        if context.files.exists(document.path) and not context.job.is_rehearsed:
            edits[document.path] = lambda old: self._noted(
                document.path, self._with_done_tasks(document, old)
            )
        self._events.follow(context.job.listed, LandedPlan(document.path, path, text, edits))
        context.tell("summarised", plan, path)
        self._sessions.closed(plan)
        self._release_session(plan)
        title = " ".join(document.objective.split())[:60]
        message = f"docs({plan}): complete plan: {title}"
        self._commit_documents(message, (path, document.path), plan)
        self._put_away_landed(plan)

    def _put_away_landed(self, plan: str) -> None:
        """Free the worktrees of landed plans, some at a time: every call looks at all branches.

        New attempts get them again: to write all files anew for each plan takes longer the more
        plans have landed, because their records are files as well.
        """
        context = self._context
        self._landed.append(plan)
        if not context.job.is_git or len(self._landed) < _LANDED_AT_ONCE:
            return
        landed, self._landed = self._landed, []
        gates = [gate for each in landed for gate in self.gates(context.plans[each])]
        with context.turn, context.placing:
            remove_worktrees(
                context.workspace,
                context.job,
                gates,
                context.private,
                is_over=False,
                reuses=True,
            )
            for run in (run for gate in gates for run in gate.runs):
                context.note_move(
                    run.branch, context.workspace.commit_of(f"refs/heads/{run.branch}")
                )

    def _noted(self, path: str, text: str) -> str:
        """The text, after telling the tamper check that this run writes it."""
        self._context.folder.note_write(path, text)
        return text

    def _with_done_tasks(self, document: PlanDocument, text: str) -> str:
        numbers = [gate.number for gate in self.gates(document) if gate.gate.is_complete]
        return with_tasks_done(Document(text), numbers, self._context.now()[:10]).text

    @property
    def _commits_documents(self) -> bool:
        return self._context.job.is_git and self._context.options.keeps_documents

    def _commit_documents(self, message: str, paths: tuple[str, ...] = (), plan: str = "") -> None:
        context = self._context
        if not self._commits_documents or self._has_moved_target():
            return
        plans = (plan,) if plan else context.plans
        record = record_paths(context.job, context.folder, context.files, plans, plan)
        present = [path for path in paths if context.files.exists(path)]
        with context.turn:
            commit = commit_on_target(context.workspace, context.job, (*record, *present), message)
            if commit:
                context.note_move(context.job.target, commit)

    def _answered(self, document: PlanDocument) -> list[str]:
        """The answers about a plan: at a checkpoint, or because an executor asked."""
        kinds = (QuestionKind.DECISION, QuestionKind.ASKED)
        return [
            f"{each.text.partition(EXECUTOR_ASKS)[2] or each.text} {each.answer} ({each.whose})"
            for each in self._context.questions()
            if each.kind in kinds and each.answer and each.subject.startswith(f"{document.id}-")
        ]

    def _has_moved_target(self) -> bool:
        """Whether a person has yet to say what becomes of a branch that an agent moved."""
        context = self._context
        names = {"HEAD", f"refs/heads/{context.job.target}"}
        touched = context.folder.baselines.touched() if context.has_touched else ()
        return any(not names.isdisjoint({*each.before, *each.after}) for each in touched)

    def _summary(self, document: PlanDocument) -> Summary:
        context = self._context
        gates = self.gates(document)
        commit = last_work(gates)
        base = first_base(gates) or commit
        changes = context.workspace.changes(base, commit) if commit else ()
        entries = [
            entry
            for entry in self.ledger.entries(document.id)
            if entry.rehearsed == context.job.is_rehearsed
        ]
        now = context.clock.now()
        began = min((gate.started_at for gate in gates), default=context.job.started_at)
        minutes = round((now - datetime.fromisoformat(began)).total_seconds() / 60)
        is_sound = all(gate.gate.is_complete for gate in gates)
        commits = [gate.work[:10] if context.job.is_git else "" for gate in gates]
        skipped = [f"{gate.name}: {gate.note}" for gate in gates if gate.gate.skip_kind]
        return Summary(
            phase=document.phase,
            plan=document.number,
            title=" ".join(document.objective.split())[:120] or f"plan {document.id}",
            completed=moment(now)[:10],
            duration=f"{minutes} min",
            created=tuple(file_name(each.path) for each in changes if each.kind == "A"),
            modified=tuple(file_name(each.path) for each in changes if each.kind != "A"),
            decisions=(
                *self._answered(document),
                *(each for gate in gates for each in gate.decisions),
            ),
            requirements=document.requirements if is_sound else (),
            actuals=Actuals(
                tokens=sum(entry.tokens_in + entry.tokens_out for entry in entries),
                tasks=len(document.tasks),
                commits=sum(map(bool, commits)),
            ),
            commits=tuple(zip((gate.name for gate in gates), commits, strict=True)),
            deviations=tuple(
                dict.fromkeys((*skipped, *(each for gate in gates for each in gate.deviations)))
            ),
            concerns=_by_task(gates, lambda gate: gate.concerns),
            ledger=head(self.ledger.text(document.id)),
            rehearsed=context.job.is_rehearsed,
            status="complete" if is_sound else "partial",
            is_sound=is_sound,
        )

    # -- the end ---------------------------------------------------------------------------

    def finish(self, action: Action) -> None:
        """End the job: remove what it no longer needs, and keep failed attempts on branches."""
        self.wait_for_documents()
        context = self._context
        status = JobStatus(action.subject)
        is_over = status is not JobStatus.BLOCKED
        with context.turn:
            gates = context.folder.load_gates()
            remove_worktrees(
                context.workspace, context.job, gates, context.private, is_over=is_over
            )
        job = replace(
            context.folder.load(Job),
            status=status,
            ended_at=context.now(),
            note=action.note,
            # A blocked job is open; a person may still end it without committing anything.
            commits_end=is_over and self._commits_documents,
        )
        if job.status is JobStatus.FAILED:  # before the record is saved: a killed run repeats it
            self._try(lambda: close_tasks(context.folder, self._sessions))
        has_followed = self.leave_phase()
        # From here on no run continues the job, unless git lacks its record.
        context.folder.save_record(job)
        context.tell("finished", job.id, action.note, status=str(job.status))
        if has_followed:
            self._try(lambda: self._commit_documents(record_message(job), self._proofs(job)))

    def leave_phase(self) -> bool:
        """Sync the documents; the phase is not active any more, however the run ended."""
        if not self._is_left:
            listed = self._context.job.listed
            self._is_left = self._try(lambda: self._events.follow(listed, ends=True))
        for plan in tuple(self._held):
            self._release_session(plan)
        return self._is_left

    def _try(self, step: Callable[[], object]) -> bool:
        """Whether a change of the documents succeeded: damaged documents must not keep a job open."""
        try:
            step()
        except FairleadError as error:
            note = f"the planning documents could not be updated: {error}"
            self._context.tell("note", self._context.job.id, note)
            return False
        return True

    def _proofs(self, job: Job) -> tuple[str, ...]:
        """The plans that the job finished and their summaries: a killed run did not commit them.

        None while a question of the tamper check is open: an agent may have written one of them.
        """
        tampered = (each for each in self._context.questions() if each.kind is QuestionKind.TOUCHED)
        if not all(question.answer for question in tampered):
            return ()
        plans = (plan.path for plan in self._context.plans.values() if plan.id in job.plans)
        pairs = [(summary_path(path), path) for path in plans]
        return tuple(path for pair in pairs if self._context.files.exists(pair[0]) for path in pair)


def _by_task(
    gates: Sequence[TaskGate], values: Callable[[TaskGate], tuple[str, ...]]
) -> tuple[str, ...]:
    """The remarks on the tasks of a plan; with several tasks, each names its own."""
    lead = {gate.task: f"Task {gate.number}: " if len(gates) > 1 else "" for gate in gates}
    remarks = (f"{lead[gate.task]}{each}" for gate in gates for each in values(gate))
    return tuple(dict.fromkeys(remarks))


def close_tasks(folder: JobFolder, sessions: Sessions) -> None:
    """Remove the tasks of a job that has ended from the open tasks in STATE.md."""
    phase = folder.load(Job).listed
    begun: dict[str, list[TaskOrigin]] = {}
    for gate in folder.load_gates():
        begun.setdefault(gate.plan, []).append(TaskOrigin(phase, gate.plan, gate.name))
    for plan, tasks in begun.items():
        sessions.given_up(plan, tasks)


def record_paths(
    job: Job, folder: JobFolder, files: Files, plans: Iterable[str], plan: str = ""
) -> list[str]:
    """The documents that record a job: the project's, the job's own, and the ledgers of plans.

    With a plan, the gates of other plans are left out.
    """
    state, roadmap, _, requirements = layout.documents_of(job.workstream)
    ledgers = (ledger_path(plan, job.workstream) for plan in plans)
    archive = archive_of(job.workstream)
    paths = (state, archive, roadmap, requirements, *folder.paths(plan), *ledgers)
    return [path for path in paths if files.exists(path)]


def commit_on_target(workspace: Workspace, job: Job, paths: Iterable[str], message: str) -> str:
    """Commit documents if the branch of the job is checked out; otherwise do nothing."""
    if workspace.branch() != job.target:
        return ""
    return workspace.commit_paths(tuple(paths), f"{message}\n\nJob: {job.id}\n")


def record_message(job: Job) -> str:
    """The message of the commit with the record of an ended job."""
    work = "phase" if job.listed else job.kind
    return f"docs({work}-{job.phase}): record the execution"


def cancel_job(jobs: JobAccess, job: Job, workspace: Workspace, *, keeps_documents: bool) -> Job:
    """End an execution or a workflow; a process that runs it ends its calls first."""
    folder = jobs.folder(job.id)
    jobs.end_run(job)
    lock = lock_of(job.kind, job.phase, job.workstream)
    with the_only_run(jobs.files.folder, f"job cancel {job.id}", lock):
        job = folder.load(Job)
        if not job.is_open:
            return job
        now = moment(jobs.clock.now())
        ended = replace(job, status=JobStatus.FAILED, ended_at=now, note="ended by a person")
        project = jobs.files, jobs.clock, ended.workstream
        close_tasks(folder, Sessions(*project))
        settle_ended_job(JobPlace.of(jobs.files, jobs.state.folder, workspace, job.id))
        private = private_folder(jobs.state.folder, jobs.files.folder, job.id)
        remove_worktrees(workspace, ended, folder.load_gates(), private, is_over=True)
        folder.save_record(ended)
        event = {"kind": "finished", "subject": job.id, "text": ended.note, "status": "FAILED"}
        folder.append_event({"at": now, **event})
        if ended.plans:  # only a job with plans appears in the documents of the project
            Events(*project).follow(ended.listed, ends=True)
        if ended.plans and keeps_documents:
            record = record_paths(ended, folder, jobs.files, ended.plans)
            commit_on_target(workspace, ended, record, record_message(ended))
    return ended
