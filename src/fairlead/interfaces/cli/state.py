"""`fairlead state`: what is recorded in STATE.md, one event at a time.

The verbs stand in rooms of their own and are imported when they are called: recording a
decision must not pay for the gates.
"""

import click

from fairlead.interfaces.cli.options import Verbs, stream_changes
from fairlead.interfaces.cli.show import Manner, report_change
from fairlead.records.state import Decision
from fairlead.wiring import App

_ROOM = "fairlead.interfaces.cli.state_"
_VERBS = {
    "begin-phase": "phases:begin_phase",
    "planned-phase": "phases:planned_phase",
    "advance-plan": "phases:advance_plan",
    "complete-phase": "phases:complete_phase",
    "task-result": "phases:task_result",
    "record-metric": "phases:record_metric",
    "sync": "phases:sync",
    "add-blocker": "context:add_blocker",
    "resolve-blocker": "context:resolve_blocker",
    "add-roadmap-evolution": "context:add_roadmap_evolution",
    "get": "context:get",
    "set": "context:set_field",
    "prune": "context:prune",
    "record-session": "sessions:record_session",
    "gate": "sessions:gate",
    "pause": "sessions:pause",
    "resume": "sessions:resume",
    "wait": "sessions:wait",
}


@click.group(cls=Verbs, rooms={verb: _ROOM + room for verb, room in _VERBS.items()})
def state() -> None:
    """Record what happens in the project."""


@state.command(
    "add-decision",
    epilog='Example: fairlead state add-decision --phase 2 --summary "Store times in UTC"',
)
@click.option("--phase", required=True, metavar="N", help="The phase that decided it.")
@click.option("--summary", required=True, metavar="TEXT", help="The decision, in one line.")
@click.option("--rationale", default="", metavar="TEXT", help="Why, in one line.")
@stream_changes
def add_decision(app: App, manner: Manner, *, phase: str, summary: str, rationale: str) -> None:
    """Add a decision to STATE.md. One that stands there already is not added again."""
    outcome = app.memory.add_decision(Decision(phase, summary, rationale), dry_run=manner.dry_run)
    done = f"Recorded for phase {phase}: {summary}"
    report_change(outcome, manner, done, f"Recorded already for phase {phase}: {summary}")
