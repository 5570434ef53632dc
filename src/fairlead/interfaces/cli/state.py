"""`fairlead state`: what is recorded in STATE.md, one event at a time.

The verbs stand in rooms of their own and are imported when they are called: recording a
decision must not pay for the gates.
"""

from importlib import import_module

import click

from fairlead.interfaces.cli.options import dry_run_option, json_option, with_app
from fairlead.interfaces.cli.show import report_change
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


class Verbs(click.Group):
    """A group whose verbs are imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, without importing anything."""
        return sorted((*self.commands, *_VERBS))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one verb."""
        if cmd_name not in _VERBS:
            return super().get_command(ctx, cmd_name)
        room, _, name = _VERBS[cmd_name].partition(":")
        command = getattr(import_module(_ROOM + room), name)
        assert isinstance(command, click.Command)
        return command


@click.group(cls=Verbs)
def state() -> None:
    """Record what happens in the project."""


@state.command(
    "add-decision",
    epilog='Example: fairlead state add-decision --phase 2 --summary "Store times in UTC"',
)
@click.option("--phase", required=True, metavar="N", help="The phase that decided it.")
@click.option("--summary", required=True, metavar="TEXT", help="The decision, in one line.")
@click.option("--rationale", default="", metavar="TEXT", help="Why, in one line.")
@dry_run_option
@json_option
@with_app
def add_decision(
    app: App, *, phase: str, summary: str, rationale: str, dry_run: bool, as_json: bool
) -> None:
    """Add a decision to STATE.md. One that stands there already is not added again."""
    outcome = app.memory.add_decision(Decision(phase, summary, rationale), dry_run=dry_run)
    report_change(
        outcome,
        done=f"Recorded for phase {phase}: {summary}",
        unchanged=f"Recorded already for phase {phase}: {summary}",
        as_json=as_json,
        dry_run=dry_run,
    )
