"""`fairlead status`: where the project stands."""

from collections.abc import Sequence

import click

from fairlead.engine.memory import Status
from fairlead.interfaces.cli.options import json_option, with_app
from fairlead.interfaces.cli.show import Part, Styled, report
from fairlead.wiring import App

_SHOWN_DECISIONS = 3


@click.command(epilog="Example: fairlead status --json")
@json_option
@with_app
def status(app: App, *, as_json: bool) -> None:
    """Show where the project stands."""
    found = app.memory.status()
    report(found, _lines(found), as_json=as_json)


def _lines(status: Status) -> list[Sequence[Part]]:
    lines: list[Sequence[Part]] = [(Styled(status.title or "(no title)", "bold"),)]
    state = status.state
    if state is None:
        return [*lines, ("no STATE.md yet",)]
    rows = [
        ("milestone", f"{state.milestone} {state.milestone_name}".strip()),
        ("phase", state.phase),
        ("plan", state.plan),
        ("status", state.status),
        ("progress", state.progress),
        ("last activity", state.last_activity),
    ]
    lines += [(Styled(f"  {name:<14}", "dim"), value) for name, value in rows if value]
    if state.decisions:
        lines.append((Styled(f"  {'decisions':<14}", "dim"), str(len(state.decisions))))
        lines += [(" " * 16, text) for text in state.decisions[-_SHOWN_DECISIONS:]]
    if status.problem:
        lines.append((Styled("  cannot be written: ", "yellow"), status.problem))
    return lines
