"""Discover the agents of this machine: installed, usable, and answering.

What a program reports about itself is cached for as long as its file stays the same, because some
programs take seconds to report it.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Mapping
from datetime import timedelta
from enum import StrEnum

from fairlead.agents import registry, supervisor
from fairlead.agents.cli_agent import PASSED_VARIABLES, CliAgent, nesting_depth
from fairlead.agents.custom_agents import MODELS, CustomAgent, ModelService
from fairlead.agents.drivers import model_service
from fairlead.agents.drivers.driver import Driver
from fairlead.agents.errors import NestedRun, NoAgent
from fairlead.agents.model import AgentCall, CallLimits, CallResult, EndKind
from fairlead.core import process
from fairlead.core.errors import AgentError
from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass

PROMPT = "Answer with the single word: ready"
_ANSWER_LIMITS = CallLimits(wall=timedelta(seconds=90), first_event=timedelta(seconds=60))
_PROBE_LIMITS = process.ProcessLimits(timedelta(seconds=30), output_bytes=1 << 18)
_VERSION = lazy_pattern(r"\d+\.\d+[\w.+-]*")

_Cache = dict[str, dict[str, str]]  # by agent: stamp of the file, version, missing options


class Login(StrEnum):
    """Whether an agent says that it is logged in."""

    YES = "logged in"
    NO = "not logged in"
    UNKNOWN = "unknown"  # it cannot be asked without its model


@dataclass(frozen=True, slots=True)
class DiscoveredAgent:
    """One agent that is known, installed or not."""

    name: str
    looked_for: tuple[str, ...]
    path: str  # of a model, its address; empty: it cannot be used
    version: str = ""
    lacks: tuple[str, ...] = ()  # options that we use and its help does not mention
    model: str = ""  # of a plain model
    note: str = ""  # why a plain model cannot be used


@dataclass(frozen=True, slots=True)
class ReadinessCheck:
    """The result of asking an agent for one word."""

    name: str
    ending: CallResult
    seconds: float

    @property
    def is_ready(self) -> bool:
        """Whether it answered."""
        return self.ending.kind is EndKind.OK


class AgentDiscovery:
    """Looks for the agents of this machine."""

    def __init__(
        self, custom: tuple[CustomAgent, ...], outside: tuple[str, ...], cache: str
    ) -> None:
        factories = {**registry.driver_factories(custom), **registry.packaged_factories()}
        self._drivers = {
            name: make() for name, make in factories.items() if name != registry.SCRIPTED
        }
        self._outside = outside  # folders whose programs are never used
        self._cache_path = cache

    def agents(self) -> tuple[DiscoveredAgent, ...]:
        """Every agent that is known, installed or not. Raises if none is installed."""
        agents = self.known_agents()
        if not any(agent.path for agent in agents):
            names = [name for agent in agents if not agent.note for name in agent.looked_for]
            raise NoAgent(names, registry.REHEARSAL)
        return agents

    def known_agents(self) -> tuple[DiscoveredAgent, ...]:
        """Every agent that is known, installed or not."""
        if nesting_depth() > 0:  # a program that is started to look for itself would never end
            raise NestedRun
        cache = self._read_cache()
        agents = [self._discovered(driver, cache) for driver in self._drivers.values()]
        if any(agent.path for agent in agents):
            self._write_cache(cache)
        return tuple(agents)

    def login(self, name: str) -> Login:
        """Whether an installed agent is logged in, as it says itself. No model is asked."""
        driver = self._drivers[name]
        if driver.service or any(os.environ.get(variable) for variable in driver.login_variables):
            return Login.YES
        path = registry.program_path(driver, self._outside)
        if not path or not driver.login_check:
            return Login.UNKNOWN
        variables = {key: os.environ[key] for key in driver.passed_variables if key in os.environ}
        result = self._run(path, driver.login_check, {**variables, **driver.variables})
        codes = {0: Login.YES, 1: Login.NO}
        return codes.get(result.code, Login.UNKNOWN) if result else Login.UNKNOWN

    def login_command(self, name: str) -> str:
        """The command with which a person logs in to an agent."""
        return self._drivers[name].login or name

    def ask(self, name: str) -> ReadinessCheck:
        """Ask one agent for a word. This uses its model."""
        driver = self._drivers[name]
        agent = CliAgent(driver, registry.program_path(driver, self._outside), self._outside)
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="fairlead-") as folder:
            work = os.path.join(folder, "work")
            os.mkdir(work)
            raw = os.path.join(folder, "raw")
            call = AgentCall("doctor", PROMPT, work, raw, is_read_only=True, limits=_ANSWER_LIMITS)
            ending = agent.start(call, lambda _: None)
        return ReadinessCheck(name, ending, time.monotonic() - start)

    def _discovered(self, driver: Driver, cache: _Cache) -> DiscoveredAgent:
        if driver.service:
            return _discovered_model(driver.service)
        path = registry.program_path(driver, self._outside)
        if not path or not driver.required_options:  # a described command promises no options
            return DiscoveredAgent(driver.name, driver.programs, path)
        file = os.stat(path)
        stamp = f"{os.path.realpath(path)} {file.st_mtime_ns} {file.st_size}"
        if cache.get(driver.name, {}).get("stamp") != stamp:
            version = _VERSION.search(self._output(path, ("--version",)))
            help_text = self._output(path, driver.help_arguments)
            missing = (option for option in driver.required_options if option not in help_text)
            cache[driver.name] = {
                "stamp": stamp,
                "version": version[0] if version else "",
                "lacks": " ".join(missing),
            }
        entry = cache[driver.name]
        lacks = tuple(entry["lacks"].split())
        return DiscoveredAgent(driver.name, driver.programs, path, entry["version"], lacks)

    def _output(self, path: str, arguments: tuple[str, ...]) -> str:
        result = self._run(path, arguments, {})
        return (result.output + result.errors).decode("utf-8", "replace") if result else ""

    def _run(
        self, path: str, arguments: tuple[str, ...], more: Mapping[str, str]
    ) -> process.ProcessResult | None:
        variables = {
            **more,
            "PATH": process.search_path(self._outside),
            supervisor.DEPTH: str(nesting_depth() + 1),
        }
        environment = process.environment_of(PASSED_VARIABLES) | variables
        try:
            return process.run(
                (path, *arguments), folder=os.sep, environment=environment, limits=_PROBE_LIMITS
            )
        except AgentError:
            return None

    def _read_cache(self) -> _Cache:
        try:
            with open(self._cache_path, encoding="utf-8") as file:
                entries = json.load(file)
            return {
                str(name): {key: str(entry[key]) for key in ("stamp", "version", "lacks")}
                for name, entry in entries.items()
            }
        except (OSError, ValueError, AttributeError, KeyError, TypeError, RecursionError):
            return {}  # a cache that cannot be read is built again

    def _write_cache(self, cache: _Cache) -> None:
        try:
            os.makedirs(os.path.dirname(self._cache_path), mode=0o700, exist_ok=True)
            temporary = f"{self._cache_path}.{os.getpid()}"
            with open(os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                json.dump(cache, file)
            os.replace(temporary, self._cache_path)
        except OSError:
            pass  # the next command asks the programs again


def _discovered_model(service: ModelService) -> DiscoveredAgent:
    """A plain model. Its service is not asked, and the value of the key is not read."""
    version = model_service.client_version(service)
    address = service.base_url or os.environ.get(service.address_env, "")
    note = ""
    if not version:
        note = f"needs the package {service.kind}: pip install 'fairlead[models]'"
    elif service.key_env and not os.environ.get(service.key_env):
        note = f"{service.key_env} is not set"
    elif not service.model:
        note = f"no model is named: fairlead config set --user {MODELS}{service.name}.model MODEL"
    path = "" if note else address or f"the {service.kind} service"
    return DiscoveredAgent(
        service.name, (service.kind,), path, version, model=service.model, note=note
    )
