"""`fairlead job`: the runs of the engine, what they wait for, and the answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from fairlead.errors import OtherJob
from fairlead.interfaces.cli.options import Verbs, json_option, with_app
from fairlead.interfaces.cli.show import Part, Styled, first_line, in_full, report, rows
from fairlead.model.council_job import CouncilJob
from fairlead.model.job import Job
from fairlead.wiring import App


@click.group(
    cls=Verbs,
    rooms={
        "retry": "fairlead.interfaces.cli.job_council:retry_job",
        "rule": "fairlead.interfaces.cli.job_council:rule_item",
        "veto": "fairlead.interfaces.cli.job_council:veto_job",
    },
)
def job() -> None:
    """Show jobs, and answer what they wait for."""


@job.command("list", epilog="Example: fairlead job list --json")
@json_option
@with_app
def list_jobs(app: App, *, as_json: bool) -> None:
    """Show every job, the newest last."""
    found = app.jobs.all()
    held = [
        {
            "id": each.id,
            "kind": each.kind,
            "status": str(each.status),
            "phase": each.phase,
            "started_at": each.started_at,
            "ended_at": each.ended_at,
            "rehearsed": each.is_rehearsed,
            "degraded": list(_degraded(each)),
        }
        for each in found
    ]
    table = [
        (each.id, str(each.status), each.started_at, _marks(each), first_line(each.note))
        for each in found
    ]
    lines: list[Sequence[Part]] = rows(table) if table else [("no jobs yet",)]
    damaged = [str(each) for each in app.jobs.damaged()]
    lines += [(Styled("cannot be read: ", "red"), each) for each in damaged]
    report({"jobs": held, "damaged": damaged}, lines, as_json=as_json)


def _degraded(held: Job | CouncilJob) -> Sequence[str]:
    return held.degraded if isinstance(held, CouncilJob) else ()


def _marks(held: Job | CouncilJob) -> Styled:
    found = (("rehearsed", held.is_rehearsed), ("degraded", _degraded(held)))
    return Styled(", ".join(name for name, is_so in found if is_so), "yellow")


@job.command("show", epilog="Example: fairlead job show execute-04-20261115-233200")
@click.argument("job_id", metavar="JOB", default="")
@click.option("--diff", is_flag=True, help="Show what the versions of a council's plan changed.")
@json_option
@with_app
def show_job(app: App, *, job_id: str, diff: bool, as_json: bool) -> None:
    """Show a job: its gates or its votes, what it asked, and what it was told."""
    held = app.jobs.record(job_id)
    if isinstance(held, CouncilJob):
        _show_council(app, held, diff=diff, as_json=as_json)
        return
    if diff:
        raise OtherJob(held.id, held.kind)
    found = app.jobs.one(job_id)
    lines: list[Sequence[Part]] = [
        (Styled(found.job.id, "bold"), f"  {found.job.status}  {first_line(found.job.note)}")
    ]
    lines += rows(
        [
            (
                f"  {gate.task}",
                str(gate.gate.status),
                f"{len(gate.runs)} runs",
                gate.name,
                first_line(gate.note),
            )
            for gate in found.gates
        ]
    )
    lines += rows(
        [
            (
                f"  {call.key}",
                call.status,
                call.role,
                f"{call.tokens:,} tokens",
                first_line(call.note),
            )
            for call in found.calls
        ]
    )
    for each in found.questions:
        waits = (f"waits: {each.command(found.job.id, found.questions)}", *each.below)
        lines += in_full(Styled("  ? ", "yellow"), each.text)
        lines += [(f"    {line}",) for line in ((each.answer,) if each.answer else waits)]
    report(found, lines, as_json=as_json)


def _show_council(app: App, held: CouncilJob, *, diff: bool, as_json: bool) -> None:
    import shutil

    from fairlead.interfaces.cli.council_pages import council_changes, council_page

    if diff:
        plans = app.jobs.plans_of(held)
        report({"job": held.id, "plans": plans}, council_changes(plans), as_json=as_json)
        return
    found = app.jobs.council(held)
    width = min(shutil.get_terminal_size((100, 24)).columns, 100)
    report(found, council_page(found, width), as_json=as_json)


@job.command("watch", epilog="Example: fairlead job watch")
@click.argument("job_id", metavar="JOB", default="")
@with_app
def watch_job(app: App, *, job_id: str) -> None:
    """Follow the journal of a job until it ends."""
    for line in app.jobs.follow(job_id):
        report({}, [(line,)], as_json=False)


@job.command("answer", epilog='Example: fairlead job answer execute-04-20261115-233200 "retry"')
@click.argument("job_id", metavar="JOB")
@click.argument("answer")
@click.option("--question", default="", metavar="ID", help="Which one, if there are several.")
@json_option
@with_app
def answer_job(app: App, *, job_id: str, answer: str, question: str, as_json: bool) -> None:
    """Answer what a job waits for; then start it again to go on."""
    held = app.jobs.answer(job_id, answer, question)
    again = app.jobs.record(job_id).command
    more: dict[str, Any] = {"question": held.id, "answer": held.answer, "next": again}
    report(more, [(Styled("✓ ", "green"), f"answered {held.id}. Next: {again}")], as_json=as_json)


@job.command("cancel", epilog="Example: fairlead job cancel execute-04-20261115-233200")
@click.argument("job_id", metavar="JOB")
@json_option
@with_app
def cancel_job(app: App, *, job_id: str, as_json: bool) -> None:
    """End a job; its work so far stays where it is."""
    if app.jobs.record(job_id).kind == "council":
        from fairlead.interfaces.cli.job_council import wished

        wished(app, job_id, "cancel", "", as_json=as_json)
        return
    from fairlead.wiring_verify import keeps_documents

    ended = app.jobs.cancel(job_id, app.workspace, keeps_documents=keeps_documents(app))
    report(
        {"job": ended.id, "status": str(ended.status)},
        [(f"{ended.id} is {ended.status}",)],
        as_json=as_json,
    )
