"""Plain models that a person describes in their own settings, below `fairlead.models.NAME`.

`anthropic` and `openai` are there without a description. A key is never part of one: it names the
variable that holds it. A key is sent to the service it was made for: with an address of its own, a
model gets the key that its description names, or none.
"""

import re
from collections.abc import Mapping

from fairlead.errors import SettingValue, UnknownSetting
from fairlead.values import dataclass

SETTING = "fairlead.models."
KINDS = ("anthropic", "openai")
_FORMS = {
    "kind": "anthropic or openai",
    "model": "the name of a model",
    "base_url": "an address that begins with https://, without a name or password in it",
    "key_env": "the name of a variable that holds the key",
    "family": "one word, such as llama",
    "usd_in": "US dollars for a million tokens read, 0 or more",
    "usd_out": "US dollars for a million tokens written, 0 or more",
}
_ADDRESS = re.compile(r"https?://[A-Za-z0-9.\[\]:_-]+(?:/[A-Za-z0-9._~/%-]*)?")
_NEAR = re.compile(r"http://(?:localhost|127\.[0-9.]+|\[::1\])(?:[:/]|$)")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,40}")


@dataclass(frozen=True, slots=True)
class ModelService:
    """A model that answers and changes nothing."""

    name: str
    kind: str  # the protocol, by the name of the client that speaks it: one of KINDS
    model: str = ""  # empty: as the call says
    base_url: str = ""  # empty: the client's own, or what its variable says
    key_env: str = ""  # empty: no key is sent
    family: str = ""  # empty: told by the model's name
    usd_in: float | None = None  # for a million tokens; None: nobody said
    usd_out: float | None = None

    @property
    def address_env(self) -> str:
        """The variable in which its client looks for an address."""
        return f"{self.kind.upper()}_BASE_URL"


def checked_field(key: str, value: object) -> object:
    """A value of a description, if it can stand there."""
    name, _, field = key.removeprefix(SETTING).partition(".")
    if not name or field not in _FORMS:
        raise UnknownSetting(key, near=f"{SETTING}{name or 'NAME'}.kind")
    if not _takes(field, value):
        raise SettingValue(key, value, _FORMS[field])
    return value


def _takes(field: str, value: object) -> bool:
    if field in ("usd_in", "usd_out"):
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return is_number and 0 <= value <= 1_000_000  # type: ignore[operator]
    if not isinstance(value, str) or not value.isprintable():
        return False
    shapes = {"base_url": _ADDRESS, "key_env": _VARIABLE, "family": _WORD}
    if field == "kind":
        return value in KINDS
    return bool(shapes[field].fullmatch(value)) if field in shapes else bool(value.strip())


def described(values: Mapping[str, object]) -> tuple[ModelService, ...]:
    """The models that there are: the two well-known services, and what a person describes."""
    found: dict[str, dict[str, object]] = {name: {} for name in KINDS}
    for key, value in values.items():
        if key.startswith(SETTING):
            name, _, field = key.removeprefix(SETTING).partition(".")
            found.setdefault(name, {})[field] = checked_field(key, value)
    return tuple(_service(name, fields) for name, fields in found.items())


def _service(name: str, fields: Mapping[str, object]) -> ModelService:
    kind = str(fields.get("kind", name if name in KINDS else ""))
    if kind not in KINDS:
        raise SettingValue(f"{SETTING}{name}.kind", None, _FORMS["kind"])
    url = str(fields.get("base_url", ""))
    key = str(fields.get("key_env", "" if url else f"{kind.upper()}_API_KEY"))
    if key and url.startswith("http://") and not _NEAR.match(url):
        takes = "an address that begins with https://: a key would travel in the open"
        raise SettingValue(f"{SETTING}{name}.base_url", url, takes)
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


def _price(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None
