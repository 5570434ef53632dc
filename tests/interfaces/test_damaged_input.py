"""Damaged input, row by row: what is refused stays as it is, and what works changes one place.

Each row is a STATE.md that real tools have met or mangled. It is met by one `add-decision`, one
`status` and one status line; whatever they say, they say it in time and without a traceback.
"""

import json
from pathlib import Path
from random import Random

import pytest

from tests.support.programs import Outcome, Program, fairlead, run, run_here
from tests.support.subjects import PROJECT, STATE, product_subjects

DECISION = ("state", "add-decision", "--phase", "1", "--summary", "ours", "--json")
MARKERS = b"<<<<<<< ours\nstatus: a\n=======\nstatus: b\n>>>>>>> theirs\n"
PLACEHOLDER, ENTRY = b"### Decisions\n\nNone yet.\n", b"### Decisions\n\n- [Phase 1]: ours\n"

WORKING = {
    "a plain file": lambda text: text,
    "CRLF": lambda text: text.replace(b"\n", b"\r\n"),
    "a byte order mark": lambda text: b"\xef\xbb\xbf" + text,
    "NUL bytes": lambda text: text + b"a\0b\n",
    "200,000 spaces": lambda text: _in_front(text, b"s: " + b" " * 200_000 + b"x\n"),
}
REFUSED = {
    "conflict markers in the frontmatter": (
        lambda text: text.replace(b"status: planning\n", MARKERS),
        "conflict-markers",
    ),
    "conflict markers in the body": (lambda text: text + MARKERS, "conflict-markers"),
    "an empty file": (lambda _: b"", "empty-document"),
    "4,096 random bytes": (lambda _: Random(1).randbytes(4096), "undecodable"),
    "Latin-1 bytes": (lambda text: text + b"caf\xe9\n", "undecodable"),
    "unclosed frontmatter": (
        lambda text: text.replace(b"\n---\n", b"\n", 1),
        "unclosed-frontmatter",
    ),
    "10 MB": (lambda text: text + b"a line of text\n" * 700_000, "too-large"),
    "50,000 keys": (
        lambda text: _in_front(text, b"".join(b"key%d: 1\n" % number for number in range(50_000))),
        "too-large",
    ),
    "an alias bomb": (
        lambda text: _in_front(text, b"a: &a [x]\nb: &b [*a, *a]\nc: [*b, *b]\n"),
        "frontmatter-syntax",
    ),
    "5,000 levels": (
        lambda text: _in_front(text, b"d: " + b"[" * 5000 + b"]" * 5000 + b"\n"),
        "frontmatter-syntax",
    ),
    "a line of 5 MB": (lambda text: text + b"x" * 5_000_000 + b"\n", "too-large"),
}


@pytest.fixture(scope="module")
def project(installed_command: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One project for all rows. Each row writes its own STATE.md."""
    world = tmp_path_factory.mktemp("damaged") / "world"
    product_subjects()["add-decision"].prepare(world)
    (world / PROJECT / "sound").write_bytes((world / PROJECT / STATE).read_bytes())
    return world / PROJECT


@pytest.mark.parametrize("row", WORKING)
def test_readable_input_changes_in_one_place(project: Path, row: str) -> None:
    sound = (project / "sound").read_bytes()
    (project / STATE).write_bytes(WORKING[row](sound))
    done = run_here(fairlead().command(project, *DECISION))
    assert done.code == 0, done.describe()
    assert (project / STATE).read_bytes() == WORKING[row](sound.replace(PLACEHOLDER, ENTRY))
    _answers(project, done)


@pytest.mark.parametrize("row", REFUSED)
def test_unreadable_input_is_refused_with_its_position_and_left_unchanged(
    project: Path, row: str
) -> None:
    damage, code = REFUSED[row]
    damaged = damage((project / "sound").read_bytes())
    (project / STATE).write_bytes(damaged)
    done = run_here(fairlead().command(project, *DECISION))
    document = json.loads(done.output)
    assert (done.code, document["exit_code"], document["error"]["code"]) == (3, 3, code)
    assert b"STATE.md:" in done.errors
    assert document["error"]["hint"]
    assert (project / STATE).read_bytes() == damaged
    _answers(project, done)


def _answers(project: Path, done: Outcome) -> None:
    status = run_here(fairlead().command(project, "status", "--json"))
    argv = json.loads(run_here(fairlead().command(project, "statusline", "--print-command")).output)
    message = json.dumps({"workspace": {"current_dir": str(project)}}).encode()
    line = run(Program(tuple(argv["argv"])).command(project), message=message)
    assert (status.code, line.code) == (0, 0), (status.describe(), line.describe())
    assert line.output
    assert b"Traceback" not in done.errors + status.errors + line.errors


def _in_front(text: bytes, lines: bytes) -> bytes:
    end = text.index(b"\n---\n") + 1
    return text[:end] + lines + text[end:]
