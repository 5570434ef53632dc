"""The roll of agents: which are installed, what they can do, and whether they answer.

What a program says about itself is remembered for as long as its file stays the same, since
some take seconds to say it.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
import time
from datetime import timedelta

from fairlead.adapters import keeper, model, process, registry
from fairlead.adapters.agent import PASSED, CliAgent, Row, depth
from fairlead.errors import AgentError, NestedRun, NoAgent
from fairlead.model.agent_events import Ending, EndKind
from fairlead.model.agent_orders import Limits, Order
from fairlead.model.model_services import SETTING, ModelService
from fairlead.values import dataclass

ASK = "Answer with the single word: ready"
_ASKING = Limits(wall=timedelta(seconds=90), first_event=timedelta(seconds=60))
_PROBE = process.Limits(timedelta(seconds=30), output_bytes=1 << 18)
_VERSION = re.compile(r"\d+\.\d+[\w.+-]*")


@dataclass(frozen=True, slots=True)
class Found:
    """One agent on the roll."""

    name: str
    looked_for: tuple[str, ...]
    path: str  # of a model, its address; empty: it cannot be used
    version: str = ""
    lacks: tuple[str, ...] = ()  # options of ours that its help does not know
    model: str = ""  # of a plain model
    note: str = ""  # why a plain model cannot be used


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of asking an agent."""

    name: str
    ending: Ending
    seconds: float

    @property
    def is_ready(self) -> bool:
        """Whether it answered."""
        return self.ending.kind is EndKind.OK


class Roll:
    """The agents of this machine."""

    def __init__(
        self, commands: tuple[registry.Description, ...], outside: tuple[str, ...], cache: str
    ) -> None:
        self._rows = {
            name: make()
            for name, make in {**registry.makers(commands), **registry.offered()}.items()
            if name != registry.SCRIPTED
        }
        self._outside = outside
        self._cache = cache  # a file

    def call(self) -> tuple[Found, ...]:
        """Every agent that is known, installed or not."""
        if depth() > 0:  # a program that looks for itself would go on for ever
            raise NestedRun
        known = self._remembered()
        found = [self._found(row, known) for row in self._rows.values()]
        if not any(each.path for each in found):
            names = [name for each in found if not each.note for name in each.looked_for]
            raise NoAgent(names, registry.REHEARSAL)
        self._remember(known)
        return tuple(found)

    def ask(self, name: str) -> Answer:
        """Ask one agent for a word. This uses its model."""
        row = self._rows[name]
        agent = CliAgent(row, registry.located(row, self._outside), self._outside)
        start = time.monotonic()
        with tempfile.TemporaryDirectory(prefix="fairlead-") as folder:
            work = os.path.join(folder, "work")
            os.mkdir(work)
            order = Order(
                "doctor", ASK, work, os.path.join(folder, "raw"), is_read_only=True, limits=_ASKING
            )
            ending = agent.start(order, lambda _: None)
        return Answer(name, ending, time.monotonic() - start)

    def _found(self, row: Row, known: dict[str, dict[str, str]]) -> Found:
        if row.service:
            return _service(row.service)
        path = registry.located(row, self._outside)
        if not path or not row.needs:  # a described command has promised nothing
            return Found(row.name, row.programs, path)
        held = os.stat(path)
        stamp = f"{os.path.realpath(path)} {held.st_mtime_ns} {held.st_size}"
        if known.get(row.name, {}).get("stamp") != stamp:
            version, help_ = self._said(path, ("--version",)), self._said(path, row.help_words)
            number = _VERSION.search(version)
            lacks = " ".join(each for each in row.needs if each not in help_)
            known[row.name] = {
                "stamp": stamp,
                "version": number[0] if number else "",
                "lacks": lacks,
            }
        told = known[row.name]
        return Found(row.name, row.programs, path, told["version"], tuple(told["lacks"].split()))

    def _said(self, path: str, words: tuple[str, ...]) -> str:
        ours = {"PATH": process.search_path(self._outside), keeper.DEPTH: str(depth() + 1)}
        environment = process.surroundings(PASSED) | ours
        try:
            done = process.run(
                (path, *words), folder=os.sep, environment=environment, limits=_PROBE
            )
        except AgentError:
            return ""
        return (done.output + done.errors).decode("utf-8", "replace")

    def _remembered(self) -> dict[str, dict[str, str]]:
        try:
            with open(self._cache, encoding="utf-8") as file:
                held = json.load(file)
            return {
                str(name): {key: str(each[key]) for key in ("stamp", "version", "lacks")}
                for name, each in held.items()
            }
        except (OSError, ValueError, AttributeError, KeyError, TypeError, RecursionError):
            return {}  # it is only a memory

    def _remember(self, known: dict[str, dict[str, str]]) -> None:
        try:
            os.makedirs(os.path.dirname(self._cache), mode=0o700, exist_ok=True)
            beside = f"{self._cache}.{os.getpid()}"
            with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                json.dump(known, file)
            os.replace(beside, self._cache)
        except OSError:
            pass


def _service(service: ModelService) -> Found:
    """A plain model; nobody is asked for that, and the key's value is not looked at."""
    version = model.client_version(service)
    address = service.base_url or os.environ.get(service.address_env, "")
    note = ""
    if not version:
        note = f"needs the package {service.kind}: pip install 'fairlead[models]'"
    elif service.key_env and not os.environ.get(service.key_env):
        note = f"{service.key_env} is not set"
    elif not service.model:
        note = f"no model is named: fairlead config set --user {SETTING}{service.name}.model MODEL"
    path = "" if note else address or f"the {service.kind} service"
    return Found(service.name, (service.kind,), path, version, model=service.model, note=note)
