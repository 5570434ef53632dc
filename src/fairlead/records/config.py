"""Configuration files: JSON, read as dotted keys and changed one value at a time."""

from collections.abc import Mapping

from fairlead.errors import JsonSyntax, SettingValue
from fairlead.model.inventory import Completion
from fairlead.text.jsontext import Json, read_json, set_json
from fairlead.text.lines import place_of

EMPTY = "{}\n"


def read_settings(text: str) -> dict[str, object]:
    """The file's values by dotted key; an empty object counts as a value."""
    held = read_json(text).value
    if not isinstance(held, dict):
        raise JsonSyntax("a configuration file holds one object", line=1, column=1)
    return dict(_flat(held, ""))


def read_completion(text: str) -> str:
    """When a phase counts as complete, as the file says; empty where it leaves that open."""
    said = read_settings(text).get("fairlead.completion", "auto")
    if said not in ("auto", *Completion):
        raise JsonSyntax(f"fairlead.completion cannot be {said!r}", line=1, column=1)
    return "" if said == "auto" else str(said)


def update_setting(text: str, key: str, value: Json) -> str:
    """The file with one value set, never one that holds others; a new file is made."""
    held = next((each for each in read_settings(text or EMPTY) if each.startswith(f"{key}.")), "")
    if held:
        raise SettingValue(key, value, f"no value itself, what is below it does, such as {held}")
    return set_json(text or EMPTY, tuple(key.split(".")), value)


def place_of_setting(text: str, key: str) -> tuple[int, int]:
    """The line and column of the value of a dotted key."""
    node, rest = read_json(text), f"{key}."
    while found := next((each for each in node.members if rest.startswith(f"{each[0]}.")), None):
        name, _, node = found
        rest = rest[len(name) + 1 :]
    return place_of(text, node.start)


def value_from_text(text: str) -> Json:
    """A value as given on a command line: JSON where it is JSON, otherwise the text itself."""
    try:
        return read_json(text).value
    except JsonSyntax:
        return text


def _flat(held: Mapping[str, object], above: str) -> list[tuple[str, object]]:
    pairs: list[tuple[str, object]] = []
    for key, value in held.items():
        path = f"{above}.{key}" if above else key
        if isinstance(value, dict) and value:
            pairs += _flat(value, path)
        else:
            pairs.append((path, value))
    return pairs
