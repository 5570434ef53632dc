"""`fairlead doctor agents`: which agents are here, and whether they answer."""

import sys
from collections.abc import Sequence

import click

from fairlead.errors import NoAgentAnswers
from fairlead.interfaces.cli.options import json_option, with_app
from fairlead.interfaces.cli.show import Part, Styled, report, warn
from fairlead.wiring import App

# What the programs send along with a single word, seen in public reports; no promise.
_PRICE = "about 20,000 tokens each, commonly 0.01 to 0.10 US dollars"


@click.command(epilog="Example: fairlead doctor agents --ask")
@click.option("--ask", is_flag=True, help="Ask each one for a word. This uses their models.")
@click.option("--yes", is_flag=True, help="In a terminal, ask them without asking you.")
@json_option
@with_app
def agents(app: App, *, ask: bool, yes: bool, as_json: bool) -> None:
    """Show which agents and models there are, and whether they can be used.

    Looks on PATH, leaving out relative folders and the project's own. With --ask, each one
    that was found is asked for a single word; what that may cost is said before. Exit code 5:
    none was found, or none of those asked has answered.
    """
    found = app.roll.call()
    here = [each for each in found if each.path]
    lines: list[Sequence[Part]] = []
    for each in found:
        style = "green" if each.path and not each.lacks else "yellow" if each.path else "dim"
        mark = Styled("✓ " if style == "green" else "! " if each.path else "· ", style)
        told = each.path or each.note or "not found"
        told = f"{each.model} at {told}" if each.model and each.path else told
        lines.append((mark, f"{each.name:<10} {each.version:<10} ", told))
        if each.lacks:
            lines.append((Styled(f"    its help does not know {', '.join(each.lacks)}", "yellow"),))
    answers = []
    if ask:
        warn(f"asking {', '.join(each.name for each in here)}: {_PRICE}")
        is_terminal = sys.stdin.isatty() and sys.stdout.isatty()
        if is_terminal and not (yes or as_json) and not click.confirm("Ask them?"):
            return
        answers = [app.roll.ask(each.name) for each in here]
    for answer in answers:
        ending = answer.ending
        told = "answers" if answer.is_ready else f"does not answer ({ending.kind}): {ending.error}"
        cost = "" if ending.cost_usd is None else f", {ending.cost_usd:.4f} US dollars"
        lines.append((f"{answer.name} {told} ({answer.seconds:.1f} s{cost})",))
    if not ask:
        lines.append((Styled(f"Whether they answer: --ask ({_PRICE})", "dim"),))
    content = {"agents": list(found), "answers": answers, "price_of_asking": _PRICE}
    if ask and not any(each.is_ready for each in answers):
        raise NoAgentAnswers([f"{e.name} ({e.ending.kind}: {e.ending.error})" for e in answers])
    report(content, lines, as_json=as_json)
