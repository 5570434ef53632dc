"""Agents that a person describes in their own settings, below `fairlead.agents.NAME`."""

from collections.abc import Mapping

from fairlead.errors import SettingValue, UnknownSetting
from fairlead.model.agent_streams import Stream
from fairlead.values import dataclass

SETTING = "fairlead.agents."
_FORMS = {
    "argv": "a list of words, the first of them a program",
    "prompt": "stdin or file",
    "stream": f"one of {', '.join(Stream)}",
    "environment": "a list of names of variables",
    "family": "one word, such as llama",
}


@dataclass(frozen=True, slots=True)
class AgentCommand:
    """A command line that is used as an agent."""

    name: str
    argv: tuple[str, ...]
    prompt: str = "stdin"  # or file: its path takes the place of {prompt}, or comes last
    stream: Stream = Stream.TEXT
    environment: tuple[str, ...] = ()  # names of variables it may see
    family: str = ""  # of its models; empty: told by their names


def checked_field(key: str, value: object) -> object:
    """A value of a description, if it can stand there."""
    name, _, field = key.removeprefix(SETTING).partition(".")
    if not name or field not in _FORMS:
        raise UnknownSetting(key, near=f"{SETTING}{name or 'NAME'}.argv")
    is_list = isinstance(value, list) and all(isinstance(each, str) and each for each in value)
    takes = {
        "argv": is_list and bool(value),
        "environment": is_list,
        "prompt": value in ("stdin", "file"),
        "stream": value in tuple(Stream),
        "family": isinstance(value, str) and value.isidentifier(),
    }
    if not takes[field]:
        raise SettingValue(key, value, _FORMS[field])
    return value


def described(values: Mapping[str, object]) -> tuple[AgentCommand, ...]:
    """The agents that a person's settings describe; one without `argv` is refused."""
    found: dict[str, dict[str, object]] = {}
    for key, value in values.items():
        if key.startswith(SETTING):
            name, _, field = key.removeprefix(SETTING).partition(".")
            found.setdefault(name, {})[field] = checked_field(key, value)
    return tuple(_command(name, fields) for name, fields in found.items())


def _command(name: str, fields: Mapping[str, object]) -> AgentCommand:
    if "argv" not in fields:
        raise SettingValue(f"{SETTING}{name}.argv", None, _FORMS["argv"])
    return AgentCommand(
        name,
        _words(fields["argv"]),
        str(fields.get("prompt", "stdin")),
        Stream(str(fields.get("stream", Stream.TEXT))),
        _words(fields.get("environment")),
        str(fields.get("family", "")),
    )


def _words(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()
