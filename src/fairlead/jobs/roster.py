"""The roster of a job: which agents and models may be asked for each role.

A role has one respondent that is asked first and any number of stand-ins. Which roles a roster
has depends on the kind of job. Finding agents by name does not, so it is here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext, suppress
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Protocol

from fairlead.agents.ask import Respondent
from fairlead.agents.budget import Caps, rough_caps_note
from fairlead.agents.errors import AgentRefused, NoAgent, OnlyAnswers, OnlyRehearses
from fairlead.agents.model import AgentRole, CallResult
from fairlead.core.errors import AgentError, UsageError
from fairlead.core.values import dataclass, field
from fairlead.jobs.role_models import model_of

if TYPE_CHECKING:
    from fairlead.agents.cli_agent import CliAgent
    from fairlead.agents.custom_agents import CustomAgent
    from fairlead.agents.model import CallSource
    from fairlead.agents.ports import Agent, CallFinder, Recall
    from fairlead.agents.supervision import SupervisorPool
    from fairlead.plans.model import CommandResult

EXECUTOR, ARCHITECT = str(AgentRole.EXECUTOR), str(AgentRole.ARCHITECT)


class Commands(Protocol):
    """Runs the verify commands of approved plans."""

    def run(
        self,
        line: str,
        folder: str,
        limit: timedelta,
        is_wanted: Callable[[], bool] = lambda: True,
        source: CallSource | None = None,
    ) -> CommandResult:
        """Run a command line as it stands in its plan. Ends early once it is not wanted.

        With a source it may run on another machine, on exactly that commit.
        """
        ...


@dataclass(frozen=True, slots=True)
class Roster:
    """The agents and models of a job, by role."""

    respondents: Mapping[str, tuple[Respondent, ...]] = field(default_factory=dict)
    commands: Commands | None = None  # only executions run commands
    reap: Callable[[str], int] = lambda _: 0  # ends processes that a dead run left behind
    ready: Callable[[str], AbstractContextManager[object]] = nullcontext  # open during the calls
    recall: Recall = lambda _name, _role, _raw: None
    calls: CallFinder | None = None  # None: a call ends with the run that started it
    trusts_workers: bool = False  # verify commands on merged trees may run on workers
    pause: Callable[[float], object] = lambda _: None  # between two tries of one question
    notes: tuple[str, ...] = ()  # what an agent's options cannot express; said before a run

    def of(self, role: str) -> tuple[Respondent, ...]:
        """The respondents of a role, in the order in which they are asked."""
        return self.respondents[role]

    @property
    def shell(self) -> Commands:
        """Runs verify commands."""
        assert self.commands is not None, "only an execution runs commands"
        return self.commands

    def run_command(
        self,
        line: str,
        folder: str,
        limit: timedelta,
        is_wanted: Callable[[], bool],
        source: CallSource | None = None,
    ) -> CommandResult:
        """Run a verify command; only with a source may it run on another machine."""
        more = (source,) if source else ()
        return self.shell.run(line, folder, limit, is_wanted, *more)

    def agent(self, role: str) -> Agent:
        """The agent that is asked first for a role."""
        return self.respondents[role][0].agent

    def require_logins(self, command: str) -> None:
        """Raise if a role has no agent that is logged in; nothing was paid yet."""
        every = {each.agent.name: each.agent for role in self.respondents.values() for each in role}
        logged_out = {name for name, agent in every.items() if is_logged_out(agent)}
        for respondents in self.respondents.values():
            if respondents and logged_out.issuperset(each.agent.name for each in respondents):
                agent = respondents[0].agent
                raise AgentRefused(agent.name, "it is not logged in", login_of(agent), command)


def is_logged_out(agent: Agent) -> bool:
    """Whether an agent says that nobody is logged in."""
    return bool(getattr(agent, "is_logged_out", False))


def login_of(agent: Agent) -> str:
    """The command with which a person logs in to an agent."""
    return str(getattr(agent, "login", "")) or f"{agent.name}, in a terminal"


def execution_roster(
    executor: Agent,
    architect: Agent,
    commands: Commands | None = None,
    models: tuple[str, str] = ("", ""),
) -> Roster:
    """A roster of one executor and one architect, with their models."""
    pair = zip((EXECUTOR, ARCHITECT), (executor, architect), models, strict=True)
    respondents = {role: (Respondent(agent, model, ""),) for role, agent, model in pair}
    return Roster(respondents, commands)


@dataclass(frozen=True, slots=True)
class MissingAgent:
    """Stands for an agent that is not installed, in a preview."""

    agent: str
    error: NoAgent

    @property
    def name(self) -> str:
        """What a preview shows in the place of the agent."""
        return f"({self.agent} is not installed)"

    def start(self, *_: object, **__: object) -> CallResult:
        """Raise the error that a run would have raised before its first call."""
        raise self.error


class AgentDirectory:
    """Finds agents: the requested one, else that of the settings, else the first installed."""

    def __init__(
        self, place: str, values: Mapping[str, object], custom: Iterable[CustomAgent]
    ) -> None:
        self._place = place
        self._custom = tuple(custom)
        self.values = values

    def agent(
        self, name: str, *, is_rehearsed: bool = False, pool: SupervisorPool | None = None
    ) -> CliAgent:
        """The agent of this name or of the settings; in a rehearsal always the scripted one."""
        from fairlead.agents import registry

        chosen = name or str(self.values["fairlead.agent"]).removeprefix("auto")
        if chosen == registry.SCRIPTED and not is_rehearsed:
            raise OnlyRehearses
        return self._agent_named(registry.SCRIPTED if is_rehearsed else chosen, pool)

    def respondents(
        self, names: str, role: str, *, is_rehearsed: bool = False, is_preview: bool = False
    ) -> list[Respondent]:
        """The respondents that a setting names for a role: AGENT or AGENT:MODEL, between commas.

        A preview shows an agent that is not installed as missing.
        """
        from fairlead.agents import registry

        respondents = []
        for entry in (part.strip() for part in names.split(",") if names):
            name, _, model = entry.partition(":")
            if name == registry.SCRIPTED and not is_rehearsed:
                raise OnlyRehearses
            try:
                agent = self._agent_named(name.removeprefix("auto"))
            except NoAgent as error:
                if not is_preview:
                    raise
                missing = MissingAgent(name.removeprefix("auto") or "agent", error)
                respondents.append(Respondent(missing, model, registry.family_of(name, model)))
                continue
            model = model or registry.own_model(agent)
            model = model or self._model(role, agent, "", is_rehearsed=is_rehearsed)
            respondents.append(Respondent(agent, model, registry.family(agent, model)))
        return respondents

    def one_of_each_family(self) -> tuple[str, ...]:
        """The installed agents, by name: the first of each model family."""
        from fairlead.agents import registry

        families: dict[str, str] = {}
        for name, make in registry.driver_factories(self._custom).items():
            driver = make() if name != registry.SCRIPTED else None
            if driver is None or driver.service:
                continue
            if registry.program_path(driver, (self._place,)):
                families.setdefault(registry.family_of(name, "", driver.family), name)
        return tuple(families.values())

    def execution_roster(
        self,
        agent: str,
        reviewer: str,
        shell: Callable[[SupervisorPool], Commands],
        *,
        model: str = "",
        is_rehearsed: bool,
    ) -> Roster:
        """The executor and the architect; without a reviewer the same agent does both.

        `model` is the one that the command names. It belongs to the executing agent.
        """
        from fairlead.agents import registry, supervisor
        from fairlead.agents.supervision import SupervisorPool, reap

        pool = SupervisorPool(more=1)  # a verify command and the next call overlap
        executor = self.agent(agent, is_rehearsed=is_rehearsed, pool=pool)
        if executor.driver.service:
            raise OnlyAnswers(executor.name)
        named = "" if is_rehearsed else reviewer or str(self.values["fairlead.reviewer"])
        architect = self._agent_named(named, pool) if named else executor
        models = (
            self._model(EXECUTOR, executor, model, is_rehearsed=is_rehearsed),
            self._model(ARCHITECT, architect, "" if named else model, is_rehearsed=is_rehearsed),
        )
        return Roster(
            execution_roster(executor, architect, models=models).respondents,
            commands=shell(pool),
            reap=partial(reap, supervisor.JOB),
            ready=pool.waiting,
            recall=partial(registry.recall, self._custom),
            notes=(executor.driver.commands_note,) if executor.driver.commands_note else (),
        )

    def completed(self, roster: Roster) -> Roster:
        """The roster with what depends on where its agents run; here nothing does."""
        return roster

    def commands_note(self, agent: str) -> str:
        """What the options of an executing agent cannot express; empty: all, or it is missing."""
        with suppress(AgentError, UsageError):
            return self.agent(agent).driver.commands_note
        return ""

    def rough_caps_note(self, agent: str, reviewer: str, caps: Caps) -> tuple[str, ...]:
        """A sentence for each agent of a run that does not report what it spends."""
        from fairlead.agents.drivers.catalog import FORMATS

        first = agent or str(self.values["fairlead.agent"]).removeprefix("auto")
        second = reviewer or str(self.values["fairlead.reviewer"]) or first
        formats = {}
        for name in (first, second):
            with suppress(
                AgentError, UsageError
            ):  # a preview works without the agent; a run reports it
                driver = self._agent_named(name).driver
                formats[driver.name] = FORMATS[driver.stream]
        sentences = (
            rough_caps_note(name, caps, reports_tokens=format_.reports_tokens)
            for name, format_ in formats.items()
            if not format_.reports_price
        )
        return tuple(filter(None, sentences))

    def _model(self, role: str, agent: Agent, named: str, *, is_rehearsed: bool) -> str:
        return "" if is_rehearsed else model_of(role, self.values, agent.name, named)

    def _agent_named(self, name: str, pool: SupervisorPool | None = None) -> CliAgent:
        from fairlead.agents import registry

        return registry.agent(name, outside=(self._place,), custom=self._custom, supervisors=pool)
