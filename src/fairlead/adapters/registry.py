"""Which agents there are: ours, those of other packages, and those a person describes.

Another package offers an agent by an entry point of the group `fairlead.agents` whose object is
a function that returns a `Row`. It is loaded only when it is asked for. A person's own
description wins over a name of another package; the names of ours are taken. Plain models have
names of the same sort; nobody gets one without naming it, since it changes no files.
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
    model,
    process,
    scripted,
)
from fairlead.adapters.agent import CliAgent, Row, recalled
from fairlead.errors import NoAgent, NoModelClient, NoProgram, NoSuchAgent
from fairlead.model import model_services
from fairlead.model.agent_commands import AgentCommand
from fairlead.model.agent_events import Ending
from fairlead.model.agent_streams import Stream
from fairlead.model.families import family_of
from fairlead.model.model_services import ModelService

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from fairlead.adapters.supervision import Keepers

SCRIPTED = scripted.NAME
GROUP = "fairlead.agents"
REHEARSAL = 'fairlead run "GOAL" --rehearse'

Maker = Callable[[], Row]
Description = AgentCommand | ModelService


def makers(commands: Iterable[Description] = ()) -> dict[str, Maker]:
    """The agents by name, in the order in which they are looked for; those of others apart."""
    ours: dict[str, Maker] = {
        "claude": agent_claude.row,
        "codex": agent_codex.row,
        "opencode": agent_opencode.row,
        "gemini": agent_gemini.row,
        "agy": agent_antigravity.row,
    }
    described = {each.name: _made(each) for each in (*model_services.described({}), *commands)}
    return {**ours, **described, **ours, SCRIPTED: scripted.row}


def offered() -> dict[str, Maker]:
    """The agents of other packages by name. Looking for them takes a while."""
    from importlib.metadata import entry_points

    return {each.name: partial(_loaded, each) for each in entry_points(group=GROUP)}


def agent(
    name: str,
    *,
    outside: tuple[str, ...] = (),
    commands: Iterable[Description] = (),
    keepers: Keepers | None = None,
) -> CliAgent:
    """The agent of this name; without a name, the first that is installed."""
    known = makers(commands)
    if name and name not in known:
        known = {**offered(), **known}
    if name and name not in known:
        raise NoSuchAgent(name, tuple(known))
    rows = [known[each]() for each in ((name,) if name else known) if name or each != SCRIPTED]
    looked_for: list[str] = []
    for row in rows:
        if row.service and not name:
            continue
        if row.service and not model.client_version(row.service):
            raise NoModelClient(name, row.service.kind)
        found = located(row, outside)
        if found:
            return CliAgent(row, found, outside, keepers)
        looked_for += row.programs
    raise NoAgent(looked_for, REHEARSAL)


def recall(commands: Iterable[Description], name: str, role: str, raw: str) -> Ending | None:
    """See `engine.ports.Recall`; of an agent that is gone, nobody can read more than text."""
    maker = makers(commands).get(name) or offered().get(name)
    return recalled(maker().stream if maker else Stream.TEXT, role, raw)


def family(found: CliAgent, model_name: str = "") -> str:
    """The family of the model that an agent asks: one that is named, or its own."""
    return family_of(found.name, model_name or own_model(found), found.row.family)


def own_model(found: CliAgent) -> str:
    """The model that a person has described; empty for an agent, which chooses."""
    return found.row.service.model if found.row.service else ""


def _made(each: Description) -> Maker:
    if isinstance(each, ModelService):
        return partial(model.row, each)
    return partial(agent_command.row, each)


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
