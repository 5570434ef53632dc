"""The corpus of real projects beside the repository; tests that need it are skipped without it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

SHARED = Path(__file__).resolve().parents[3] / "shared"
CORPUS = SHARED / "corpus"


def corpus_projects() -> list[Path]:
    """The project folders of the corpus; skips the test where there is none."""
    if not CORPUS.is_dir():
        pytest.skip("the corpus of real projects is not beside this repository")
    return sorted(path.parent for path in CORPUS.glob("*/.planning"))


def real_projects() -> list[Path]:
    """The project folders of the corpus and of the labelled set; empty where there are none."""
    return sorted(
        path.parent for kind in ("corpus", "wild") for path in SHARED.glob(f"{kind}/*/.planning")
    )


def corpus_documents() -> Iterator[tuple[Path, str]]:
    """Every Markdown document of the corpus that is UTF-8."""
    for project in corpus_projects():
        for path in sorted(project.rglob("*.md")):
            try:
                yield path, path.read_bytes().decode()
            except UnicodeDecodeError:
                continue
