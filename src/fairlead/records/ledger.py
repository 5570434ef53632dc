"""The evidence ledger of a plan: one line an entry, each bound to the one before by its hash.

A line is canonical JSON: the same entry is the same bytes, so any changed byte is found offline.
Only a last line without its line break is the trace of a crash: it was never acknowledged and is
cut. Whoever keeps the hash of the last entry elsewhere can also tell when lines are missing at
the end.
"""

import hashlib
import json
from collections.abc import Iterator
from enum import StrEnum

from fairlead.errors import DocumentError, LedgerBroken
from fairlead.model.budget import Actual, Prices, Spent
from fairlead.text.jsontext import read_json
from fairlead.values import dataclass, names_of

GENESIS = "0" * 64
VERSION = 1
LONGEST_TAIL = 4000
_ROLES = {"executor-success": "executor", "approved": "architect", "rejected": "architect"}


class EntryKind(StrEnum):
    """What an entry is evidence of."""

    EXECUTE = "execute"
    VERIFY = "verify"
    REVIEW = "review"
    MERGE = "merge"
    SKIP = "skip"
    OVERRIDE = "override"
    ANSWER = "answer"  # of a person: to a checkpoint, or to any other question
    CALL = "call"  # a role that makes no part of a plan's work


@dataclass(frozen=True, slots=True)
class Entry:
    """One piece of evidence."""

    kind: EntryKind
    task: str  # 04-02-03; of a merge, the plan
    attempt: int
    at: str  # UTC
    actor: str  # the agent, `fairlead`, or the person
    command: str = ""
    tree: str = ""  # the git tree that it speaks of
    exit_code: int | None = None
    seconds: float = 0.0
    output_sha256: str = ""
    tail: str = ""  # the end of the output
    verdict: str = ""
    session: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int | None = None  # of those read
    estimated: bool | None = None  # the tokens, which the agent did not tell
    cost_usd: float | None = None
    prompt_characters: int | None = None
    rehearsed: bool = False
    job: str = ""
    call: str = ""  # of an agent, unlike any other's
    claim_mismatch: bool = False  # the agent said that this went well, and it did not


@dataclass(frozen=True, slots=True)
class LedgerFault:
    """What is wrong with a ledger, and where."""

    line: int
    what: str


@dataclass(frozen=True, slots=True)
class Spending:
    """What one call took, and for whom."""

    job: str
    day: str
    spent: Spent
    is_rehearsed: bool
    actual: Actual | None = None  # of a call that did its work


def spendings(text: str) -> tuple[Spending, ...]:
    """What the calls of a ledger took. Evidence is read by `read_ledger`; this only adds up."""
    found = []
    for line in text[: text.rfind("\n") + 1].splitlines():
        try:
            held = json.loads(line)
            tokens_in, tokens_out = int(held.get("tokens_in", 0)), int(held.get("tokens_out", 0))
            computed = Prices().cost(tokens_in, tokens_out, int(held.get("tokens_cached", 0)))
            usd = float(held.get("cost_usd", computed))
            asked = int(held.get("prompt_characters", 0))
            job, day = str(held.get("job", "")), str(held.get("at", ""))[:10]
        except (AttributeError, TypeError, ValueError, OverflowError, RecursionError):
            continue  # no entry of ours; whoever reads the evidence is told
        if tokens_in or tokens_out or usd:
            spent = Spent(tokens_in + tokens_out, usd)
            is_measured = asked and held.get("estimated") is not True
            role = _ROLES.get(str(held.get("verdict"))) if is_measured else None
            actual = Actual(role, asked, spent) if role else None
            found.append(Spending(job, day, spent, held.get("rehearsed") is True, actual))
    return tuple(found)


def line_of(entry: Entry, previous_hash: str = GENESIS) -> str:
    """The line of an entry that follows another."""
    told = ((name, getattr(entry, name)) for name in names_of(entry))
    held = {name: value for name, value in told if value not in ("", None)}
    held["tail"] = entry.tail[-LONGEST_TAIL:]
    record = {"v": VERSION, **held, "prev": previous_hash}
    return _canonical({**record, "hash": _hash(record)}) + "\n"


def appended(text: str, entry: Entry) -> str:
    """The line that an entry adds to a ledger; what is left of a torn line is not counted."""
    whole = text[: text.rfind("\n") + 1]
    last = whole[whole.rfind("\n", 0, -1) + 1 :]
    return line_of(entry, _record(last, whole.count("\n"))["hash"] if last else GENESIS)  # type: ignore[arg-type]


def head(text: str) -> str:
    """The hash of the last whole entry; of an empty ledger, the one that all begin with."""
    lines = text[: text.rfind("\n") + 1].splitlines()
    return str(_record(lines[-1], len(lines))["hash"]) if lines else GENESIS


def read_ledger(text: str) -> tuple[Entry, ...]:
    """The entries; raises at the first line that is not what was written."""
    found = []
    for each in _followed(text):
        if isinstance(each, LedgerFault):
            raise LedgerBroken(each.what, line=each.line)
        found.append(each)
    return tuple(found)


def check(text: str, *, ends_with: str = "") -> tuple[LedgerFault, ...]:
    """Every fault, a torn last line included; `ends_with` is a hash that must be in the chain."""
    faults = [each for each in _followed(text) if isinstance(each, LedgerFault)]
    count = text.count("\n")
    if text and not text.endswith("\n"):
        faults.append(LedgerFault(count + 1, "the last line is torn: it was never acknowledged"))
    if ends_with and ends_with != GENESIS and f'"hash":"{ends_with}"' not in text:
        faults.append(LedgerFault(count + 1, "entries are missing at the end"))
    return tuple(faults)


def _followed(text: str) -> Iterator[Entry | LedgerFault]:
    """The entries of the chain, up to the first fault in it."""
    previous = GENESIS
    for at, line in enumerate(text[: text.rfind("\n") + 1].split("\n")[:-1], 1):
        try:
            record = _record(line, at)
            entry = _entry(record, at)
        except DocumentError as error:
            yield LedgerFault(at, error.what)
            return
        told = record.pop("hash")
        if record.get("prev") != previous:
            yield LedgerFault(at, "the entry does not follow the one before it")
            return
        if told != _hash(record) or line != _canonical({**record, "hash": told}):
            yield LedgerFault(at, "the entry was changed after it was written")
            return
        previous = str(told)
        yield entry


def _record(line: str, at: int) -> dict[str, object]:
    try:
        held = _as_written(line) or read_json(line).value
    except DocumentError as error:
        raise LedgerBroken(f"is no entry: {error.what}", line=at) from None
    if not isinstance(held, dict) or not isinstance(held.get("hash"), str):
        raise LedgerBroken("is no entry: it has no hash", line=at)
    if held.get("v") != VERSION:
        raise LedgerBroken(f"is of version {held.get('v')!r}, not {VERSION}", line=at)
    return dict(held)


def _as_written(line: str) -> dict[str, object] | None:
    """The record of a line just as `line_of` writes it, which needs no strict reader any more."""
    try:
        held = json.loads(line)
        return held if isinstance(held, dict) and _canonical(held) == line else None
    except (ValueError, RecursionError):
        return None


def _entry(record: dict[str, object], at: int) -> Entry:
    keys = {name: record[name] for name in names_of(Entry) if name in record}
    try:
        return Entry(**{**keys, "kind": EntryKind(str(keys.get("kind")))})  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise LedgerBroken("is no entry: a field is missing or unknown", line=at) from None


def _hash(record: dict[str, object]) -> str:
    return hashlib.sha256(_canonical(record).encode()).hexdigest()


def _canonical(record: dict[str, object]) -> str:
    return json.dumps(record, sort_keys=True, separators=(",", ":"), allow_nan=False)
