"""Settings of a project and of a person: every value with the file that says it."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from fairlead.errors import (
    DocumentError,
    FairleadError,
    NoProject,
    OnlyPersonal,
    UnknownSetting,
    UsageError,
    WrongSetting,
)
from fairlead.model.config import PERSONAL, SETTINGS, Effective, Origin, checked, effective, near
from fairlead.records.config import place_of_setting, read_settings, update_setting
from fairlead.store import layout
from fairlead.store.load import Loaded, Reader
from fairlead.text.jsontext import Json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairlead.model.agent_commands import AgentCommand
    from fairlead.model.model_services import ModelService
    from fairlead.store.files import Outcome


_OURS = "fairlead."


class Place(NamedTuple):
    """One configuration file."""

    folder: str
    path: str
    desk: str = layout.DESK
    is_read_only: bool = False  # inside an attempt

    @property
    def name(self) -> str:
        """The file for people."""
        return f"{self.folder}/{self.path}"

    def load(self) -> Loaded | None:
        """The file as it is now."""
        return Reader(self.folder).load_if_present(self.path)

    @contextmanager
    def named(self) -> Iterator[None]:
        """Name the file in full: its own name alone could be any project's."""
        try:
            yield
        except DocumentError as fault:
            if fault.path in ("", self.path):
                fault.path = self.name
            raise

    def values(self, judged: str | tuple[str, ...] = _OURS) -> dict[str, object]:
        """What the file says by dotted key; a value of ours that begins so must be right."""
        with self.named():
            loaded = self.load()
            values = read_settings(loaded.text) if loaded else {}
            for key, value in values.items():
                # A value of another tool's key is that tool's business, also where we read it.
                if loaded and key.startswith(_OURS) and key.startswith(judged):
                    _judge(key, value, loaded.text)
        return values


def _judge(key: str, value: object, text: str) -> None:
    try:
        checked(key, value)
    except UsageError as fault:
        line, column = place_of_setting(text, key)
        raise WrongSetting(fault, line=line, column=column) from None


class Preferences(NamedTuple):
    """The settings of this program itself."""

    color: str
    dialect: str
    github_seconds: int
    lock_wait_seconds: int
    shared_disk: bool
    state_lines: int
    problem: str  # why the defaults hold instead of what the files say


class Settings:
    """What holds here. Outside a project only the person's own file counts."""

    def __init__(self, user: Place, project: Place | None) -> None:
        self._places: dict[Origin, Place] = {Origin.USER: user}
        if project:
            self._places[Origin.PROJECT] = project

    def all(self, judged: str = _OURS) -> tuple[Effective, ...]:
        """Every value that holds, in the order of the keys."""
        places = self._places.items()
        return effective({origin: (place.name, place.values(judged)) for origin, place in places})

    def get(self, key: str) -> Effective:
        """The value of one setting; what is wrong with others is not its business."""
        for value in self.all(judged=key):
            if value.key == key:
                return value
        raise UnknownSetting(key, near=near(key))

    def agents(self) -> tuple[AgentCommand | ModelService, ...]:
        """The agents and plain models that the person describes.

        What a project's file says about them does not count: opening a repository must not be
        enough for it to choose what is run, or whom a key is sent to.
        """
        from fairlead.model import agent_commands, model_services

        place = self._places[Origin.USER]
        values = place.values(judged=PERSONAL)
        with place.named():
            return (*agent_commands.described(values), *model_services.described(values))

    def preferences(self) -> Preferences:
        """What this program itself goes by; defaults where a file cannot be read."""
        try:
            values, problem = {value.key: value.value for value in self.all()}, ""
        except FairleadError as fault:
            values, problem = {known.key: known.default for known in SETTINGS}, str(fault)
        return Preferences(
            color=str(values["fairlead.color"]),
            dialect=str(values["fairlead.dialect"]),
            github_seconds=int(str(values["fairlead.github_seconds"])),
            lock_wait_seconds=int(str(values["fairlead.lock_wait_seconds"])),
            shared_disk=values["fairlead.shared_disk"] is True,
            state_lines=int(str(values["fairlead.state_lines"])),
            problem=problem,
        )

    def set(self, key: str, value: Json, origin: Origin, *, dry_run: bool = False) -> Outcome:
        """Write one value into the project's or the person's file."""
        checked(key, value)
        if origin is Origin.PROJECT and key.startswith(PERSONAL):
            raise OnlyPersonal(key)
        place = self._places.get(origin)
        if place is None:
            raise NoProject(".")
        from fairlead.store.files import Files, Outcome

        place.values(judged=())  # an emptied file is not a new one
        ours = self.preferences()
        files = Files(
            place.folder,
            desk=place.desk,
            wait_seconds=ours.lock_wait_seconds,
            allow_shared=ours.shared_disk or (key, value) == ("fairlead.shared_disk", True),
            is_read_only=place.is_read_only,
        )
        with place.named():
            outcome = files.update(
                place.path,
                lambda text: update_setting(text, key, value),
                command="config set",
                may_create=True,
                dry_run=dry_run,
            )
        if origin is Origin.PROJECT:
            return outcome
        changes = tuple(change._replace(path=place.name) for change in outcome.changes)
        return Outcome(changes, outcome.notices)
