"""The arguments of tools: frozen values, their JSON schemas, and reading what a client sends."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from enum import Enum
from typing import Any, TypeVar

from fairlead.core.serialization import Mismatch, convert
from fairlead.core.values import names_of
from fairlead.interfaces.mcp.errors import BadArguments

Arguments = TypeVar("Arguments")

_LONGEST = 20_000  # characters of one argument
_TYPES = {str: "string", bool: "boolean", int: "integer"}


def input_schema(kind: type) -> dict[str, Any]:
    """The JSON schema of a class of arguments."""
    types, required = typing.get_type_hints(kind), required_names(kind)
    properties: dict[str, Any] = {}
    for name in names_of(kind):
        declared = types[name]
        if issubclass(declared, Enum):
            properties[name] = {"enum": [str(each.value) for each in declared]}
        else:
            properties[name] = {"type": _TYPES[declared]}
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    return schema | {"additionalProperties": False}


def required_names(kind: Any) -> list[str]:
    """The arguments without a default."""
    defaults = kind.__shape__.defaults
    return [name for name in names_of(kind) if name not in defaults]


def read_arguments(
    tool: str, kind: type[Arguments], given: Mapping[str, object] | None
) -> Arguments:
    """What a client sent, as a value; everything that does not fit is refused at once."""
    given = dict(given or {})
    known = names_of(kind)
    problems = [f"{name!r} is not an argument" for name in given if name not in known]
    problems += [f"{name} is missing" for name in required_names(kind) if name not in given]
    problems += [
        f"{name}: {fault}" for name, value in given.items() if (fault := _text_fault(value))
    ]
    arguments, mismatches = convert(kind, given)
    problems += [f"{each.path}: {_expected(kind, each)}" for each in mismatches if each.path]
    if problems or arguments is None:
        raise BadArguments(tool, tuple(problems) or ("they are not an object",))
    return arguments


def _expected(kind: type, mismatch: Mismatch) -> str:
    declared = typing.get_type_hints(kind).get(mismatch.path)
    if isinstance(declared, type) and issubclass(declared, Enum):
        return f"expected one of {', '.join(str(each.value) for each in declared)}"
    return mismatch.reason


def _text_fault(value: object) -> str:
    if not isinstance(value, str):
        return ""
    if len(value) > _LONGEST:
        return f"is longer than {_LONGEST} characters"
    try:
        value.encode()
    except UnicodeEncodeError:
        return "is not valid text"
    return "" if "\0" not in value else "contains a null character"
