"""The map of a code base that was there before the project: found by code, asked of nobody."""

from __future__ import annotations

from datetime import datetime

from fairlead.errors import DocumentError
from fairlead.records.codebase import MANIFESTS, CodeMap, code_map, pages
from fairlead.store import layout_daily
from fairlead.store.load import Reader
from fairlead.store.sources import sources_of

_MOST_MANIFESTS = 30


def mapped(reader: Reader) -> CodeMap:
    """Which files, languages, tests and entry points there are."""
    found = sources_of(reader.folder)
    named = [each for each in found.paths if each.rpartition("/")[2] in MANIFESTS]
    texts = {path: _text(reader, path) for path in named[:_MOST_MANIFESTS]}
    return code_map(found.paths, texts, is_cut=found.is_cut)


def map_documents(found: CodeMap, now: datetime) -> dict[str, str]:
    """The map as documents of the project's memory, by their paths."""
    written = pages(found, f"{now:%Y-%m-%d}") if found.is_code else {}
    return {f"{layout_daily.CODEBASE}/{name}": text for name, text in written.items()}


def _text(reader: Reader, path: str) -> str:
    try:
        loaded = reader.load_for_display(path)
    except DocumentError:
        return ""
    return loaded.text if loaded else ""
