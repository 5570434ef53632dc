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
from fairlead.store.files import Files
from fairlead.store.load import Reader

if TYPE_CHECKING:
    from fairlead.engine.memory import Memory
    from fairlead.engine.overview import Overview


class App:
    """Everything a door needs, made when it is first asked for."""

    def __init__(self, folder: str) -> None:
        self.folder = folder

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
        return self._memory(layout.find_project(self.folder))

    @cached_property
    def overview(self) -> Overview:
        """A look at the project that this folder belongs to."""
        from fairlead.engine.overview import Overview

        return Overview(Reader(layout.find_project(self.folder)))

    def new_memory(self) -> Memory:
        """The memory of a project that does not exist yet, in this very folder."""
        return self._memory(os.path.realpath(self.folder))

    @cached_property
    def preferences(self) -> Preferences:
        """What this program goes by here."""
        return self.settings.preferences()

    def _memory(self, folder: str) -> Memory:
        from fairlead.adapters.clock import SystemClock
        from fairlead.engine.memory import Memory

        return Memory(self._files(folder), SystemClock())

    def _files(self, folder: str) -> Files:
        return Files(
            folder,
            wait_seconds=self.preferences.lock_wait_seconds,
            allow_shared=self.preferences.shared_disk,
        )


def user_folder() -> str:
    """The person's own configuration folder."""
    base = os.environ.get("XDG_CONFIG_HOME") or os.path.join(os.path.expanduser("~"), ".config")
    return os.path.join(base, "fairlead")
