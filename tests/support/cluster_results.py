"""The result of a phase without times and ids, and how two results differ.

Ledgers are compared entry by entry, with all fields, and summaries line by line. Plans land in the
order in which they end, which differs between runs with several slots: commits are therefore
compared as a set with their messages and files, and in order only within each plan.
"""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

from fairlead.jobs.ledger import read_ledger
from tests.support.repositories import git

LEDGER, SUMMARIES, COMMITS, FILES = "ledger", "summaries", "commits", "files"
_VARYING = re.compile(
    r"\b[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[T ][0-9:.+Z]+)?|\x22?\b[0-9a-f]{7,64}\b\x22?"
    r"|\b[0-9]+(?:\.[0-9]+)? ?(?:s|min|m)\b|\bexecute-[0-9]+-[0-9-]+"
)
_WORKER = re.compile(r"(?:; )?on the worker [^;]+")  # where a command ran
_UNRECORDED = ("at", "call", "hash", "job", "prev", "seconds", "session", "tree")  # times and ids
_PLAN = re.compile(r"[a-z]+\((01-[0-9]+)\)")
_SHOWN = 6  # differences of one part
Result = Mapping[str, Sequence[str]]


def result_of(project: Path) -> dict[str, list[str]]:
    """Ledger, summaries, commits and files of a project whose first phase was executed."""
    planning = project / ".planning"
    ledgers = sorted((planning / "ledger").glob("*.jsonl"))
    summaries = sorted((planning / "phases/01-work").glob("*-SUMMARY.md"))
    return {
        LEDGER: [
            f"{path.name} {at}: {line}"
            for path in ledgers
            for at, line in enumerate(ledger_lines(path.read_text("utf-8")))
        ],
        SUMMARIES: [
            f"{path.name}: {line}"
            for path in summaries
            for line in without_times(path.read_text("utf-8")).splitlines()
        ],
        COMMITS: [*sorted(_commits(project)), *_orders(project)],
        FILES: [
            line
            for line in git(project, "ls-tree", "-r", "HEAD").splitlines()
            if ".planning/" not in line
        ],
    }


def without_times(text: str) -> str:
    """A text in which times and ids are replaced."""
    return _VARYING.sub("#", text)


def ledger_lines(text: str) -> list[str]:
    """The entries of a ledger without times and ids, in their order."""
    read_ledger(text)  # raises if the chain is broken
    lines = []
    for line in text.splitlines():
        entry = {name: value for name, value in json.loads(line).items() if name not in _UNRECORDED}
        entry["note"] = _WORKER.sub("", str(entry.get("note") or ""))
        lines.append(json.dumps({name: _plain(name, entry[name]) for name in sorted(entry)}))
    return lines


def _plain(name: str, value: object) -> object:
    """A value of an entry without times and ids; 0 and 0.0 are the same number."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    is_text = isinstance(value, str) and name != "output_sha256"
    return without_times(str(value)) if is_text else value


def _commits(project: Path) -> list[str]:
    """The message and the files of each commit; of documents only that it has some."""
    shown = git(project, "log", "-m", "--first-parent", "--name-status", "--format=%x00%B%x01")
    sides = git(project, "log", "--no-merges", "--name-status", "--format=%x00%B%x01")
    found = []
    for each in {*shown.split("\0"), *sides.split("\0")} - {""}:
        message, _, listed = each.partition("\x01")
        files = {name if ".planning/" not in name else "documents" for name in listed.split("\n")}
        found.append(f"{without_times(' '.join(message.split()))} {sorted(files - {''})}")
    return found


def _orders(project: Path) -> list[str]:
    """The first-parent history of each plan, in its order."""
    orders: dict[str, list[str]] = {}
    for subject in git(project, "log", "--first-parent", "--reverse", "--format=%s").splitlines():
        if found := _PLAN.match(subject):
            orders.setdefault(found[1], []).append(subject)
    return [f"{plan}: {' < '.join(order)}" for plan, order in sorted(orders.items())]


def landing_order(project: Path) -> tuple[str, ...]:
    """The plans in the order in which they landed."""
    subjects = git(project, "log", "--first-parent", "--reverse", "--format=%s").splitlines()
    found = (_PLAN.match(each) for each in subjects if each.startswith("merge("))
    return tuple(each[1] for each in found if each)


def differences(local: Result, other: Result) -> list[str]:
    """What only one of two results has; nothing: they are equal."""
    found = []
    for part in sorted({*local, *other}):
        mine, theirs = list(local.get(part, ())), list(other.get(part, ()))
        if mine == theirs:
            continue
        missing, added = Counter(mine) - Counter(theirs), Counter(theirs) - Counter(mine)
        lines = [f"{part}: only locally: {each}" for each in missing.elements()]
        lines += [f"{part}: only on workers: {each}" for each in added.elements()]
        lines = lines or [f"{part}: the same entries in another order"]
        found += lines[:_SHOWN]
        found += [f"{part}: {len(lines) - _SHOWN} more"] if len(lines) > _SHOWN else []
    return found
