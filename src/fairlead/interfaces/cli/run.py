"""`fairlead run`: a goal becomes a plan that six seats approve, and then verified work."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from fairlead.errors import JobWaiting
from fairlead.interfaces.cli.execute import inside, interruptible, saying_the_stop
from fairlead.interfaces.cli.options import dry_run_option, json_option, with_app
from fairlead.interfaces.cli.show import Part, Styled, report, rows
from fairlead.wiring import App

if TYPE_CHECKING:
    from fairlead.engine.council import CouncilPreview
    from fairlead.interfaces.cli.watching import View
    from fairlead.model.council_job import CouncilJob

_CODES = {"DONE": 0, "FAILED": 5}


@click.command("run", epilog='Example: fairlead run "Let people sign in with a link" --dry-run')
@click.argument("goal", default="")
@click.option("--job", "job_id", default="", metavar="JOB", help="Go on with this job.")
@click.option("--agent", default="", metavar="NAME", help="Who executes the approved plan.")
@click.option("--reviewer", default="", metavar="NAME", help="Who reviews its tasks.")
@click.option("--approve", is_flag=True, help="Agree to run the commands that the plan names.")
@click.option("--rehearse", is_flag=True, help="With scripted models, in a private copy.")
@click.option("--here", is_flag=True, help="Rehearse in the project itself.")
@click.option("--events", "as_events", is_flag=True, help="Print a JSON line for each event.")
@dry_run_option
@json_option
@with_app
def run(app: App, *, goal: str, dry_run: bool, as_json: bool, **chosen: Any) -> int:
    """Carry a goal from a request to verified, committed work.

    A PM asks back and researches, six seats plan without seeing each other, one plan is made of
    theirs, and the six vote on it until all approve. Then it is carried out. The same command
    goes on with a job that was interrupted.
    """
    from fairlead.engine.council_site import CouncilWatcher, Meeting
    from fairlead.engine.undertaking import Watcher
    from fairlead.interfaces.cli.council_watching import council_view
    from fairlead.interfaces.cli.watching import view
    from fairlead.wiring_council import council_of, hands_of, table_of, terms_of

    if not goal.strip() and not chosen["job_id"]:
        raise click.UsageError('say what is wanted: fairlead run "GOAL", or name a job with --job')
    if goal.strip() and chosen["job_id"]:
        other = f'fairlead job retry {chosen["job_id"]} --request "GOAL"'
        raise click.UsageError(f"a job keeps its goal: leave out GOAL, or make another: {other}")
    app, is_rehearsed = _place(app, chosen, dry_run=dry_run)
    council = council_of(app)
    table = table_of(app, is_rehearsed=is_rehearsed)
    terms = terms_of(app, is_rehearsed=is_rehearsed)
    if dry_run:
        told = council.preview(goal.strip(), chosen["job_id"], table, terms)
        report(_previewed(told), _preview_lines(told), as_json=as_json)
        return 0
    hands = hands_of(app, chosen["agent"], chosen["reviewer"], is_rehearsed=is_rehearsed)
    job = chosen["job_id"] or council.begin(goal.strip(), table, terms)
    manner = {"as_events": chosen["as_events"], "as_json": as_json}
    may_execute = chosen["approve"] or is_rehearsed

    def carried_on(*, may_execute: bool) -> CouncilJob:
        shown = council_view(**manner)
        opened: list[View] = [shown]

        def executing() -> Watcher:
            opened[-1].close()  # one live table at a time
            opened.append(view(**manner))
            working = opened[-1]
            return Watcher(working.report, working.watch, working.looked)

        with interruptible() as (stop, over):
            watcher = CouncilWatcher(shown.report, shown.watch, saying_the_stop(shown.seen, over))
            meeting = Meeting(table, terms, hands, watcher, executing, stop, over, may_execute)
            try:
                return council.carry_on(job, meeting)
            finally:
                opened[-1].close()

    done = carried_on(may_execute=may_execute)
    if done.status == "APPROVED" and not may_execute and _agrees(council.commands(job), as_json):
        done = carried_on(may_execute=True)
    return finished(app, done, as_json=as_json, as_events=chosen["as_events"])


def _place(app: App, chosen: dict[str, Any], *, dry_run: bool) -> tuple[App, bool]:
    """Where the job runs, and whether it is a rehearsal: a job stays what it was begun as."""
    from fairlead.wiring_council import council_of

    is_rehearsed, job = bool(chosen["rehearse"]), chosen["job_id"]
    if chosen["here"] and not is_rehearsed:
        raise click.UsageError("--here belongs to --rehearse")
    if job:
        was_rehearsed = council_of(app).files_of(job).load().is_rehearsed
        if is_rehearsed and not was_rehearsed:
            raise click.UsageError(f"{job} is no rehearsal: leave out --rehearse")
        return app, was_rehearsed
    if is_rehearsed and chosen["here"]:
        app.require_rehearsable()
    elif is_rehearsed and not dry_run:
        return app.rehearsal(), True
    return app, is_rehearsed


def finished(app: App, job: CouncilJob, *, as_json: bool, as_events: bool) -> int:
    """Say how a job ended: its outcome, where its record is, and what one can do next."""
    waiting = [each for each in app.jobs.questions_of(job) if not each.answer]
    if not as_events:
        report(
            {**_ended(job), "folder": app.place, "questions": waiting},
            _lines(app, job),
            as_json=as_json,
        )
    if job.status == "EXECUTING" and waiting and not as_json:
        command = inside(app.place, job) + waiting[0].command(job.id, waiting)
        raise JobWaiting(job.id, waiting[0].text, command)
    return _CODES.get(job.status, JobWaiting.exit_code)


def _ended(job: CouncilJob) -> dict[str, Any]:
    return {
        "ok": job.status == "DONE",
        "job": job.id,
        "status": str(job.status),
        "request": job.request,
        "rehearsed": job.is_rehearsed,
        "degraded": list(job.degraded),
        "round": job.review_round,
        "votes": {each.seat: str(each.vote) for each in job.council_votes},
        "blocker_reason": job.blocker_reason,
        "phase": job.phase,
        "exec": job.exec,
        "tokens": job.usage.total_tokens,
        "cost_usd": job.usage.total_cost_usd,
        "next": next_command(job),
    }


def next_command(job: CouncilJob) -> str:
    """What a person can do now."""
    return {
        "APPROVED": f"fairlead run --job {job.id} --approve",
        "BLOCKED": f"fairlead job show {job.id}",
        "FAILED": f"fairlead job retry {job.id}",
        "DONE": f"fairlead job show {job.id}",
    }.get(job.status, f"fairlead run --job {job.id}")


def _lines(app: App, job: CouncilJob) -> list[Sequence[Part]]:
    style = {"DONE": "green", "FAILED": "red"}.get(job.status, "yellow")
    votes = [str(each.vote) for each in job.council_votes]
    counted = ", ".join(f"{votes.count(vote)} {vote.lower()}" for vote in dict.fromkeys(votes))
    lines: list[Sequence[Part]] = [(Styled("DEGRADED  ", "yellow"), each) for each in job.degraded]
    head = f"  round {job.review_round} of {job.max_review_rounds}: {counted}" if votes else ""
    lines.append((Styled(str(job.status), style), head))
    if job.note:
        lines.append((f"  why      {job.note}",))
    spent = f"{job.usage.total_tokens:,} tokens, ${job.usage.total_cost_usd:.2f}"
    lines += [(f"  job      {job.id}",), (f"  council  {spent}",)]
    if job.phase:
        done = f"{job.exec.summaries} of {job.exec.plans} plans"
        base = job.exec.base[:10]
        look = f"  (look: git log --oneline {base}..)" if base else ""
        lines.append((f"  phase    {job.phase}: {done}{look}",))
    where = inside(app.place, job)
    if job.is_rehearsed:
        lines.append((f"  place    {app.place}  (rehearsed: nothing of it counts)",))
    lines.append((f"  record   {where}fairlead job show {job.id}",))
    if job.status != "DONE":
        lines.append((f"  next     {where}{next_command(job)}",))
    return lines


def _agrees(commands: Sequence[tuple[str, str]], as_json: bool) -> bool:
    """Ask a person, if there is one; the commands are shown first."""
    if as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
        return False
    lines: list[Sequence[Part]] = [(Styled("The plan is approved. It would run:", "bold"),)]
    report({}, [*lines, *rows([(f"  {step}", line) for step, line in commands])], as_json=False)
    return click.confirm("Carry it out, with these commands?", default=False)


def _previewed(told: CouncilPreview) -> dict[str, Any]:
    stages = [
        {"stage": name, "calls": calls, "estimate": spent} for name, calls, spent in told.stages
    ]
    return {
        "roster": list(told.roster),
        "degraded": list(told.degraded),
        "caps": told.caps,
        "stages": stages,
        "receives": list(told.receives),
        "reads": told.reads,
    }


def _preview_lines(told: CouncilPreview) -> list[Sequence[Part]]:
    lines: list[Sequence[Part]] = [(Styled("Who is asked", "bold"),)]
    lines += rows(
        [
            (f"  {each.role}", each.model, each.family, ", then ".join(("", *each.fallback)))
            for each in told.roster
        ]
    )
    lines += [(Styled("  DEGRADED  ", "yellow"), each) for each in told.degraded]
    lines.append((f"  each may look at {told.reads}",))
    lines.append((Styled("What one round will probably take", "bold"),))
    lines += rows(
        [
            (f"  {name}", f"{calls} calls", f"{spent.tokens:,} tokens", f"${spent.usd:.2f}")
            for name, calls, spent in told.stages
        ]
    )
    caps = told.caps
    lines.append((f"  limits of a run: {caps.run_tokens:,} tokens, ${caps.run_usd:.2f} (0: none)",))
    lines.append((Styled("What each will receive", "bold"), "  (all of it with --json)"))
    for each in told.receives:
        left = f", without {', '.join(each.left_out)}" if each.left_out else ""
        lines.append((f"  {each.who}, {each.key}: {len(each.text):,} characters{left}",))
        is_shown = each.key in ("pm/refined", "raw/r0/architect")
        lines += [(f"    {line}",) for line in each.text.splitlines() if is_shown]
    return lines
