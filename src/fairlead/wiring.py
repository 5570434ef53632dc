"""Who meets whom: the one place where the engine is given its files and its clock.

Each part is imported when it is first asked for: a short command loads only its own rooms.
"""

from __future__ import annotations

import os
from functools import cached_property, partial
from typing import TYPE_CHECKING

from fairlead.adapters.homes import cache_folder, host_folder, user_folder
from fairlead.engine.settings import Place, Preferences, Settings
from fairlead.errors import NoProject, OnlyAnswers, OnlyRehearses
from fairlead.store import layout
from fairlead.store.load import Reader

if TYPE_CHECKING:
    from fairlead.adapters.clock import SystemClock
    from fairlead.adapters.git import Git
    from fairlead.adapters.plain import InPlace
    from fairlead.adapters.roll import Roll
    from fairlead.engine.approval import Approval
    from fairlead.engine.doctor import Doctor
    from fairlead.engine.events import Events
    from fairlead.engine.exec_phase import ExecPhase
    from fairlead.engine.execution import Execution
    from fairlead.engine.hosts import Host
    from fairlead.engine.jobs import Jobs
    from fairlead.engine.memory import Memory
    from fairlead.engine.milestones import Milestones
    from fairlead.engine.overview import Overview
    from fairlead.engine.phases import Phases
    from fairlead.engine.planning import Planning
    from fairlead.engine.roadmaps import Roadmaps
    from fairlead.engine.sessions import Sessions
    from fairlead.engine.undertaking import Crew, Terms
    from fairlead.store.files import Files, Outcome


class App:
    """Everything a door needs, made when it is first asked for."""

    def __init__(
        self, folder: str, workstream: str = "", *, patience_seconds: float | None = None
    ) -> None:
        self.folder = folder
        self._named = workstream
        self._patience_seconds = patience_seconds  # None: as the settings say

    @cached_property
    def settings(self) -> Settings:
        """The settings that hold in this folder; outside a project, the person's own."""
        inside = self._is_inside
        user = Place(user_folder(), layout.USER_CONFIG, layout.USER_DESK, is_read_only=inside)
        try:
            home = layout.find_project(self.folder)
            project = Place(home, layout.CONFIG, is_read_only=inside)
        except NoProject:
            return Settings(user, None)
        return Settings(user, project)

    @cached_property
    def memory(self) -> Memory:
        """The memory of the project that this folder belongs to."""
        return self._memory(self._project_files, self._workstream)

    @cached_property
    def overview(self) -> Overview:
        """A look at the project that this folder belongs to."""
        from fairlead.engine.overview import Overview

        return Overview(Reader(layout.find_project(self.folder)))

    @cached_property
    def doctor(self) -> Doctor:
        """Examines and repairs the project that this folder belongs to."""
        from fairlead.engine.doctor import Doctor

        return Doctor(self._project_files, self.clock)

    @cached_property
    def roll(self) -> Roll:
        """The agents of this machine."""
        from fairlead.adapters.roll import Roll

        try:
            outside: tuple[str, ...] = (layout.find_project(self.folder),)
        except NoProject:
            outside = ()
        cache = os.path.join(cache_folder(), "agents.json")
        return Roll(self.settings.agents(), outside, cache)

    def undo(self, *, dry_run: bool) -> tuple[str, Outcome]:
        """Take back the last event of the project that this folder belongs to."""
        folder = self.plan_home  # after a reset its desk is all that tells of it
        if not os.path.isdir(os.path.join(folder, layout.desk_of(folder))):
            folder = layout.find_project(self.folder)
        return self.files_of(folder, layout.desk_of(folder)).undo(dry_run=dry_run)

    @cached_property
    def planning(self) -> Planning:
        """The Plan Phase of the nearest folder that has one, or of this very folder."""
        from fairlead.adapters.checks import ProcessChecker
        from fairlead.engine.planning import Planning

        return Planning(self._plan_files, self.state, self.clock, ProcessChecker())

    @cached_property
    def plan_home(self) -> str:
        """The nearest folder that has a plan or a project; else this very folder."""
        return layout.find_plan_home(self.folder) or os.path.realpath(self.folder)

    @cached_property
    def approval(self) -> Approval:
        """Approves the plan of the nearest folder that has one."""
        from fairlead.adapters.github import GitHub
        from fairlead.engine.approval import Approval
        from fairlead.store.facts import state_folder_of

        return Approval(
            self._plan_files,
            self.clock,
            GitHub(self.plan_home, seconds=self.preferences.github_seconds),
            state_folder=state_folder_of(os.environ),
            wait_seconds=self.preferences.lock_wait_seconds,
        )

    @cached_property
    def exec_phase(self) -> ExecPhase:
        """The modules of an approved plan of the nearest folder that has them."""
        from fairlead.engine.exec_phase import ExecPhase

        return ExecPhase(self._plan_files, self.clock)

    def register_driver(self, *, dry_run: bool) -> Outcome:
        """Tell git which documents of this project our driver merges."""
        from fairlead.engine.merging import register_driver

        return register_driver(self._project_files, dry_run=dry_run)

    @property
    def is_in_repository(self) -> bool:
        """Whether this folder belongs to a git repository."""
        return bool(layout.repository_of(self.folder))

    @cached_property
    def events(self) -> Events:
        """Records what happens in the project that this folder belongs to."""
        from fairlead.engine.events import Events

        return Events(*self.step, lines=self.preferences.state_lines)

    @cached_property
    def sessions(self) -> Sessions:
        """The sessions and gates of the project that this folder belongs to."""
        from fairlead.engine.sessions import Sessions

        return Sessions(*self.step)

    @cached_property
    def phases(self) -> Phases:
        """Changes the phases of the project that this folder belongs to."""
        from fairlead.engine.phases import Phases

        return Phases(*self.step)

    @cached_property
    def milestones(self) -> Milestones:
        """Changes the milestones of the project that this folder belongs to."""
        from fairlead.engine.milestones import Milestones

        return Milestones(*self.step)

    @cached_property
    def roadmaps(self) -> Roadmaps:
        """Looks at the roadmap of the project that this folder belongs to."""
        from fairlead.engine.roadmaps import Roadmaps

        return Roadmaps(Reader(layout.find_project(self.folder)), self._workstream)

    @property
    def step(self) -> tuple[Files, SystemClock, str]:
        """What every step of this project takes."""
        return self._project_files, self.clock, self._workstream

    def host(self, host: str, scope: str) -> Host:
        """The settings of a host agent: a person's own, or those for this folder's project."""
        from fairlead.engine.hosts import PLACES, USER, Host
        from fairlead.store.files import Files

        folder = host_folder(host)
        if scope != USER:
            folder = os.path.join(self.plan_home, f".{host}")
        files = Files(folder, desk=layout.HOST_DESK, is_read_only=self._is_inside)
        return Host(host, files, PLACES[host, scope], self.clock)

    @property
    def place(self) -> str:
        """The folder of the project."""
        return layout.find_project(self.folder)

    @cached_property
    def workspace(self) -> Git | InPlace:
        """The project as git sees it, asked once; or the folder itself."""
        return workspace_of(self.place)

    @cached_property
    def execution(self) -> Execution:
        """Carries out the phases of the project that this folder belongs to."""
        from fairlead.adapters.chance import fresh
        from fairlead.adapters.commands import command_fault
        from fairlead.engine.execution import Execution

        return Execution(
            self.files_of(self.place),
            self.state,
            self.clock,
            self.workspace,
            fresh,
            command_fault,
            branching=self._branching,
        )

    @property
    def _branching(self) -> str:
        """The name that the settings give the branch of a run; empty: the one that is there."""
        strategy = str(self.value("git.branching_strategy"))
        is_named = strategy in ("phase", "milestone")
        return str(self.value(f"git.{strategy}_branch_template")) if is_named else ""

    @cached_property
    def jobs(self) -> Jobs:
        """The jobs of the project that this folder belongs to."""
        from fairlead.adapters.clock import pause
        from fairlead.engine.jobs import Jobs

        return Jobs(self.files_of(self.place), self.state, self.clock, pause)

    def crew(self, agent: str, reviewer: str, *, is_rehearsed: bool) -> Crew:
        """Who does the work: as asked, else as the settings say, else whoever is found."""
        from fairlead.adapters import keeper, registry
        from fairlead.adapters.commands import Shell
        from fairlead.adapters.supervision import Keepers, reap
        from fairlead.engine.undertaking import Crew

        chosen = agent or str(self.value("fairlead.agent")).removeprefix("auto")
        if chosen == registry.SCRIPTED and not is_rehearsed:
            raise OnlyRehearses
        architect = "" if is_rehearsed else reviewer or str(self.value("fairlead.reviewer"))
        keepers, known = Keepers(more=1), self.settings.agents()  # for a verify and the next call
        search = partial(registry.agent, outside=(self.place,), commands=known, keepers=keepers)
        found = search(registry.SCRIPTED if is_rehearsed else chosen)
        if found.row.service:
            raise OnlyAnswers(found.name)
        return Crew(
            executor=found,
            architect=search(architect) if architect else found,
            commands=Shell(keepers),
            reap=lambda job: reap(keeper.JOB, job),
            ready=keepers.waiting,
            recall=partial(registry.recall, known),
        )

    def terms(self, *, model: str, slots: int | None, is_rehearsed: bool) -> Terms:
        """Under which terms a job runs here."""
        from datetime import timedelta

        from fairlead.engine.site import GateLimits
        from fairlead.engine.undertaking import Terms
        from fairlead.model.budget import Caps
        from fairlead.model.job import shares_of

        def minutes(key: str) -> timedelta:
            return timedelta(minutes=int(str(self.value(f"fairlead.{key}_minutes"))))

        values = {each.key: each.value for each in self.settings.all()}
        is_ignored = self.workspace.is_ignored(layout.PLANNING)
        return Terms(
            caps=Caps.of(values),
            limits=GateLimits(*map(minutes, ("executor", "verify", "architect", "idle"))),
            slots=slots or int(str(self.value("fairlead.slots"))),
            shares=shares_of(str(self.value("fairlead.provider_slots"))),
            model=model or str(self.value("fairlead.model")),
            is_rehearsed=is_rehearsed,
            keeps_documents=self.value("commit_docs") is True and not is_ignored,
            needs_tests=self.value("fairlead.zero_tests") == "fail",
            guarded=self.guarded(self.place),
        )

    def guarded(self, place: str) -> tuple[str, ...]:
        """Files that no agent may change: settings of this program and of hosts, and approvals."""
        return (
            os.path.join(user_folder(), layout.USER_CONFIG),
            os.path.join(self.state.folder, layout.approvals_path(place)),
            *(os.path.join(place, each) for each in layout.HOST_SETTINGS),
            os.path.join(host_folder("claude"), layout.CLAUDE_SETTINGS),
            os.path.join(host_folder("codex"), layout.CODEX_HOOKS),
        )

    def rehearsal(self) -> App:
        """The same for a private copy of the project."""
        from fairlead.adapters.copies import Copies
        from fairlead.engine.rehearsal import private_copy

        copies = Copies(os.path.join(self.state.folder, layout.REHEARSALS), layout.PLANNING)
        return App(private_copy(self.place, self.state, copies), self._named)

    def require_rehearsable(self) -> None:
        """Refuse to rehearse in a project that holds anything real."""
        from fairlead.engine.rehearsal import require_rehearsable

        require_rehearsable(Reader(self.place), self._workstream)

    @cached_property
    def state(self) -> Files:
        """The person's own folder of what this program remembers."""
        from fairlead.store.facts import state_folder_of
        from fairlead.store.files import Files

        return Files(
            state_folder_of(os.environ),
            desk=layout.USER_DESK,
            wait_seconds=self.preferences.lock_wait_seconds,
            is_read_only=self._is_inside,
        )

    @cached_property
    def clock(self) -> SystemClock:
        """The clock."""
        from fairlead.adapters.clock import SystemClock

        return SystemClock()

    @cached_property
    def _plan_files(self) -> Files:
        return self.files_of(self.plan_home, layout.desk_of(self.plan_home))

    def value(self, key: str) -> object:
        """What a setting says here."""
        return self.settings.get(key).value

    def new_memory(self) -> Memory:
        """The memory of a project that does not exist yet, in this very folder."""
        return self._memory(self.files_of(os.path.realpath(self.folder)), "")

    @cached_property
    def preferences(self) -> Preferences:
        """What this program goes by here."""
        return self.settings.preferences()

    def _memory(self, files: Files, workstream: str) -> Memory:
        from fairlead.engine.memory import Memory

        return Memory(files, self.clock, workstream, lines=self.preferences.state_lines)

    @cached_property
    def _project_files(self) -> Files:
        return self.files_of(layout.find_project(self.folder))

    @cached_property
    def _workstream(self) -> str:
        """The workstream that is meant, where a project has several memories."""
        return self._project_files.workstream(self._named)

    def files_of(self, folder: str, desk: str = layout.DESK) -> Files:
        """The documents below a folder."""
        from fairlead.store.files import Files

        patience = self._patience_seconds
        return Files(
            folder,
            desk=desk,
            wait_seconds=self.preferences.lock_wait_seconds if patience is None else patience,
            allow_shared=self.preferences.shared_disk,
            is_read_only=self._is_inside,
        )

    @cached_property
    def _is_inside(self) -> bool:
        """Whether an agent calls from inside its attempt: then everything is only read."""
        return layout.is_attempt(self.folder) or layout.DEPTH in os.environ


def workspace_of(folder: str) -> Git | InPlace:
    """Git where there is a repository with a commit; else the folder itself."""
    from fairlead.adapters.git import Git
    from fairlead.adapters.plain import InPlace
    from fairlead.errors import AgentError

    try:
        found = Git(folder)
        if not found.commit_of("HEAD"):
            return InPlace(folder)
        found.require_recent()
        return found
    except AgentError:
        if layout.repository_of(folder):
            raise
        return InPlace(folder)
