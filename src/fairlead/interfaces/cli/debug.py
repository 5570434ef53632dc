"""`fairlead debug`: a fault is looked for in rounds, and fixed through the gate."""

from __future__ import annotations

import sys

import click

from fairlead.interfaces.cli.show import Cells, Styled, report, rows
from fairlead.interfaces.cli.workflow import Chosen, bench, finished, hands_of, workflow
from fairlead.wiring import App

_WORDS = ("list", "status", "continue")
_QUESTIONS = {
    "expected": "What should happen",
    "errors": "Which messages are shown",
    "reproduction": "How it can be seen",
    "started": "Since when",
}


@click.command(epilog='Example: fairlead debug "The second login fails" --diagnose')
@click.argument("text")
@click.argument("name", default="")
@click.option("--diagnose", is_flag=True, help="Find the cause only; fix nothing.")
@click.option("--approve", is_flag=True, help="Agree to run the command that proves the fix.")
@workflow
def debug(app: App, chosen: Chosen, *, text: str, name: str, diagnose: bool, approve: bool) -> int:
    """Look for the cause of a fault: hypothesis, test, fix.

    The session is a file in .planning/debug and outlives every session of ours. At most four
    rounds follow each other; `debug continue NAME` pays for more. `debug list` shows all
    sessions, `debug status NAME` one. The fix lands like any other work.
    """
    from fairlead.engine.debugging import Search
    from fairlead.wiring_daily import debugging

    if name and text not in _WORDS:
        raise click.UsageError("give one text in quotes, or: list, status NAME, continue NAME")
    here = debugging(app)
    if text in ("list", "status"):
        found = [here.one(name)] if name else list(here.all())
        table: list[Cells] = [
            (Styled(each.slug, "bold"), each.status, each.root_cause or each.next_action)
            for each in found
        ]
        shown = rows(table) if table else [("no debug sessions",)]
        report({"sessions": found}, shown, as_json=chosen.as_json)
        return 0
    if text == "continue":
        held = here.one(name)
        search = Search(held.slug, held.trigger, None, diagnose, goes_on=True)
    else:
        search = here.new(text, _symptoms(chosen), is_diagnosis=diagnose)
    if chosen.dry_run:
        content = {"name": search.name, "file": search.path, "rounds": 4}
        told = "at most 4 rounds of a debugger" + ("" if diagnose else ", an executor, a reviewer")
        report(content, [(Styled(search.path, "bold"),), (told,)], as_json=chosen.as_json)
        return 0
    if chosen.rehearse:
        app = app.rehearsal()
    with bench(app, chosen, estimate=debugging(app).estimate(search)) as ready:
        hands = hands_of(ready, chosen, is_approved=approve)
        done = debugging(app).carry_out(search, ready.company, hands)
    return finished(done, chosen, app.place, session=search.name)


def _symptoms(chosen: Chosen) -> dict[str, str]:
    """Asked of a person who is there; an empty answer is none."""
    is_there = sys.stdin.isatty() and sys.stdout.isatty()
    if chosen.auto or chosen.as_json or chosen.dry_run or not is_there:
        return {}
    asked = {
        key: str(click.prompt(question, default="", show_default=False)).strip()
        for key, question in _QUESTIONS.items()
    }
    return {key: value for key, value in asked.items() if value}
