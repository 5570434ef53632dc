"""The evidence ledger of a plan, its check, and the spending according to it.

Each line is one entry and contains the hash of the line before. A line is canonical JSON, so every
changed byte can be detected offline. Only a last line without a line break is the trace of a crash:
it was never acknowledged and is cut. The summary of a plan names the hash of its last entry, which
shows when lines are missing at the end.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from enum import StrEnum

from fairlead.agents.budget import Actual, Cost, Prices
from fairlead.core.errors import DocumentError
from fairlead.core.values import dataclass, names_of
from fairlead.jobs.errors import LedgerBroken
from fairlead.jobs.model import Job
from fairlead.jobs.paths import LEDGER, LEDGER_SUFFIX, ledger_path
from fairlead.plans.model import ON_WORKER
from fairlead.project.derive.inventory import Inventory
from fairlead.project.summary import read_summary
from fairlead.store.digests import DerivedCache, signatures_in
from fairlead.store.files import Files
from fairlead.store.reader import Reader
from fairlead.text.json_edit import read_json

GENESIS = "0" * 64
VERSION = 1
LONGEST_TAIL = 4000  # characters of output in an entry
_ROLES = {"executor-success": "executor", "approved": "architect", "rejected": "architect"}
MERGED = "on the merged tree"  # how the note of a verify run on merged code begins


class EntryKind(StrEnum):
    """The kinds of evidence."""

    EXECUTE = "execute"
    VERIFY = "verify"
    REVIEW = "review"
    MERGE = "merge"
    SKIP = "skip"
    OVERRIDE = "override"
    ANSWER = "answer"  # of a person: to a checkpoint, or to any other question
    CALL = "call"  # of a role, for no plan


_PAID = (EntryKind.EXECUTE, EntryKind.REVIEW, EntryKind.CALL)


@dataclass(frozen=True, slots=True)
class LedgerEntry:
    """One entry of a ledger."""

    kind: EntryKind
    task: str  # 04-02-03; of a merge, the plan
    attempt: int
    at: str  # UTC
    actor: str  # the agent, `fairlead`, or the person
    command: str = ""
    tree: str = ""  # the git tree it is about
    exit_code: int | None = None
    seconds: float = 0.0
    output_sha256: str = ""
    tail: str = ""  # the end of the output
    verdict: str = ""
    session: str = ""
    model: str = ""
    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int | None = None  # of those read
    estimated: bool | None = None  # the agent does not report its tokens
    cost_usd: float | None = None
    prompt_characters: int | None = None
    rehearsed: bool = False
    job: str = ""
    call: str = ""  # the unique name of a call
    claim_mismatch: bool = False  # the agent reported success, and it failed
    note: str = ""  # a remark, such as dependency folders that the agent made


@dataclass(frozen=True, slots=True)
class LedgerFault:
    """A fault in a line of a ledger."""

    line: int
    what: str


@dataclass(frozen=True, slots=True)
class CallCost:
    """The cost of one call, and its job."""

    job: str
    day: str
    spent: Cost
    is_rehearsed: bool
    actual: Actual | None = None  # of a call that did its work


def spendings(text: str) -> tuple[CallCost, ...]:
    """The cost of each call in a ledger; unlike `read_ledger` this checks no hashes."""
    costs = []
    for line in text[: text.rfind("\n") + 1].splitlines():
        try:
            entry = json.loads(line)
            tokens_in, tokens_out = int(entry.get("tokens_in", 0)), int(entry.get("tokens_out", 0))
            computed = Prices().cost(tokens_in, tokens_out, int(entry.get("tokens_cached", 0)))
            usd = float(entry.get("cost_usd", computed))
            characters = int(entry.get("prompt_characters", 0))
            job, day = str(entry.get("job", "")), str(entry.get("at", ""))[:10]
        except (AttributeError, TypeError, ValueError, OverflowError, RecursionError):
            continue  # not an entry; `read_ledger` reports it
        if tokens_in or tokens_out or usd:
            spent = Cost(tokens_in + tokens_out, usd)
            is_measured = characters and entry.get("estimated") is not True
            role = _ROLES.get(str(entry.get("verdict"))) if is_measured else None
            actual = Actual(role, characters, spent) if role else None
            costs.append(CallCost(job, day, spent, entry.get("rehearsed") is True, actual))
    return tuple(costs)


@dataclass(frozen=True, slots=True)
class PaidCall:
    """One call of a job, as `job show` lists it."""

    call: str  # the task, or the key of a role's call
    kind: str
    agent: str
    model: str
    at: str
    seconds: float
    tokens: int
    cost_usd: float
    verdict: str
    is_estimated: bool = False  # the agent did not report what it used


def paid_calls(reader: Reader, job: Job) -> tuple[PaidCall, ...]:
    """Every call that a job paid for, the oldest first, according to the ledgers."""
    calls = (_paid_call(entry) for entry in _entries_of(reader, job) if entry.kind in _PAID)
    return tuple(sorted(calls, key=lambda call: call.at))


def trusted_runs(reader: Reader, job: Job) -> int:
    """How many verify runs on merged code took place on workers, whose results were trusted."""
    notes = (entry.note for entry in _entries_of(reader, job) if entry.kind is EntryKind.VERIFY)
    return sum(note.startswith(MERGED) and ON_WORKER in note for note in notes)


def _entries_of(reader: Reader, job: Job) -> Iterator[LedgerEntry]:
    paths = (*(ledger_path(plan, job.workstream) for plan in job.plans), ledger_path(job.id))
    for path in paths:
        loaded = reader.load_for_display(path)
        entries = _readable_entries(loaded.text if loaded else "")
        yield from (entry for entry in entries if entry.job == job.id)


def _readable_entries(text: str) -> Iterator[LedgerEntry]:
    """The entries up to the first fault, which `check --ledger` reports."""
    for entry in _chain(text):
        if isinstance(entry, LedgerEntry):
            yield entry


def _paid_call(entry: LedgerEntry) -> PaidCall:
    usd = entry.cost_usd
    if usd is None:
        usd = Prices().cost(entry.tokens_in, entry.tokens_out, entry.tokens_cached or 0)
    tokens = entry.tokens_in + entry.tokens_out
    return PaidCall(
        call=entry.task,
        kind=str(entry.kind),
        agent=entry.actor,
        model=entry.model,
        at=entry.at,
        seconds=entry.seconds,
        tokens=tokens,
        cost_usd=usd,
        verdict=entry.verdict,
        is_estimated=bool(entry.estimated) or entry.cost_usd is None,
    )


def line_of(entry: LedgerEntry, previous_hash: str = GENESIS) -> str:
    """The line of an entry, bound to the hash before it."""
    values = ((name, getattr(entry, name)) for name in names_of(entry))
    fields = {name: value for name, value in values if value not in ("", None)}
    fields["tail"] = entry.tail[-LONGEST_TAIL:]
    record = {"v": VERSION, **fields, "prev": previous_hash}
    return _canonical({**record, "hash": _hash(record)}) + "\n"


def appended(text: str, entry: LedgerEntry) -> str:
    """The line that an entry adds to a ledger; a torn last line is not counted."""
    return line_of(entry, head(text))


def head(text: str) -> str:
    """The hash of the last complete entry; of an empty ledger, the genesis hash."""
    complete = text[: text.rfind("\n") + 1]
    last = complete[complete.rfind("\n", 0, -1) + 1 :]
    return str(_record(last, complete.count("\n"))["hash"]) if last else GENESIS


def read_ledger(text: str) -> tuple[LedgerEntry, ...]:
    """The entries; raises at the first line that was changed."""
    entries = []
    for entry in _chain(text):
        if isinstance(entry, LedgerFault):
            raise LedgerBroken(entry.what, line=entry.line)
        entries.append(entry)
    return tuple(entries)


def check(text: str, *, ends_with: str = "") -> tuple[LedgerFault, ...]:
    """Every fault, including a torn last line; `ends_with` is a hash that must be in the chain."""
    faults = [each for each in _chain(text) if isinstance(each, LedgerFault)]
    count = text.count("\n")
    if text and not text.endswith("\n"):
        faults.append(LedgerFault(count + 1, "the last line is torn: it was never acknowledged"))
    if ends_with and ends_with != GENESIS and f'"hash":"{ends_with}"' not in text:
        faults.append(LedgerFault(count + 1, "entries are missing at the end"))
    return tuple(faults)


def _chain(text: str) -> Iterator[LedgerEntry | LedgerFault]:
    """The entries of the chain, up to the first fault."""
    previous = GENESIS
    for at, line in enumerate(text[: text.rfind("\n") + 1].split("\n")[:-1], 1):
        try:
            record = _record(line, at)
            entry = _entry(record, at)
        except DocumentError as error:
            yield LedgerFault(at, error.message)
            return
        stored_hash = record.pop("hash")
        if record.get("prev") != previous:
            yield LedgerFault(at, "the entry does not follow the one before it")
            return
        if stored_hash != _hash(record) or line != _canonical({**record, "hash": stored_hash}):
            yield LedgerFault(at, "the entry was changed after it was written")
            return
        previous = str(stored_hash)
        yield entry


def _record(line: str, at: int) -> dict[str, object]:
    try:
        record = _as_written(line) or read_json(line).value
    except DocumentError as error:
        raise LedgerBroken(f"is not an entry: {error.message}", line=at) from None
    if not isinstance(record, dict) or not isinstance(record.get("hash"), str):
        raise LedgerBroken("is not an entry: it has no hash", line=at)
    if record.get("v") != VERSION:
        raise LedgerBroken(f"is of version {record.get('v')!r}, not {VERSION}", line=at)
    return dict(record)


def _as_written(line: str) -> dict[str, object] | None:
    """The record of a canonical line; such a line needs no strict reader."""
    try:
        record = json.loads(line)
        return record if isinstance(record, dict) and _canonical(record) == line else None
    except (ValueError, RecursionError):
        return None


def _entry(record: dict[str, object], at: int) -> LedgerEntry:
    keys = {name: record[name] for name in names_of(LedgerEntry) if name in record}
    try:
        return LedgerEntry(**{**keys, "kind": EntryKind(str(keys.get("kind")))})  # type: ignore[arg-type]
    except (TypeError, ValueError):
        raise LedgerBroken("is not an entry: a field is missing or unknown", line=at) from None


def _hash(record: dict[str, object]) -> str:
    return hashlib.sha256(_canonical(record).encode()).hexdigest()


def _canonical(record: dict[str, object]) -> str:
    return json.dumps(record, sort_keys=True, separators=(",", ":"), allow_nan=False)


def _total(costs: Sequence[Cost]) -> Cost:
    """The sum; a long run asks for it often, so no values are made on the way."""
    return Cost(sum(each.tokens for each in costs), sum((each.usd for each in costs), 0.0))


class Spending:
    """What jobs spent, according to the ledgers; an unchanged ledger is not read again."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._costs = DerivedCache(self._read)

    def spent(self, job: Job, today: str) -> tuple[Cost, Cost]:
        """By this job, and by all jobs today; rehearsals are counted apart."""
        return self.by(job.id, today, is_rehearsed=job.is_rehearsed)

    def by(self, job: str, day: str, *, is_rehearsed: bool) -> tuple[Cost, Cost]:
        """By a job, which may not exist yet, and by all jobs on a day."""
        mine = [each for each in self._all() if each.is_rehearsed == is_rehearsed]
        own = [each.spent for each in mine if job and each.job == job]
        return _total(own), _total([each.spent for each in mine if each.day == day])

    def today(self, day: str, *, is_rehearsed: bool) -> Cost:
        """By all executions and workflows on a day."""
        return self.by("", day, is_rehearsed=is_rehearsed)[1]

    def by_day(self) -> dict[str, Cost]:
        """By all executions and workflows that were not rehearsed, for each day."""
        days: dict[str, Cost] = {}
        for each in self._all():
            if not each.is_rehearsed:
                days[each.day] = days.get(each.day, Cost()) + each.spent
        return days

    def actuals(self, *, is_rehearsed: bool) -> tuple[Actual, ...]:
        """The cost of the calls that succeeded, to estimate the next."""
        mine = (each.actual for each in self._all() if each.is_rehearsed == is_rehearsed)
        return tuple(each for each in mine if each)

    def _all(self) -> Iterator[CallCost]:
        for costs in self._costs.all_of(signatures_in(self._files.folder, LEDGER)).values():
            yield from costs

    def _read(self, path: str) -> tuple[CallCost, ...]:
        loaded = self._files.load_for_display(path)
        return spendings(loaded.text if loaded else "")


@dataclass(frozen=True, slots=True)
class LedgerFinding:
    """A fault in a line of a ledger file."""

    path: str
    line: int
    what: str

    @property
    def message(self) -> str:
        """The finding as a line."""
        return f"{self.path}:{self.line}: {self.what}"


@dataclass(frozen=True, slots=True)
class LedgerCheck:
    """The result of checking all ledgers of a project."""

    is_clean: bool
    ledgers: int
    entries: int
    findings: tuple[LedgerFinding, ...]


def check_ledgers(reader: Reader, inventory: Inventory) -> LedgerCheck:
    """Check every ledger, and that it holds the entry that the summary of its plan names."""
    named = dict(_named_hashes(reader, inventory))
    names = [each for each in reader.names(LEDGER) if each.endswith(LEDGER_SUFFIX)]
    paths = dict.fromkeys([f"{LEDGER}/{name}" for name in names])
    findings: list[LedgerFinding] = []
    entries = 0
    for path in (*paths, *(each for each in named if each not in paths)):
        try:
            text = reader.load(path).text if path in paths else ""
        except DocumentError as error:
            findings.append(LedgerFinding(path, error.line or 1, error.message))
            continue
        entries += text.count("\n")
        faults = check(text, ends_with=named.get(path, ""))
        findings += [LedgerFinding(path, fault.line, fault.what) for fault in faults]
    return LedgerCheck(not findings, len(paths), entries, tuple(findings))


def evidence_of(reader: Reader, plan: str, workstream: str = "") -> Iterator[tuple[str, str, str]]:
    """Every entry of a plan's ledger: its place, its time, and a description."""
    path = ledger_path(plan, workstream)
    try:
        loaded = reader.load_if_present(path)
        entries = read_ledger(loaded.text) if loaded else ()
    except DocumentError as error:
        yield f"{path}:{error.line or 1}", "", f"the evidence cannot be trusted: {error.message}"
        return
    for line, entry in enumerate(entries, 1):
        yield f"{path}:{line}", entry.at, entry_text(entry)


def entry_text(entry: LedgerEntry) -> str:
    """An entry in one line."""
    parts = [f"{entry.kind} {entry.task}, attempt {entry.attempt}, by {entry.actor}"]
    if entry.command:
        parts.append(f"`{entry.command}`")
    if entry.exit_code is not None:
        parts.append(f"exit {entry.exit_code}")
    if entry.seconds:
        parts.append(f"{entry.seconds:.1f} s")
    if entry.verdict:
        parts.append(entry.verdict)
    if entry.note:
        parts.append(entry.note)
    if entry.tokens_in or entry.tokens_out:
        parts.append(f"{entry.tokens_in + entry.tokens_out:,} tokens")
    if entry.cost_usd is not None:
        parts.append(f"${entry.cost_usd:.2f}")
    return ", ".join((*parts, *(("rehearsed",) if entry.rehearsed else ())))


def _named_hashes(reader: Reader, inventory: Inventory) -> Iterator[tuple[str, str]]:
    """The hash that the summary of each plan names, by the path of the plan's ledger."""
    for folder in (*inventory.folders, *inventory.archived):
        for plan in folder.plans:
            try:
                loaded = reader.load_for_display(plan.summary) if plan.summary else None
            except DocumentError:
                continue
            last_hash = read_summary(loaded.text).ledger if loaded else ""
            if last_hash:
                yield ledger_path(plan.id, inventory.workstream), last_hash
