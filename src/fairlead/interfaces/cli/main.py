"""Entry point of the `fairlead` command: runs it, and turns errors into messages and exit codes."""

import gc
import os
import sys
from contextlib import suppress

import click

from fairlead.core.errors import FairleadError, UsageError
from fairlead.interfaces.cli.errors import BrokenProgram, OwnFault
from fairlead.interfaces.cli.lazy_group import ANNOUNCER, LazyGroup
from fairlead.store.errors import DiskFault, DiskFull, LaterFault, OutputFault, ReadOnly

_COMMANDS = {
    "next": (
        "status:next_step",
        "Show the position, the next command and open questions.",
    ),
    "explain": (
        "explain:explain",
        "Show the files that a value is derived from.",
    ),
    "board": ("board:board", "Show the project as a board in the terminal."),
    "capture": (
        "capture:capture",
        "Record an idea as a todo, a note or a backlog entry.",
    ),
    "check": ("check:check", "Check that the planning documents match the files."),
    "cluster": (
        "cluster:cluster",
        "Show the workers, or start a development server.",
    ),
    "completion": ("completion:completion", "Print the completion script for a shell."),
    "config": ("config:config", "Show and change settings."),
    "debug": ("debug:debug", "Find the cause of a fault: hypothesis, test, fix."),
    "demo": ("demo:demo", "Watch a goal become merged commits, without a model."),
    "doctor": ("doctor:doctor", "Show every finding with its repair; with --fix, repair."),
    "help": ("help:help_command", "Show the help of a command, or of Fairlead itself."),
    "graph": ("graph:graph", "Draw the roadmap, the waves of a phase or a job as a graph."),
    "hook": ("hook:hook", "Answer a hook call of a host agent."),
    "exec": (
        "exec:exec_group",
        "Assign the modules of an approved plan, and record results.",
    ),
    "init": (
        "init:init",
        "Create a project in this folder, without a model.",
    ),
    "install": (
        "install:install",
        "Install Fairlead in a host agent, such as Claude Code.",
    ),
    "job": ("job:job", "Show jobs, answer their questions, and end or retry them."),
    "mcp": ("mcp:mcp", "Serve the project to host agents through MCP."),
    "notify": (
        "notify:notify",
        "Notify you when a job waits, fails or ends.",
    ),
    "merge-driver": (
        "merge_driver:merge_driver",
        "Merge two versions of a planning document for git.",
    ),
    "milestone": ("milestone:milestone", "List, open and close milestones."),
    "planning": (
        "planning:planning",
        "Plan a goal with modules and checked exit criteria.",
    ),
    "pause": (
        "pause:pause",
        "Pause the project, and record what is open.",
    ),
    "new": (
        "new:new",
        "Create a project from an idea, with questions and research.",
    ),
    "phase": (
        "phase:phase",
        "Show, change, plan, execute, verify and complete phases.",
    ),
    "quick": ("quick:quick", "Plan, execute and verify one small task outside the roadmap."),
    "report": (
        "report:report",
        "Write one self-contained page about a job or a phase.",
    ),
    "rehearsal": ("rehearsal:rehearsal", "Show or discard the rehearsal of a project."),
    "resume": (
        "pause:resume",
        "Show what an earlier session left, and end the pause.",
    ),
    "roadmap": ("roadmap:roadmap", "Read and update ROADMAP.md, for scripts."),
    "run": ("run:run", "Take a goal from request to verified, committed work."),
    "serve": ("serve:serve", "Show one or more projects as a board in the browser."),
    "state": ("state:state", "Record decisions, blockers and other events in STATE.md."),
    "status": ("status:status", "Show where the project stands, derived from its files."),
    "statusline": (
        "statusline:statusline",
        "Print one line about the project for a host agent.",
    ),
    "undo": ("undo:undo", "Undo a command in all the documents that it changed."),
    "uninstall": ("install:uninstall", "Remove Fairlead from a host agent."),
    "version": ("help:version", "Show the version of Fairlead."),
    "worker": (
        "cluster:worker",
        "Run agents and verify commands for other machines.",
    ),
}

# What each command is for, in the order of the help. A command that is not named here is listed
# at the end.
_SECTIONS = {
    "Look": ("status", "next", "check", "explain", "report", "graph", "board", "serve"),
    "Record": ("capture", "state", "pause", "resume", "milestone"),
    "Plan": ("init", "new", "planning", "phase"),
    "Run": ("run", "quick", "debug", "job", "exec", "demo", "rehearsal"),
    "Repair": ("doctor", "undo"),
    "Connect": (
        *("install", "uninstall", "config", "mcp", "notify", "worker", "cluster"),
        *("completion", "help", "version"),
    ),
    "For scripts": ("hook", "statusline", "merge-driver", "roadmap", "gsd"),
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
    epilog="Start with `fairlead`. To see it work without a model, run `fairlead demo`.",
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
@click.option("--json", "as_json", is_flag=True, help="Without a command: print one JSON document.")
@click.pass_context
def cli(context: click.Context, folder: str, *, as_json: bool) -> int | None:
    """Project memory in plain Markdown, and an engine that runs coding agents.

    Fairlead reads any .planning folder, shows where the project stands, records progress without
    losing an update, and runs agents from plans to verified commits. Without a command, it shows
    the situation and suggests the next step.
    """
    context.meta[ANNOUNCER] = context.obj
    context.obj = folder
    if context.invoked_subcommand is None:
        from fairlead.app import App
        from fairlead.interfaces.cli.start import start

        return start(App(folder), run, as_json=as_json)
    if as_json:
        command = f"{context.command_path} {context.invoked_subcommand} --json"
        raise click.UsageError(f"write --json after the command: {command}")
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
    written = _written()
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
        return _fail(_usage_error(problem), as_json=as_json, written=written)
    except FairleadError as problem:
        return _fail(problem, as_json=as_json, written=written)
    except (click.Abort, KeyboardInterrupt):
        _name_next_command(arguments)
        return _INTERRUPTED
    except (BrokenPipeError, SystemExit):  # click exits itself when the pipe is closed
        from fairlead.interfaces.cli.output import discard_output

        discard_output()
        return 0
    except OSError as problem:
        path = problem.filename or os.curdir
        return _fail(
            DiskFault(path, problem.strerror or str(problem)), as_json=as_json, written=written
        )
    except ImportError as problem:
        part = problem.path or problem.name or "a module"
        return _fail(BrokenProgram(part, str(problem)), as_json=as_json, written=written)
    except Exception as problem:  # noqa: BLE001  # a bug has its own exit code, too
        from fairlead.interfaces.cli.output import show_traceback

        show_traceback(problem)
        return _fail(OwnFault(problem), as_json=as_json, written=written)


def _name_next_command(arguments: list[str]) -> None:
    """After Ctrl+C: the command that goes on."""
    import shlex

    from fairlead.app import App
    from fairlead.interfaces.cli.output import warn

    command = shlex.join(["fairlead", *arguments])
    at = arguments.index("-C") + 1 if "-C" in arguments[:-1] else 0
    # Without a project, and for a rehearsal, whose job is in its copy, it is the same command.
    if "--rehearse" not in arguments:
        with suppress(FairleadError, OSError):
            jobs = App(arguments[at] if at else ".").overview.status().jobs
            stopped = [job.command for job in jobs if job.command and not job.is_running]
            command = stopped[0] if stopped else "fairlead next"
    warn(f"interrupted; continue with: {command}")


def _usage_error(problem: click.ClickException) -> UsageError:
    message, hint = problem.format_message(), ""
    context, parameter = getattr(problem, "ctx", None), getattr(problem, "param", None)
    if isinstance(context, click.Context):
        from fairlead.interfaces.cli.suggestions import meant_command

        if isinstance(problem, click.NoSuchOption):
            message = f"no such option {problem.option_name!r}"  # what was meant is in the hint
        elif isinstance(parameter, click.Argument) and isinstance(parameter.type, click.Choice):
            # The name of such an argument lists its values, and so does the message.
            name = parameter.get_error_hint(context)
            message = getattr(problem, "message", "") or message.replace(f" {name}", "")
        meant = meant_command(problem, context.command_path)
        hint = f"did you mean: {meant}" if meant else f"see: {context.command_path} --help"
    message = " ".join(message.split()).rstrip(".")
    return UsageError.saying(message[:1].lower() + message[1:], hint)


def _fail(error: FairleadError, *, as_json: bool, written: int) -> int:
    """Show an error and return its exit code; `written` counts the transactions before the run."""
    from fairlead.interfaces.cli.output import discard_output, show_error

    error = _true_error(error, written)
    if isinstance(error, OutputFault):
        # stdout is broken, so only stderr can still carry the message.
        discard_output()
        as_json = False
    try:
        show_error(error, as_json=as_json)
    except OutputFault:
        discard_output()
    return error.exit_code


def _written() -> int:
    """The transactions that this process has completed."""
    module = sys.modules.get("fairlead.store.transaction")  # not loaded: nothing was written
    return module.WRITTEN.count if module else 0


def _true_error(error: FairleadError, written: int) -> FairleadError:
    """The error, unless it says that nothing was changed although something was."""
    if _written() == written:
        return error
    if isinstance(error, DiskFull | ReadOnly | DiskFault):
        return LaterFault(error.path, error.why)
    return LaterFault(error.part, error.why) if isinstance(error, BrokenProgram) else error


def _open_missing_streams() -> None:
    """Open /dev/null for closed standard streams.

    Otherwise the next file opened would get their descriptor, and output would go into it.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            stream = open(os.devnull, mode, encoding="utf-8")  # noqa: SIM115  # stays open until the end
            setattr(sys, name, stream)
