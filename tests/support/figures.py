"""Figures of test runs, kept in a folder that git ignores.

The quick tests store their counts here, so that `make test` never changes a tracked file. `make
prove` collects them when it writes the page of proofs.
"""

import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path

from tests.support.programs import ROOT

CACHE = ROOT / ".cache"
QUICK = CACHE / "prove" / "quick"
PRODUCT = ("src/fairlead",)


def cache_folder(*parts: str) -> Path:
    """A folder below the cache, with a .gitignore of its own."""
    folder = CACHE.joinpath(*parts)
    folder.mkdir(parents=True, exist_ok=True)
    ignore = CACHE / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", "utf-8")
    return folder


def fingerprint(covers: Iterable[str] = PRODUCT) -> str:
    """A short hash of the source that a figure is about."""
    total = hashlib.sha256()
    for cover in covers:
        top = ROOT / cover
        files = [top] if top.is_file() else sorted(top.rglob("*"))
        for path in files:
            if path.is_file() and "__pycache__" not in path.parts:
                total.update(f"{path.relative_to(ROOT)}\0".encode())
                total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()[:12]


def write_json(path: Path, value: object) -> None:
    """Write to a temporary file, then rename: a reader never sees half a file."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(json.dumps(value, indent=1, sort_keys=True) + "\n", "utf-8")
    os.replace(beside, path)


def read_json(path: Path) -> dict[str, object]:
    """The stored object; empty if there is none."""
    try:
        value = json.loads(path.read_text("utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def today() -> str:
    """The current date."""
    return datetime.now(UTC).date().isoformat()


def record_quick(name: str, claim: str, counts: Mapping[str, object]) -> None:
    """Store the figures of one quick proof for the page of proofs."""
    try:
        folder = cache_folder("prove", "quick")
        figures = {
            "name": name,
            "claim": claim,
            "counts": dict(counts),
            "date": today(),
            "source": fingerprint(),
        }
        write_json(folder / f"{name}.json", figures)
    except OSError:
        return  # the tree may be read-only
