"""`fairlead hook`: what a host agent calls; it answers the host and never breaks it."""

import json
import os
import sys

import click

from fairlead.interfaces.cli.show import Screen
from fairlead.interfaces.hooks.door import run
from fairlead.interfaces.hooks.told import Answer, Told

STOP, SESSION_START, PRE_COMPACT, SESSION_END = NAMES = (
    "stop",
    "session-start",
    "pre-compact",
    "session-end",
)


@click.command(epilog="Example: fairlead hook stop --print-command")
@click.argument("name", metavar=f"[{'|'.join(NAMES)}]")
@click.option(
    "--print-command", is_flag=True, help="Print the fastest command that does the same, as JSON."
)
def hook(*, name: str, print_command: bool) -> None:
    """Answer a hook of a host agent, from the JSON that it gives on stdin.

    stop holds the session that owns an unmet plan and names what is missing; session-start tells
    position, blockers and the open plan; pre-compact and session-end record the session in
    STATE.md. It always ends with exit code 0, because any other could hold up the host; what is
    wrong is one line on stderr. `fairlead install claude` puts all of them into place.
    """
    if print_command:
        Screen(sys.stdout).raw(json.dumps({"argv": _argv(name)}) + "\n")
        return
    run(lambda told: _answer(name, told))


def _argv(name: str) -> list[str]:
    if name != STOP:
        return [os.path.abspath(sys.argv[0]), "hook", name]
    import fairlead.interfaces.hooks.stop  # noqa: F401  # so that its bytecode is there
    from fairlead.interfaces.hooks.start import start_command

    return start_command(sys.executable)


def _answer(name: str, told: Told) -> Answer:
    from fairlead.interfaces.hooks.stop import JOB, answer

    if os.environ.get(JOB):
        return Answer()
    if name == STOP:
        return answer(told, os.environ)
    if name not in NAMES:
        return Answer(note=f"there is no hook {name!r}; known hooks: {', '.join(NAMES)}")
    return _slow(name, told)


def _slow(name: str, told: Told) -> Answer:
    """The hooks that need the engine, which is imported here."""
    from fairlead.interfaces.hooks import continuity, session_start
    from fairlead.records.gate import MAIN_SESSION
    from fairlead.records.session import Stop
    from fairlead.wiring import App

    def record(home: str) -> None:
        session = os.environ.get("FAIRLEAD_SESSION") or MAIN_SESSION
        app = App(home, patience_seconds=continuity.PATIENCE_SECONDS)
        app.sessions.ended(Stop(), session=session)

    if name == SESSION_START:
        return session_start.answer(
            told,
            os.environ,
            lambda home: (App(home).overview.status(), App(home).sessions.offers()),
        )
    if name == PRE_COMPACT:
        return continuity.before_compaction(told, record)
    return continuity.at_the_end(told, os.environ, record)
