"""`fairlead hook`: the command that host agents call for their hook events.

It must never disturb the host, so every problem ends as one line on stderr and exit code 0, an
unknown hook name included.
"""

import json
import os
import sys

import click

from fairlead.interfaces.cli.output import OutputStream
from fairlead.interfaces.hooks.message import HookMessage, HookResponse, run

SOURCES = ("claude-plugin", "claude-project", "codex-plugin")
STOP, SESSION_START, PRE_COMPACT, SESSION_END = NAMES = (
    "stop",
    "session-start",
    "pre-compact",
    "session-end",
)


@click.command(epilog="Example: fairlead hook stop --print-command")
@click.argument("name", metavar=f"[{'|'.join(NAMES)}]")
@click.option(
    "--print-command",
    is_flag=True,
    help="Print the fastest equivalent command as JSON, and run nothing.",
)
@click.option(
    "--source",
    type=click.Choice(SOURCES),
    help="Where the hook is registered. The user's own hook of the same host takes precedence.",
)
def hook(*, name: str, print_command: bool, source: str | None) -> None:
    """Answer a hook call of a host agent.

    Reads JSON from stdin and writes JSON to stdout. `stop` keeps the session that owns an
    incomplete plan at work and names what is missing. `session-start` reports the position, next
    step, questions, blockers and decisions. `pre-compact` and `session-end` record the session in
    STATE.md if the project changed during it.

    The exit code is always 0, so that the host is never blocked by accident; problems are
    reported as one line on stderr. `fairlead install claude` sets up all four hooks.
    """
    if print_command:
        OutputStream(sys.stdout).raw(json.dumps({"argv": _fastest_command(name)}) + "\n")
        return
    run(lambda message: _response(name, message, source or ""))


def _fastest_command(name: str) -> list[str]:
    if name != STOP:
        return [os.path.abspath(sys.argv[0]), "hook", name]
    import fairlead.interfaces.hooks.stop  # noqa: F401  # compiles it: the fast start writes no bytecode
    from fairlead.interfaces.hooks.start import start_command

    return start_command(sys.executable)


def _response(name: str, message: HookMessage, source: str) -> HookResponse:
    from fairlead.interfaces.hooks.stop import JOB, stop_response

    if os.environ.get(JOB):
        return HookResponse()
    if source:
        from fairlead.interfaces.hooks.precedence import is_answered_elsewhere

        if is_answered_elsewhere(source, message):
            return HookResponse()
    if name == STOP:
        return stop_response(message, os.environ)
    if name not in NAMES:
        return HookResponse(note=f"unknown hook {name!r}; hooks: {', '.join(NAMES)}")
    return _session_response(name, message)


def _session_response(name: str, message: HookMessage) -> HookResponse:
    # Imported here, because these modules take longer to load than the stop hook to run.
    from fairlead.app import App
    from fairlead.interfaces.hooks import session
    from fairlead.project.state.gate import MAIN_SESSION
    from fairlead.project.state.session import Stop

    def record(folder: str) -> None:
        session_name = os.environ.get("FAIRLEAD_SESSION") or MAIN_SESSION
        app = App(folder, patience_seconds=session.LOCK_WAIT_SECONDS)
        app.sessions.ended(Stop(), session=session_name, command=f"hook {name}")

    if name == SESSION_START:
        return session.session_started(
            message,
            os.environ,
            lambda folder: (App(folder).overview.status(), App(folder).sessions.offers()),
        )
    if name == PRE_COMPACT:
        return session.before_compaction(message, record)
    return session.session_ended(message, os.environ, record)
