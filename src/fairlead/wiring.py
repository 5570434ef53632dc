"""Who meets whom: the one place where the engine is given its files and its clock.

Each part is imported when it is first asked for: a short command loads only its own rooms.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING

from fairlead.engine.settings import Place, Preferences, Settings, project_place
from fairlead.errors import NoProject
from fairlead.store import layout
from fairlead.store.files import Files, Outcome
from fairlead.store.load import Reader

if TYPE_CHECKING:
    from fairlead.adapters.roll import Roll
    from fairlead.engine.approval import Approval
    from fairlead.engine.doctor import Doctor
    from fairlead.engine.events import Events
    from fairlead.engine.exec_phase import ExecPhase
    from fairlead.engine.hosts import Host
    from fairlead.engine.memory import Memory
    from fairlead.engine.milestones import Milestones
    from fairlead.engine.overview import Overview
    from fairlead.engine.phases import Phases
    from fairlead.engine.planning import Planning
    from fairlead.engine.roadmaps import Roadmaps
    from fairlead.engine.sessions import Sessions


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
        user = Place(Files(user_folder(), desk=layout.USER_DESK), layout.USER_CONFIG)
        try:
            project = project_place(Files(layout.find_project(self.folder)))
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
        from fairlead.adapters.clock import SystemClock
        from fairlead.engine.doctor import Doctor

        return Doctor(self._project_files, SystemClock())

    @cached_property
    def roll(self) -> Roll:
        """The agents of this machine."""
        from fairlead.adapters.roll import Roll

        try:
            outside: tuple[str, ...] = (layout.find_project(self.folder),)
        except NoProject:
            outside = ()
        cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        return Roll(self.settings.agents(), outside, os.path.join(cache, "fairlead", "agents.json"))

    def undo(self, *, dry_run: bool) -> tuple[str, Outcome]:
        """Take back the last event of the project that this folder belongs to."""
        folder = self.plan_home  # after a reset its desk is all that tells of it
        if not os.path.isdir(os.path.join(folder, layout.desk_of(folder))):
            folder = layout.find_project(self.folder)
        return self._files(folder, layout.desk_of(folder)).undo(dry_run=dry_run)

    @cached_property
    def planning(self) -> Planning:
        """The Plan Phase of the nearest folder that has one, or of this very folder."""
        from fairlead.adapters.checks import ProcessChecker
        from fairlead.adapters.clock import SystemClock
        from fairlead.engine.planning import Planning
        from fairlead.store.facts import state_folder_of

        private = Files(
            state_folder_of(os.environ),
            desk=layout.USER_DESK,
            wait_seconds=self.preferences.lock_wait_seconds,
        )
        files = self._files(self.plan_home, layout.desk_of(self.plan_home))
        return Planning(files, private, SystemClock(), ProcessChecker())

    @cached_property
    def plan_home(self) -> str:
        """The nearest folder that has a plan or a project; else this very folder."""
        return layout.find_plan_home(self.folder) or os.path.realpath(self.folder)

    @cached_property
    def approval(self) -> Approval:
        """Approves the plan of the nearest folder that has one."""
        from fairlead.adapters.clock import SystemClock
        from fairlead.adapters.github import GitHub
        from fairlead.engine.approval import Approval
        from fairlead.store.facts import state_folder_of

        return Approval(
            self._files(self.plan_home, layout.desk_of(self.plan_home)),
            SystemClock(),
            GitHub(self.plan_home, seconds=self.preferences.github_seconds),
            state_folder=state_folder_of(os.environ),
            wait_seconds=self.preferences.lock_wait_seconds,
        )

    @cached_property
    def exec_phase(self) -> ExecPhase:
        """The modules of an approved plan of the nearest folder that has them."""
        from fairlead.adapters.clock import SystemClock
        from fairlead.engine.exec_phase import ExecPhase

        files = self._files(self.plan_home, layout.desk_of(self.plan_home))
        return ExecPhase(files, SystemClock())

    @cached_property
    def events(self) -> Events:
        """Records what happens in the project that this folder belongs to."""
        from fairlead.adapters.clock import SystemClock
        from fairlead.engine.events import Events

        return Events(
            self._project_files, SystemClock(), self._workstream, lines=self.preferences.state_lines
        )

    @cached_property
    def sessions(self) -> Sessions:
        """The sessions and gates of the project that this folder belongs to."""
        from fairlead.adapters.clock import SystemClock
        from fairlead.engine.sessions import Sessions

        return Sessions(self._project_files, SystemClock(), self._workstream)

    @cached_property
    def phases(self) -> Phases:
        """Changes the phases of the project that this folder belongs to."""
        from fairlead.adapters.clock import SystemClock
        from fairlead.engine.phases import Phases

        return Phases(self._project_files, SystemClock(), self._workstream)

    @cached_property
    def milestones(self) -> Milestones:
        """Changes the milestones of the project that this folder belongs to."""
        from fairlead.adapters.clock import SystemClock
        from fairlead.engine.milestones import Milestones

        return Milestones(self._project_files, SystemClock(), self._workstream)

    @cached_property
    def roadmaps(self) -> Roadmaps:
        """Looks at the roadmap of the project that this folder belongs to."""
        from fairlead.engine.roadmaps import Roadmaps

        return Roadmaps(Reader(layout.find_project(self.folder)), self._workstream)

    def host(self, host: str, scope: str) -> Host:
        """The settings of a host agent: a person's own, or those for this folder's project."""
        from fairlead.adapters.clock import SystemClock
        from fairlead.engine.hosts import PLACES, USER, Host

        folder = host_folder(host)
        if scope != USER:
            home = layout.find_plan_home(self.folder) or os.path.realpath(self.folder)
            folder = os.path.join(home, f".{host}")
        return Host(host, Files(folder, desk=layout.HOST_DESK), PLACES[host, scope], SystemClock())

    def new_memory(self) -> Memory:
        """The memory of a project that does not exist yet, in this very folder."""
        return self._memory(self._files(os.path.realpath(self.folder)), "")

    @cached_property
    def preferences(self) -> Preferences:
        """What this program goes by here."""
        return self.settings.preferences()

    def _memory(self, files: Files, workstream: str) -> Memory:
        from fairlead.adapters.clock import SystemClock
        from fairlead.engine.memory import Memory

        return Memory(files, SystemClock(), workstream, lines=self.preferences.state_lines)

    @cached_property
    def _project_files(self) -> Files:
        return self._files(layout.find_project(self.folder))

    @cached_property
    def _workstream(self) -> str:
        """The workstream that is meant, where a project has several memories."""
        return self._project_files.workstream(self._named)

    def _files(self, folder: str, desk: str = layout.DESK) -> Files:
        patience = self._patience_seconds
        return Files(
            folder,
            desk=desk,
            wait_seconds=self.preferences.lock_wait_seconds if patience is None else patience,
            allow_shared=self.preferences.shared_disk,
        )


def user_folder() -> str:
    """The person's own configuration folder."""
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(base, "fairlead")


def host_folder(host: str) -> str:
    """Where a host agent keeps a person's settings."""
    named = {"claude": "CLAUDE_CONFIG_DIR", "codex": "CODEX_HOME"}[host]
    return os.environ.get(named) or os.path.join(os.path.expanduser("~"), f".{host}")
