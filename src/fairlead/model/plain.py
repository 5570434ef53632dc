"""Plain: frozen values as JSON and back, by their types.

A value survives the way there and back unchanged; a JSON that does not fit its type is refused
with the place, and keys that nobody knows are ignored, so that an older program reads a newer file.
"""

from __future__ import annotations

import types
import typing
from enum import Enum
from functools import cache
from typing import Any, TypeVar

from fairlead.errors import MalformedRecord
from fairlead.values import names_of

Value = TypeVar("Value")


def plain(value: object) -> Any:
    """A value as what JSON can hold."""
    if isinstance(value, Enum):
        return value.value
    if names := names_of(value):
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, list | tuple | frozenset):
        held = sorted(value) if isinstance(value, frozenset) else value
        return [plain(each) for each in held]
    if isinstance(value, dict):
        return {str(key): plain(each) for key, each in value.items()}
    return value


def revived(kind: type[Value], held: object, place: str = "") -> Value:
    """The value that was written as this JSON."""
    found = _revived(kind, held, place)
    assert isinstance(found, kind)
    return found


def several(kind: type[Value], held: object, place: str = "") -> tuple[Value, ...]:
    """The values that were written as this list."""
    found: tuple[Value, ...] = _revived(tuple[kind, ...], held, place)  # type: ignore[valid-type]
    return found


def _revived(kind: Any, held: object, place: str) -> Any:
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        return _one_of(typing.get_args(kind), held, place)
    if origin in (tuple, frozenset):
        return _several(kind, origin, held, place)
    if origin is dict:
        _, inner = typing.get_args(kind)
        return {
            key: _revived(inner, each, f"{place}.{key}") for key, each in _map(held, place).items()
        }
    if isinstance(kind, type) and issubclass(kind, Enum):
        try:
            return kind(held)
        except ValueError:
            raise MalformedRecord(place, kind.__name__, held) from None
    if names_of(kind):
        return _record(kind, _map(held, place), place)
    if kind is float and isinstance(held, int) and not isinstance(held, bool):
        try:
            return float(held)
        except OverflowError:
            raise MalformedRecord(place, kind.__name__, held) from None
    if kind is not Any and (not isinstance(held, kind) or (kind is int and isinstance(held, bool))):
        raise MalformedRecord(place, kind.__name__, held)
    return held


def _record(kind: Any, held: dict[str, object], place: str) -> Any:
    known = _types_of(kind)
    given = {
        name: _revived(known[name], value, f"{place}.{name}")
        for name, value in held.items()
        if name in known
    }
    try:
        return kind(**given)
    except TypeError:
        raise MalformedRecord(place, kind.__name__, sorted(held)) from None


def _one_of(kinds: tuple[Any, ...], held: object, place: str) -> Any:
    if held is None and type(None) in kinds:
        return None
    left = [each for each in kinds if each is not type(None)]
    for each in left[:-1]:
        try:
            return _revived(each, held, place)
        except MalformedRecord:
            continue
    return _revived(left[-1], held, place)


def _several(kind: Any, origin: Any, held: object, place: str) -> Any:
    if not isinstance(held, list):
        raise MalformedRecord(place, "a list", held)
    inner = typing.get_args(kind)
    if origin is tuple and inner[-1] is not Ellipsis:
        if len(inner) != len(held):
            raise MalformedRecord(place, f"a list of {len(inner)}", held)
        return tuple(
            _revived(each, value, f"{place}[{at}]")
            for at, (each, value) in enumerate(zip(inner, held, strict=True))
        )
    return origin(_revived(inner[0], each, f"{place}[{at}]") for at, each in enumerate(held))


def _map(held: object, place: str) -> dict[str, object]:
    if not isinstance(held, dict):
        raise MalformedRecord(place, "a map", held)
    return held


@cache
def _types_of(kind: Any) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    return {name: hints[name] for name in names_of(kind)}
