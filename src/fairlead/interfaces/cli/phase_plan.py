"""`fairlead phase plan`: a phase becomes plans that were checked before anybody carries them out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from fairlead.interfaces.cli.options import stream_option
from fairlead.interfaces.cli.show import Part, Styled, in_stream
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

if TYPE_CHECKING:
    from fairlead.engine.phase_plan import PlanPreview


@click.command("plan", epilog="Example: fairlead phase plan 2 --dry-run")
@click.argument("number", metavar="N")
@click.option("--replan", is_flag=True, help="Plan anew; open plans are put out of the way.")
@click.option("--research/--no-research", default=None, help="Research anew, or not at all.")
@click.option(
    "--no-check", is_flag=True, help="Without the plan checker; the form is checked still."
)
@click.option("--critic", is_flag=True, help="A critic looks at plans that passed the checker.")
@here_option
@stream_option
@workflow
def plan_phase(
    app: App,
    chosen: Chosen,
    *,
    number: str,
    replan: bool,
    research: bool | None,
    no_check: bool,
    critic: bool,
    here: bool,
) -> int:
    """Plan a phase: research, patterns, plans, and a checker with at most three revisions.

    Plans that do not pass are written with a mark that `phase execute` refuses, or as a person
    decides. With --auto: a missing discussion or research is gone without; plans that do not
    pass are kept with the mark. Interrupted or waiting, the same command goes on.
    """
    from fairlead.engine.plan_asks import Wishes
    from fairlead.wiring_roles import models, phase_planning

    app = place_of(app, chosen, here=here)
    wishes = Wishes(
        research=app.value("workflow.research") is True and research is not False,
        is_new_research=research is True,
        patterns=app.value("workflow.pattern_mapper") is True,
        check=app.value("workflow.plan_check") is True and not no_check,
        replan=replan,
        critic=critic,
    )
    planning = phase_planning(app)
    named = models(app, wanted_of(app, chosen))
    preview = planning.preview(number, wishes, named, is_rehearsed=chosen.rehearse)
    if chosen.dry_run:
        return _previewed(preview, chosen)
    with bench(app, chosen, estimate=preview.estimate) as ready:
        done = planning.carry_out(number, wishes, ready.company)
    ahead = in_stream(f"fairlead phase execute {preview.phase} --dry-run")
    return finished(done, chosen, app.place, phase=preview.phase, next=ahead)


def _previewed(preview: PlanPreview, chosen: Chosen) -> int:
    head: list[Sequence[Part]] = [
        (Styled(f"Phase {preview.phase}: {preview.name}", "bold"),),
        (f"  goal          {preview.goal or 'not decided yet'}",),
        (f"  requirements  {', '.join(preview.requirements) or 'none'}",),
        (f"  is there      {', '.join(preview.has) or 'nothing yet'}",),
    ]
    return previewed(
        preview,
        chosen,
        head,
        " for one round; at most three revisions",
        phase=preview.phase,
        name=preview.name,
        goal=preview.goal,
        requirements=list(preview.requirements),
        folder=preview.folder,
        has=list(preview.has),
    )
