"""The documentation site: `make site` builds it, and refuses what a reader would stumble over."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.support.documented import own_packages
from tests.support.programs import ROOT

pytestmark = pytest.mark.walk

MKDOCS = ROOT / ".venv" / "site" / "bin" / "mkdocs"


def made(*words: str, folder: Path = ROOT) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **own_packages(os.environ), "NO_MKDOCS_2_WARNING": "1"}
    return subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)


FAULTS = {
    "a broken link": ("tutorial.md", "[gone](gone.md)", "'gone.md'"),
    "a missing anchor": ("tutorial.md", "[gone](guides/hosts.md#gone)", "#gone"),
    "a page outside the navigation": ("unlisted.md", "# Unlisted", "unlisted.md"),
}


def test_the_site_is_built_and_planted_faults_stop_the_build(tmp_path: Path) -> None:
    # One test: two builds at once would share the environment and the result.
    done = made("make", "site")
    assert done.returncode == 0, done.stdout + done.stderr
    docs = ROOT / "docs"
    pages = [path.relative_to(docs).with_suffix(".html") for path in docs.rglob("*.md")]
    assert [page for page in pages if not (ROOT / "site" / page).is_file()] == []
    for number, (name, text, said) in enumerate(FAULTS.values()):
        done = built_with(tmp_path / str(number), name, text)
        assert done.returncode != 0, said
        assert said in done.stdout + done.stderr


def built_with(folder: Path, name: str, text: str) -> subprocess.CompletedProcess[str]:
    """The outcome of a build in which a page has one more paragraph."""
    shutil.copytree(ROOT / "docs", folder / "docs")
    shutil.copy(ROOT / "mkdocs.yml", folder)
    with (folder / "docs" / name).open("a", encoding="utf-8") as page:
        page.write(f"\n{text}\n")
    return made(str(MKDOCS), "build", "--strict", "--site-dir", str(folder / "site"), folder=folder)
