"""`fairlead phase discuss`: what is open about a phase is compared, decided and written down."""

from __future__ import annotations

import click

from fairlead.interfaces.cli.show import Styled, report
from fairlead.interfaces.cli.workflow import (
    Chosen,
    bench,
    finished,
    here_option,
    place_of,
    receipt_lines,
    wanted_of,
    workflow,
)
from fairlead.wiring import App


@click.command("discuss", epilog="Example: fairlead phase discuss 2 --auto")
@click.argument("number", metavar="N")
@click.option("--again", is_flag=True, help="Although its context is there already.")
@here_option
@workflow
def discuss_phase(app: App, chosen: Chosen, *, number: str, again: bool, here: bool) -> int:
    """Discuss a phase: assumptions, options as a scored table, decisions into CONTEXT.md.

    An analyser finds what is open, an advisor for each area compares the ways, and you choose.
    With --auto the recommended way of each area is taken.
    """
    from fairlead.wiring_roles import models, phase_discussion

    app = place_of(app, chosen, here=here)
    discussion = phase_discussion(app)
    named = models(app, wanted_of(app, chosen))
    preview = discussion.preview(number, named, again=again, is_rehearsed=chosen.rehearse)
    if chosen.dry_run:
        content = {
            "phase": preview.phase,
            "name": preview.name,
            "goal": preview.goal,
            "roles": list(preview.receipts),
            "estimate": preview.estimate,
            "resumes": preview.resumes,
            "dry_run": True,
        }
        price = f"{preview.estimate.tokens:,} tokens, ${preview.estimate.usd:.2f}"
        lines = [
            (Styled(f"Phase {preview.phase}: {preview.name}", "bold"),),
            *receipt_lines(preview.receipts),
            (f"estimate: about {price}",),
        ]
        report(content, lines, as_json=chosen.as_json)
        return 0
    with bench(app, chosen, estimate=preview.estimate) as ready:
        done = discussion.carry_out(number, ready.company)
    ahead = f"fairlead phase plan {preview.phase}"
    return finished(done, chosen, app.place, phase=preview.phase, next=ahead)
