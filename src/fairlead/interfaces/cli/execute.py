"""`fairlead phase execute`: the plans of a phase, carried out by agents, through gates."""

from __future__ import annotations

import gc
import shlex
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from fairlead.errors import JobWaiting
from fairlead.interfaces.cli.options import dry_run_option, json_option, stream_option, with_app
from fairlead.interfaces.cli.show import Part, Styled, first_line, in_full, report, rows, warn
from fairlead.model.budget import Comparison, may_spend
from fairlead.values import replace
from fairlead.wiring import App

if TYPE_CHECKING:
    from fairlead.engine.fanout import Signal
    from fairlead.engine.undertaking import Preview, Report, Terms
    from fairlead.model.council_job import CouncilJob
    from fairlead.model.job import Job

_FAILED = 5
_OLD = 700  # objects: what Python begins with


@click.command("execute", epilog="Example: fairlead phase execute 4 --dry-run")
@click.argument("number", metavar="N")
@click.option("--agent", default="", metavar="NAME", help="Who executes: claude, codex, …")
@click.option("--reviewer", default="", metavar="NAME", help="Who reviews; else the same agent.")
@click.option("--model", default="", metavar="NAME", help="The model that the agent uses.")
@click.option("--slots", type=click.IntRange(1, 64), default=None, help="Agents at once.")
@click.option("--approve", is_flag=True, help="Agree to run the verify commands of these plans.")
@click.option("--rehearse", is_flag=True, help="With scripted agents, in a private copy.")
@click.option("--here", is_flag=True, help="Rehearse in the project itself.")
@click.option("--events", "as_events", is_flag=True, help="Print a JSON line for each event.")
@stream_option
@dry_run_option
@json_option
@with_app
def execute_phase(app: App, *, number: str, dry_run: bool, as_json: bool, **chosen: Any) -> int:
    """Carry out the plans of a phase, in waves, each task through its gate.

    Every attempt works in a git worktree of its own. A task passes when its agent is done, the
    plan's own verify command succeeds, and a reviewer agrees; then the work is merged. A run
    that was interrupted is continued by the same command.
    """
    from fairlead.engine.undertaking import Watcher
    from fairlead.interfaces.cli.watching import view
    from fairlead.wiring_limits import loosely_held

    is_rehearsed = chosen["rehearse"]
    if chosen["here"] and not is_rehearsed:
        raise click.UsageError("--here belongs to --rehearse")
    if is_rehearsed and chosen["here"]:
        app.require_rehearsable()
    elif is_rehearsed and not dry_run:
        app = app.rehearsal()
    execution = app.execution.within(app.step[2])
    preview = execution.preview(number, is_rehearsed=is_rehearsed)
    chosen |= _as_begun(app, preview.resumes, chosen)
    terms = app.terms(model=chosen["model"], slots=chosen["slots"], is_rehearsed=is_rehearsed)
    if not is_rehearsed:
        notes = loosely_held(app, chosen["agent"], chosen["reviewer"], terms.caps)
        terms = replace(terms, notes=notes)
    if dry_run:
        told = {**_told(preview), "limits": terms.caps, "beyond_limits": _beyond(preview, terms)}
        told["notes"] = list(terms.notes)
        report(told, _preview_lines(app, preview, terms), as_json=as_json)
        return 0
    if chosen["approve"] or _agrees(app, preview, terms, as_json=as_json):
        execution.approve(preview)
        preview = execution.preview(number, is_rehearsed=is_rehearsed)
    execution.require_ready(preview)
    crew = app.crew(chosen["agent"], chosen["reviewer"], is_rehearsed=is_rehearsed)
    if not preview.branch:
        warn(f"{_lack(app)}: one plan at a time, in place, and nothing can be taken back")
    shown = view(as_events=chosen["as_events"], as_json=as_json)
    with interruptible() as (stop, over):
        watcher = Watcher(shown.report, shown.watch, saying_the_stop(shown.looked, over))
        try:
            done = execution.carry_out(preview, crew, terms, watcher, stop, over)
        finally:
            shown.close()
    return finished(done, as_json=as_json, as_events=chosen["as_events"], folder=app.place)


def _as_begun(app: App, resumes: str, chosen: dict[str, Any]) -> dict[str, Any]:
    """Who works, and how: as asked now, else as the job was begun with."""
    if not resumes:
        return {}
    held = app.jobs.one(resumes).job
    agent = chosen["agent"] or held.agent
    is_same = agent == held.agent
    reviewer = held.reviewer if held.reviewer != held.agent else ""
    return {
        "agent": agent,
        "reviewer": chosen["reviewer"] or reviewer,
        "model": chosen["model"] or (held.model if is_same else ""),
        "slots": chosen["slots"] or held.slots,
    }


def finished(done: Report, *, as_json: bool, as_events: bool, folder: str) -> int:
    """Say how a job ended: what changed, where, what it cost, and how to take it back."""
    job = done.job
    if not as_events:
        report({**_ended(done), "folder": folder}, _report_lines(done, folder), as_json=as_json)
    waiting = [each for each in done.questions if not each.answer]
    if job.status == "BLOCKED" and waiting and not as_json:
        command = inside(folder, job) + waiting[0].command(job.id, waiting)
        raise JobWaiting(job.id, waiting[0].text, command)
    return {"DONE": 0, "FAILED": _FAILED}.get(job.status, JobWaiting.exit_code)


def _ended(done: Report) -> dict[str, Any]:
    job = done.job
    return {
        "ok": job.status == "DONE",
        "job": job.id,
        "status": str(job.status),
        "phase": job.phase,
        "branch": job.target,
        "base": job.base,
        "rehearsed": job.is_rehearsed,
        "plans": [{"id": plan, "complete": is_done} for plan, is_done in done.plans],
        "tokens": done.spent.tokens,
        "cost_usd": done.spent.usd,
        "estimate": job.estimate,
        "questions": list(done.questions),
        "kept_branches": list(done.kept_branches),
    }


def _report_lines(done: Report, folder: str) -> list[Sequence[Part]]:
    job = done.job
    style = {"DONE": "green", "FAILED": "red"}.get(job.status, "yellow")
    count = sum(is_done for _, is_done in done.plans)
    spent = Comparison(job.estimate, done.spent)
    lines: list[Sequence[Part]] = [
        (Styled(f"{job.status}", style), f"  {count} of {len(done.plans)} plans, {spent}"),
        (f"  job      {job.id}",),
    ]
    if job.target:
        lines.append((f"  branch   {job.target}  (look: git log --oneline {job.base[:10]}..)",))
    if job.target and count and not job.is_rehearsed:
        lines.append((f"  undo     git revert or git reset --keep {job.base[:10]}",))
    if job.is_rehearsed:
        lines.append((f"  place    {folder}  (rehearsed: nothing of it counts)",))
    if done.kept_branches:
        kept = f"{len(done.kept_branches)} branches with what did not land"
        lines.append((f"  kept     {kept}: git branch --list 'fairlead/*'",))
    if job.note:
        lines.append((f"  note     {first_line(job.note)}",))
    for each in done.questions:
        if not each.answer:
            lines += in_full(Styled("  ? ", "yellow"), each.text)
            lines += [(f"    {line}",) for line in each.below]
    lines.append((f"  record   {inside(folder, job)}fairlead job show {job.id}",))
    return lines


def inside(folder: str, job: Job | CouncilJob) -> str:
    """What a command begins with that belongs to a rehearsal: its copy is another place."""
    return f"cd {shlex.quote(folder)} && " if job.is_rehearsed else ""


def _told(preview: Preview) -> dict[str, Any]:
    return {
        "phase": preview.phase,
        "name": preview.name,
        "waves": [list(wave) for wave in preview.order.waves],
        "plans": [
            {
                "id": sheet.id,
                "depends_on": list(sheet.depends_on),
                "files": list(sheet.files),
                "tasks": [task.name for task in sheet.tasks],
                "left": sheet.id in preview.left,
            }
            for sheet in preview.sheets
        ],
        "commands": [{"task": task, "command": line} for task, line in preview.commands],
        "approved": preview.is_approved,
        "resumes": preview.resumes,
        "problems": list(preview.problems),
        "warnings": [*preview.warnings, *preview.order.warnings],
        "estimate": preview.estimate,
        "branch": preview.branch,
    }


def _lack(app: App) -> str:
    """Why there is no branch that work could land on."""
    if app.is_in_repository:
        return "git has no commit here yet (make one: git add -A && git commit -m start)"
    return "there is no git here"


def _beyond(preview: Preview, terms: Terms) -> str:
    return may_spend(preview.estimate, *preview.spent, terms.caps)


def _preview_lines(app: App, preview: Preview, terms: Terms) -> list[Sequence[Part]]:
    lines: list[Sequence[Part]] = [(Styled(f"Phase {preview.phase}: {preview.name}", "bold"),)]
    if preview.resumes:
        lines.append((f"goes on with {preview.resumes}",))
    sheets = {sheet.id: sheet for sheet in preview.sheets}
    table = []
    for number, wave in enumerate(preview.order.waves, 1):
        for name in wave:
            sheet = sheets[name]
            mark = "" if name in preview.left else "done"
            table.append(
                (
                    f"wave {number}",
                    name,
                    f"{len(sheet.tasks)} tasks",
                    ", ".join(sheet.files[:4]),
                    mark,
                )
            )
    lines += rows(table)
    lines += [
        (Styled("  ⚠ ", "yellow"), each) for each in (*preview.order.warnings, *preview.warnings)
    ]
    lines.append((Styled("These commands would be run to verify:", "bold"),))
    lines += rows([(f"  {task}", line) for task, line in preview.commands])
    lines += [(Styled("  ✗ ", "red"), each) for each in preview.problems]
    where = (
        f"work lands on branch {preview.branch}"
        if preview.branch
        else f"{_lack(app)}: one plan at a time, in place"
    )
    lines.append((where,))
    price = f"{preview.estimate.tokens:,} tokens, ${preview.estimate.usd:.2f}"
    lines.append((f"estimate: about {price}, before any retry",))
    lines.append((f"limits: {terms.caps}; today ${preview.spent[1].usd:.2f} spent",))
    lines += [(Styled("  ⚠ ", "yellow"), each) for each in terms.notes]
    if beyond := _beyond(preview, terms):
        lines.append((Styled("  ⚠ ", "yellow"), f"{beyond}: a person is asked when it gets there"))
    state = (
        "approved"
        if preview.is_approved
        else "not approved: add --approve to agree to these commands"
    )
    lines.append((f"commands: {state}",))
    return lines


def _agrees(app: App, preview: Preview, terms: Terms, *, as_json: bool) -> bool:
    """Ask a person, if there is one; the commands are shown first."""
    if preview.is_approved or preview.problems or as_json:
        return False
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    report({}, _preview_lines(app, preview, terms), as_json=False)
    return click.confirm("Run these commands?", default=False)


def saying_the_stop(shown: Callable[[Any], None], over: Signal) -> Callable[[Any], None]:
    """Say once that a wish to stop was heard: here, since a signal handler must not write."""
    said: list[str] = []

    def looked(snapshot: Any) -> None:
        if snapshot.is_stopping and not said and not over.is_given:
            said.append("finishing the steps that run; ^C again stops them now")
            warn(*said)
        shown(snapshot)

    return looked


@contextmanager
def interruptible() -> Iterator[tuple[Signal, Signal]]:
    """^C once: finish the steps that run; twice, or a closed terminal: stop everything now."""
    from fairlead.engine.fanout import Signal

    gc.set_threshold(_OLD)  # `main` lets garbage lie, which a long run would pile up
    stop, over = Signal(), Signal()

    def asked(number: int, _: object) -> None:
        if stop.is_given or number != signal.SIGINT:
            over.give()
        stop.give()

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, asked) for number in numbers}
    try:
        yield stop, over
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
