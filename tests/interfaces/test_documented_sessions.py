"""README and tutorial, word for word in a new home: each command works and prints what is shown.

Claude Code is the real program; its model is scripted. The transcripts are in tests/golden/walks;
`make walks ARGS='-k documented --update-golden'` writes them anew.
"""

import difflib
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.documented import (
    Printed,
    Reader,
    a_checkout,
    blocks_of,
    is_true_to,
    own_packages,
    transcript,
)
from tests.support.hosts import agent_program
from tests.support.measured import MEASURED
from tests.support.model_server import DUMMY_KEY, ModelServer
from tests.support.programs import ROOT, scratch_environment
from tests.support.scripted_model import in_chat

GOLDEN = ROOT / "tests" / "golden" / "walks"
AUTHOR = "[user]\n\tname = Ada\n\temail = ada@example.com\n"


def a_reader(tmp_path: Path, folder: Path, server: ModelServer, checkout: Path) -> Reader:
    """Somebody with a new home, git, Claude Code with a key, and the command of a checkout."""
    home = tmp_path / "home"
    programs = home / ".local" / "bin"
    programs.mkdir(parents=True)
    (programs / "claude").symlink_to(agent_program("claude"))
    (home / ".gitconfig").write_text(AUTHOR, "utf-8")
    scratch = scratch_environment(tmp_path)
    environment = {
        "HOME": str(home),
        "PATH": f"{checkout / '.venv' / 'bin'}:{programs}:{scratch['PATH']}",
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "TMPDIR": str(tmp_path),
        "ANTHROPIC_BASE_URL": server.url,
        "ANTHROPIC_API_KEY": DUMMY_KEY,
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "CLAUDE_CODE_MAX_RETRIES": "0",
        "DISABLE_AUTOUPDATER": "1",
        **own_packages(os.environ),
    }
    masks = [(str(home), "~"), (str(checkout), "CHECKOUT"), (str(tmp_path), "…")]
    return Reader(folder, environment, masks)


def walk(page: str, reader: Reader) -> list[str]:
    """Type every command of a page; what differs from the page."""
    differing: list[str] = []
    for block in blocks_of((ROOT / page).read_text("utf-8")):
        for step in () if block.reason else block.steps:
            done = reader.type(step.command)
            if not done.is_as_announced:
                differing.append(f"{page}: `{step.command}` ended with {done.code}")
            if step.shown and not is_true_to(step.shown, done.lines):
                differing.append(f"{page}:{block.line}: `{step.command}` printed\n" + _text(done))
    return differing


def _text(done: Printed) -> str:
    return "\n".join(f"    {line}" for line in done.lines)


def require_golden(name: str, text: str, config: pytest.Config) -> None:
    """Compare a transcript with its golden file, or write it."""
    path = GOLDEN / f"{name}.txt"
    if config.getoption("--update-golden"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, "utf-8")
    golden = path.read_text("utf-8").splitlines() if path.exists() else []
    difference = difflib.unified_diff(golden, text.splitlines(), "golden", "now", lineterm="")
    assert not (found := "\n".join(difference)), found


@pytest.mark.walk
def test_the_tutorial_runs_as_it_is_written(tmp_path: Path, pytestconfig: pytest.Config) -> None:
    (tmp_path / "work").mkdir()
    with ModelServer(in_chat) as server:
        reader = a_reader(tmp_path, tmp_path / "work", server, ROOT)
        differing = walk("docs/tutorial.md", reader)
    require_golden("tutorial", transcript(reader.printed), pytestconfig)
    assert not differing, "\n".join(differing)


@pytest.mark.walk
def test_the_readme_runs_as_it_is_written(
    tmp_path: Path, pytestconfig: pytest.Config, record_property: Callable[[str, object], None]
) -> None:
    checkout = a_checkout(tmp_path / "checkout")
    with ModelServer(in_chat) as server:
        reader = a_reader(tmp_path, checkout, server, checkout)
        first = reader.type("make env && fairlead")
        assert first.code == 0, _text(first)
        reader.printed.clear()
        differing = walk("README.md", reader)
    demo = next(each for each in reader.printed if each.command == "make demo")
    record_property(MEASURED, f"{first.seconds:.0f} s from a clone to the first screen")
    record_property(MEASURED, f"{demo.seconds:.0f} s for make demo after it")
    require_golden("readme", transcript(reader.printed), pytestconfig)
    assert not differing, "\n".join(differing)
