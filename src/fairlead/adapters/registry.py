"""Which agents there are: ours, those of other packages, and those a person describes.

Another package offers an agent by an entry point of the group `fairlead.agents` whose object is
a function that returns a `Row`. It is loaded only when it is asked for. A person's own
description wins over a name of another package; the names of ours are taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING

from fairlead.adapters import (
    agent_antigravity,
    agent_claude,
    agent_codex,
    agent_command,
    agent_gemini,
    agent_opencode,
    process,
    scripted,
)
from fairlead.adapters.agent import CliAgent, Row
from fairlead.errors import NoAgent, NoProgram, NoSuchAgent
from fairlead.model.agent_commands import AgentCommand

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

SCRIPTED = scripted.NAME
GROUP = "fairlead.agents"
REHEARSAL = "fairlead phase execute N --rehearse"

Maker = Callable[[], Row]


def makers(commands: Iterable[AgentCommand] = ()) -> dict[str, Maker]:
    """The agents by name, in the order in which they are looked for; those of others apart."""
    ours: dict[str, Maker] = {
        "claude": agent_claude.row,
        "codex": agent_codex.row,
        "opencode": agent_opencode.row,
        "gemini": agent_gemini.row,
        "agy": agent_antigravity.row,
    }
    described = {each.name: partial(agent_command.row, each) for each in commands}
    return {**ours, **described, **ours, SCRIPTED: scripted.row}


def offered() -> dict[str, Maker]:
    """The agents of other packages by name. Looking for them takes a while."""
    from importlib.metadata import entry_points

    return {each.name: partial(_loaded, each) for each in entry_points(group=GROUP)}


def agent(
    name: str, *, outside: tuple[str, ...] = (), commands: Iterable[AgentCommand] = ()
) -> CliAgent:
    """The agent of this name; without a name, the first that is installed."""
    known = makers(commands)
    if name and name not in known:
        known = {**offered(), **known}
    if name and name not in known:
        raise NoSuchAgent(name, tuple(known))
    wanted = (name,) if name else tuple(each for each in known if each != SCRIPTED)
    looked_for: list[str] = []
    for each in wanted:
        row = known[each]()
        found = located(row, outside)
        if found:
            return CliAgent(row, found, outside)
        looked_for += row.programs
    raise NoAgent(looked_for, REHEARSAL)


def _loaded(entry: EntryPoint) -> Row:
    row = entry.load()()
    assert isinstance(row, Row)
    return row


def located(row: Row, outside: tuple[str, ...] = ()) -> str:
    """The absolute path of a row's program; empty if it is not installed."""
    for name in row.programs:
        try:
            return process.program(name, outside)
        except NoProgram:
            continue
    return ""
