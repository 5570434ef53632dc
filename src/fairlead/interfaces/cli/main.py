"""Entry point of the `fairlead` command: runs it, and turns errors into messages and exit codes."""

import gc
import os
import sys
from contextlib import suppress

import click

from fairlead.core.errors import FairleadError, UsageError
from fairlead.interfaces.cli.errors import BrokenProgram, OwnFault
from fairlead.interfaces.cli.lazy_group import ANNOUNCER, LazyGroup
from fairlead.store.errors import DiskFault, OutputFault

_COMMANDS = {
    "next": "status:next_step",
    "explain": "explain:explain",
    "board": "board:board",
    "capture": "capture:capture",
    "check": "check:check",
    "cluster": "cluster:cluster",
    "completion": "completion:completion",
    "config": "config:config",
    "debug": "debug:debug",
    "demo": "demo:demo",
    "doctor": "doctor:doctor",
    "help": "help:help_command",
    "graph": "graph:graph",
    "hook": "hook:hook",
    "exec": "exec:exec_group",
    "init": "init:init",
    "install": "install:install",
    "job": "job:job",
    "mcp": "mcp:mcp",
    "notify": "notify:notify",
    "merge-driver": "merge_driver:merge_driver",
    "milestone": "milestone:milestone",
    "planning": "planning:planning",
    "pause": "pause:pause",
    "new": "new:new",
    "phase": "phase:phase",
    "quick": "quick:quick",
    "report": "report:report",
    "rehearsal": "rehearsal:rehearsal",
    "resume": "pause:resume",
    "roadmap": "roadmap:roadmap",
    "run": "run:run",
    "serve": "serve:serve",
    "state": "state:state",
    "status": "status:status",
    "statusline": "statusline:statusline",
    "undo": "undo:undo",
    "uninstall": "install:uninstall",
    "version": "help:version",
    "worker": "cluster:worker",
}

# What each command is for, in the order of the help. A command that is not named here is listed
# at the end.
_SECTIONS = {
    "Look": ("status", "next", "check", "explain", "report", "graph", "board", "serve"),
    "Record": ("capture", "state", "pause", "resume", "milestone"),
    "Plan": ("init", "new", "planning", "phase"),
    "Run": ("run", "quick", "debug", "job", "exec", "demo", "rehearsal"),
    "Repair": ("doctor", "undo"),
    "Connect": ("install", "uninstall", "config", "mcp", "notify", "completion", "help", "version"),
    "For scripts": ("hook", "statusline", "merge-driver", "roadmap", "gsd", "worker", "cluster"),
}

_INTERRUPTED = 130
# Raised for a group without a command; older versions of click print the help themselves.
_NO_COMMAND = getattr(click.exceptions, "NoArgsIsHelpError", ())
_GC_THRESHOLD = 500_000  # objects; a short command ends before a collection would pay off


@click.group(
    cls=LazyGroup,
    lazy=_COMMANDS,
    sections=_SECTIONS,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with: fairlead    See it work, without a model: fairlead demo",
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
@click.option("--json", "as_json", is_flag=True, help="Without a command: one JSON document.")
@click.pass_context
def cli(context: click.Context, folder: str, *, as_json: bool) -> int | None:
    """Project memory in plain Markdown, and an engine that runs coding agents.

    Fairlead reads any .planning folder, shows where the project stands, records progress without
    losing an update, and runs agents from plans to verified commits. Without a command it looks
    around and offers the next step.
    """
    context.meta[ANNOUNCER] = context.obj
    context.obj = folder
    if context.invoked_subcommand is None:
        from fairlead.app import App
        from fairlead.interfaces.cli.start import start

        return start(App(folder), run, as_json=as_json)
    if as_json:
        command = f"{context.command_path} {context.invoked_subcommand} --json"
        raise click.UsageError(f"write --json behind the command: {command}")
    return None


def main() -> None:
    """Run the command line and exit with its code."""
    gc.set_threshold(_GC_THRESHOLD)
    _open_missing_streams()
    code = run(sys.argv[1:])
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        sys.exit(code)
    os._exit(code)  # skip the interpreter's shutdown, which takes as long as a short command


def run(arguments: list[str], announcer: object = None) -> int:
    """Run one command and return its exit code; in the background, `announcer` reports its job."""
    # Read from the raw words: an error in the options themselves must be JSON, too.
    as_json = "--json" in arguments
    try:
        result = cli.main(arguments, prog_name="fairlead", standalone_mode=False, obj=announcer)
        return result if isinstance(result, int) else 0
    except click.exceptions.Exit as ending:
        return ending.exit_code
    except click.ClickException as problem:
        if isinstance(problem, _NO_COMMAND):
            with suppress(OSError):
                problem.show()  # prints the help
            return UsageError.exit_code
        return _fail(_usage_error(problem), as_json=as_json)
    except FairleadError as problem:
        return _fail(problem, as_json=as_json)
    except (click.Abort, KeyboardInterrupt):
        _name_next_command(arguments)
        return _INTERRUPTED
    except (BrokenPipeError, SystemExit):  # click exits itself when the pipe is closed
        from fairlead.interfaces.cli.output import discard_output

        discard_output()
        return 0
    except OSError as problem:
        path = problem.filename or os.curdir
        return _fail(DiskFault(path, problem.strerror or str(problem)), as_json=as_json)
    except ImportError as problem:
        part = problem.path or problem.name or "a module"
        return _fail(BrokenProgram(part, str(problem)), as_json=as_json)
    except Exception as problem:  # noqa: BLE001  # a bug has its own exit code, too
        from fairlead.interfaces.cli.output import show_traceback

        show_traceback(problem)
        return _fail(OwnFault(problem), as_json=as_json)


def _name_next_command(arguments: list[str]) -> None:
    """After Ctrl+C: the command that goes on, if the folder belongs to a project."""
    from fairlead.app import App
    from fairlead.interfaces.cli.output import warn

    at = arguments.index("-C") + 1 if "-C" in arguments[:-1] else 0
    with suppress(FairleadError, OSError):
        jobs = App(arguments[at] if at else ".").overview.status().jobs
        stopped = [job.command for job in jobs if job.command and not job.is_running]
        warn(f"interrupted; go on with: {stopped[0] if stopped else 'fairlead next'}")


def _usage_error(problem: click.ClickException) -> UsageError:
    hint = ""
    context = getattr(problem, "ctx", None)
    if isinstance(context, click.Context):
        hint = f"see: {context.command_path} --help"
    message = " ".join(problem.format_message().split()).rstrip(".")
    return UsageError.saying(message[:1].lower() + message[1:], hint)


def _fail(error: FairleadError, *, as_json: bool) -> int:
    """Show an error and return its exit code."""
    from fairlead.interfaces.cli.output import discard_output, show_error

    if isinstance(error, OutputFault):
        # stdout is broken, so only stderr can still carry the message.
        discard_output()
        as_json = False
    try:
        show_error(error, as_json=as_json)
    except OutputFault:
        discard_output()
    return error.exit_code


def _open_missing_streams() -> None:
    """Open /dev/null for closed standard streams.

    Otherwise the next file opened would get their descriptor, and output would go into it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115  # stays open until the end
            setattr(sys, name, stream)
