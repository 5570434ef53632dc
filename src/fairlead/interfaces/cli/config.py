"""`fairlead config`: every setting with its value and the file it comes from."""

import json

import click

from fairlead.app import App
from fairlead.core.settings import Effective, Origin
from fairlead.core.settings import setting as known_setting
from fairlead.interfaces.cli.lazy_group import LazyGroup
from fairlead.interfaces.cli.options import change_command, query_command
from fairlead.interfaces.cli.output import (
    Line,
    OutputOptions,
    Styled,
    report,
    report_change,
    warn,
)
from fairlead.store.configuration import value_from_text


@click.group(cls=LazyGroup)
def config() -> None:
    """Show and change settings.

    Your own file sets the defaults for all projects; .planning/config.json of a project
    overrides them.
    """


@config.command("list", epilog="Example: fairlead config list")
@query_command
def list_settings(app: App, *, as_json: bool) -> None:
    """Show every setting, its value and where it comes from."""
    settings = app.settings.all()
    width = max(len(setting.key) for setting in settings)
    lines: list[Line] = [
        # Without a dash, the origin of an empty text would look like its value.
        (f"{each.key:<{width}}  ", _text(each) or "-", Styled(f"  {_origin(each)}", "dim"))
        for each in settings
    ]
    report({"settings": settings}, lines, as_json=as_json)


@config.command("get", epilog="Example: fairlead config get fairlead.lock_wait_seconds")
@click.argument("key")
@query_command
def get_setting(app: App, *, key: str, as_json: bool) -> None:
    """Print the value of one setting."""
    setting = app.settings.get(key)
    report(setting, [(_text(setting),)], as_json=as_json)


@config.command("set", epilog="Example: fairlead config set fairlead.lock_wait_seconds 60")
@click.argument("key")
@click.argument("value")
@click.option("--user", is_flag=True, help="Write to your own file, for all projects.")
@change_command
def set_setting(app: App, output: OutputOptions, *, key: str, value: str, user: bool) -> None:
    """Set one value. The rest of the file stays byte for byte as it is."""
    origin = Origin.USER if user else Origin.PROJECT
    outcome = app.settings.set(key, value_from_text(value), origin, dry_run=output.dry_run)
    scope = " in all projects that do not override it" if user else ""
    report_change(outcome, output, f"{key} is now {value}{scope}", f"{key} is already {value}")
    if known_setting(f"fairlead.{key}") and not known_setting(key):
        warn(f"{key} is not a setting of Fairlead; did you mean fairlead.{key}?")


@config.command("unset", epilog="Example: fairlead config unset fairlead.lock_wait_seconds")
@click.argument("key")
@click.option("--user", is_flag=True, help="Remove it from your own file, for all projects.")
@change_command
def unset_setting(app: App, output: OutputOptions, *, key: str, user: bool) -> None:
    """Remove one value, so that your own file or the default applies again."""
    origin = Origin.USER if user else Origin.PROJECT
    outcome = app.settings.unset(key, origin, dry_run=output.dry_run)
    place = "in your own file" if user else "in this project"
    report_change(outcome, output, f"{key} is no longer set {place}", f"{key} is not set {place}")


def _text(setting: Effective) -> str:
    value = setting.value
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _origin(setting: Effective) -> str:
    return f"{setting.origin}: {setting.file}" if setting.file else str(setting.origin)
