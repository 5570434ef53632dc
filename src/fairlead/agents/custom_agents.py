"""Agents and models that a person describes in their own settings.

`fairlead.agents.NAME` describes a command line, `fairlead.models.NAME` a model service. The
services `anthropic` and `openai` exist without a description. A description never contains a key,
only the name of the variable that holds it. A model with its own address gets the key that its
description names or none, so a key reaches only the service it was made for.

Settings files are checked at every start, so this module must not load the drivers.
"""

from collections.abc import Mapping

from fairlead.agents.model import Stream
from fairlead.core.errors import SettingValue, UnknownSetting
from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass

AGENTS, MODELS = "fairlead.agents.", "fairlead.models."
SERVICE_KINDS = ("anthropic", "openai")
# What each field takes, in words for the error message.
_FIELDS = {
    AGENTS: {
        "argv": "a list of words, the first of them a program",
        "prompt": "stdin or file",
        "stream": f"one of {', '.join(Stream)}",
        "environment": "a list of names of variables",
        "family": "one word, such as llama",
    },
    MODELS: {
        "kind": "anthropic or openai",
        "model": "the name of a model",
        "base_url": "an address that begins with https://, without a name or password in it",
        "key_env": "the name of a variable that holds the key",
        "family": "one word, such as llama",
        "usd_in": "US dollars for a million tokens read, 0 or more",
        "usd_out": "US dollars for a million tokens written, 0 or more",
    },
}
_ADDRESS = lazy_pattern(r"https?://[A-Za-z0-9.\[\]:_-]+(?:/[A-Za-z0-9._~/%-]*)?")
_LOCAL_ADDRESS = lazy_pattern(r"http://(?:localhost|127\.[0-9.]+|\[::1\])(?:[:/]|$)")
_VARIABLE = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_]*")
_WORD = lazy_pattern(r"[A-Za-z][A-Za-z0-9_-]{0,40}")


@dataclass(frozen=True, slots=True)
class AgentCommand:
    """A command line that is used as an agent."""

    name: str
    argv: tuple[str, ...]
    prompt: str = "stdin"  # or file: its path replaces {prompt}, or is appended
    stream: Stream = Stream.TEXT
    environment: tuple[str, ...] = ()  # names of variables that are passed on
    family: str = ""  # of its models; empty: derived from the model's name


@dataclass(frozen=True, slots=True)
class ModelService:
    """A model that answers and changes no files."""

    name: str
    kind: str  # the protocol, by the name of the client package: one of SERVICE_KINDS
    model: str = ""  # empty: the call names it
    base_url: str = ""  # empty: the client's default, or the variable `address_env`
    key_env: str = ""  # empty: no key is sent
    family: str = ""  # empty: derived from the model's name
    usd_in: float | None = None  # for a million tokens; None: unknown
    usd_out: float | None = None

    @property
    def address_env(self) -> str:
        """The variable in which its client looks for an address."""
        return f"{self.kind.upper()}_BASE_URL"


CustomAgent = AgentCommand | ModelService


def check_field(key: str, value: object) -> None:
    """Raise if a setting below AGENTS or MODELS has an unknown name or a wrong value."""
    prefix = AGENTS if key.startswith(AGENTS) else MODELS
    name, _, field = key.removeprefix(prefix).partition(".")
    fields = _FIELDS[prefix]
    if not name or field not in fields:
        raise UnknownSetting(key, near=f"{prefix}{name or 'NAME'}.{next(iter(fields))}")
    is_valid = _is_agent_field if prefix == AGENTS else _is_model_field
    if not is_valid(field, value):
        raise SettingValue(key, value, fields[field])


def _is_agent_field(field: str, value: object) -> bool:
    if field in ("argv", "environment"):
        is_list = isinstance(value, list) and all(isinstance(word, str) and word for word in value)
        return is_list and (bool(value) or field == "environment")
    choices = {"prompt": ("stdin", "file"), "stream": tuple(Stream)}
    if field in choices:
        return value in choices[field]
    return isinstance(value, str) and value.isidentifier()


def _is_model_field(field: str, value: object) -> bool:
    if field in ("usd_in", "usd_out"):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return is_number and 0 <= value <= 1_000_000  # type: ignore[operator]
    if not isinstance(value, str) or not value.isprintable():
        return False
    if field == "kind":
        return value in SERVICE_KINDS
    patterns = {"base_url": _ADDRESS, "key_env": _VARIABLE, "family": _WORD}
    return bool(patterns[field].fullmatch(value)) if field in patterns else bool(value.strip())


def custom_agents(values: Mapping[str, object]) -> tuple[CustomAgent, ...]:
    """Every agent and model that a person's settings describe, and the well-known services."""
    commands = _grouped(values, AGENTS)
    services = {**{kind: {} for kind in SERVICE_KINDS}, **_grouped(values, MODELS)}
    return (
        *(_agent_command(name, fields) for name, fields in commands.items()),
        *(_model_service(name, fields) for name, fields in services.items()),
    )


def _grouped(values: Mapping[str, object], prefix: str) -> dict[str, dict[str, object]]:
    """The checked fields below a prefix, by name."""
    groups: dict[str, dict[str, object]] = {}
    for key, value in values.items():
        if key.startswith(prefix):
            check_field(key, value)
            name, _, field = key.removeprefix(prefix).partition(".")
            groups.setdefault(name, {})[field] = value
    return groups


def _agent_command(name: str, fields: Mapping[str, object]) -> AgentCommand:
    if "argv" not in fields:
        raise SettingValue(f"{AGENTS}{name}.argv", None, _FIELDS[AGENTS]["argv"])
    return AgentCommand(
        name,
        _words(fields["argv"]),
        str(fields.get("prompt", "stdin")),
        Stream(str(fields.get("stream", Stream.TEXT))),
        _words(fields.get("environment")),
        str(fields.get("family", "")),
    )


def _model_service(name: str, fields: Mapping[str, object]) -> ModelService:
    kind = str(fields.get("kind", name if name in SERVICE_KINDS else ""))
    if kind not in SERVICE_KINDS:
        raise SettingValue(f"{MODELS}{name}.kind", None, _FIELDS[MODELS]["kind"])
    url = str(fields.get("base_url", ""))
    key = str(fields.get("key_env", "" if url else f"{kind.upper()}_API_KEY"))
    if key and url.startswith("http://") and not _LOCAL_ADDRESS.match(url):
        allowed = "an address that begins with https://: a key would travel unencrypted"
        raise SettingValue(f"{MODELS}{name}.base_url", url, allowed)
    return ModelService(
        name,
        kind,
        model=str(fields.get("model", "")),
        base_url=url,
        key_env=key,
        family=str(fields.get("family", "")),
        usd_in=_price(fields.get("usd_in")),
        usd_out=_price(fields.get("usd_out")),
    )


def _words(value: object) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _price(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
