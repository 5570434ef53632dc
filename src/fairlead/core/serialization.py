"""Converts frozen values to JSON and back, by their types.

A value survives the round trip unchanged. Unknown keys are ignored, so that an older program can
read a newer file. `revived` is for files that Fairlead wrote: it raises at the first value that
does not fit. `convert` is for input from outside, such as the answer of a model: it returns all
mismatches with path and reason, and the caller decides. Declare the shape of an answer as a
dataclass and convert it; check what the values mean afterwards, in code of its own.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable
from enum import Enum
from functools import cache
from typing import Any, NamedTuple, TypeVar

from fairlead.core.errors import MalformedRecord
from fairlead.core.values import names_of

Value = TypeVar("Value")
_FAILED = object()  # the place of a value that does not fit, while the rest is still checked


class Mismatch(NamedTuple):
    """A value that does not fit the declared type."""

    path: str  # such as gaps[2].reason
    expected: str
    value: object

    @property
    def reason(self) -> str:
        """Say what is expected and what is there."""
        shown = repr(self.value)
        return f"expected {self.expected}, not {shown if len(shown) <= 80 else shown[:79] + '…'}"

    def __str__(self) -> str:
        return f"{self.path or 'the answer'}: {self.reason}"


def plain(value: object) -> Any:
    """Return a value in the types that JSON has."""
    if isinstance(value, Enum):
        return value.value
    if names := names_of(value):
        return {name: plain(getattr(value, name)) for name in names}
    if isinstance(value, list | tuple | frozenset):
        items = sorted(value) if isinstance(value, frozenset) else value
        return [plain(item) for item in items]
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    return value


def convert(
    kind: type[Value], value: object, path: str = ""
) -> tuple[Value | None, tuple[Mismatch, ...]]:
    """Convert parsed JSON to `kind`; return the value, or None and every mismatch."""
    mismatches: list[Mismatch] = []
    convert_value: _Converter = _converter(typing.cast("Any", kind))
    converted = convert_value(value, path, mismatches)
    return (None, tuple(mismatches)) if mismatches else (converted, ())


def revived(kind: type[Value], value: object, path: str = "") -> Value:
    """Convert parsed JSON to `kind`, or raise `MalformedRecord` for the first mismatch."""
    return typing.cast("Value", _revived(kind, value, path))


def several(kind: type[Value], value: object, path: str = "") -> tuple[Value, ...]:
    """Convert a parsed JSON list to values of `kind`, or raise `MalformedRecord`."""
    return typing.cast("tuple[Value, ...]", _revived(tuple[kind, ...], value, path))  # type: ignore[valid-type]


def _revived(kind: Any, value: object, path: str) -> object:
    mismatches: list[Mismatch] = []
    converted = _converter(kind)(value, path, mismatches)
    for mismatch in mismatches:
        raise MalformedRecord(mismatch.path, mismatch.expected, mismatch.value)
    return converted


# A converter is built once for each type. It gets a value, the place of the value, and the list
# to which it adds mismatches. A place is put into words only if there is a mismatch.
_Place = (
    str | tuple[Any, str | int]
)  # the place of the record or list, and the name or number in it
_Converter = Callable[[object, _Place, list[Mismatch]], Any]


@cache
def _converter(kind: Any) -> _Converter:
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        return _union_converter(typing.get_args(kind))
    if origin in (tuple, frozenset):
        return _list_converter(typing.get_args(kind), origin)
    if origin is dict:
        return _map_converter(typing.get_args(kind)[1])
    if isinstance(kind, type) and issubclass(kind, Enum):
        return _enum_converter(kind)
    if names_of(kind):
        return _record_converter(kind)
    return _plain_converter(kind)


def _record_converter(kind: Any) -> _Converter:
    fields: dict[str, tuple[_Converter, str]] = {}  # filled late: a record can hold its like
    kinds: dict[str, Any] = {}
    names = names_of(kind)

    def converted(value: object, place: _Place, mismatches: list[Mismatch]) -> Any:
        if not isinstance(value, dict):
            return _fail(mismatches, place, "a map", value)
        if not fields:
            kinds.update(_types_of(kind))
            fields.update({name: (_converter(each), f".{name}") for name, each in kinds.items()})
        kind_of = kinds.get
        count = len(mismatches)
        given = value.copy()  # most fields stay as they are
        for name in [name for name, item in value.items() if type(item) is not kind_of(name)]:
            if name in fields:
                convert_item, piece = fields[name]
                given[name] = convert_item(value[name], (place, piece), mismatches)
            else:
                del given[name]
        if len(mismatches) > count:
            return _FAILED
        try:
            if tuple(given) == names:  # as we write it, so no name has to be looked up
                return kind(*given.values())
            return kind(**given)
        except TypeError:  # a field without default is missing
            return _fail(mismatches, place, kind.__name__, sorted(value))

    return converted


def _union_converter(kinds: tuple[Any, ...]) -> _Converter:
    is_optional = type(None) in kinds
    converters = [_converter(kind) for kind in kinds if kind is not type(None)]

    def converted(value: object, place: _Place, mismatches: list[Mismatch]) -> Any:
        if value is None and is_optional:
            return None
        attempt: list[Mismatch] = []
        for convert_item in converters:
            attempt = []
            item = convert_item(value, place, attempt)
            if not attempt:
                return item
        mismatches += attempt  # of the last alternative
        return _FAILED

    return converted


def _list_converter(inner: tuple[Any, ...], origin: Any) -> _Converter:
    is_fixed = origin is tuple and inner[-1] is not Ellipsis
    converters = [_converter(each) for each in inner if each is not Ellipsis]
    # Lists of texts are most lists, and there is nothing to convert in them.
    plain_items = {str} if inner == (str, ...) else None

    def converted(value: object, place: _Place, mismatches: list[Mismatch]) -> Any:
        if not isinstance(value, list):
            return _fail(mismatches, place, "a list", value)
        if is_fixed and len(converters) != len(value):
            return _fail(mismatches, place, f"a list of {len(converters)}", value)
        if not value:
            return origin()
        if set(map(type, value)) == plain_items:
            return origin(value)
        count = len(mismatches)
        each = converters if is_fixed else converters * len(value)
        items = [
            convert_item(item, (place, at), mismatches)
            for at, (convert_item, item) in enumerate(zip(each, value, strict=True))
        ]
        return _FAILED if len(mismatches) > count else origin(items)

    return converted


def _map_converter(inner: Any) -> _Converter:
    convert_item = _converter(inner)

    def converted(value: object, place: _Place, mismatches: list[Mismatch]) -> Any:
        if not isinstance(value, dict):
            return _fail(mismatches, place, "a map", value)
        return {
            key: convert_item(item, (place, f".{key}"), mismatches) for key, item in value.items()
        }

    return converted


def _enum_converter(kind: type[Enum]) -> _Converter:
    members = {member.value: member for member in kind}  # much faster than a call of the class

    def converted(value: object, place: _Place, mismatches: list[Mismatch]) -> Any:
        if type(value) is str and value in members:
            return members[value]
        try:
            return kind(value)
        except ValueError:
            return _fail(mismatches, place, kind.__name__, value)

    return converted


def _plain_converter(kind: Any) -> _Converter:
    def converted(value: object, place: _Place, mismatches: list[Mismatch]) -> Any:
        if type(value) is kind or kind is Any:
            return value
        # JSON has no integers apart from numbers, but `true` is not one.
        is_bool = isinstance(value, bool)
        if kind is float and isinstance(value, int) and not is_bool:
            try:
                return float(value)
            except OverflowError:
                return _fail(mismatches, place, kind.__name__, value)
        if not isinstance(value, kind) or (kind is int and is_bool):
            return _fail(mismatches, place, kind.__name__, value)
        return value

    return converted


def _fail(mismatches: list[Mismatch], place: _Place, expected: str, value: object) -> Any:
    mismatches.append(Mismatch(_path_of(place), expected, value))
    return _FAILED


def _path_of(place: _Place) -> str:
    if isinstance(place, str):
        return place
    parent, part = _path_of(place[0]), place[1]
    if isinstance(part, int):
        return f"{parent}[{part}]"
    return parent + part if parent else part.removeprefix(".")


@cache
def _types_of(kind: Any) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    return {name: hints[name] for name in names_of(kind)}
