"""`fairlead job`: list, show and follow jobs, answer their questions, and end or retry them."""

from __future__ import annotations

import shutil
from contextlib import suppress

import click

from fairlead.app import App
from fairlead.interfaces.cli.agent_command import events_option, exit_code_of, status_mark
from fairlead.interfaces.cli.lazy_group import LazyGroup
from fairlead.interfaces.cli.options import in_rehearsal_option, json_option, with_app
from fairlead.interfaces.cli.output import (
    Line,
    Styled,
    first_line,
    job_command_lines,
    report,
    table_lines,
)
from fairlead.jobs.errors import OtherJob
from fairlead.jobs.model import COUNCIL, JobRecord
from fairlead.text.inline import one_line
from fairlead.views.jobs import (
    answer_view,
    ended_job_view,
    job_list_view,
    job_view,
    plan_versions_view,
    retry_view,
    ruling_view,
    stopped_council_view,
)

_PAGE_WIDTH = 100

_job_argument = click.argument("job_id", metavar="JOB")
_newest_job_argument = click.argument("job_id", metavar="JOB", default="")


@click.group(cls=LazyGroup)
def job() -> None:
    """Show jobs, answer their questions, and end or retry them."""


@job.command("list", epilog="Example: fairlead job list --json")
@in_rehearsal_option
@json_option
@with_app
def list_jobs(app: App, *, as_json: bool) -> None:
    """Show all jobs, the newest last."""
    jobs = [(record, app.jobs.present(record)) for record in app.jobs.all()]
    content = job_list_view(jobs, app.jobs.damaged())
    table = [
        (record.id, present.status, record.started_at, _marks(record), first_line(present.note))
        for record, present in jobs
    ]
    lines: list[Line] = [] if table else [("no jobs yet",)]
    for line, (_, present) in zip(table_lines(table), jobs, strict=True):
        lines += [line, *job_command_lines(present)]
    for problem in app.jobs.damaged():
        lines.append((Styled("damaged: ", "red"), str(problem)))
        lines.append((Styled("  → ", "dim"), problem.hint))
    report(content, lines, as_json=as_json)


@job.command("show", epilog="Example: fairlead job show execute-04-20261115-233200")
@_newest_job_argument
@click.option("--diff", is_flag=True, help="Show the changes between versions of a council's plan.")
@in_rehearsal_option
@json_option
@with_app
def show_job(app: App, *, job_id: str, diff: bool, as_json: bool) -> None:
    """Show a job (default: the newest): gates, calls or votes, and questions."""
    from fairlead.interfaces.cli.job_page import job_page, plan_changes

    record = app.jobs.record(job_id)
    if not diff:
        job_report, present = app.jobs.report(record.id), app.jobs.present(record)
        width = min(shutil.get_terminal_size((_PAGE_WIDTH, 24)).columns, _PAGE_WIDTH)
        output = app.jobs.folder(record.id).output_path()
        lines = job_page(job_report, present, width)
        lines += [(f"output of its process: {output}",)] if output else []
        report(job_view(job_report, present, output), lines, as_json=as_json)
        return
    if record.kind != COUNCIL:
        raise OtherJob(record.id, record.kind)
    from fairlead.council.model import CouncilJob
    from fairlead.council.report import plan_versions

    plans = plan_versions(app.jobs, app.jobs.folder(record.id).load(CouncilJob))
    report(plan_versions_view(record.id, plans), plan_changes(plans), as_json=as_json)


@job.command("watch", epilog="Example: fairlead job watch")
@_newest_job_argument
@in_rehearsal_option
@events_option
@with_app
def watch_job(app: App, *, job_id: str, as_events: bool) -> int:
    """Follow a job (default: the newest) until it ends or waits for a person.

    A terminal shows a live table, a pipe gets one line per event. Watching changes nothing, and
    ending it with Ctrl+C does not end the job. The exit code is that of the job: 0 if it is done,
    5 if it failed, otherwise 6.
    """
    from fairlead.interfaces.cli.job_watch import watch

    job_id = app.jobs.record(job_id).id
    with suppress(KeyboardInterrupt):
        watch(app, job_id, as_events=as_events)
    record = app.jobs.record(job_id)
    present = app.jobs.present(record)
    if not as_events:
        head = (status_mark(present.status), f"  {job_id}")
        report({}, [head, *job_command_lines(present)], as_json=False)
    return exit_code_of(record)


@job.command("answer", epilog='Example: fairlead job answer execute-04-20261115-233200 "retry"')
@_job_argument
@click.argument("answer")
@click.option("--question", default="", metavar="ID", help="Question, if there are several.")
@in_rehearsal_option
@json_option
@with_app
def answer_job(app: App, *, job_id: str, answer: str, question: str, as_json: bool) -> None:
    """Answer a question of a job, and show the command that the job needs next."""
    answered = app.jobs.answer(job_id, answer, question)
    content = answer_view(answered, app.jobs.present(app.jobs.record(job_id)))
    text = f"Answered {answered.id}. Next: {content['next']}"
    _report_done(content, text, as_json=as_json)


@job.command("cancel", epilog="Example: fairlead job cancel execute-04-20261115-233200")
@_job_argument
@in_rehearsal_option
@json_option
@with_app
def cancel_job(app: App, *, job_id: str, as_json: bool) -> None:
    """End a job. Its work so far is kept."""
    if app.jobs.record(job_id).kind == COUNCIL:
        _stop_council(app, job_id, "cancel", "", as_json=as_json)
        return
    ended = app.jobs.cancel(job_id)
    report(ended_job_view(ended), [(f"{ended.id} is {ended.status}",)], as_json=as_json)


@job.command("veto", epilog='Example: fairlead job veto j_20260412_0007 --why "Not this quarter"')
@_job_argument
@click.option("--why", required=True, metavar="TEXT", help="Reason for the veto.")
@json_option
@with_app
def veto_job(app: App, *, job_id: str, why: str, as_json: bool) -> None:
    """Stop a council job for good, before its plan is executed."""
    _stop_council(app, job_id, "veto", one_line(why, "the reason"), as_json=as_json)


@job.command(
    "rule", epilog='Example: fairlead job rule j_20260412_0007 security-1 "Mask it in the log"'
)
@_job_argument
@click.argument("item", metavar="ITEM")
@click.argument("text")
@json_option
@with_app
def rule_item(app: App, *, job_id: str, item: str, text: str, as_json: bool) -> None:
    """Decide an open item of a blocked council job. The retry follows the ruling."""
    ruling = app.council.rule(job_id, item, one_line(text, "the ruling"))
    content = ruling_view(job_id, ruling.id, ruling.text)
    text = f"Recorded the ruling on {ruling.id}. Next: {content['next']}"
    _report_done(content, text, as_json=as_json)


@job.command("retry", epilog="Example: fairlead job retry j_20260412_0007")
@_job_argument
@click.option("--request", default="", metavar="TEXT", help="Use a different request.")
@json_option
@with_app
def retry_job(app: App, *, job_id: str, request: str, as_json: bool) -> None:
    """Create a new job from a council job that failed or is blocked.

    Answers to unchanged prompts are reused, and rulings apply from the first synthesis. A job
    that executes a phase needs no retry: answer its question, or run its command again.
    """
    child = app.council.retry(job_id, request.strip())
    content = retry_view(child, job_id)
    _report_done(content, f"Created {child}. Next: {content['next']}", as_json=as_json)


def _stop_council(app: App, job_id: str, action: str, reason: str, *, as_json: bool) -> None:
    """Veto or cancel a council job. If another process runs it, that process ends it."""
    stopped = app.council.stop(job_id, action, reason)
    app.jobs.end_calls(stopped)
    text = f"{stopped.id} is {stopped.status}"
    if not stopped.ended_at:
        text = f"{stopped.id} is running; the {action} takes effect after the next answer"
    report(stopped_council_view(stopped), [(text,)], as_json=as_json)


def _report_done(content: dict[str, str], text: str, *, as_json: bool) -> None:
    report(content, [(Styled("✓ ", "green"), text)], as_json=as_json)


def _marks(job: JobRecord) -> Styled:
    marks = (("rehearsed", job.is_rehearsed), ("degraded", job.degraded))
    return Styled(", ".join(name for name, is_set in marks if is_set), "yellow")
