"""`fairlead config`: every setting, its value, and the file that says so."""

import json

import click

from fairlead.interfaces.cli.options import changes, shows
from fairlead.interfaces.cli.show import Manner, Styled, report, report_change
from fairlead.model.config import Effective, Origin
from fairlead.records.config import value_from_text
from fairlead.wiring import App


@click.group()
def config() -> None:
    """Show and change settings.

    A person's own file gives the default of all projects; .planning/config.json of a project
    has the last word.
    """


@config.command("list", epilog="Example: fairlead config list")
@shows
def list_settings(app: App, *, as_json: bool) -> None:
    """Show every setting with its value and where it comes from."""
    values = app.settings.all()
    width = max(len(value.key) for value in values)
    report(
        {"settings": values},
        [
            (f"{value.key:<{width}}  ", _text(value), Styled(f"  {_origin(value)}", "dim"))
            for value in values
        ],
        as_json=as_json,
    )


@config.command("get", epilog="Example: fairlead config get fairlead.lock_wait_seconds")
@click.argument("key")
@shows
def get_setting(app: App, *, key: str, as_json: bool) -> None:
    """Print the value of one setting."""
    value = app.settings.get(key)
    report(value, [(_text(value),)], as_json=as_json)


@config.command("set", epilog="Example: fairlead config set fairlead.lock_wait_seconds 60")
@click.argument("key")
@click.argument("value")
@click.option("--user", is_flag=True, help="In your own file, for all projects.")
@changes
def set_setting(app: App, manner: Manner, *, key: str, value: str, user: bool) -> None:
    """Set one value, leaving every other byte of the file as it is."""
    origin = Origin.USER if user else Origin.PROJECT
    outcome = app.settings.set(key, value_from_text(value), origin, dry_run=manner.dry_run)
    told = f"{value} in all of your projects that say nothing else" if user else value
    report_change(outcome, manner, f"{key} is now {told}", f"{key} is {value} already")


def _text(value: Effective) -> str:
    return (
        value.value if isinstance(value.value, str) else json.dumps(value.value, ensure_ascii=False)
    )


def _origin(value: Effective) -> str:
    return f"{value.origin}: {value.file}" if value.file else str(value.origin)
