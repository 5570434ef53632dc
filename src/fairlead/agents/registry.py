"""Find agents by name: the built-in ones, those of other packages, and those a person describes.

Another package offers an agent through an entry point of the group `fairlead.agents` whose object
is a function that returns a `Driver`. It is loaded only when it is asked for. A person's own
description replaces an agent of another package; built-in names cannot be replaced. Plain models
are found by name only, never as "the first installed agent", because they change no files.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from functools import partial
from typing import TYPE_CHECKING

from fairlead.agents.cli_agent import CliAgent, recalled
from fairlead.agents.custom_agents import AgentCommand, CustomAgent, ModelService, custom_agents
from fairlead.agents.drivers import model_service
from fairlead.agents.drivers.catalog import BUILT_IN, DriverFactory
from fairlead.agents.drivers.driver import PROMPT_FILE, Driver
from fairlead.agents.errors import NoAgent, NoModelClient, NoSuchAgent
from fairlead.agents.model import CallResult, Stream
from fairlead.core import process
from fairlead.core.errors import NoProgram
from fairlead.core.patterns import lazy_pattern

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

    from fairlead.agents.supervision import SupervisorPool

SCRIPTED = "scripted"  # replaces a model in rehearsals
ENTRY_POINTS = "fairlead.agents"
_HERE = os.path.dirname(os.path.abspath(__file__))
REHEARSAL = 'fairlead run "GOAL" --rehearse'


def driver_factories(custom: Iterable[CustomAgent] = ()) -> dict[str, DriverFactory]:
    """The drivers by name, in the order in which they are looked for, without other packages'."""
    described = {one.name: _factory(one) for one in (*custom_agents({}), *custom)}
    # Built-in names come first in the order, and a description cannot replace them.
    return {**BUILT_IN, **described, **BUILT_IN, SCRIPTED: _scripted_driver}


def packaged_factories() -> dict[str, DriverFactory]:
    """The drivers of other packages by name. Looking for them reads the installed metadata."""
    from importlib.metadata import entry_points

    return {entry.name: partial(_loaded, entry) for entry in entry_points(group=ENTRY_POINTS)}


def agent(
    name: str,
    *,
    outside: tuple[str, ...] = (),
    custom: Iterable[CustomAgent] = (),
    supervisors: SupervisorPool | None = None,
) -> CliAgent:
    """The agent of this name; without a name, the first one that is installed.

    Programs inside the folders `outside` are never used.
    """
    factories = driver_factories(custom)
    if name and name not in factories:
        factories = {**packaged_factories(), **factories}
    if name and name not in factories:
        raise NoSuchAgent(name, tuple(factories))
    names = (name,) if name else tuple(other for other in factories if other != SCRIPTED)
    looked_for: list[str] = []
    for driver in (factories[candidate]() for candidate in names):
        if driver.service and not name:
            continue
        if driver.service and not model_service.client_version(driver.service):
            raise NoModelClient(name, driver.service.kind)
        program = program_path(driver, outside)
        if program:
            return CliAgent(driver, program, outside, supervisors)
        looked_for += driver.programs
    raise NoAgent(looked_for, REHEARSAL)


def recall(custom: Iterable[CustomAgent], name: str, role: str, raw: str) -> CallResult | None:
    """Implements `ports.Recall`. Output of an agent that is no longer known is read as text."""
    factory = driver_factories(custom).get(name) or packaged_factories().get(name)
    return recalled(factory().stream if factory else Stream.TEXT, role, raw)


def family(found: CliAgent, model: str = "") -> str:
    """The family of the named model, or of the agent's own."""
    return family_of(found.name, model or own_model(found), found.driver.family)


def own_model(found: CliAgent) -> str:
    """The model in a model service's description; empty for an agent, which chooses itself."""
    return found.driver.service.model if found.driver.service else ""


def program_path(driver: Driver, outside: tuple[str, ...] = ()) -> str:
    """The absolute path of a driver's program; empty if it is not installed."""
    for name in driver.programs:
        try:
            return process.program(name, outside)
        except NoProgram:
            continue
    return ""


def _factory(custom: CustomAgent) -> DriverFactory:
    if isinstance(custom, ModelService):
        return partial(model_service.driver, custom)
    return partial(_described_driver, custom)


def _described_driver(command: AgentCommand) -> Driver:
    """How a described command is used; `{prompt}` among its words is the prompt's file."""
    program, *rest = command.argv
    words = tuple(rest)
    if command.prompt == "file" and PROMPT_FILE not in words:
        words = (*words, PROMPT_FILE)
    return Driver(
        name=command.name,
        programs=(program,),
        stream=command.stream,
        arguments=lambda _: words,
        passed_variables=command.environment,
        family=command.family,
        commands_note=f"{command.name} may run what its own command line allows",
    )


def _scripted_driver() -> Driver:
    """A process like any other agent: nothing tells it that this is a rehearsal."""
    return Driver(
        name=SCRIPTED,
        programs=(sys.executable,),
        stream=Stream.CLAUDE,
        arguments=lambda _: (),
        program_arguments=("-I", "-S", "-B", os.path.join(_HERE, "scripted", "program.py")),
        is_free=True,
    )


def _loaded(entry: EntryPoint) -> Driver:
    driver = entry.load()()
    assert isinstance(driver, Driver)
    return driver


OTHER = "other"
# Prefixes of the words in a model's name; the first word that matches decides.
_PREFIXES = {
    "claude": ("claude", "anthropic", "opus", "sonnet", "haiku"),
    "gpt": ("gpt", "chatgpt", "openai", "codex", "davinci"),
    "gemini": ("gemini", "gemma"),
    "llama": ("llama", "codellama"),
    "mistral": ("mistral", "mixtral", "ministral", "codestral", "devstral", "magistral"),
    "qwen": ("qwen", "qwq"),
    "deepseek": ("deepseek",),
    "grok": ("grok",),
    "glm": ("glm", "chatglm"),
    "kimi": ("kimi", "moonshot"),
    "minimax": ("minimax",),
    "command": ("command", "cohere"),
    "nova": ("nova",),
    "phi": ("phi",),
    "granite": ("granite",),
    "nemotron": ("nemotron",),
}
_REASONERS = lazy_pattern(r"o[1-9]")  # o1, o3, o4-mini
_WORDS = lazy_pattern(r"[a-z]+[0-9]*|[0-9]+")
_OWN = {
    "anthropic": "claude",
    "claude": "claude",
    "codex": "gpt",
    "gemini": "gemini",
    "openai": "gpt",
    "scripted": "scripted",
}


def family_of(agent_name: str, model: str, configured: str = "") -> str:
    """The family of a model: as configured, else by the model's name, else by the agent's.

    Models of one family tend to overlook the same things, so a council counts families. An
    unknown name belongs to `other`: two unknown models may still be of one family.
    """
    if configured:
        return configured.lower()
    for word in _WORDS.findall(model.lower()):
        if _REASONERS.fullmatch(word):
            return "gpt"
        for name, prefixes in _PREFIXES.items():
            if word.startswith(prefixes):
                return name
    return OTHER if model else _OWN.get(agent_name, OTHER)
