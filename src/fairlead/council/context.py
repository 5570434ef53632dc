"""What a run of a council job works with besides the common parts: options, roster, execution."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING

from fairlead.core.settings import Effective, Origin, setting
from fairlead.core.values import dataclass, field
from fairlead.council.folder import stop_request
from fairlead.council.model import CouncilJob
from fairlead.council.seats import PM, SEAT_NAMES, SYNTHESISER
from fairlead.jobs.context import EventSink, JobContext, JobEnvironment, JobSetup
from fairlead.jobs.roster import AgentDirectory, Roster

if TYPE_CHECKING:
    from fairlead.agents.ask import Respondent
    from fairlead.agents.ports import Agent
    from fairlead.jobs.context import RunOptions
    from fairlead.jobs.folder import JobFolder

_CLAUDE = "claude"
HOST_COMMAND = "/gsd-execute-phase {phase}"
_GSD_COMMANDS = (
    "commands/gsd-execute-phase.md",
    "commands/gsd/execute-phase.md",
    "skills/gsd-execute-phase/SKILL.md",
)


@dataclass(frozen=True, slots=True)
class CouncilOptions:
    """The options of a council."""

    rounds: int = 3
    plan_tokens: int = 8192
    seat_wall: timedelta = timedelta(seconds=180)
    synthesis_wall: timedelta = timedelta(seconds=300)
    pm_wall: timedelta = timedelta(seconds=300)
    min_families: int = 1
    allow_absent: int = 0
    bridge: str = "engine"  # or host
    host_wall: timedelta = timedelta(minutes=30)
    host_command: str = HOST_COMMAND
    completion: str = "strict"  # or reconcile


def council_options(
    values: Mapping[str, object], host_command: str, *, is_rehearsed: bool
) -> CouncilOptions:
    """Read the options of a council from the settings."""

    def number(key: str) -> int:
        return int(str(values[f"fairlead.council.{key}"]))

    def seconds(key: str) -> timedelta:
        return timedelta(seconds=number(f"{key}_seconds"))

    return CouncilOptions(
        rounds=number("rounds"),
        plan_tokens=number("plan_tokens"),
        seat_wall=seconds("seat"),
        synthesis_wall=seconds("synthesis"),
        pm_wall=seconds("pm"),
        min_families=number("min_families"),
        allow_absent=number("allow_absent"),
        bridge="engine" if is_rehearsed else str(values["fairlead.council.bridge"]),
        host_wall=timedelta(minutes=number("host_minutes")),
        host_command=host_command,
        completion=str(values["fairlead.council.completion_policy"]),
    )


def council_roster(
    directory: AgentDirectory, *, is_rehearsed: bool, is_preview: bool = False
) -> Roster:
    """Build the roster of a council; a missing agent is an error before the job begins."""
    from fairlead.agents import supervisor
    from fairlead.agents.supervision import reap
    from fairlead.core.clock import sleep

    values = directory.values
    fallback = "" if is_rehearsed else str(values["fairlead.council.fallback"])
    keys = {PM: PM, SYNTHESISER: SYNTHESISER, **{seat: f"seats.{seat}" for seat in SEAT_NAMES}}
    defaults = _default_agents(directory)
    respondents = {}
    for role, key in keys.items():
        named = str(values[f"fairlead.council.{key}"]) or defaults[role]
        names = ("scripted", "") if is_rehearsed else (named, fallback)
        model_role = f"{role}-seat" if role in SEAT_NAMES else role
        main, *others = (
            found
            for each in names
            for found in directory.respondents(
                each, model_role, is_rehearsed=is_rehearsed, is_preview=is_preview
            )
        )
        others = [
            each for at, each in enumerate(others) if not _is_among(each, (main, *others[:at]))
        ]
        if role == SYNTHESISER:  # a stand-in of another family comes first
            others.sort(key=lambda spare: spare.family == main.family)
        respondents[role] = (main, *others)
    return directory.completed(Roster(respondents, pause=sleep, reap=partial(reap, supervisor.JOB)))


def _default_agents(directory: AgentDirectory) -> dict[str, str]:
    """The agents of each role that no setting names, the main one first.

    Seats are spread over the model families that are installed, because different models find
    more than one model asked six times. The others stand in, in case one is not logged in. The
    synthesiser is Claude where it is installed.
    """
    chosen = str(directory.values["fairlead.agent"])
    roles = (PM, SYNTHESISER, *SEAT_NAMES)
    installed = directory.one_of_each_family() if chosen == "auto" else ()
    if not installed:
        return dict.fromkeys(roles, chosen)
    count = len(installed)
    turned = [installed[at:] + installed[:at] for at in range(count)]
    claude = sorted(installed, key=lambda name: name != _CLAUDE)
    seats = {seat: ",".join(turned[at % count]) for at, seat in enumerate(SEAT_NAMES)}
    return {PM: ",".join(installed), SYNTHESISER: ",".join(claude), **seats}


def _is_among(respondent: Respondent, others: Sequence[Respondent]) -> bool:
    key = (respondent.agent.name, respondent.model)
    return key in [(other.agent.name, other.model) for other in others]


@dataclass(frozen=True, slots=True)
class PlanExecution:
    """The roster and options for executing the approved plan."""

    roster: Roster
    options: RunOptions
    events: Callable[[], EventSink] = EventSink  # created when the execution begins
    host: Agent | None = None  # for the host bridge
    host_faults: tuple[str, ...] = ()  # reasons why the host cannot execute it


@dataclass(frozen=True, slots=True)
class CouncilRun:
    """One run of a council job: the common setup, its own options, and the execution."""

    setup: JobSetup
    options: CouncilOptions = field(default_factory=CouncilOptions)
    execution: PlanExecution | None = None


class CouncilContext(JobContext[CouncilJob]):
    """Everything one run of a council job works with."""

    def __init__(
        self,
        environment: JobEnvironment,
        job: CouncilJob,
        run: CouncilRun,
        parents: tuple[JobFolder, ...] = (),
    ) -> None:
        super().__init__(environment, job, run.setup)
        self.folder = environment.proven_folder(job.id)
        self.council = run.options
        self.execution = run.execution
        self.parents = parents  # jobs that this one retries, the nearest first

    @property
    def is_wanted(self) -> bool:
        """Whether running calls should go on."""
        return not self.over.is_set and not stop_request(self.folder)[0]

    @property
    def scratch_folders(self) -> str:
        """The folder with the copies of the project that roles can read."""
        return f"{self.private}/worktrees"

    def scratch_folder(self, key: str) -> str:
        """The clean copy for one call: no role sees what another one left in its copy."""
        return f"{self.scratch_folders}/{key.replace('/', '-')}"


def host_faults(
    host: str, *, has_commands: bool, is_custom: bool, origin: Origin
) -> tuple[str, ...]:
    """Say why the host agent cannot execute a phase with its own command."""
    if host == "claude" and not has_commands:
        return ("the host agent has no GSD commands: install them, or set the bridge to engine",)
    if host != "claude" and not is_custom and origin is not Origin.USER:
        key = "fairlead.council.host_command"
        hint = f"set {key} to a command of it, or the bridge to engine"
        return (f"it is not known whether {host} has GSD commands: {hint}",)
    return ()


def own_host_command(current: Effective) -> str:
    """The user's command for the host; a project that is worked on cannot set it."""
    known = setting(current.key)
    assert known is not None
    return str(known.default if current.origin is Origin.PROJECT else current.value)


def has_host_commands(*homes: str) -> bool:
    """Whether one of the host's folders has the GSD command that executes a phase."""
    return any(os.path.isfile(os.path.join(home, name)) for home in homes for name in _GSD_COMMANDS)
