"""Evidence: the ledgers of plans, checked offline and told to people."""

from __future__ import annotations

from collections.abc import Iterator

from fairlead.errors import DocumentError
from fairlead.model.inventory import Inventory
from fairlead.records.ledger import Entry, check, read_ledger
from fairlead.records.summary import read_summary
from fairlead.store import layout
from fairlead.store.load import Reader
from fairlead.values import dataclass


@dataclass(frozen=True, slots=True)
class LedgerFinding:
    """A place in a ledger that is not what was written."""

    path: str
    line: int
    what: str

    @property
    def message(self) -> str:
        """The finding as a line."""
        return f"{self.path}:{self.line}: {self.what}"


@dataclass(frozen=True, slots=True)
class LedgerCheck:
    """All ledgers of a project."""

    is_clean: bool
    ledgers: int
    entries: int
    findings: tuple[LedgerFinding, ...]


def check_ledgers(reader: Reader, inventory: Inventory) -> LedgerCheck:
    """Check every ledger, and that it holds what the summary of its plan was written upon."""
    promised = dict(_promised(reader, inventory))
    names = [each for each in reader.names(layout.LEDGER) if each.endswith(layout.LEDGER_SUFFIX)]
    paths = dict.fromkeys([f"{layout.LEDGER}/{name}" for name in names])
    findings: list[LedgerFinding] = []
    entries = 0
    for path in (*paths, *(each for each in promised if each not in paths)):
        try:
            text = reader.load(path).text if path in paths else ""
        except DocumentError as error:
            findings.append(LedgerFinding(path, error.line or 1, error.what))
            continue
        entries += text.count("\n")
        faults = check(text, ends_with=promised.get(path, ""))
        findings += [LedgerFinding(path, fault.line, fault.what) for fault in faults]
    return LedgerCheck(not findings, len(paths), entries, tuple(findings))


def evidence_of(reader: Reader, plan: str, workstream: str = "") -> Iterator[tuple[str, str, str]]:
    """Every entry of a plan's ledger: its place, its time, and what it says."""
    path = layout.ledger_path(plan, workstream)
    try:
        loaded = reader.load_if_present(path)
        entries = read_ledger(loaded.text) if loaded else ()
    except DocumentError as error:
        yield f"{path}:{error.line or 1}", "", f"the evidence cannot be trusted: {error.what}"
        return
    for at, entry in enumerate(entries, 1):
        yield f"{path}:{at}", entry.at, told(entry)


def told(entry: Entry) -> str:
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
    if entry.tokens_in or entry.tokens_out:
        parts.append(f"{entry.tokens_in + entry.tokens_out:,} tokens")
    if entry.cost_usd is not None:
        parts.append(f"${entry.cost_usd:.2f}")
    return ", ".join((*parts, *(("rehearsed",) if entry.rehearsed else ())))


def _promised(reader: Reader, inventory: Inventory) -> Iterator[tuple[str, str]]:
    """The hash that the summary of a plan names, by the path of the plan's ledger."""
    for folder in (*inventory.folders, *inventory.archived):
        for plan in folder.plans:
            try:
                loaded = reader.load_for_display(plan.summary) if plan.summary else None
            except DocumentError:
                continue
            named = read_summary(loaded.text).ledger if loaded else ""
            if named:
                yield layout.ledger_path(plan.id, inventory.workstream), named
