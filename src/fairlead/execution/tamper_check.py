"""The tamper check: everything an agent may not change is the same after its call as before.

It covers git refs, configuration and hooks, the plans and proofs of every phase and workstream,
approvals, settings and Fairlead's own records. Source files, STATE.md and ROADMAP.md are left out:
a person may be editing them at the same time, and nothing distinguishes a person from an agent
there.

What only an agent would change (proofs, settings of git, records) is restored at once, so that it
never counts and never runs; `accept` puts it back. Branches, plans, approvals and the project's
settings may have been changed by a person: they are restored if the person answers `reject` or
`abort`. See `restoration.py`.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING

from fairlead.core.errors import DocumentError
from fairlead.core.values import dataclass, replace
from fairlead.execution.decide import ABORT, ACCEPT, REJECT, question_id
from fairlead.execution.restoration import Restoration, is_ref
from fairlead.jobs.baseline import Baseline, Baselines, TouchedFiles
from fairlead.jobs.folder import JobFolder
from fairlead.jobs.guarded_proofs import gate_files, is_proof, planning_documents
from fairlead.jobs.loop import is_running
from fairlead.jobs.model import Question, QuestionKind
from fairlead.jobs.paths import (
    LEDGER,
    LEDGER_SUFFIX,
    SEEN,
    approvals_path,
    ledger_path,
    private_folder,
)
from fairlead.jobs.service import job_lock
from fairlead.project.naming import is_plan, is_summary
from fairlead.project.paths import PLANS_NAME
from fairlead.store import layout
from fairlead.store.digests import (
    FileSignature,
    digests_of,
    entries_of,
    file_signature,
    signatures_of,
)
from fairlead.text.inline import file_name
from fairlead.vcs.refs import is_odd

if TYPE_CHECKING:
    from fairlead.execution.context import ExecutionContext
    from fairlead.jobs.kinds import JobAccess
    from fairlead.jobs.model import Job
    from fairlead.plans.model import CommandResult
    from fairlead.store.files import Files
    from fairlead.vcs.ports import Workspace


# -- during a run --------------------------------------------------------------------------


def record_baseline(context: ExecutionContext, task: str, plan: str) -> dict[str, str]:
    """The digests before a call, also stored: if this run is killed, the next one compares."""
    before = _guarded_digests(context, plan)
    Restoration(context.folder, context.workspace).keep_contents(before)
    stored = {name: digest for name, digest in before.items() if not is_ref(name)}
    context.folder.baselines.saw(task, plan, stored)
    context.watched.add(task)
    return before


def tampering_question(
    context: ExecutionContext, task: str, plan: str, before: Mapping[str, str]
) -> Question | None:
    """A question about everything that changed during a call, except by this run or a person."""
    with context.turn:  # no thread of this run moves a branch at the same time
        context.watched.discard(task)
        after = _guarded_digests(context, plan, before)
        names = _foreign_changes(context, before, after)
        context.has_touched = context.has_touched or bool(names)
        return _put_aside(context.folder, context.workspace, task, names, before, after)


def checked_command(
    context: ExecutionContext, task: str, plan: str, run: Callable[[], CommandResult]
) -> tuple[CommandResult, Question | None]:
    """The result of a command that runs code of agents, and a question about what it changed."""
    before = record_baseline(context, task, plan)
    result = run()
    question = tampering_question(context, task, plan, before)
    context.folder.baselines.judged(task)
    return result, question


def moved_branch_question(context: ExecutionContext, plan: str, at: str) -> Question | None:
    """A question about a target branch that moved while an agent works; None: nothing lands on it.

    Work must not land on a commit of which nobody knows yet whether an agent made it.
    """
    name = f"refs/heads/{context.job.target}"
    known = context.moved.get(name, at)
    if at == known or not context.watched:
        return None
    before, after = {name: known}, {name: at}
    context.has_touched = True
    return _put_aside(context.folder, context.workspace, plan, {name}, before, after)


def _guarded_digests(
    context: ExecutionContext, plan: str, before: Collection[str] | None = None
) -> dict[str, str]:
    """Refs, git's settings, hooks, plans, proofs, approvals and the job's own files, as digests.

    `before` are the names before the call; of ledgers, only these are compared after it.
    """
    for files in (context.files, context.folder):
        files.complete_interrupted()
    folder = context.files.folder
    # One task of a plan runs at a time, so no other thread adds to this ledger during the call.
    ledger = f"{folder}/{ledger_path(plan, context.job.workstream)}"
    approvals = f"{context.environment.state.folder}/{approvals_path(folder)}"
    paths = (*context.settings_files, ledger, approvals)
    signatures = planning_documents(folder)
    ledgers = _finished_ledgers(folder, signatures)
    if before is not None:
        ledgers = {name: each for name, each in ledgers.items() if name in before}
    signatures |= ledgers
    signatures |= gate_files(folder)
    signatures |= {place: file_signature(place) for place in context.folder.own_paths()}
    documents = context.digests.all_of(signatures)
    digests = {**context.workspace.guard(), **digests_of(paths), **documents}
    return {name: digest for name, digest in digests.items() if digest}


def _finished_ledgers(folder: str, documents: Iterable[str]) -> dict[str, FileSignature]:
    """The ledgers of plans with a summary: nothing is added to them any more."""
    finished = {plan for path in documents if (plan := _summarised_plan(path))}
    return signatures_of(
        entry
        for entry in entries_of(f"{folder}/{LEDGER}")
        if entry.name.removesuffix(LEDGER_SUFFIX).rpartition("@")[2] in finished
    )


@lru_cache(1 << 14)
def _summarised_plan(path: str) -> str:
    """The plan of a summary, by the name of its file; empty if the path is no summary."""
    name = os.path.basename(path)
    return name.lower().partition("-summary")[0] if is_summary(name) else ""


def _phase_folders(context: ExecutionContext) -> tuple[str, ...]:
    """The folders of this job's plans: absolute paths."""
    folders = {
        plan.path.rpartition("/")[0].removesuffix(f"/{PLANS_NAME}")
        for plan in context.plans.values()
    }
    return tuple(f"{context.files.folder}/{folder}/" for folder in folders)


def _foreign_changes(
    context: ExecutionContext, before: Mapping[str, str], after: Mapping[str, str]
) -> set[str]:
    """The names that differ, except changes by this run and answers of a person."""
    foreign = {
        name
        for name in _changed(before, after, _phase_folders(context))
        if not _is_expected(context, name, after.get(name, ""))
    }
    return foreign - _answer_files(context) if foreign else foreign


def _changed(
    before: Mapping[str, str], after: Mapping[str, str], own: tuple[str, ...]
) -> Iterator[str]:
    """The names that differ; `own` are the folders of the job's plans.

    A new plan of another phase is no tampering: nothing runs it before a person approves it.
    """
    for name in {name for name, _ in before.items() ^ after.items()}:
        is_new_plan = name not in before and name[:1] == "/" and is_plan(os.path.basename(name))
        if not is_new_plan or name.startswith(own):
            yield name


def _is_expected(context: ExecutionContext, name: str, digest: str) -> bool:
    """Whether this run made the change, or an agent on the branch of its own attempt.

    Fetched refs are expected as well: they change nothing in this repository's own branches.
    """
    if name.startswith("refs/"):
        # A branch that names another one would lead our own writes there.
        is_attempt = name.removeprefix("refs/heads/") in context.attempts and not is_odd(digest)
        is_fetched = name.startswith("refs/remotes/")
        return is_attempt or is_fetched or context.moved.get(name) == digest
    return context.folder.baselines.has_written(name, digest)


def _answer_files(context: ExecutionContext) -> set[str]:
    """The files of questions that a person answered; none if a question cannot be read."""
    try:
        questions = context.questions()
    except DocumentError:
        return set()
    return {context.folder.question_place(each) for each in questions if each.answer}


# -- after a kill --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class JobPlace:
    """A job whose traces are checked without running it."""

    files: Files
    state: str  # the user's state folder
    workspace: Workspace
    folder: JobFolder

    @classmethod
    def of(cls, files: Files, state: str, workspace: Workspace, job: str) -> JobPlace:
        """The place of a job, with the baselines of its tamper check."""
        baselines = Baselines(f"{private_folder(state, files.folder, job)}/{SEEN}")
        return cls(files, state, workspace, JobFolder(files.folder, job, baselines=baselines))


def check_killed_runs(
    files: Files, state: str, workspace: Workspace, jobs: Iterable[str], now: str
) -> None:
    """Put aside what the agents of killed runs changed, and ask about it in their jobs.

    No run begins before this: what a killed run left must count for no other job either.
    """
    for job in jobs:
        place = JobPlace.of(files, state, workspace, job)
        for question in questions_after_kill(place):
            place.folder.save_question(replace(question, asked_at=now))


def settle_answer(place: JobPlace, jobs: JobAccess, job: Job) -> None:
    """Carry out an answer about touched files now, unless a run does it."""
    if place.folder.baselines.touched() and not is_running(place.files.folder, job_lock(job)):
        Restoration(place.folder, place.workspace).settle(jobs.own_questions(job.id))


def questions_after_kill(place: JobPlace) -> Iterator[Question]:
    """Questions about what the agents of a killed run changed.

    A person may have continued to work since, so refs and approvals are left out. After a power
    loss the list of Fairlead's own writes may be incomplete, so the planning folder is left out too.
    """
    for baseline in place.folder.baselines.left():
        if baseline.digests is None:
            yield _question(baseline.task, [baseline.place])
            continue
        before, after = baseline.digests, _digests_now(place, baseline)
        names = {
            name
            for name in _changed(before, after, _own_folders(baseline))
            if not is_ref(name) and _is_comparable(place, baseline, name, after.get(name, ""))
        }
        question = _put_aside(place.folder, place.workspace, baseline.task, names, before, after)
        if question:
            yield question


def _digests_now(place: JobPlace, baseline: Baseline) -> dict[str, str]:
    """The present digests of everything that a baseline names, and of new files of these kinds."""
    for files in (place.files, place.folder):
        files.complete_interrupted()
    named = [name for name in baseline.digests or () if name[:1] == "/"]
    settings = f"{place.files.folder}/{layout.CONFIG}"
    paths = (*named, settings, *place.folder.own_paths())
    project = place.files.folder
    documents = (*planning_documents(project), *gate_files(project))
    # What git names comes last: its digests tell whether a file can be executed.
    return {**digests_of((*paths, *documents)), **place.workspace.guard()}


def _own_folders(baseline: Baseline) -> tuple[str, ...]:
    """The folders that held plans of the baseline's phase: new plans there are tampering."""
    phase = baseline.plan.rpartition("-")[0]
    plans = (name for name in baseline.digests or () if is_plan(os.path.basename(name)))
    return tuple({f"{os.path.dirname(name)}/" for name in plans if f"/{phase}-" in name} or {"\0"})


def _is_comparable(place: JobPlace, baseline: Baseline, name: str, digest: str) -> bool:
    project = place.files.folder
    is_settings = name == f"{project}/{layout.CONFIG}"
    is_known = (
        baseline.is_of_this_boot
        or is_settings
        or not name.startswith(f"{project}/{layout.PLANNING}/")
    )
    is_approvals = name == f"{place.state}/{approvals_path(project)}"
    is_written = place.folder.baselines.has_written(name, digest)
    return is_known and not is_approvals and not is_written and not _is_answer(place, name)


def _is_answer(place: JobPlace, name: str) -> bool:
    """Whether a file is a question with an answer: people answer after a kill, too."""
    try:
        questions = place.folder.load_questions()
    except DocumentError:
        return False
    return any(each.answer and place.folder.question_place(each) == name for each in questions)


def settle_ended_job(place: JobPlace) -> list[str]:
    """Restore everything that the agents of a job changed and nobody accepted: the job is over."""
    for question in questions_after_kill(place):
        del question  # nobody is asked any more
    problems = Restoration(place.folder, place.workspace).settle((), is_over=True)
    place.folder.baselines.forget_all()
    return problems


# -- questions -----------------------------------------------------------------------------


def _put_aside(
    folder: JobFolder,
    workspace: Workspace,
    task: str,
    names: Collection[str],
    before: Mapping[str, str],
    after: Mapping[str, str],
) -> Question | None:
    """Store what was touched, restore what no person changes, and return the question about all."""
    if not names:
        return None
    question = _question(task, names)
    touched = TouchedFiles(
        question.id,
        task,
        {name: before[name] for name in names if name in before},
        {name: after[name] for name in names if name in after},
    )
    restoration = Restoration(folder, workspace)
    restoration.keep_contents(touched.after)
    folder.baselines.remember_touched(touched)
    restoration.restore(touched, restoration.restored_at_once(touched))
    workspace.trust_settings()
    return question


def _question(task: str, names: Iterable[str]) -> Question:
    kind, names = QuestionKind.TOUCHED, sorted(names)
    listed = ", ".join(map(file_name, names))
    text = f"while an agent worked on {task}, this was changed: {listed}"
    if any(is_proof(name) for name in names):
        text += "; a summary that you accept is put back and proves its plan"
    return Question(question_id(kind, task), kind, task, text, (REJECT, ACCEPT, ABORT))
