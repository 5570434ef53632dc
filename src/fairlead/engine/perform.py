"""Performing: one action of a job, from the disk to the disk.

Nothing is returned that deciding reads. An attempt is written down before its agent starts; the
gate's new state is the last write of each step, so a killed step is simply offered again.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from fairlead.engine.decide import said_of
from fairlead.engine.declared import declared_files
from fairlead.engine.guarding import left_behind, touched, watched
from fairlead.engine.judging import (
    begun,
    concerns_of,
    judged,
    outcome_of,
    pieces_to_judge,
    reanalysed_gate,
    task_message,
    verified,
    with_call,
)
from fairlead.engine.landing import Landing
from fairlead.engine.paying import announce, pay_left
from fairlead.engine.prompting import answer_request, prompt, retry_context
from fairlead.errors import LedgerBroken
from fairlead.model.agent_events import Ending, EndKind
from fairlead.model.agent_orders import Limits, Order, Role
from fairlead.model.job import Question, QuestionKind, Run, TaskGate, last_work
from fairlead.model.lifecycle import (
    GateEvent,
    GateStatus,
    Retry,
    SkipKind,
    advance,
    next_after_failure,
)
from fairlead.model.plan import PlanSheet, Task, task_id
from fairlead.model.policy import passed_over, pause, skip_kind
from fairlead.model.snapshot import Act, Action
from fairlead.records.ledger import Entry, EntryKind
from fairlead.records.result import Result, Verdict, executor_result, verdict
from fairlead.records.state import moment
from fairlead.store import layout
from fairlead.text.visible import visible
from fairlead.values import replace

if TYPE_CHECKING:
    from fairlead.engine.site import Site


class Performer:
    """Performs the actions of one job."""

    def __init__(self, site: Site, landing: Landing) -> None:
        self._site = site
        self._landing = landing
        self._clean: dict[str, str] = {}  # places that nothing has run in since they were checked

    def look_back(self) -> None:
        """What the agents of a run that was killed have touched is asked before anything begins.

        What they took is recorded after that: the ledger is among what they may have touched.
        """
        for question in left_behind(self._site):
            self._ask(question)
        self._site.jobs.witness.begin()
        pay_left(self._site, self._landing)

    def perform(self, action: Action) -> None:
        """Do one thing."""
        self._landing.record_answers(action)
        match action.act:
            case Act.EXECUTE:
                if action.note:
                    self._site.tell("note", action.subject, action.note)
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

    def _execute(self, task: str) -> None:
        site = self._site
        sheet, what = site.found(task)
        held = self._begun(sheet, what)
        run = self._new_run(sheet, held)
        held = replace(held, runs=(*held.runs, run), not_before="")
        self._save(held, "executing")
        place = self._place(run)
        site.attempts.add(run.branch)
        with site.placing:  # the agent need not wait for what lands meanwhile
            site.workspace.prepare(place, run.base, run.branch)
        before = watched(site, task, sheet.id)
        nonce = site.new_nonce()
        ending = self._called(Role.EXECUTOR, held, place, self._asked(sheet, what, held, nonce))
        if self._is_void(EntryKind.EXECUTE, held, ending, before):
            return
        with site.turn:
            declared = declared_files(sheet)
            tree = site.workspace.tree_of(place, run.base, layout.PLANNING, declared)
            commit = ""
            if tree.id:
                message = task_message(sheet, what, site.job.id)
                commit = site.workspace.keep(tree, run.base, run.branch, message)
                site.workspace.at_commit(place, commit)
                self._clean[place] = commit
            site.ended(run.branch)
        session = ending.session or run.session
        ended = replace(run, ended=str(ending.kind), commit=commit, tree=tree.id, session=session)
        held = replace(held, runs=(*held.runs[:-1], ended))
        if ending.kind.may_pass:
            self._later(EntryKind.EXECUTE, held, ending)
            return
        result = executor_result(ending.text, what, nonce)
        changes = site.workspace.changes(run.base, commit) if commit else ()
        event, note = outcome_of(ending, result, visible(tree.fault))
        has_own_files = tree.full != tree.id and not tree.fault
        concerns = concerns_of(result, changes, what, has_own_files=has_own_files)
        evidence = result.evidence if isinstance(result, Result) and not note else note
        self._record(EntryKind.EXECUTE, held, ending, event, evidence)
        held = replace(held, note=note, concerns=(*held.concerns, *concerns))
        if event is GateEvent.VERIFY_FAILED:  # it has run the command itself, and tells so
            held = replace(held, gate=advance(held.gate, GateEvent.EXECUTOR_SUCCESS))
        if event is GateEvent.EXECUTOR_BLOCKED:
            held = reanalysed_gate(held, site.sheets.values(), site.jobs.load_gates())
        self._advance(held, event, note)

    def _begun(self, sheet: PlanSheet, what: Task) -> TaskGate:
        """The gate with this attempt begun; what a person answered is taken into account."""
        task = task_id(sheet.id, what.number)
        held = self._site.jobs.load_gate(task)
        now = moment(self._site.clock.now())
        if held is None:
            held = TaskGate(task, sheet.id, what.number, what.name, started_at=now)
        work = last_work(self._landing.gates(sheet))
        return begun(held, what, said_of(held, self._site.questions()), work)

    def _new_run(self, sheet: PlanSheet, held: TaskGate) -> Run:
        job = self._site.job
        number = len(held.runs) + 1
        return Run(
            number=number,
            attempt=held.gate.serial,
            base=self._base(sheet, held),
            branch=f"fairlead/{job.id}/{held.task}-r{number}",
            session=self._site.new_nonce(),
            started_at=moment(self._site.clock.now()),
        )

    def _base(self, sheet: PlanSheet, held: TaskGate) -> str:
        """The last commit of the plan; for its first task, where the branch is now."""
        site = self._site
        head = site.head()
        base = held.stands_on or last_work(self._landing.gates(sheet)) or head
        if held.waits_for and base != head:
            # What it was waiting for has landed meanwhile, and is not part of its own history.
            with site.turn:
                made = site.workspace.merged(base, head, f"merge what {held.task} needs")
            base = made.commit or base
        return base

    def _asked(self, sheet: PlanSheet, what: Task, held: TaskGate, nonce: str) -> str:
        failures = tuple(str(each) for each in held.gate.counted)
        decided = [
            f"{each.text}: {each.answer}"
            for each in self._site.questions()
            if each.kind is QuestionKind.DECISION and each.answer
        ]
        return prompt(
            "executor",
            nonce,
            {
                "phase": sheet.phase,
                "plan": sheet.id,
                "retry": retry_context(failures, held.note, held.guidance, nonce),
                "decisions": "",
                "answer": answer_request("result", nonce, what),
            },
            {
                "project": self._site.title,
                "objective": "\n".join((sheet.objective, *decided)),
                "task": what.source,
            },
        )

    # -- verify ----------------------------------------------------------------------------

    def _verify(self, task: str) -> None:
        site = self._site
        sheet, what = site.found(task)
        held = self._held(task)
        place = self._at_commit(held)
        inside, limit = site.workspace.inside(place), site.limits.verify
        ran = site.commands.run(what.verify, inside, limit, lambda: not site.is_over.is_given)
        if ran.is_stopped:
            return  # the step is repeated
        event, note = verified(ran, what, needs_tests=site.needs_tests)
        concerns = list(held.concerns)
        if not site.workspace.is_at(place, held.commit):
            concerns.append("the verify command changed files of the work tree")
            with site.turn:
                site.workspace.at_commit(place, held.commit)
        self._clean[place] = held.commit
        entry = replace(
            self._landing.entry(EntryKind.VERIFY, task, held.runs[-1].attempt, "fairlead"),
            command=what.verify,
            tree=held.runs[-1].tree,
            exit_code=ran.exit_code,
            seconds=round(ran.seconds, 3),
            output_sha256=ran.sha256,
            tail=ran.tail,
            verdict=str(event),
            claim_mismatch=event is GateEvent.VERIFY_FAILED,  # nobody gets here without a claim
        )
        self._landing.record(sheet.id, entry)
        self._advance(replace(held, note=note, concerns=tuple(concerns)), event, note)

    # -- architect -------------------------------------------------------------------------

    def _review(self, task: str) -> None:
        site = self._site
        sheet, what = site.found(task)
        held = self._held(task)
        place = self._at_commit(held)
        before = watched(site, task, sheet.id)
        nonce = site.new_nonce()
        ending = self._called(Role.ARCHITECT, held, place, self._to_judge(sheet, what, held, nonce))
        if self._is_void(EntryKind.REVIEW, held, ending, before):
            return
        if ending.kind.may_pass:
            self._later(EntryKind.REVIEW, held, ending)
            return
        found = verdict(ending.text, nonce, what)
        event, note = judged(ending, found)
        if not site.workspace.is_at(place, held.commit):
            event, note = GateEvent.MALFORMED, "the architect changed files, so its verdict is void"
        self._record(EntryKind.REVIEW, held, ending, event, note)
        concerns = found.concerns if isinstance(found, Verdict) else ()
        held = replace(held, note=note, concerns=(*held.concerns, *concerns))
        self._advance(held, event, note)

    def _to_judge(self, sheet: PlanSheet, what: Task, held: TaskGate, nonce: str) -> str:
        run = held.runs[-1]
        changes = self._site.workspace.changes(run.base, run.commit)
        entries = self._landing.entries(sheet.id)
        mine = [each for each in entries if each.task == held.task and each.attempt == run.attempt]
        words = {"phase": sheet.phase, "plan": sheet.id, "attempt": str(run.attempt)}
        pieces = {"project": self._site.title, **pieces_to_judge(what, changes, mine)}
        words["answer"] = answer_request("verdict", nonce, what)
        return prompt("architect", nonce, words, pieces)

    # -- the rest --------------------------------------------------------------------------

    def _skip(self, task: str) -> None:
        held = self._held(task)
        answer = said_of(held, self._site.questions())
        kind = skip_kind(answer) or SkipKind.TASK
        note = f"{passed_over(kind)} by a person ({answer}); {held.note}"
        gate = advance(held.gate, GateEvent.SKIP, task=held.name, skip=kind)
        evidence = EntryKind.OVERRIDE if kind is SkipKind.FORCED else EntryKind.SKIP
        entry = self._landing.entry(evidence, task, held.gate.serial, "a person")
        self._landing.record(held.plan, replace(entry, verdict=kind, tail=answer))
        self._save(replace(held, gate=gate, note=note), "skipped")

    def _ask(self, question: Question, held: TaskGate | None = None) -> None:
        asked = replace(question, asked_at=moment(self._site.clock.now()))
        self._site.jobs.save_question(asked)
        self._site.tell("question", question.subject, question.text, id=question.id)
        if held:
            self._site.jobs.save_gate(held)  # as we know it, whatever was made of it

    def _called(self, role: Role, held: TaskGate, place: str, text: str) -> Ending:
        site, limits = self._site, self._site.limits
        wall = limits.executor if role is Role.EXECUTOR else limits.architect
        run = held.runs[-1]
        call = f"{held.task}-r{run.number}-{role}-{site.new_nonce()[:8]}"  # a run may have several
        order = Order(
            role=role,
            prompt=text,
            folder=site.workspace.inside(place),
            raw=f"{site.private}/raw/{call}",
            job=layout.runs_path(site.files.folder, site.job.id),
            session=site.new_nonce() if role is Role.ARCHITECT else run.session,
            model=site.job.model,
            is_read_only=role is Role.ARCHITECT,
            limits=Limits(wall=wall, idle=min(limits.idle, wall)),
        )
        site.tell("call", held.task, f"{role} begins", attempt=run.attempt, characters=len(text))
        agent = site.executor if role is Role.EXECUTOR else site.architect
        self._landing.settle()
        act = Act.EXECUTE if role is Role.EXECUTOR else Act.REVIEW
        site.calling.passed(Action(act, held.task).key)
        kind = EntryKind.EXECUTE if role is Role.EXECUTOR else EntryKind.REVIEW
        foreseen = Ending(EndKind.KILLED, prompt_characters=len(text), call=call)
        announce(site, held.plan, order, with_call(self._evidence(kind, held), foreseen))
        ending = agent.start(
            order,
            lambda event: site.watch(held.task, event),
            lambda: not site.is_over.is_given,
        )
        return replace(ending, prompt_characters=len(text), call=call)

    def _place(self, run: Run) -> str:
        inside = f"{self._site.private}/worktrees/{run.branch.rpartition('/')[2]}"
        return inside if self._site.job.is_git else self._site.workspace.folder

    def _at_commit(self, held: TaskGate) -> str:
        """The worktree of the last run, exactly as it was kept."""
        place, workspace = self._place(held.runs[-1]), self._site.workspace
        with self._site.placing:
            is_clean = self._clean.pop(place, "") == held.commit
            if not is_clean and not workspace.is_at(place, held.commit):
                workspace.remove(place)
                workspace.prepare(place, held.commit)
        return place

    def _held(self, task: str) -> TaskGate:
        held = self._site.jobs.load_gate(task)
        assert held is not None, task
        return held

    def _is_void(
        self, kind: EntryKind, held: TaskGate, ending: Ending, before: Mapping[str, str]
    ) -> bool:
        """Whether nothing is made of a call: it was stopped, or touched what is not its own."""
        site = self._site
        if question := touched(site, held.task, held.plan, before):
            self._ask(question, held)
        site.jobs.witness.judged(held.task)
        if not question and not site.is_over.is_given:
            return False
        told = (question.kind, question.text) if question else ("stopped",)
        with suppress(LedgerBroken):  # it may be what was touched
            self._record(kind, held, ending, *told)
        site.ended(held.runs[-1].branch)
        return True  # the attempt is repeated

    def _later(self, kind: EntryKind, held: TaskGate, ending: Ending) -> None:
        """The service asks for patience: no attempt is used, and the time is said."""
        until = moment(self._site.clock.now() + pause(ending.retry_after, held.waits))
        note = f"{ending.kind}: {ending.error or 'the service asks for patience'}"
        self._record(kind, held, ending, ending.kind, note)
        held = replace(held, not_before=until, note=note, waits=held.waits + 1)
        self._save(held, "patience", until=until)

    def _record(
        self, kind: EntryKind, held: TaskGate, ending: Ending, verdict: str, tail: str = ""
    ) -> None:
        """The evidence of a call: it was paid for, whatever came of it."""
        entry = replace(self._evidence(kind, held), verdict=str(verdict), tail=tail)
        self._landing.record(held.plan, with_call(entry, ending))
        self._site.jobs.witness.recorded(held.task)

    def _evidence(self, kind: EntryKind, held: TaskGate) -> Entry:
        agent = self._site.executor if kind is EntryKind.EXECUTE else self._site.architect
        run = held.runs[-1]
        return replace(self._landing.entry(kind, held.task, run.attempt, agent.name), tree=run.tree)

    def _advance(self, held: TaskGate, event: GateEvent, note: str) -> None:
        gate = advance(held.gate, event, task=held.name, summary=note)
        held = replace(held, gate=gate, waits=0)
        follows = next_after_failure(gate) if gate.status is GateStatus.FAILED else None
        if isinstance(follows, Retry) and follows.delay:
            held = replace(held, not_before=moment(self._site.clock.now() + follows.delay))
        self._save(held, str(event))

    def _save(self, held: TaskGate, kind: str, **facts: object) -> None:
        """The gate's file is the truth; STATE.md follows it."""
        self._site.jobs.save_gate(held)
        self._landing.show(held)
        self._site.tell(
            kind,
            held.task,
            held.note,
            gate=str(held.gate.status),
            attempt=held.gate.attempt,
            **facts,
        )
