"""Performing: does one action of a job, from the disk to the disk.

Nothing is returned that `decide` reads. An attempt is written down before its agent starts, and
the new state of the gate is the last write of each step. A step that was killed is therefore
offered again by the next `decide`.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from fairlead.agents.model import (
    AgentCall,
    AgentRole,
    CallLimits,
    CallResult,
    CommandPermissions,
    EndKind,
)
from fairlead.agents.secrets import without_secrets
from fairlead.core.values import replace
from fairlead.execution.answers import Malformed, Result, Verdict, executor_result, verdict
from fairlead.execution.decide import (
    ABORT,
    ACCEPT,
    REJECT,
    answer_about,
    service_pause,
    skip_text,
    undeclared_question_id,
)
from fairlead.execution.judge import (
    concerns_of,
    executor_outcome,
    review_outcome,
    review_pieces,
    task_message,
    verify_outcome,
    with_attempt_begun,
    with_blocker_analysed,
)
from fairlead.execution.landing import Landing
from fairlead.execution.model import Act, Action
from fairlead.execution.permissions import executor_permissions
from fairlead.execution.restoration import Restoration
from fairlead.execution.tamper_check import (
    JobPlace,
    questions_after_kill,
    record_baseline,
    tampering_question,
)
from fairlead.execution.undeclared import ExtraFiles, extra_files
from fairlead.jobs.calls import CallRecorder, RecordedAgent, StartedCall, with_result
from fairlead.jobs.errors import LedgerBroken
from fairlead.jobs.ledger import EntryKind, LedgerEntry
from fairlead.jobs.model import Question, QuestionKind, Run, TaskGate, last_work, skip_kind
from fairlead.jobs.paths import runs_path
from fairlead.jobs.prompts import answer_request, prompt, retry_context
from fairlead.jobs.roster import login_of
from fairlead.plans.check import declared_files
from fairlead.plans.model import CommandResult, PlanDocument, Task, task_id
from fairlead.project.state.documents import moment
from fairlead.project.state.gate_rules import (
    GateEvent,
    GateStatus,
    Retry,
    SkipKind,
    advance,
    next_after_failure,
)
from fairlead.store import layout
from fairlead.text.inline import file_name
from fairlead.text.printable import visible
from fairlead.vcs.model import is_dropping

if TYPE_CHECKING:
    from fairlead.execution.context import ExecutionContext
    from fairlead.vcs.model import Tree

# How much of a patch a question shows: lines, and characters of a line.
_PATCH_LINES, _PATCH_WIDTH = 60, 200
_NAMES = 5  # of files in a remark


class Performer:
    """Performs the actions of one job."""

    def __init__(self, context: ExecutionContext, landing: Landing) -> None:
        self._context = context
        self._landing = landing
        self._trees = landing.trees
        self._clean: dict[str, str] = {}  # worktrees in which nothing ran since they were checked

    def check_killed_run(self) -> None:
        """Ask about everything that the agents of a killed run changed; then record their calls.

        The order matters: the ledger may be among the files they changed.
        """
        context = self._context
        for question in questions_after_kill(self._place):
            self._ask(question)
        self.settle_answers(is_first=True)
        context.folder.baselines.begin()
        self._landing.ledger.record_interrupted()

    @property
    def _place(self) -> JobPlace:
        context = self._context
        return JobPlace(
            context.files, context.environment.state.folder, context.workspace, context.folder
        )

    def settle_answers(self, *, is_first: bool = False) -> None:
        """Carry out what a person answered about touched files."""
        context = self._context
        if not is_first and not context.has_touched:
            return
        problems = Restoration(context.folder, context.workspace).settle(context.questions())
        for problem in problems:
            context.tell("note", context.job.id, problem)
        context.has_touched = bool(context.folder.baselines.touched())
        if not context.has_touched:
            context.workspace.trust_settings()
            context.know_target()

    def perform(self, action: Action) -> None:
        """Do one action."""
        self._landing.record_answers(action)
        match action.act:
            case Act.EXECUTE:
                if action.note:
                    self._context.tell("note", action.subject, action.note)
                self._execute(action.subject)
            case Act.VERIFY:
                self._verify(action.subject)
            case Act.REVIEW:
                self._review(action.subject)
            case Act.SKIP:
                self._skip(action.subject)
            case Act.ASK if action.question:
                self._ask(action.question)
            case Act.MERGE:
                self._landing.merge(action.subject)
            case Act.SUMMARISE:
                self._landing.summarise(action.subject)
            case _:
                self._landing.finish(action)

    # -- executor --------------------------------------------------------------------------

    def _execute(self, id_: str) -> None:
        context = self._context
        document, task = context.task(id_)
        continued = self._continued_call(AgentRole.EXECUTOR, document, task)
        gate = self._gate(id_) if continued else self._with_new_run(document, task)
        run = gate.runs[-1]
        place = self._worktree(run)
        context.attempts.add(run.branch)
        with context.placing:  # a lock of its own: the agent need not wait for a landing
            if continued:
                context.workspace.remove(place)
            context.workspace.prepare(place, run.base, "" if continued else run.branch)
        before = record_baseline(context, id_, document.id)
        self._trees.begin(place, run.base)
        nonce = continued.nonce if continued else context.new_token()
        text = self._executor_prompt(document, task, gate, nonce)
        ending = self._call(AgentRole.EXECUTOR, gate, place, text, nonce, continued)
        if self._is_void(EntryKind.EXECUTE, gate, ending, before):
            return
        result = executor_result(ending.text, task, nonce)
        with context.turn:
            declared = declared_files(document)
            tree = context.workspace.tree_of(place, run.base, layout.PLANNING, declared)
            has_planning_changes = tree.full != tree.id and not tree.fault
            extras = self._extras(document, run, tree, result)
            commit, with_asked = self._kept(document, task, run, tree, extras)
            context.attempt_ended(run.branch)
        session = ending.session or run.session
        ended = replace(
            run,
            ended=str(ending.kind),
            commit=commit,
            tree=context.workspace.tree_id(commit) if commit else "",
            session=session,
            asked=extras.asked,
            with_asked=with_asked,
        )
        gate = replace(gate, runs=(*gate.runs[:-1], ended))
        if ending.kind.may_pass:
            self._postpone(EntryKind.EXECUTE, gate, ending)
            return
        event, note = executor_outcome(ending, result, visible(tree.fault))
        concerns = concerns_of(result, extras, has_planning_changes=has_planning_changes)
        if with_asked and event is GateEvent.EXECUTOR_SUCCESS:
            self._ask(self._undeclared_question(gate))
        evidence = result.evidence if isinstance(result, Result) and not note else note
        self._record(EntryKind.EXECUTE, gate, ending, event, evidence, "; ".join(extras.remarks))
        gate = replace(gate, note=note, concerns=concerns)
        if isinstance(result, Result):
            gate = replace(gate, decisions=result.decisions, deviations=result.deviations)
            gate = replace(gate, question=result.question, options=result.options)
        if event is GateEvent.VERIFY_FAILED:
            # The executor ran the command itself and reports the failure: the gate is at verify.
            gate = replace(gate, gate=advance(gate.gate, GateEvent.EXECUTOR_SUCCESS))
        if event is GateEvent.EXECUTOR_BLOCKED and not gate.question:
            gate = with_blocker_analysed(gate, context.plans.values(), context.folder.load_gates())
        self._advance(gate, event, note)

    def _with_new_run(self, document: PlanDocument, task: Task) -> TaskGate:
        """The gate of a task with a new run, saved before anything happens."""
        gate = self._attempt_begun(document, task)
        run = self._new_run(document, gate)
        # What was said about an earlier attempt does not hold for this one.
        gate = replace(gate, runs=(*gate.runs, run), not_before="", concerns=(), decisions=())
        gate = replace(gate, deviations=(), question="", options=())
        self._save(gate, "executing")
        return gate

    def _continued_call(
        self, role: AgentRole, document: PlanDocument, task: Task
    ) -> StartedCall | None:
        """The call that an earlier run started on another machine, if its input is the same now."""
        context, id_ = self._context, task_id(document.id, task.number)
        started = self._landing.ledger.outliving(id_)
        if started is None:
            return None
        gate = context.folder.load_gate(id_)
        if gate is not None and gate.runs and started.role == role:
            prompted = (
                self._executor_prompt if role is AgentRole.EXECUTOR else self._architect_prompt
            )
            text = prompted(document, task, gate, started.nonce)
            place = self._worktree(gate.runs[-1])
            call = self._agent_call(role, gate, place, text, started)
            assert context.roster.calls is not None
            if not gate.runs[-1].ended or role is AgentRole.ARCHITECT:
                call = replace(call, prompt=without_secrets(text)[0])
                if context.roster.calls.matches(context.roster.agent(role).name, call):
                    return started
        self._landing.ledger.settle(id_)
        return None

    def _extras(
        self, document: PlanDocument, run: Run, tree: Tree, result: Result | Malformed
    ) -> ExtraFiles:
        """What happens to the files of an attempt that its plan does not declare."""
        context = self._context
        if not tree.id:
            return ExtraFiles()
        named = result.files if isinstance(result, Result) else ()
        changes = context.workspace.changes(run.base, tree.id)
        plans, policy = context.plans.values(), context.options.undeclared
        return extra_files(changes, document, plans, named, policy, tree.outward)

    def _kept(
        self, document: PlanDocument, task: Task, run: Run, tree: Tree, extras: ExtraFiles
    ) -> tuple[str, str]:
        """The commit of what may land, and one that also has the files a person decides about."""
        workspace = self._context.workspace
        if not tree.id:
            return "", ""
        message = task_message(document, task, self._context.job.id)
        with_asked = ""
        if extras.asked and self._context.job.is_git:
            unlanded = extras.unlanded.difference(extras.asked)
            everything = workspace.without(tree, run.base, unlanded)
            with_asked = workspace.keep(everything, run.base, run.branch, message)
        landing = workspace.without(tree, run.base, extras.unlanded)
        return workspace.keep(landing, run.base, run.branch, message), with_asked

    def _undeclared_question(self, gate: TaskGate) -> Question:
        """The question whether undeclared files may land, with their changes."""
        run, kind = gate.runs[-1], QuestionKind.UNDECLARED
        names = ", ".join(map(file_name, run.asked))
        text = f"{gate.task} changed files that its plan does not declare: {names}"
        text += "; accept lands them, reject leaves them out"
        patch = self._context.workspace.patch(run.base, run.with_asked, run.asked).splitlines()
        details = [visible(line[:_PATCH_WIDTH]) for line in patch[:_PATCH_LINES]]
        more = len(patch) - _PATCH_LINES
        details += [f"and {more} lines more: git diff {run.base[:10]} {run.with_asked[:10]}"] * (
            more > 0
        )
        subject = f"{gate.task}.{len(gate.runs)}"
        options = (REJECT, ACCEPT, ABORT)  # the first one is suggested
        id_ = undeclared_question_id(gate)
        about, shown = run.with_asked, tuple(details)
        return Question(id_, kind, subject, text, options, about=about, details=shown)

    def _with_accepted_files(self, gate: TaskGate) -> TaskGate:
        """The gate, with the undeclared files of its last run if a person accepted them."""
        run = gate.runs[-1]
        if not run.asked:
            return gate
        questions = {each.id: each for each in self._context.questions()}
        question = questions.get(undeclared_question_id(gate))
        is_accepted = question and question.answer == ACCEPT and question.about == run.with_asked
        names = ", ".join(map(file_name, run.asked))
        word = "accepted by a person" if is_accepted else "left out by a person"
        concerns = (*gate.concerns, f"{names}: {word}")
        decided = replace(run, asked=(), with_asked="")
        if is_accepted:
            tree = self._context.workspace.tree_id(run.with_asked)
            decided = replace(decided, commit=run.with_asked, tree=tree)
        return replace(gate, runs=(*gate.runs[:-1], decided), concerns=concerns)

    def _attempt_begun(self, document: PlanDocument, task: Task) -> TaskGate:
        id_ = task_id(document.id, task.number)
        gate = self._context.folder.load_gate(id_)
        if gate is None:
            now = self._context.now()
            gate = TaskGate(id_, document.id, task.number, task.name, started_at=now)
        work = last_work(self._landing.gates(document))
        answer = answer_about(gate, self._context.questions())
        return with_attempt_begun(gate, task, answer, work, self._context.options.attempts)

    def _new_run(self, document: PlanDocument, gate: TaskGate) -> Run:
        number = len(gate.runs) + 1
        return Run(
            number=number,
            attempt=gate.gate.serial,
            base=self._base(document, gate),
            branch=f"fairlead/{self._context.job.id}/{gate.task}-r{number}",
            session=self._context.new_token(),
            started_at=self._context.now(),
        )

    def _base(self, document: PlanDocument, gate: TaskGate) -> str:
        """The last commit of the plan; for its first task, the head of the target branch."""
        context = self._context
        head = context.head()
        base = gate.stands_on or last_work(self._landing.gates(document)) or head
        if gate.waits_for and base != head:
            # The work it waited for has landed since, and is not part of the plan's own history.
            with context.turn:
                merged = context.workspace.merged(base, head, f"merge what {gate.task} needs")
            base = merged.commit or base
        return base

    def _executor_prompt(
        self, document: PlanDocument, task: Task, gate: TaskGate, nonce: str
    ) -> str:
        failures = tuple(str(failure) for failure in gate.gate.counted)
        decisions = [
            f"{question.text}: {question.answer}"
            for question in self._context.questions()
            if question.kind is QuestionKind.DECISION and question.answer
        ]
        words = {
            "phase": document.phase,
            "plan": document.id,
            "commands": visible(self._context.options.commands.text),
            "retry": retry_context(failures, gate.note, gate.guidance, nonce),
            "decisions": "",
            "answer": answer_request("result", nonce, task),
        }
        pieces = {
            "project": self._context.title,
            "objective": "\n".join((document.objective, *decisions)),
            "task": task.source,
        }
        return prompt("executor", nonce, words, pieces)

    # -- verify ----------------------------------------------------------------------------

    def _verify(self, id_: str) -> None:
        context = self._context
        document, task = context.task(id_)
        gate = self._with_accepted_files(self._gate(id_))
        place = self._worktree(gate.runs[-1])
        # The commands of the project run what the agent wrote: they are checked like the agent.
        before = record_baseline(context, id_, document.id)
        remarks, fault = self._trees.make(place, gate.commit)
        if fault:
            result = CommandResult(1, 0.0, "", "", problem=fault)
        else:
            inside, limit = context.workspace.inside(place), context.options.limits.verify
            source = context.source(gate.commit, setup=self._trees.setup)
            result = context.roster.run_command(
                task.verify, inside, limit, lambda: not context.over.is_set, source
            ).seen_from(place)
        question = self._touched_question(gate, before)
        if result.is_stopped or (context.over.is_set and not question):
            return  # the next run repeats the step
        event, note = verify_outcome(result, task, needs_tests=context.options.needs_tests)
        concerns = [*gate.concerns, *remarks]
        changed = context.workspace.differences(place, gate.commit)
        if not changed:
            self._clean[place] = gate.commit
        elif names := [file_name(path) for path in changed if not is_dropping(path)]:
            more = f" and {len(names) - _NAMES} more" if len(names) > _NAMES else ""
            listed = ", ".join(names[:_NAMES])
            concerns.append(f"the verify command changed files of the work tree: {listed}{more}")
        run = gate.runs[-1]
        entry = replace(
            self._landing.ledger.entry(EntryKind.VERIFY, id_, run.attempt, "fairlead"),
            command=task.verify,
            tree=run.tree,
            exit_code=result.exit_code,
            seconds=round(result.seconds, 3),
            output_sha256=result.sha256,
            tail=result.tail,
            verdict=str(question.kind if question else event),
            # A gate reaches this step only after its executor claimed success.
            claim_mismatch=event is GateEvent.VERIFY_FAILED,
            note="; ".join((*remarks, *result.remarks)),
        )
        if question:
            with suppress(LedgerBroken):  # the command may have changed the ledger itself
                self._landing.ledger.record(document.id, entry)
            return
        self._landing.ledger.record(document.id, entry)
        self._advance(replace(gate, note=note, concerns=tuple(concerns)), event, note)

    # -- architect -------------------------------------------------------------------------

    def _review(self, id_: str) -> None:
        context = self._context
        document, task = context.task(id_)
        gate = self._gate(id_)
        place = self._at_commit(gate)
        before = record_baseline(context, id_, document.id)
        continued = self._continued_call(AgentRole.ARCHITECT, document, task)
        nonce = continued.nonce if continued else context.new_token()
        text = self._architect_prompt(document, task, gate, nonce)
        ending = self._call(AgentRole.ARCHITECT, gate, place, text, nonce, continued)
        if self._is_void(EntryKind.REVIEW, gate, ending, before):
            return
        if ending.kind.may_pass:
            self._postpone(EntryKind.REVIEW, gate, ending)
            return
        answer = verdict(ending.text, nonce, task)
        event, note = review_outcome(ending, answer)
        if not context.workspace.is_at(place, gate.commit):
            event, note = GateEvent.MALFORMED, "the architect changed files, so its verdict is void"
        self._record(EntryKind.REVIEW, gate, ending, event, note)
        concerns = answer.concerns if isinstance(answer, Verdict) else ()
        gate = replace(gate, note=note, concerns=(*gate.concerns, *concerns))
        self._advance(gate, event, note)

    def _architect_prompt(
        self, document: PlanDocument, task: Task, gate: TaskGate, nonce: str
    ) -> str:
        run = gate.runs[-1]
        changes = self._context.workspace.changes(run.base, run.commit)
        entries = [
            entry
            for entry in self._landing.ledger.entries(document.id)
            if entry.task == gate.task and entry.attempt == run.attempt
        ]
        words = {
            "phase": document.phase,
            "plan": document.id,
            "attempt": str(run.attempt),
            "answer": answer_request("verdict", nonce, task),
        }
        plans, policy = self._context.plans.values(), self._context.options.undeclared
        extras = extra_files(changes, document, plans, [each.path for each in changes], policy)
        shown = review_pieces(task, changes, entries, extras)
        pieces = {"project": self._context.title, **shown}
        return prompt("architect", nonce, words, pieces)

    # -- skips and questions ---------------------------------------------------------------

    def _skip(self, id_: str) -> None:
        gate = self._gate(id_)
        answer = answer_about(gate, self._context.questions())
        kind = skip_kind(answer) or SkipKind.TASK
        note = f"{skip_text(kind)} by a person ({answer}); {gate.note}"
        evidence = EntryKind.OVERRIDE if kind is SkipKind.FORCED else EntryKind.SKIP
        entry = self._landing.ledger.entry(evidence, id_, gate.gate.serial, "a person")
        skipped = advance(gate.gate, GateEvent.SKIP, task=gate.name, skip=kind)
        self._landing.ledger.record(gate.plan, replace(entry, verdict=kind, tail=answer))
        self._save(replace(gate, gate=skipped, note=note), "skipped")

    def _ask(self, question: Question) -> None:
        self._context.folder.save_question(replace(question, asked_at=self._context.now()))
        self._context.tell("question", question.subject, question.text, id=question.id)

    # -- calls -----------------------------------------------------------------------------

    def _agent_call(
        self, role: AgentRole, gate: TaskGate, place: str, text: str, started: StartedCall | None
    ) -> AgentCall:
        context, limits, run = self._context, self._context.options.limits, gate.runs[-1]
        is_executor = role is AgentRole.EXECUTOR
        wall = limits.executor if is_executor else limits.architect
        idle = min(limits.idle, wall)
        # One run may make several calls, so its number alone is not unique.
        name = f"{gate.task}-r{run.number}-{role}-{context.new_token()[:8]}"
        name = started.entry.call if started else name
        session = run.session if is_executor else context.new_token()
        return AgentCall(
            role=role,
            prompt=text,
            folder=context.workspace.inside(place),
            raw=f"{context.private}/raw/{name}",
            job=runs_path(context.files.folder, context.job.id),
            session=started.session if started else session,
            model=context.roster.of(role)[0].model,
            is_read_only=not is_executor,
            commands=self._commands(gate.plan) if is_executor else CommandPermissions(),
            limits=CallLimits(wall=wall, first_event=idle, idle=idle),
            id=name,
            source=context.source(
                run.base if is_executor else gate.commit,
                setup=self._trees.setup if is_executor else "",
            ),
        )

    def _call(
        self,
        role: AgentRole,
        gate: TaskGate,
        place: str,
        text: str,
        nonce: str,
        started: StartedCall | None,
    ) -> CallResult:
        context, run = self._context, gate.runs[-1]
        is_executor = role is AgentRole.EXECUTOR
        call = self._agent_call(role, gate, place, text, started)
        name = call.id
        context.tell("call", gate.task, f"{role} begins", attempt=run.attempt, characters=len(text))
        # STATE.md must show this gate before the call is paid for.
        self._landing.wait_for_documents()
        context.calling.release(Action(Act.EXECUTE if is_executor else Act.REVIEW, gate.task).key)
        kind = EntryKind.EXECUTE if is_executor else EntryKind.REVIEW
        ledger = self._landing.ledger
        # The entry that the next run completes if this one is killed during the call.
        if_killed = CallResult(EndKind.KILLED, prompt_characters=len(text), call=name)
        entry = with_result(self._entry(kind, gate), if_killed)
        recorder = CallRecorder(lambda _, made: ledger.announce(gate.plan, made, entry, nonce))
        agent = RecordedAgent(context, context.roster.agent(role), gate.task, recorder)
        result = agent.start(call)
        if result.kind is EndKind.AUTH:
            hint = f"log in with: {login_of(context.roster.agent(role))}"
            result = replace(result, error=f"{result.error or 'it is not logged in'}; {hint}")
        model = result.model or call.model
        return replace(result, prompt_characters=len(text), call=name, model=model)

    def _commands(self, plan: str) -> CommandPermissions:
        return executor_permissions(self._context.options.commands, self._context.plans[plan])

    def _is_void(
        self, kind: EntryKind, gate: TaskGate, ending: CallResult, before: Mapping[str, str]
    ) -> bool:
        """Whether a call has no result: the run stops, or the agent changed forbidden files."""
        context = self._context
        question = self._touched_question(gate, before)
        if not question and not context.over.is_set:
            return False
        reason = (question.kind, question.text) if question else ("stopped",)
        with suppress(LedgerBroken):  # the agent may have changed the ledger itself
            self._record(kind, gate, ending, *reason)
        context.attempt_ended(gate.runs[-1].branch)
        return True  # a later run repeats the attempt

    def _touched_question(self, gate: TaskGate, before: Mapping[str, str]) -> Question | None:
        """Ask about everything that a call or a command changed and only the run may change."""
        context = self._context
        question = tampering_question(context, gate.task, gate.plan, before)
        if question:
            self._ask(question)
            context.folder.save_gate(gate)  # restores it, whatever was written there
        context.folder.baselines.judged(gate.task)
        return question

    def _postpone(self, kind: EntryKind, gate: TaskGate, ending: CallResult) -> None:
        """Note when the call may be repeated: the service refused it, so no attempt is used."""
        until = moment(self._context.clock.now() + service_pause(ending.retry_after, gate.waits))
        note = f"{ending.kind}: {ending.error or 'the service asks to wait'}"
        self._record(kind, gate, ending, ending.kind, note)
        gate = replace(gate, not_before=until, note=note, waits=gate.waits + 1)
        self._save(gate, "patience", until=until)

    def _record(
        self,
        kind: EntryKind,
        gate: TaskGate,
        ending: CallResult,
        verdict: str,
        tail: str = "",
        note: str = "",
    ) -> None:
        """Record a call in the ledger: it was paid for, whatever its result."""
        entry = replace(self._entry(kind, gate), verdict=str(verdict), tail=tail, note=note)
        ledger = self._landing.ledger
        ledger.record_lost(
            gate.plan, replace(self._entry(kind, gate), call=ending.call), ending.lost
        )
        ledger.record(gate.plan, with_result(entry, ending))
        self._context.folder.baselines.recorded(gate.task)

    def _entry(self, kind: EntryKind, gate: TaskGate) -> LedgerEntry:
        role = AgentRole.EXECUTOR if kind is EntryKind.EXECUTE else AgentRole.ARCHITECT
        agent, run = self._context.roster.agent(role), gate.runs[-1]
        entry = self._landing.ledger.entry(kind, gate.task, run.attempt, agent.name)
        return replace(entry, tree=run.tree)

    # -- worktrees and gates ---------------------------------------------------------------

    def _worktree(self, run: Run) -> str:
        if not self._context.job.is_git:
            return self._context.workspace.folder
        return f"{self._context.private}/worktrees/{run.branch.rpartition('/')[2]}"

    def _at_commit(self, gate: TaskGate) -> str:
        """The worktree of the last run, exactly as it was committed."""
        place = self._worktree(gate.runs[-1])
        if self._clean.pop(place, "") != gate.commit:
            self._trees.make(place, gate.commit)
        return place

    def _gate(self, id_: str) -> TaskGate:
        gate = self._context.folder.load_gate(id_)
        assert gate is not None, id_
        return gate

    def _advance(self, gate: TaskGate, event: GateEvent, note: str) -> None:
        advanced = advance(gate.gate, event, task=gate.name, summary=note)
        gate = replace(gate, gate=advanced, waits=0)
        follows = next_after_failure(advanced) if advanced.status is GateStatus.FAILED else None
        if isinstance(follows, Retry) and follows.delay:
            gate = replace(gate, not_before=moment(self._context.clock.now() + follows.delay))
        self._save(gate, str(event))

    def _save(self, gate: TaskGate, kind: str, **facts: object) -> None:
        """Save a gate, then show it: the gate's file is the truth and STATE.md follows it."""
        self._context.folder.save_gate(gate)
        self._landing.show(gate)
        status, attempt = str(gate.gate.status), gate.gate.attempt
        self._context.tell(kind, gate.task, gate.note, gate=status, attempt=attempt, **facts)
