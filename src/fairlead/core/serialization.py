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
from enum import Enum
from functools import cache
from typing import Any, NamedTuple, TypeVar

from fairlead.core.errors import MalformedRecord
from fairlead.core.values import names_of

Value = TypeVar("Value")
_SCALARS = frozenset((str, int, bool, float))
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
    converted = _convert(kind, value, path, mismatches)
    return (None, tuple(mismatches)) if mismatches else (converted, ())


def revived(kind: type[Value], value: object, path: str = "") -> Value:
    """Convert parsed JSON to `kind`, or raise `MalformedRecord` for the first mismatch."""
    return typing.cast("Value", _revived(kind, value, path))


def several(kind: type[Value], value: object, path: str = "") -> tuple[Value, ...]:
    """Convert a parsed JSON list to values of `kind`, or raise `MalformedRecord`."""
    return typing.cast("tuple[Value, ...]", _revived(tuple[kind, ...], value, path))  # type: ignore[valid-type]


def _revived(kind: Any, value: object, path: str) -> object:
    mismatches: list[Mismatch] = []
    converted = _convert(kind, value, path, mismatches)
    for mismatch in mismatches:
        raise MalformedRecord(mismatch.path, mismatch.expected, mismatch.value)
    return converted


def _convert(kind: Any, value: object, path: str, mismatches: list[Mismatch]) -> Any:
    if type(value) is kind and kind in _SCALARS:
        return value  # most of the fields of a record
    origin = typing.get_origin(kind)
    if origin in (typing.Union, types.UnionType):
        return _convert_union(typing.get_args(kind), value, path, mismatches)
    if origin in (tuple, frozenset):
        return _convert_list(kind, origin, value, path, mismatches)
    if origin is dict:
        if not isinstance(value, dict):
            return _fail(mismatches, path, "a map", value)
        _, inner = typing.get_args(kind)
        return {
            key: _convert(inner, item, f"{path}.{key}", mismatches) for key, item in value.items()
        }
    if isinstance(kind, type) and issubclass(kind, Enum):
        try:
            return kind(value)
        except ValueError:
            return _fail(mismatches, path, kind.__name__, value)
    if names_of(kind):
        return _convert_record(kind, value, path, mismatches)
    if kind is float and isinstance(value, int) and not isinstance(value, bool):
        try:
            return float(value)
        except OverflowError:
            return _fail(mismatches, path, kind.__name__, value)
    # JSON has no integers apart from numbers, but `true` is not one.
    is_bool_for_int = kind is int and isinstance(value, bool)
    if kind is not Any and (not isinstance(value, kind) or is_bool_for_int):
        return _fail(mismatches, path, kind.__name__, value)
    return value


def _convert_record(kind: Any, value: object, path: str, mismatches: list[Mismatch]) -> Any:
    if not isinstance(value, dict):
        return _fail(mismatches, path, "a map", value)
    fields = _types_of(kind)
    lead = f"{path}." if path else ""
    given = {
        name: _convert(fields[name], item, f"{lead}{name}", mismatches)
        for name, item in value.items()
        if name in fields
    }
    if any(item is _FAILED for item in given.values()):
        return _FAILED
    try:
        return kind(**given)
    except TypeError:  # a field without default is missing
        return _fail(mismatches, path, kind.__name__, sorted(value))


def _convert_union(
    kinds: tuple[Any, ...], value: object, path: str, mismatches: list[Mismatch]
) -> Any:
    if value is None and type(None) in kinds:
        return None
    attempt: list[Mismatch] = []
    for kind in kinds:
        if kind is type(None):
            continue
        attempt = []
        converted = _convert(kind, value, path, attempt)
        if not attempt:
            return converted
    mismatches += attempt  # of the last alternative
    return _FAILED


def _convert_list(
    kind: Any, origin: Any, value: object, path: str, mismatches: list[Mismatch]
) -> Any:
    if not isinstance(value, list):
        return _fail(mismatches, path, "a list", value)
    inner = typing.get_args(kind)
    if origin is tuple and inner[-1] is not Ellipsis:
        if len(inner) != len(value):
            return _fail(mismatches, path, f"a list of {len(inner)}", value)
    else:
        inner = (inner[0],) * len(value)
    items = [
        _convert(item_kind, item, f"{path}[{at}]", mismatches)
        for at, (item_kind, item) in enumerate(zip(inner, value, strict=True))
    ]
    return _FAILED if any(item is _FAILED for item in items) else origin(items)


def _fail(mismatches: list[Mismatch], path: str, expected: str, value: object) -> Any:
    mismatches.append(Mismatch(path, expected, value))
    return _FAILED


@cache
def _types_of(kind: Any) -> dict[str, Any]:
    hints = typing.get_type_hints(kind)
    return {name: hints[name] for name in names_of(kind)}
