"""Landing: finished work becomes part of the project, its evidence part of the ledger.

One plan at a time. The merge commit is made first and moved in with one step; the summary, which
proves the plan, comes last and together with all that follows from it. What is found half done is
completed by doing it again.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from difflib import unified_diff
from typing import TYPE_CHECKING

from fairlead.engine.closing import give_up, keep, last_words, record_of, tidy
from fairlead.engine.decide import ABORT, ACCEPT, question_id
from fairlead.engine.events import Events, Landed
from fairlead.engine.fanout import Afterwards
from fairlead.engine.sessions import Sessions
from fairlead.errors import ConflictError, DocumentError, FairleadError
from fairlead.model.job import (
    Job,
    JobStatus,
    Question,
    QuestionKind,
    TaskGate,
    first_base,
    last_work,
)
from fairlead.model.lifecycle import LONGEST_SUMMARY, GateStatus
from fairlead.model.plan import PlanSheet, task_id
from fairlead.model.policy import skip_kind
from fairlead.model.snapshot import Act, Action
from fairlead.model.waves import Claims
from fairlead.model.workspace import Clash
from fairlead.records.gate import OpenTask
from fairlead.records.ledger import Entry, EntryKind, appended, head, read_ledger
from fairlead.records.naming import summary_path
from fairlead.records.plan_sheet import with_tasks_done
from fairlead.records.state import moment
from fairlead.records.summary import Actuals, Summary, new_summary
from fairlead.records.tasks import Outcome, TaskResult
from fairlead.store import layout
from fairlead.store.approvals import answer_digest
from fairlead.store.journal import Journal
from fairlead.text.document import Document
from fairlead.text.inline import file_name
from fairlead.text.visible import visible
from fairlead.values import replace

if TYPE_CHECKING:
    from fairlead.engine.site import Site

_SIDES, _SIDE_LINES, _WIDE = 3, 24, 200  # files, lines of each, characters of each
_ENDED: dict[GateStatus | None, Outcome] = {
    GateStatus.FAILED: Outcome.FAILURE,
    GateStatus.BLOCKED: Outcome.BLOCKED,
}


class Landing:
    """Lands the plans of one job."""

    def __init__(self, site: Site) -> None:
        self._site = site
        step = site.files, site.clock, site.job.workstream
        self._sessions = Sessions(*step)
        self._events = Events(*step)
        self._showing = Afterwards()

    # -- evidence --------------------------------------------------------------------------

    def entry(self, kind: EntryKind, task: str, attempt: int, actor: str) -> Entry:
        """The beginning of a piece of evidence."""
        site = self._site
        at = moment(site.clock.now())
        return Entry(
            kind, task, attempt, at, actor, job=site.job.id, rehearsed=site.job.is_rehearsed
        )

    def record(self, plan: str, entry: Entry) -> None:
        """One more line in the ledger of a plan, chained to the one before."""
        journal = Journal(self._site.files.folder, self._ledger_path(plan))
        journal.append(lambda last: appended(last, entry), command=f"job {self._site.job.id}")

    def entries(self, plan: str) -> tuple[Entry, ...]:
        """The evidence of a plan."""
        return read_ledger(self._ledger(plan))

    def record_answers(self, action: Action) -> None:
        """What a person said of a plan is evidence before anybody acts on it; at the end, of all."""
        _, wanted = self._about(action.subject)
        for question in self._site.questions():
            task, plan = self._about(question.subject)
            is_meant = plan and (plan == wanted or action.act is Act.FINISH)
            # A skip and an override are told by who carries them out.
            is_skip = question.kind is QuestionKind.ESCALATION and skip_kind(question.answer)
            if question.answer and is_meant and not is_skip:
                with suppress(DocumentError):  # whoever adds the next evidence is told
                    self._record_answer(plan, task, question)

    def _record_answer(self, plan: str, task: str, question: Question) -> None:
        digest = answer_digest(self._site.job.id, question)
        if digest in {each.output_sha256 for each in self.entries(plan)}:
            return
        gate = self._site.jobs.load_gate(task)
        attempt = gate.gate.serial if gate else 1
        entry = replace(
            self.entry(EntryKind.ANSWER, task, attempt, "a person"),
            verdict=f"{question.kind}: {question.answer}",
            output_sha256=digest,
            tail=question.text,
        )
        self.record(plan, entry)

    def _about(self, subject: str) -> tuple[str, str]:
        """The task that a subject names, whichever round of it, and its plan; or the plan alone."""
        for sheet in self._site.sheets.values():
            for name in (sheet.id, *(task_id(sheet.id, each.number) for each in sheet.tasks)):
                if subject == name or subject.startswith(f"{name}."):
                    return name, sheet.id
        return "", ""

    def _ledger_path(self, plan: str) -> str:
        return layout.ledger_path(plan, self._site.job.workstream)

    def _ledger(self, plan: str) -> str:
        loaded = self._site.files.load_if_present(self._ledger_path(plan))
        return loaded.text if loaded else ""

    def show(self, held: TaskGate) -> None:
        """STATE.md and the hand-over follow a gate, beside what comes next; see `settle`."""
        note = visible(held.note.strip().partition("\n")[0])
        gate, phase = held.gate, self._site.job.listed
        task = OpenTask(held.name, phase, held.plan, held.plan, gate, held.started_at, note)
        ended = Outcome.SUCCESS if gate.is_complete else _ENDED.get(gate.status)
        reason = note[:LONGEST_SUMMARY].strip() or str(gate.status)
        result = TaskResult(held.name, ended, phase, reason) if ended else None
        self._showing.begin(lambda: self._sessions.show(task, result))

    def settle(self) -> None:
        """The documents have followed every gate: before a call is paid for, and before landing."""
        self._showing.settle()

    def catch_up(self) -> None:
        """What a run that was killed could not say any more: its documents follow its gates."""
        begun: dict[str, list[TaskGate]] = {}
        for gate in self._site.jobs.load_gates():
            begun.setdefault(gate.plan, []).append(gate)
        for plan, gates in begun.items():
            sheet, shown = self._site.sheets.get(plan), self._sessions.task(plan)
            if sheet and self._site.files.exists(summary_path(sheet.path)):
                self._sessions.closed(plan)
                continue
            # The next task may have begun before the end of the one that is shown was told.
            names = [gate.name for gate in gates]
            first = names.index(shown.name) if shown and shown.name in names else len(names) - 1
            for gate in gates[first:]:
                if shown is None or (shown.name, shown.gate) != (gate.name, gate.gate):
                    self.show(gate)

    # -- merging ---------------------------------------------------------------------------

    def merge(self, plan: str) -> None:
        """The work of a plan becomes part of the branch; what stands against it is asked."""
        site, sheet = self._site, self._site.sheets[plan]
        commit = self._commit(sheet)
        with site.turn:
            at = site.head()
            if not commit or site.workspace.is_ancestor(commit, at):
                return
            deleted = self._undeclared_deletions(sheet, commit)
            if deleted and not self._is_accepted(plan, commit):
                told = (
                    f"{plan} deletes files it did not declare: {', '.join(map(file_name, deleted))}"
                )
                self._ask(plan, commit, told)
                return
            merged = site.workspace.merged(at, commit, self._message(sheet))
            if not merged.commit:
                names = ", ".join(file_name(each.path) for each in merged.clashes)
                shown = f"{at[:10]} and {commit[:10]}"
                told = f"{plan} does not merge: {names} changed differently in {shown}"
                way = f"on {site.job.target}: git merge {commit[:10]}, settle and commit it"
                self._ask(plan, commit, f"{told}; {way}, then accept", _sides(merged.clashes, plan))
                return
            try:
                site.workspace.land(site.job.target, at, merged.commit, layout.PLANNING)
            except ConflictError as error:
                self._ask(plan, commit, f"{plan} cannot land: {visible(str(error))}")
                return
            site.moved_to(site.job.target, merged.commit)
        entry = self.entry(EntryKind.MERGE, plan, 1, "fairlead")
        tree = site.workspace.tree_id(merged.commit)
        self.record(plan, replace(entry, tree=tree, verdict="merged", tail=merged.commit))
        site.tell("merged", plan, merged.commit[:10], commit=merged.commit, branch=site.job.target)

    def _ask(self, plan: str, commit: str, text: str, details: tuple[str, ...] = ()) -> None:
        id_ = question_id(QuestionKind.CLASH, plan)
        question = Question(
            id_,
            QuestionKind.CLASH,
            plan,
            text,
            (ACCEPT, ABORT),
            moment(self._site.clock.now()),
            about=commit,
            details=details,
        )
        self._site.jobs.save_question(question)
        self._site.tell("question", plan, text, id=id_)

    def _is_accepted(self, plan: str, commit: str) -> bool:
        id_ = question_id(QuestionKind.CLASH, plan)
        asked = [each for each in self._site.questions() if each.id == id_]
        return any(each.answer and each.about in ("", commit) for each in asked)

    def _undeclared_deletions(self, sheet: PlanSheet, commit: str) -> list[str]:
        declared = Claims()
        inside = (name for task in sheet.tasks for name in task.files)
        declared.add((*sheet.files, *sheet.deleted, *inside), "plan")
        base = first_base(self.gates(sheet)) or commit
        changes = self._site.workspace.changes(base, commit)
        gone = [each.path for each in changes if each.kind == "D"]
        return [path for path in gone if not declared.clash([path])]

    def _commit(self, sheet: PlanSheet) -> str:
        return last_work(self.gates(sheet))

    def gates(self, sheet: PlanSheet) -> list[TaskGate]:
        """The gates of a plan, in the order of its tasks."""
        found = [self._site.jobs.load_gate(task_id(sheet.id, each.number)) for each in sheet.tasks]
        return [gate for gate in found if gate is not None]

    def _message(self, sheet: PlanSheet) -> str:
        title = " ".join(sheet.objective.split())[:60] or "its tasks"
        return f"merge({sheet.id}): {title}\n\nPlan: {sheet.id}\nJob: {self._site.job.id}\n"

    # -- the proof -------------------------------------------------------------------------

    def summarise(self, plan: str) -> None:
        """The summary that proves a plan, and everything that follows from it."""
        self.settle()
        site, sheet = self._site, self._site.sheets[plan]
        path = summary_path(sheet.path)
        text = new_summary(self._summary(sheet))

        # A rehearsal's summary proves nothing and is replaced; nobody else's is ever there.
        edits = {path: lambda _: self._ours(path, text)}
        if site.files.exists(sheet.path) and not site.job.is_rehearsed:
            edits[sheet.path] = lambda held: self._ours(sheet.path, self._ticked(sheet, held))
        self._events.follow(site.job.listed, Landed(sheet.path, path, text, edits))
        site.tell("summarised", plan, path)
        self._sessions.closed(plan)
        title = " ".join(sheet.objective.split())[:60]
        self._keep_documents(f"docs({plan}): complete plan: {title}", (path, sheet.path))

    def _ours(self, path: str, text: str) -> str:
        """A document that the guard knows as written by us."""
        self._site.jobs.wrote(path, text)
        return text

    def _ticked(self, sheet: PlanSheet, text: str) -> str:
        done = {gate.task for gate in self.gates(sheet) if gate.gate.is_complete}
        numbers = [each.number for each in sheet.tasks if task_id(sheet.id, each.number) in done]
        today = moment(self._site.clock.now())[:10]
        return with_tasks_done(Document(text), numbers, today).text

    @property
    def _keeps_documents(self) -> bool:
        return self._site.job.is_git and self._site.keeps_documents

    def _keep_documents(self, message: str, paths: tuple[str, ...] = ()) -> None:
        site = self._site
        if not self._keeps_documents:
            return
        record = record_of(site.job, site.jobs, site.files, site.sheets)
        present = [path for path in paths if site.files.exists(path)]
        with site.turn:
            commit = keep(site.workspace, site.job, (*record, *present), message)
            if commit:
                site.moved_to(site.job.target, commit)

    def _summary(self, sheet: PlanSheet) -> Summary:
        site = self._site
        gates = self.gates(sheet)
        commit = self._commit(sheet)
        base = first_base(gates) or commit
        changes = site.workspace.changes(base, commit) if commit else ()
        entries = [
            each for each in self.entries(sheet.id) if each.rehearsed == site.job.is_rehearsed
        ]
        now = site.clock.now()
        began = min((gate.started_at for gate in gates), default=site.job.started_at)
        minutes = round((now - datetime.fromisoformat(began)).total_seconds() / 60)
        is_sound = all(gate.gate.is_complete for gate in gates)
        commits = [gate.work[:10] if site.job.is_git else "" for gate in gates]
        skipped = [f"{gate.name}: {gate.note}" for gate in gates if gate.gate.skip_kind]
        return Summary(
            phase=sheet.phase,
            plan=sheet.number,
            title=" ".join(sheet.objective.split())[:120] or f"plan {sheet.id}",
            completed=moment(now)[:10],
            duration=f"{minutes} min",
            created=tuple(file_name(each.path) for each in changes if each.kind == "A"),
            modified=tuple(file_name(each.path) for each in changes if each.kind != "A"),
            decisions=tuple(
                f"{each.text}: {each.answer}"
                for each in site.questions()
                if each.kind is QuestionKind.DECISION and each.subject.startswith(f"{sheet.id}-")
            ),
            requirements=sheet.requirements if is_sound else (),
            actuals=Actuals(
                tokens=sum(each.tokens_in + each.tokens_out for each in entries),
                tasks=len(sheet.tasks),
                commits=sum(map(bool, commits)),
            ),
            commits=tuple(zip((gate.name for gate in gates), commits, strict=True)),
            deviations=(*skipped, *(each for gate in gates for each in gate.concerns)),
            ledger=head(self._ledger(sheet.id)),
            rehearsed=site.job.is_rehearsed,
            status="complete" if is_sound else "partial",
            is_sound=is_sound,
        )

    # -- the end ---------------------------------------------------------------------------

    def finish(self, action: Action) -> None:
        """The job ends; what it made and no longer needs goes, failed attempts stay on branches."""
        self.settle()
        site = self._site
        status = JobStatus(action.subject)
        is_over = status is not JobStatus.BLOCKED
        with site.turn:
            tidy(site.workspace, site.job, site.jobs, site.private, is_over=is_over)
        job = replace(
            site.jobs.load_job(),
            status=status,
            ended_at=moment(site.clock.now()),
            note=action.note,
            # One that waits is open, and may yet be ended by somebody who commits nothing.
            commits_end=is_over and self._keeps_documents,
        )
        if job.status is JobStatus.FAILED:  # before it is said: who is killed here does it again
            self._could(lambda: give_up(site.jobs, self._sessions))
        has_followed = self._could(lambda: self._events.follow(job.listed))
        # From here on nobody goes on with it, unless its record is missing in git.
        site.jobs.save_job(job)
        site.tell("finished", job.id, action.note, status=str(job.status))
        if has_followed:
            self._could(lambda: self._keep_documents(last_words(job), self._proofs(job)))

    def _could(self, step: Callable[[], object]) -> bool:
        """Whether the documents could follow; a job ends, whatever they are like."""
        try:
            step()
        except FairleadError as error:
            self._site.tell("note", self._site.job.id, f"the documents could not follow: {error}")
            return False
        return True

    def _proofs(self, job: Job) -> tuple[str, ...]:
        """The plans that it has carried out and their summaries: a killed run committed none.

        While somebody has to look at what an agent touched, one of them may be the agent's own.
        """
        if any(
            each.kind is QuestionKind.TOUCHED and not each.answer for each in self._site.questions()
        ):
            return ()
        sheets = [each for each in self._site.sheets.values() if each.id in job.plans]
        pairs = [(summary_path(each.path), each.path) for each in sheets]
        return tuple(path for pair in pairs if self._site.files.exists(pair[0]) for path in pair)


def _sides(clashes: tuple[Clash, ...], plan: str) -> tuple[str, ...]:
    """Where two commits differ, both sides of each file; not all of what is long."""
    found: list[str] = []
    for each in clashes[:_SIDES]:
        ours, theirs = each.ours.splitlines(), each.theirs.splitlines()
        names = (f"{each.path} as it is", f"{each.path} of {plan}")
        lines = [*unified_diff(ours, theirs, *names, n=1, lineterm="")]
        found += [visible(line[:_WIDE]) for line in lines[:_SIDE_LINES]]
        found += [f"and {len(lines) - _SIDE_LINES} lines more"] if lines[_SIDE_LINES:] else []
    return tuple(found)
