"""`fairlead quick`: a small piece of work with one plan, one executor, one verify."""

from __future__ import annotations

import click

from fairlead.errors import UnknownJob
from fairlead.interfaces.cli.show import Cells, Styled, report, rows
from fairlead.interfaces.cli.workflow import Chosen, bench, finished, hands_of, workflow
from fairlead.wiring import App

_WORDS = ("list", "status", "resume")


@click.command(epilog='Example: fairlead quick "Greet people by their name" --dry-run')
@click.argument("text")
@click.argument("name", default="")
@click.option("--approve", is_flag=True, help="Agree to run the verify command of its plan.")
@workflow
def quick(app: App, chosen: Chosen, *, text: str, name: str, approve: bool) -> int:
    """Plan, carry out and verify one small task outside of the roadmap.

    Three calls: a planner, an executor in a worktree of its own, a reviewer who verifies; the
    plan's own verify command is run in between. `quick list` shows all of them, `quick status
    NAME` one, and `quick resume NAME` goes on with one that waits or was interrupted.
    """
    from fairlead.wiring_daily import quick_tasks

    if name and text not in _WORDS:
        raise click.UsageError("give one text in quotes, or: list, status NAME, resume NAME")
    if text in ("list", "status"):
        known = quick_tasks(app).all()
        found = [each for each in known if name in ("", each.id, each.folder.rpartition("/")[2])]
        if name and not found:
            raise UnknownJob(name, tuple(each.id for each in known))
        table: list[Cells] = [
            (Styled(each.id, "bold"), "done" if each.is_done else "open", each.title)
            for each in found
        ]
        shown = rows(table) if table else [("no quick tasks",)]
        report({"quick": found}, shown, as_json=chosen.as_json)
        return 0
    task = quick_tasks(app).found(name) if text == "resume" else quick_tasks(app).new(text)
    if chosen.dry_run:
        price = quick_tasks(app).estimate(task)
        content = {"id": task.id, "folder": task.folder, "calls": 3, "estimate": price}
        told = (
            f"about {price.tokens:,} tokens, ${price.usd:.2f}: a planner, an executor, a verifier"
        )
        report(content, [(Styled(task.folder, "bold"),), (told,)], as_json=chosen.as_json)
        return 0
    if chosen.rehearse:
        app = app.rehearsal()
    with bench(app, chosen, estimate=quick_tasks(app).estimate(task)) as ready:
        hands = hands_of(ready, chosen, is_approved=approve)
        done = quick_tasks(app).carry_out(task, ready.company, hands)
    return finished(done, chosen, app.place, quick=task.id)
