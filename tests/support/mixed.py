"""Concurrent writers of every verb, and readers beside them: nothing is lost or seen torn.

Every writer starts one process per step. A step may carry a tag: an acknowledged tag must be in a
file afterwards, a refused one must not. Steps that remove something are counted apart, because they
may remove the work of another writer.
"""

import json
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.programs import Command, Outcome, Program, fairlead, run
from tests.support.subjects import FINISHED, PROJECT, product_subjects
from tests.support.trees import documents, read_tree

LAST_LINE = b"the last line, by a person\n"
WATCHED = (".planning/STATE.md", ".planning/ROADMAP.md")
HALF_A_SECOND = 0.5
# Refused by the rules of the project (unknown, in use, unmet): an answer, not a fault.
ANSWERS = frozenset({0, 2, 4, 6})
LONG_WAIT = ("config", "set", "fairlead.lock_wait_seconds", "600")

KEEPING = (
    "state add-decision --phase 1 --summary TAG",
    "state add-blocker --text TAG",
    "state add-roadmap-evolution --note TAG",
    "phase add TAG",
    "phase insert 1 TAG",
    "state gate start --task TAG --phase 1 --session TAG",
    "capture TAG",
)
PASSING = (
    "state sync",
    "doctor --fix",
    "state record-session --stopped-at here",
    "state set Status Testing",
    "state record-metric --phase 1 --plan 1 --duration 12m",
    "state planned-phase --phase 1",
    "state begin-phase --phase 1",
    "state advance-plan",
    "state task-result success --task T",
    "state gate executor-success --session nobody",
    "state pause --at noon",
    "state resume",
    "pause noon",
    "resume",
    "state wait --question Which?",
    "state wait --clear",
    "state prune --lines 60",
    "state complete-phase --phase 1",
    "state resolve-blocker --text nothing-like-it",
    "roadmap update-progress",
    "phase complete 1",
    "milestone new v9.9 Later",
    "config set mode yolo",
    "merge-driver --register",
    "init Other --yes",
)
TAKING_BACK = (
    "undo",
    "phase remove 1.1 --force",
    "milestone complete v1.0 --force --reason enough",
)


@dataclass(frozen=True, slots=True)
class Step:
    """One process of one writer."""

    words: tuple[str, ...]
    tag: str = ""
    takes_back: bool = False


@dataclass(frozen=True, slots=True)
class Mixed:
    """The result of a crowd."""

    steps: int
    acknowledged: int
    looks: int
    taken_back: int
    findings: tuple[str, ...]


def plan(writers: int, steps: int, *, taking_back: bool = False) -> list[list[Step]]:
    """The steps of each writer: half of them leave a tag, and every verb occurs."""
    passing = [*PASSING, *(TAKING_BACK if taking_back else ())]
    planned = []
    for writer in range(writers):
        mine = []
        for number in range(steps):
            turn = writer * steps + number
            tag = f"w{writer}x{number}x"  # no tag is a part of another
            verbs = KEEPING if turn % 2 else passing
            verb = verbs[turn // 2 % len(verbs)]
            words = tuple(tag if word == "TAG" else word for word in verb.split())
            mine.append(Step(words, tag if "TAG" in verb else "", verb in TAKING_BACK))
        planned.append(mine)
    return planned


def prepared(world: Path) -> Path:
    """A project with a finished phase, whose documents end with a handwritten line."""
    product_subjects()["add-decision"].prepare(world)
    project = world / PROJECT
    for path, text in FINISHED.items():
        place = project / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
    for name in WATCHED:
        with (project / name).open("ab") as file:
            file.write(b"\n" + LAST_LINE)
    assert run(fairlead().command(project, *LONG_WAIT)).code == 0
    return project


def mixed_crowd(project: Path, planned: Sequence[Sequence[Step]], program: Program) -> Mixed:
    """Run all writers at once, with readers beside them, and account for every step."""

    def write(steps: Sequence[Step]) -> list[tuple[Step, Outcome]]:
        return [(step, run(program.command(project, *step.words), patience=900)) for step in steps]

    with _readers(project) as (looks, seen), ThreadPoolExecutor(len(planned)) as pool:
        outcomes = [pair for pairs in pool.map(write, planned) for pair in pairs]
    found = [*seen, *unaccounted(project, outcomes), *torn_in(project)]
    done = run(program.command(project, "doctor", "--fix", "--json"))
    if done.code not in (0, 3):
        found.append(f"afterwards doctor does not work ({done.describe()})")
    acknowledged = sum(outcome.code == 0 for _, outcome in outcomes)
    taken = sum(step.takes_back and outcome.code == 0 for step, outcome in outcomes)
    return Mixed(len(outcomes), acknowledged, len(looks), taken, tuple(found))


def unaccounted(project: Path, outcomes: Sequence[tuple[Step, Outcome]]) -> list[str]:
    """Acknowledged tags that are missing, refused tags that are present, wrong exit codes."""
    tree = documents(read_tree(project))
    content = b"\n".join(name.encode() + b"\n" + text for name, text in tree.items())
    found = [
        f"{' '.join(step.words)}: {outcome.describe()}"
        for step, outcome in outcomes
        if outcome.code not in ANSWERS or "Traceback" in outcome.text
    ]
    tags = [(step.tag, outcome.code == 0) for step, outcome in outcomes if step.tag]
    lost = [tag for tag, is_acknowledged in tags if is_acknowledged and tag.encode() not in content]
    taken = sum(step.takes_back and outcome.code == 0 for step, outcome in outcomes)
    if len(lost) > taken:
        found.append(f"{len(lost)} acknowledged updates are not there: {', '.join(lost[:5])}")
    ghosts = [
        tag for tag, is_acknowledged in tags if not is_acknowledged and tag.encode() in content
    ]
    found += [f"{tag} was refused, yet it is there" for tag in ghosts]
    return found


def torn_in(project: Path) -> list[str]:
    """The documents that are incomplete at this time."""
    found = []
    for name in WATCHED:
        content = (project / name).read_bytes()
        if not content.startswith((b"---\n", b"# ")) or LAST_LINE not in content:
            found.append(f"{name} was seen torn: {len(content)} bytes")
    return found


@contextmanager
def _readers(project: Path) -> Iterator[tuple[list[int], list[str]]]:
    """Readers that read until the block ends: their findings, and the number of reads."""
    is_over = threading.Event()
    looks: list[int] = []
    seen: list[str] = []
    ours = fairlead()

    def keep(look: Callable[[], list[str]], pace: float) -> None:
        while not is_over.is_set():
            seen.extend(look())
            looks.append(1)
            is_over.wait(pace)

    line = _status_line(project)
    looking: list[tuple[Callable[[], list[str]], float]] = [
        (lambda: torn_in(project), 0.002),
        (lambda: _line_faults(line, project), HALF_A_SECOND),
        (lambda: _answer_faults(ours.command(project, "status", "--json"), {0}), HALF_A_SECOND),
        (lambda: _answer_faults(ours.command(project, "doctor", "--json"), {0, 1}), HALF_A_SECOND),
    ]
    threads = [threading.Thread(target=keep, args=pair) for pair in looking]
    for thread in threads:
        thread.start()
    try:
        yield looks, seen
    finally:
        is_over.set()
        for thread in threads:
            thread.join()


def _status_line(project: Path) -> Program:
    printed = run(fairlead().command(project, "statusline", "--print-command"))
    return Program(tuple(json.loads(printed.output)["argv"]))


def _line_faults(line: Program, project: Path) -> list[str]:
    message = json.dumps({"workspace": {"current_dir": str(project)}, "model": {}}).encode()
    done = run(line.command(project), message=message)
    is_line = done.output.strip() != b"" and done.output.count(b"\n") <= 1
    fine = done.code == 0 and not done.errors and is_line
    return [] if fine else [f"the status line: {done.describe()} {done.output!r}"]


def _answer_faults(command: Command, codes: set[int]) -> list[str]:
    done = run(command)
    try:
        json.loads(done.output)
    except ValueError:
        return [f"no JSON from {' '.join(command.words[1:])}: {done.describe()}"]
    return [] if done.code in codes else [f"{' '.join(command.words[1:])}: {done.describe()}"]
