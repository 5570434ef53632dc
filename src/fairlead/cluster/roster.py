"""Finding agents that run on workers, by name: the same roster, with other agents in it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import TYPE_CHECKING

from fairlead.agents import registry
from fairlead.agents.errors import NoSuchAgent
from fairlead.cluster.adapter import ClusterAgent, ClusterCommands, ClusterSession
from fairlead.core.values import replace
from fairlead.jobs.roster import AgentDirectory, Commands, Roster

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairlead.agents.custom_agents import CustomAgent
    from fairlead.agents.drivers.driver import Driver
    from fairlead.agents.supervision import SupervisorPool


class ClusterDirectory(AgentDirectory):
    """Finds agents on workers: the requested one, else the first that a worker serves."""

    def __init__(
        self,
        place: str,
        values: Mapping[str, object],
        custom: Iterable[CustomAgent],
        session: ClusterSession,
    ) -> None:
        super().__init__(place, values, custom)
        self._session = session

    def execution_roster(
        self,
        agent: str,
        reviewer: str,
        shell: Callable[[SupervisorPool], Commands],
        *,
        model: str = "",
        is_rehearsed: bool,
    ) -> Roster:
        """The executor and the architect on workers; commands with a source run there, too."""
        roster = super().execution_roster(
            agent, reviewer, shell, model=model, is_rehearsed=is_rehearsed
        )
        session = self._session
        return replace(
            self.completed(roster),
            commands=ClusterCommands(session, roster.shell),
            ready=partial(_both, roster.ready, session.ready),
            recall=partial(session.recall, roster.recall),
            trusts_workers=self.values["fairlead.cluster.verify"] == "worker",
        )

    def completed(self, roster: Roster) -> Roster:
        """The roster with the means to find its calls again."""
        return replace(roster, calls=self._session)

    def one_of_each_family(self) -> tuple[str, ...]:
        """The agents that a worker serves, by name: the first of each model family."""
        families: dict[str, str] = {}
        for name, driver in self._drivers().items():
            if self._session.server.queue_state(name).workers:
                families.setdefault(registry.family_of(name, "", driver.family), name)
        return tuple(families.values())

    def _drivers(self) -> dict[str, Driver]:
        """Every agent that may work on files, by name."""
        made = {
            name: make()
            for name, make in registry.driver_factories(self._custom).items()
            if name != registry.SCRIPTED
        }
        return {name: driver for name, driver in made.items() if not driver.service}

    def _agent_named(self, name: str, pool: SupervisorPool | None = None) -> ClusterAgent:
        if not name:
            name = next(iter(self.one_of_each_family()), "") or "claude"
        factories = registry.driver_factories(self._custom)
        if name not in factories:
            factories = {**registry.packaged_factories(), **factories}
        if name not in factories:
            raise NoSuchAgent(name, tuple(factories))
        return ClusterAgent(factories[name](), self._session)


@contextmanager
def _both(
    local: Callable[[str], AbstractContextManager[object]],
    remote: Callable[[str], AbstractContextManager[object]],
    mark: str,
) -> Iterator[None]:
    with local(mark), remote(mark):
        yield
