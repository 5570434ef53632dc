"""`--detach`: start the same command in the background, and what runs there.

The command line is given to the process in the background again, without --detach and --json. That
process announces its job through a pipe and then writes its output into the folder of the job.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

import click
from click.core import ParameterSource

from fairlead.interfaces.cli.lazy_group import ANNOUNCER
from fairlead.interfaces.cli.output import REHEARSAL, WORKSTREAM, Line, Styled, report
from fairlead.jobs.detached import Announcer, DetachedJob, leave_caller, start_detached
from fairlead.views.jobs import detached_view

_NOT_REPEATED = ("detach", "as_json", "as_events")

detach_option = click.option(
    "--detach", is_flag=True, help="Run in the background; follow it with `job watch`."
)


def main() -> None:
    """Run the command line in the first argument, in the background."""
    arguments, pipe = json.loads(sys.argv[1]), int(sys.argv[2])
    leave_caller()
    from fairlead.interfaces.cli.main import run

    announcer = Announcer(pipe)
    code = run(arguments, announcer)
    announcer.ended(code)
    sys.stdout.flush()
    os._exit(code)


def announcing(folder: str) -> Callable[[str], None]:
    """What to do with the id of a job that has begun: in the background, announce it."""
    announcer = click.get_current_context().meta.get(ANNOUNCER)

    def begun(job: str) -> None:
        if announcer is not None:
            announcer.begun(folder, job)

    return begun


def run_detached(*, as_json: bool, rehearsed: bool = False, note: str = "") -> int:
    """Start the present command in the background, and say how to follow and end its job."""
    context = click.get_current_context()
    folder = os.path.abspath(context.find_root().obj)
    started = start_detached(folder, command_words(context))
    in_copy = rehearsed and "--here" not in context.meta.get(REHEARSAL, "")
    shown = detached_view(started, rehearsed=rehearsed, in_copy=in_copy, note=note)
    report(shown, _lines(started, shown), as_json=as_json)
    return 0


def command_words(context: click.Context) -> list[str]:
    """The words of the present command line as given, without those that only show a result."""
    words = context.command_path.split()[1:]
    arguments: list[str] = []
    if workstream := context.meta.get(WORKSTREAM, ""):
        words.append(f"--ws={workstream}")
    for parameter in context.command.params:
        name = str(parameter.name)
        is_given = context.get_parameter_source(name) is ParameterSource.COMMANDLINE
        if not is_given or name in _NOT_REPEATED or name not in context.params:
            continue
        value: Any = context.params[name]
        if isinstance(parameter, click.Argument):
            arguments.append(str(value))
        elif isinstance(parameter, click.Option) and parameter.is_flag:
            words.append((parameter.opts if value else parameter.secondary_opts)[0])
        else:
            values = value if parameter.multiple else (value,)
            words += [f"{parameter.opts[0]}={each}" for each in values]
    return [*words, "--", *arguments]


def _lines(started: DetachedJob, shown: dict[str, Any]) -> list[Line]:
    lines: list[Line] = [
        (Styled("✓ ", "green"), f"{started.job} runs in the background"),
        (f"  follow   {shown['watch']}",),
        (f"  end      {shown['cancel']}",),
    ]
    if started.output:
        lines.append((f"  output   {os.path.join(started.folder, started.output)}",))
    return [*lines, (f"  note     {shown['note']}",)] if shown["note"] else lines
