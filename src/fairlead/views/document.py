"""One result or error as a JSON document: version, outcome, then the members of the value."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from json.encoder import encode_basestring
from typing import Any

from fairlead.core.errors import DocumentError, FairleadError
from fairlead.core.values import names_of
from fairlead.text.printable import is_unseen

JSON_VERSION = 1

_ENCODER = json.JSONEncoder(ensure_ascii=False, default=str)
_PLAIN_TYPES = frozenset({str, int, bool, type(None)})


def document(content: Any) -> dict[str, Any]:
    """A result as a document. `content` is a dict, or a value whose fields become members."""
    return {"version": JSON_VERSION, "ok": True, **members(content)}


def error_document(error: FairleadError) -> dict[str, Any]:
    """An error as a document: code, message and hint; for documents, the position too."""
    body = {"code": error.code, "message": str(error), "hint": error.hint}
    # Other errors have a path in their message only: scripts rely on the keys of each error.
    is_located = isinstance(error, DocumentError)
    position = fields(error, "path", "line", "column") if is_located else {}
    content = {"version": JSON_VERSION, "ok": False, "exit_code": error.exit_code}
    return {**content, "error": {**body, **position}}


def fields(value: object, *names: str) -> dict[str, Any]:
    """The named attributes of a value."""
    return {name: getattr(value, name) for name in names}


def members(content: Any) -> Mapping[str, Any]:
    """The members of a dict, or the fields of a value."""
    if isinstance(content, dict):
        return content
    return {name: getattr(content, name) for name in names_of(content)}


def json_text(content: Mapping[str, Any]) -> str:
    """A document as indented JSON in which every character can be seen."""
    return _escape_invisible(_json(content, "\n"))


def _json(value: Any, indent: str) -> str:
    """A value as indented JSON. The standard encoder is slow when it indents large reports."""
    if isinstance(value, str):
        return encode_basestring(value)
    if isinstance(value, int):
        return str(value).lower()  # True and False are ints, and JSON writes them in lower case
    inner = indent + "  "
    if isinstance(value, list | tuple):
        items = [_json(item, inner) for item in value]
        return f"[{inner}{f',{inner}'.join(items)}{indent}]" if items else "[]"
    if isinstance(value, dict) or names_of(value):
        content = members(value)
        if content and _PLAIN_TYPES.issuperset(map(type, content.values())):
            return f"{{{inner}{_flat_encoder(inner)(content)[1:-1]}{indent}}}"
        pairs = [f"{_json(key, indent)}: {_json(item, inner)}" for key, item in content.items()]
        return f"{{{inner}{f',{inner}'.join(pairs)}{indent}}}" if pairs else "{}"
    return _ENCODER.encode(value)


@cache
def _flat_encoder(indent: str) -> Callable[[Any], str]:
    """The fast encoder for objects without nested values, one member per line."""
    return json.JSONEncoder(ensure_ascii=False, separators=(f",{indent}", ": ")).encode


def _escape_invisible(text: str) -> str:
    r"""Replace invisible characters in a JSON document, except line breaks, by \u escapes."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text  # the usual case; checking every character takes ten times as long
    escapes = {
        ord(character): _json_escape(character)
        for character in set(text) - {"\n"}
        if is_unseen(character)
    }
    return text.translate(escapes) if escapes else text


def _json_escape(character: str) -> str:
    number = ord(character)
    if number < 0x10000:
        return f"\\u{number:04x}"
    number -= 0x10000  # JSON escapes other planes as a surrogate pair
    return f"\\u{0xD800 + (number >> 10):04x}\\u{0xDC00 + (number & 0x3FF):04x}"
