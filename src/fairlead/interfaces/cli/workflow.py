"""What the doors of workflows share: who works, who looks on, who is asked, how it ends.

A person is asked only where there is one; else a question is answered by the policy of --auto or
becomes a record that `fairlead job answer` ends, and the exit code says that it waits.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

from fairlead.errors import JobWaiting
from fairlead.interfaces.cli.execute import inside, interruptible, saying_the_stop
from fairlead.interfaces.cli.options import dry_run_option, json_option, with_app
from fairlead.interfaces.cli.show import Part, Styled, in_full, report, rows
from fairlead.model.budget import Comparison
from fairlead.model.job import IN_WORDS
from fairlead.values import dataclass, names_of
from fairlead.wiring import App

if TYPE_CHECKING:
    from fairlead.engine.fanout import Signal
    from fairlead.engine.new_project import NewPreview
    from fairlead.engine.phase_discuss import DiscussPreview
    from fairlead.engine.phase_plan import PlanPreview
    from fairlead.engine.plan_asks import Receipt
    from fairlead.engine.quick import Hands
    from fairlead.engine.role_jobs import RoleReport
    from fairlead.engine.role_site import Company
    from fairlead.engine.undertaking import Watcher
    from fairlead.model.budget import Spent
    from fairlead.model.job import Question
    from fairlead.wiring_roles import Wanted

_FAILED = 5
_OPTIONS = (
    click.option("--agent", default="", metavar="NAME", help="Who works: claude, codex, …"),
    click.option("--model", default="", metavar="NAME", help="The model that the agent uses."),
    click.option("--auto", is_flag=True, help="Answer by the policy; ask nobody."),
    click.option("--rehearse", is_flag=True, help="With scripted agents, in a private copy."),
    click.option("--events", "as_events", is_flag=True, help="Print a JSON line for each event."),
)


here_option = click.option("--here", is_flag=True, help="Rehearse in the project itself.")


@dataclass(frozen=True, slots=True)
class Chosen:
    """What the options that all workflows have say."""

    agent: str
    model: str
    auto: bool
    rehearse: bool
    as_events: bool
    dry_run: bool
    as_json: bool


@dataclass(frozen=True, slots=True)
class Bench:
    """A workflow that may begin: in which project, by whom, seen by whom."""

    app: App
    company: Company
    watcher: Watcher
    stop: Signal
    over: Signal


def workflow(command: Callable[..., Any]) -> Callable[..., Any]:
    """What every workflow has: its application, and the options above as one value."""

    @with_app
    def called(app: App, **options: Any) -> Any:
        names = names_of(Chosen)
        chosen = Chosen(**{name: options.pop(name) for name in names})
        return command(app, chosen, **options)

    called.__doc__ = command.__doc__
    called.__name__ = command.__name__
    made = dry_run_option(json_option(called))
    for option in reversed(_OPTIONS):
        made = option(made)
    return made


@contextmanager
def bench(
    app: App, chosen: Chosen, folder: str = "", estimate: Spent | None = None
) -> Iterator[Bench]:
    """Everything that a workflow needs, for as long as it runs.

    With an estimate it is one that asks people, and no table is drawn meanwhile.
    """
    from fairlead.engine.undertaking import Watcher
    from fairlead.interfaces.cli.watching import view
    from fairlead.wiring_roles import Beside, company

    shown = view(as_events=chosen.as_events, as_json=chosen.as_json, may_ask=estimate is not None)
    wanted = wanted_of(app, chosen)
    with interruptible() as (stop, over):
        # A role has no step of its own to finish: the first ^C ends it, and the job goes on later.
        ends = over if estimate is None else stop
        beside = Beside(ends, shown.report, shown.watch, person(chosen))
        watcher = Watcher(shown.report, shown.watch, saying_the_stop(shown.looked, over))
        try:
            yield Bench(
                app,
                company(app, wanted, beside, folder=folder, estimate=estimate),
                watcher,
                stop,
                over,
            )
        finally:
            shown.close()


def wanted_of(app: App, chosen: Chosen) -> Wanted:
    """What the options say; `mode: yolo` in config.json is --auto for good."""
    from fairlead.wiring_roles import Wanted

    is_auto = chosen.auto or app.value("mode") == "yolo"
    return Wanted(chosen.agent, chosen.model, is_auto, chosen.rehearse)


def place_of(app: App, chosen: Chosen, *, here: bool) -> App:
    """The project that is worked in: a rehearsal has a private copy, unless it may be here."""
    if here and not chosen.rehearse:
        raise click.UsageError("--here belongs to --rehearse")
    if not chosen.rehearse or chosen.dry_run:
        return app
    if not here:
        return app.rehearsal()
    app.require_rehearsable()
    return app


def previewed(
    preview: DiscussPreview | PlanPreview | NewPreview,
    chosen: Chosen,
    head: Sequence[Sequence[Part]],
    note: str = "",
    **more: object,
) -> int:
    """Say who would be asked, and what that will probably take; nothing is asked."""
    content = {
        **more,
        "roles": list(preview.receipts),
        "estimate": preview.estimate,
        "resumes": preview.resumes,
        "dry_run": True,
    }
    price = f"{preview.estimate.tokens:,} tokens, ${preview.estimate.usd:.2f}"
    goes_on = [(f"  goes on with  {preview.resumes}",)] if preview.resumes else []
    lines = [
        *head,
        *goes_on,
        (Styled("These roles would be asked:", "bold"),),
        *receipt_lines(preview.receipts),
        (f"estimate: about {price}{note}",),
    ]
    report(content, lines, as_json=chosen.as_json)
    return 0


def receipt_lines(receipts: Sequence[Receipt]) -> list[Sequence[Part]]:
    """What each role will receive, and what that will probably take."""
    table = []
    for each in receipts:
        sizes = ", ".join(f"{name} {size:,}" for name, size in each.pieces if size)
        tokens = f"~{each.estimate.tokens:,} tokens"
        table.append((f"  {each.role}", each.model or "-", tokens, f"characters: {sizes}"))
    return rows(table)


def hands_of(ready: Bench, chosen: Chosen, *, is_approved: bool) -> Hands:
    """Who carries out the plans that a workflow makes."""
    from fairlead.engine.quick import Hands
    from fairlead.wiring_daily import hands

    crew, terms = hands(ready.app, chosen.agent, chosen.model, is_rehearsed=chosen.rehearse)
    return Hands(crew, terms, ready.watcher, ready.stop, ready.over, is_approved)


def person(chosen: Chosen) -> Callable[[Question], str]:
    """Asks the person at the terminal, if there is one and nobody said not to."""

    def answer(question: Question) -> str:
        is_there = sys.stdin.isatty() and sys.stdout.isatty()
        if chosen.as_json or chosen.as_events or not is_there:
            return ""
        with _leaving():
            return _prompted(question)

    return answer


def _prompted(question: Question) -> str:
    report({}, in_full(Styled("? ", "yellow"), question.text), as_json=False)
    if not question.options:
        return str(click.prompt("answer", default="", show_default=False)).strip()
    for number, option in enumerate(question.options, 1):
        report({}, [(f"  {number}  {option}",)], as_json=False)
    most = len(question.options)
    # What can be aborted is never accepted by an empty line.
    default = None if "abort" in question.options else 1
    number = click.prompt("which", type=click.IntRange(1, most), default=default)
    chosen = question.options[number - 1]
    begin = next((each for each in IN_WORDS if chosen.startswith(each)), "")
    return f"{begin} {click.prompt('what')}" if begin else chosen


@contextmanager
def _leaving() -> Iterator[None]:
    """While a person is asked ^C leaves at once; the job waits where it is."""
    try:
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
    except ValueError:  # not the main thread, which alone may change that
        yield
        return
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def finished(done: RoleReport, chosen: Chosen, folder: str, **more: object) -> int:
    """Say how a workflow ended: what was written, what it cost, what comes next."""
    job = done.job
    waiting = [each for each in done.questions if not each.answer]
    if not chosen.as_events:
        content = {
            "ok": job.status == "DONE",
            "job": job.id,
            "status": str(job.status),
            "rehearsed": job.is_rehearsed,
            "calls": [
                {
                    "key": each.key,
                    "role": each.role,
                    "status": each.status,
                    "model": each.model,
                    "tries": each.tries,
                    "tokens": each.tokens,
                    "left_out": list(each.left_out),
                }
                for each in done.calls
            ],
            "tokens": done.spent.tokens,
            "cost_usd": done.spent.usd,
            "written": list(done.written),
            "questions": list(done.questions),
            "note": job.note,
            "folder": folder,
            **more,
        }
        report(content, _lines(done, folder, str(more.get("next", ""))), as_json=chosen.as_json)
    if job.status == "BLOCKED" and waiting and not chosen.as_json:
        command = inside(folder, job) + waiting[0].command(job.id, waiting)
        raise JobWaiting(job.id, waiting[0].text, command)
    return {"DONE": 0, "FAILED": _FAILED}.get(job.status, JobWaiting.exit_code)


def _lines(done: RoleReport, folder: str, ahead: str) -> list[Sequence[Part]]:
    job = done.job
    style = {"DONE": "green", "FAILED": "red"}.get(job.status, "yellow")
    price = Comparison(job.estimate, done.spent)
    lines: list[Sequence[Part]] = [(Styled(str(job.status), style), f"  {price}")]
    lines += [(Styled(f"  {path}", "dim"),) for path in done.written]
    if job.target and job.base and job.status == "DONE" and not job.is_rehearsed:
        lines.append((f"  branch   {job.target}  (undo: git reset --keep {job.base[:10]})",))
    if job.is_rehearsed:
        lines.append((f"  place    {folder}  (rehearsed: nothing of it counts)",))
    if job.note and not any(each.text == job.note for each in done.questions):
        lines.append((f"  note     {job.note}",))
    where = inside(folder, job)
    lines.append((f"  record   {where}fairlead job show {job.id}",))
    if not job.ended_at:
        lines.append((f"  go on    {where}{job.command}",))
    if job.status == "DONE" and ahead:
        also = " --rehearse --here" if job.is_rehearsed else ""
        lines.append((f"  next     {where}{ahead}{also}",))
    return lines
