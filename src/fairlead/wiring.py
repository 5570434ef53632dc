"""Who meets whom: the one place where the engine is given its files and its clock."""

import os
from functools import cached_property

from fairlead.adapters.clock import SystemClock
from fairlead.engine.memory import Memory
from fairlead.engine.settings import Place, Preferences, Settings, project_place
from fairlead.errors import NoProject
from fairlead.store import layout
from fairlead.store.files import Files


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
        return Memory(self._files(layout.find_project(self.folder)), SystemClock())

    def new_memory(self) -> Memory:
        """The memory of a project that does not exist yet, in this very folder."""
        return Memory(self._files(os.path.realpath(self.folder)), SystemClock())

    @cached_property
    def preferences(self) -> Preferences:
        """What this program goes by here."""
        return self.settings.preferences()

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
