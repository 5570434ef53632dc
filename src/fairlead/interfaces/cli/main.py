"""The entry point: finds the command, runs it, and turns every error into words and a code.

Commands are imported when they are called: a short command must not pay for a long one.
"""

import gc
import os
import sys
from contextlib import suppress
from importlib import import_module

import click

from fairlead.errors import (
    BrokenProgram,
    DiskFault,
    FairleadError,
    OutputFault,
    OwnFault,
    UsageError,
)

_COMMANDS = {
    "next": "fairlead.interfaces.cli.status:next_step",
    "explain": "fairlead.interfaces.cli.explain:explain",
    "capture": "fairlead.interfaces.cli.capture:capture",
    "check": "fairlead.interfaces.cli.check:check",
    "completion": "fairlead.interfaces.cli.completion:completion",
    "config": "fairlead.interfaces.cli.config:config",
    "debug": "fairlead.interfaces.cli.debug:debug",
    "doctor": "fairlead.interfaces.cli.doctor:doctor",
    "hook": "fairlead.interfaces.cli.hook:hook",
    "exec": "fairlead.interfaces.cli.execution:execution",
    "init": "fairlead.interfaces.cli.init:init",
    "install": "fairlead.interfaces.cli.install:install",
    "job": "fairlead.interfaces.cli.job:job",
    "merge-driver": "fairlead.interfaces.cli.merge_driver:merge_driver",
    "milestone": "fairlead.interfaces.cli.milestone:milestone",
    "planning": "fairlead.interfaces.cli.planning:planning",
    "pause": "fairlead.interfaces.cli.pause:pause",
    "new": "fairlead.interfaces.cli.new:new",
    "phase": "fairlead.interfaces.cli.phase:phase",
    "quick": "fairlead.interfaces.cli.quick:quick",
    "resume": "fairlead.interfaces.cli.pause:resume",
    "roadmap": "fairlead.interfaces.cli.roadmap:roadmap",
    "run": "fairlead.interfaces.cli.run:run",
    "state": "fairlead.interfaces.cli.state:state",
    "status": "fairlead.interfaces.cli.status:status",
    "statusline": "fairlead.interfaces.cli.statusline:statusline",
    "undo": "fairlead.interfaces.cli.undo:undo",
    "uninstall": "fairlead.interfaces.cli.install:uninstall",
}

_INTERRUPTED = 130
# A group without a command; older versions of click show its help themselves.
_ONLY_A_GROUP = getattr(click.exceptions, "NoArgsIsHelpError", ())
_YOUNG = 500_000  # objects: a short command ends before there is much to collect


class LazyGroup(click.Group):
    """A group whose commands are imported when they are needed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, without importing anything."""
        return sorted(_COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in _COMMANDS:
            return None
        module, _, name = _COMMANDS[cmd_name].partition(":")
        command = getattr(import_module(module), name)
        assert isinstance(command, click.Command)
        return command


@click.group(
    cls=LazyGroup,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog='Start with: fairlead status    A new project: fairlead init "Title" --yes',
)
@click.option(
    "-C",
    "folder",
    default=".",
    type=click.Path(exists=True, file_okay=False, readable=False),
    metavar="DIR",
    help="Run as if started in DIR.",
)
@click.version_option(package_name="fairlead", message="%(prog)s %(version)s")
@click.pass_context
def cli(context: click.Context, folder: str) -> None:
    """A project memory in plain Markdown that never lies, and an engine for coding agents.

    Fairlead reads any .planning folder, says where the project stands, records what happens in
    it without ever losing an update, and drives agents from plans to verified commits.
    """
    context.obj = folder


def main() -> None:
    """Run the command line and leave with its exit code."""
    gc.set_threshold(_YOUNG)
    _have_streams()
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        sys.exit(code)
    os._exit(code)  # taking everything apart first would take as long as some commands


def run(arguments: list[str]) -> int:
    """Run one command and return its exit code."""
    as_json = "--json" in arguments
    try:
        outcome = cli.main(arguments, prog_name="fairlead", standalone_mode=False)
        return outcome if isinstance(outcome, int) else 0
    except click.exceptions.Exit as left:
        return left.exit_code
    except click.ClickException as problem:
        if isinstance(problem, _ONLY_A_GROUP):
            with suppress(OSError):
                problem.show()  # its help, line by line
            return UsageError.exit_code
        return _shown(_usage_error(problem), as_json=as_json)
    except FairleadError as problem:
        return _shown(problem, as_json=as_json)
    except (click.Abort, KeyboardInterrupt):
        return _INTERRUPTED
    except (BrokenPipeError, SystemExit):  # click leaves by itself in this one case
        from fairlead.interfaces.cli.show import give_up_output

        give_up_output()  # the reader has gone
        return 0
    except OSError as problem:
        path = problem.filename or os.curdir
        return _shown(DiskFault(path, problem.strerror or str(problem)), as_json=as_json)
    except ImportError as problem:
        part = problem.path or problem.name or "a module"
        return _shown(BrokenProgram(part, str(problem)), as_json=as_json)
    except Exception as problem:  # noqa: BLE001  # the one place: a bug has a true exit code, too
        from fairlead.interfaces.cli.show import show_trace

        show_trace(problem)
        return _shown(OwnFault(problem), as_json=as_json)


def _usage_error(problem: click.ClickException) -> UsageError:
    hint = ""
    context = getattr(problem, "ctx", None)
    if isinstance(context, click.Context):
        hint = f"see: {context.command_path} --help"
    message = " ".join(problem.format_message().split()).rstrip(".")
    return UsageError(message[:1].lower() + message[1:], hint=hint)


def _shown(error: FairleadError, *, as_json: bool) -> int:
    from fairlead.interfaces.cli.show import give_up_output, show_error

    if isinstance(error, OutputFault):
        give_up_output()
        as_json = False
    try:
        show_error(error, as_json=as_json)
    except OutputFault:
        give_up_output()
    return error.exit_code


def _have_streams() -> None:
    """A stream that was closed from the start leads nowhere, and no document gets its number."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115  # until the end
            setattr(sys, name, stream)
