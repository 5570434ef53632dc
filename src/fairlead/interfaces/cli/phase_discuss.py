"""`fairlead phase discuss`: what is open about a phase is compared, decided and written down."""

from __future__ import annotations

import click

from fairlead.interfaces.cli.options import stream_option
from fairlead.interfaces.cli.show import Styled, in_stream
from fairlead.interfaces.cli.workflow import (
    Chosen,
    bench,
    finished,
    here_option,
    place_of,
    previewed,
    wanted_of,
    workflow,
)
from fairlead.wiring import App


@click.command("discuss", epilog="Example: fairlead phase discuss 2 --auto")
@click.argument("number", metavar="N")
@click.option("--again", is_flag=True, help="Although its context is there already.")
@here_option
@stream_option
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
        head = [(Styled(f"Phase {preview.phase}: {preview.name}", "bold"),)]
        told = {"phase": preview.phase, "name": preview.name, "goal": preview.goal}
        return previewed(preview, chosen, head, **told)
    with bench(app, chosen, estimate=preview.estimate) as ready:
        done = discussion.carry_out(number, ready.company)
    ahead = in_stream(f"fairlead phase plan {preview.phase}")
    return finished(done, chosen, app.place, phase=preview.phase, next=ahead)
