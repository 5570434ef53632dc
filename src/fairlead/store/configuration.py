"""Settings of the project and of the user, each value with the file that sets it.

Settings files are edited losslessly. Values of other tools are kept and never judged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from fairlead.core.errors import (
    DocumentError,
    FairleadError,
    SettingValue,
    UnknownSetting,
    UsageError,
)
from fairlead.core.settings import (
    PERSONAL,
    SETTINGS,
    Effective,
    Origin,
    Validator,
    checked,
    effective,
    near,
    setting,
)
from fairlead.store.errors import NoProject, OnlyPersonal, WrongSetting
from fairlead.store.reader import LoadedDocument, Reader
from fairlead.store.staging import STAGING
from fairlead.text.errors import JsonSyntax
from fairlead.text.json_edit import Json, read_json, remove_json, set_json
from fairlead.text.lines import place_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fairlead.store.files import WriteOutcome

_OURS = "fairlead."
Personal = TypeVar("Personal")


class SettingsFile(NamedTuple):
    """One configuration file."""

    folder: str
    path: str
    staging: str = STAGING
    is_read_only: bool = False  # inside an agent's attempt
    validators: Mapping[str, Validator] = {}  # of keys that other packages check

    @property
    def name(self) -> str:
        """The full path, for messages."""
        return f"{self.folder}/{self.path}"

    def load(self) -> LoadedDocument | None:
        """The current text of the file."""
        return Reader(self.folder).load_if_present(self.path)

    @contextmanager
    def named(self) -> Iterator[None]:
        """Put the full path into errors: `config.json` alone could be any file."""
        try:
            yield
        except DocumentError as fault:
            if fault.path in ("", self.path):
                fault.path = self.name
            raise

    def values(self, judged: str | tuple[str, ...] = _OURS) -> dict[str, object]:
        """The values by dotted key. Fairlead's own values whose key starts with `judged` are checked."""
        with self.named():
            loaded = self.load()
            values = read_settings(loaded.text) if loaded else {}
            for key, value in values.items():
                # Values of another tool's keys are never checked, even if Fairlead reads them.
                if loaded and key.startswith(_OURS) and key.startswith(judged):
                    self._check(key, value, loaded.text)
        return values

    def _check(self, key: str, value: object, text: str) -> None:
        try:
            checked(key, value, self.validators)
        except UsageError as fault:
            line, column = place_of_setting(text, key)
            raise WrongSetting(fault, line=line, column=column) from None


class Preferences(NamedTuple):
    """The settings that Fairlead itself uses in every command."""

    color: str
    dialect: str
    github_seconds: int
    lock_wait_seconds: int
    shared_disk: bool
    state_lines: int
    problem: str  # why the defaults are used instead of the files


class Settings:
    """The effective settings. Outside a project only the user's file counts."""

    def __init__(
        self,
        user: SettingsFile,
        project: SettingsFile | None,
        new_value: Validator = lambda _, value: value,
    ) -> None:
        self._check_new_value = new_value  # of values that files may have but nobody may set
        self._files: dict[Origin, SettingsFile] = {Origin.USER: user}
        if project:
            self._files[Origin.PROJECT] = project

    def all(self, judged: str = _OURS) -> tuple[Effective, ...]:
        """Every effective value, sorted by key."""
        files = self._files.items()
        return effective({origin: (file.name, file.values(judged)) for origin, file in files})

    def get(self, key: str) -> Effective:
        """The value of one setting. Faults in other settings do not matter."""
        for value in self.all(judged=key):
            if value.key == key:
                return value
        raise UnknownSetting(key, near=near(key))

    def read_personal(self, read: Callable[[Mapping[str, object]], Personal]) -> Personal:
        """What `read` makes of the user's file, for settings that a project may not set.

        Opening a repository must not be enough for it to choose which program runs, or which
        service gets an API key.
        """
        file = self._files[Origin.USER]
        values = file.values(judged=PERSONAL)
        with file.named():
            return read(values)

    def preferences(self) -> Preferences:
        """Fairlead's own settings, or the defaults if a file cannot be read."""
        try:
            values, problem = {value.key: value.value for value in self.all()}, ""
        except FairleadError as fault:
            values, problem = {setting.key: setting.default for setting in SETTINGS}, str(fault)
        return Preferences(
            color=str(values["fairlead.color"]),
            dialect=str(values["fairlead.dialect"]),
            github_seconds=int(str(values["fairlead.github_seconds"])),
            lock_wait_seconds=int(str(values["fairlead.lock_wait_seconds"])),
            shared_disk=values["fairlead.shared_disk"] is True,
            state_lines=int(str(values["fairlead.state_lines"])),
            problem=problem,
        )

    def set(self, key: str, value: Json, origin: Origin, *, dry_run: bool = False) -> WriteOutcome:
        """Write one value into the project's or the user's file."""
        checked(key, value, self._files[Origin.USER].validators)
        self._check_new_value(key, value)
        if origin is Origin.PROJECT and key.startswith(PERSONAL):
            raise OnlyPersonal(key)
        allow_shared = (key, value) == ("fairlead.shared_disk", True)
        return self._write(
            origin,
            lambda text: update_setting(text, key, value),
            "config set",
            allow_shared=allow_shared,
            dry_run=dry_run,
        )

    def unset(self, key: str, origin: Origin, *, dry_run: bool = False) -> WriteOutcome:
        """Remove one value from the project's or the user's file; others then count."""
        file = self._file(origin)
        present = file.values(judged=())
        if key not in present and setting(key) is None:
            inner = next((name for name in present if name.startswith(f"{key}.")), "")
            if inner:
                raise SettingValue(key, "removed", f"only settings below it, such as {inner}")
            raise UnknownSetting(key, near=near(key))
        if key not in present:
            from fairlead.store.files import WriteOutcome

            return WriteOutcome(())
        return self._write(
            origin, lambda text: remove_setting(text, key), "config unset", dry_run=dry_run
        )

    def _file(self, origin: Origin) -> SettingsFile:
        file = self._files.get(origin)
        if file is None:
            raise NoProject(".")
        return file

    def _write(
        self,
        origin: Origin,
        edit: Callable[[str], str],
        command: str,
        *,
        allow_shared: bool = False,
        dry_run: bool,
    ) -> WriteOutcome:
        file = self._file(origin)
        from fairlead.store.files import Files, WriteOutcome

        file.values(judged=())  # refuse an emptied file instead of treating it as new
        preferences = self.preferences()
        files = Files(
            file.folder,
            staging=file.staging,
            wait_seconds=preferences.lock_wait_seconds,
            allow_shared=preferences.shared_disk or allow_shared,
            is_read_only=file.is_read_only,
            is_private=False,
        )
        with file.named():
            outcome = files.update(
                file.path,
                edit,
                command=command,
                may_create=True,
                dry_run=dry_run,
            )
        if origin is Origin.PROJECT:
            return outcome
        changes = tuple(change._replace(path=file.name) for change in outcome.changes)
        return WriteOutcome(changes, outcome.notices)


EMPTY = "{}\n"


def read_settings(text: str) -> dict[str, object]:
    """The values of the file by dotted key; an empty object counts as a value."""
    settings = read_json(text).value
    if not isinstance(settings, dict):
        raise JsonSyntax("a configuration file must contain one object", line=1, column=1)
    return dict(_flat(settings, ""))


def update_setting(text: str, key: str, value: Json) -> str:
    """The text with one value set. A key that contains other settings is refused."""
    inner = next((name for name in read_settings(text or EMPTY) if name.startswith(f"{key}.")), "")
    if inner:
        raise SettingValue(key, value, f"only settings below it, such as {inner}")
    return set_json(text or EMPTY, tuple(key.split(".")), value)


def remove_setting(text: str, key: str) -> str:
    """The text without one value, and without the groups that are empty then."""
    path = tuple(key.split("."))
    text = remove_json(text, path)
    while len(path) > 1:
        path = path[:-1]
        node = read_json(text)
        for name in path:
            node = node.child(name) or node
        if node.value != {}:
            break
        text = remove_json(text, path)
    return text


def place_of_setting(text: str, key: str) -> tuple[int, int]:
    """Line and column of the value of a dotted key."""
    node, rest = read_json(text), f"{key}."
    while member := next((one for one in node.members if rest.startswith(f"{one[0]}.")), None):
        name, _, node = member
        rest = rest[len(name) + 1 :]
    return place_of(text, node.start)


def value_from_text(text: str) -> Json:
    """A value from the command line: parsed if it is JSON, otherwise the text itself."""
    try:
        return read_json(text).value
    except JsonSyntax:
        return text


def _flat(settings: Mapping[str, object], above: str) -> list[tuple[str, object]]:
    pairs: list[tuple[str, object]] = []
    for key, value in settings.items():
        path = f"{above}.{key}" if above else key
        if isinstance(value, dict) and value:
            pairs += _flat(value, path)
        else:
            pairs.append((path, value))
    return pairs
