"""Hostile texts in every place of a project, shown by every command that can show them.

Each text has a tag before and after it, so that a text that was never shown does not count as shown
safely.
"""

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.support.payloads import Payload
from tests.support.programs import Command, Program, run
from tests.support.sweep import Finding
from tests.support.terminal import faults_in, run_on_terminal
from tests.support.trees import put_tree

_NOT_IN_A_NAME = re.compile(rb"[\0/\n]")
_LONGEST_NAME = 120

# The places for a text in STATE.md, each with its line.
STATE_PLACES = (
    rb"(?m)^milestone_name: .*$",
    rb"(?m)^stopped_at: .*$",
    rb"(?m)^Phase: .*$",
    rb"(?m)^Plan: .*$",
    rb"(?m)^Status: .*$",
    rb"(?m)^Last activity: .*$",
    rb"(?m)^Progress: .*$",
)
DECISIONS = 3
SETTINGS = 24
OTHER_PLACES = ("title", "folder", "staging", "user setting")
PLAIN = (999, Payload("plain", b"plain"))
ATTEMPTS = 3
MORE_COMMANDS = (
    ("state", "add-decision", "--phase", "1", "--summary", "other", "--dry-run"),
    ("config", "list", "--json"),
    ("config", "get", "x0"),
    ("config", "set", "mode", "yolo", "--dry-run"),
    ("init", "again", "--yes"),
    ("-C", "missing", "status"),
    ("completion", "bash"),
)
FEWER = 8
PLACES = len(STATE_PLACES) + DECISIONS + SETTINGS + len(OTHER_PLACES)


@dataclass(frozen=True, slots=True)
class Look:
    """The output of the commands for one project with planted texts."""

    findings: tuple[Finding, ...]
    shown: frozenset[int]  # the numbers of the texts that appeared in some output
    outputs: int


def look_at_all(
    program: Program, source: Path, scratch: Path, texts: Sequence[tuple[int, Payload]]
) -> Look:
    """Plant all texts, a few per project; plant texts that were not shown once more elsewhere."""
    findings: list[Finding] = []
    shown: set[int] = set()
    outputs = 0
    for attempt in range(ATTEMPTS):
        left = [(number, payload) for number, payload in texts if number not in shown]
        size = PLACES if attempt == 0 else FEWER  # one text can hide its neighbours
        for start in range(0, len(left), size):
            folder = scratch / f"{attempt}-{start}"
            folder.mkdir()
            skipped = [PLAIN] * (FEWER * attempt + 2 * attempt)
            look = look_at(program, source, folder, [*skipped, *left[start : start + size]])
            findings += look.findings
            shown |= look.shown
            outputs += look.outputs
    return Look(tuple(findings), frozenset(shown), outputs)


def look_at(
    program: Program,
    source: Path,
    scratch: Path,
    planted: Sequence[tuple[int, Payload]],
    *,
    thoroughly: bool = False,
) -> Look:
    """Plant texts in a copy of a project and show it with every command."""
    world = put_tree(source, scratch / "w")
    folder = plant(world, planted)
    findings, shown, outputs = [], set(), 0
    for name, output, is_terminal in _outputs(program, folder, thoroughly=thoroughly):
        outputs += 1
        findings += [Finding(name, fault) for fault in faults_in(output, is_terminal=is_terminal)]
        shown |= {number for number, _ in planted if _tag(number) in output}
    return Look(tuple(findings), frozenset(shown), outputs)


def plant(world: Path, planted: Sequence[tuple[int, Payload]]) -> Path:
    """Put the texts into their places; return the project's folder."""
    texts = iter([tagged(number, payload) for number, payload in planted])
    project = world / "project"
    state = project / ".planning" / "STATE.md"
    content = state.read_bytes()
    for place in STATE_PLACES:
        content = _with_value(content, place, next(texts, b"plain"))
    decisions = [b"- [Phase 1]: " + next(texts, b"plain") for _ in range(DECISIONS)]
    content = content.replace(b"None yet.\n", b"\n".join(decisions) + b"\n", 1)
    state.write_bytes(content)
    settings = {f"x{number}": _as_text(next(texts, b"plain")) for number in range(SETTINGS)}
    settings[_as_text(next(texts, b"plain"))] = "a hostile key"
    (project / ".planning" / "config.json").write_text(json.dumps(settings), "ascii")
    (project / ".planning" / "PROJECT.md").write_bytes(b"# " + next(texts, b"plain") + b"\n")
    staging = project / ".planning" / ".fairlead"
    staged = b"x-0123456789abcdef.old.new." + _as_name(next(texts, b"plain"))
    Path(os.fsdecode(bytes(staging) + b"/" + staged)).write_bytes(b"planted")
    renamed = os.fsdecode(bytes(world) + b"/" + _as_name(next(texts, b"plain")))
    os.rename(project, renamed)
    return Path(renamed)


def tagged(number: int, payload: Payload) -> bytes:
    """A text between its tags."""
    return _tag(number) + payload.content + b"E"


def _outputs(
    program: Program, folder: Path, *, thoroughly: bool
) -> Iterator[tuple[str, bytes, bool]]:
    decision = ("state", "add-decision", "--phase", "1", "--summary", "plain")
    for arguments in (
        ("status", "--json"),
        ("config", "list"),
        decision,
        *(MORE_COMMANDS if thoroughly else ()),
    ):
        done = run(_at(program, folder, arguments))
        yield " ".join(arguments[:3]), done.output + done.errors, False
    _, output = run_on_terminal(_at(program, folder, ("status",)))
    yield "status on a terminal", output, True


def _at(program: Program, folder: Path, arguments: tuple[str, ...]) -> Command:
    return program.command(folder, *arguments)


def _with_value(content: bytes, place: bytes, text: bytes) -> bytes:
    def replaced(match: re.Match[bytes]) -> bytes:
        return match[0].split(b": ")[0] + b": " + text

    return re.sub(place, replaced, content, count=1)


def _tag(number: int) -> bytes:
    return f"T{number:03}T".encode()


def _as_text(text: bytes) -> str:
    """As text for JSON: an undecodable byte becomes a lone surrogate."""
    return text.decode("utf-8", "surrogateescape")


def _as_name(text: bytes) -> bytes:
    return _NOT_IN_A_NAME.sub(b"-", text)[:_LONGEST_NAME]
