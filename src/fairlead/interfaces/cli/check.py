"""`fairlead check`: the places where the planning documents and the files differ."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from fairlead.app import App
from fairlead.core.ids import stream_words
from fairlead.interfaces.cli.options import json_option, with_app, workstream_option
from fairlead.interfaces.cli.output import (
    Line,
    Styled,
    counted,
    report,
    terminal_width,
    with_workstream,
    wrapped_lines,
)
from fairlead.project.health.findings import FindingKind
from fairlead.views.check import check_view

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fairlead.jobs.ledger import LedgerCheck
    from fairlead.project.health.check import DocumentComparison
    from fairlead.project.overview import FindingReport

_HAS_FINDINGS = 1
_UNCHECKED = (FindingKind.UNREAD, FindingKind.NO_PHASES, FindingKind.SCOPE)
_LISTED_FILES = 5
_LISTED_FINDINGS = 3  # with the same cause
_READABLE_WIDTH = 110
_INDENT = 4


@click.command(epilog="Example: fairlead check || fairlead doctor")
@click.option(
    "--all", "show_all", is_flag=True, help="List every finding, even with the same cause."
)
@click.option("--ledger", is_flag=True, help="Check the recorded evidence of the plans instead.")
@workstream_option
@json_option
@with_app
def check(app: App, *, show_all: bool, ledger: bool, workstream: str, as_json: bool) -> int:
    """Check that the planning documents match the files. Exit code 1 if they differ.

    Each finding has a stable code, a position and the files it is based on. Nothing is changed;
    use `fairlead doctor` to repair.
    """
    if ledger:
        return _check_ledgers(app.ledgers(workstream), as_json=as_json)
    comparisons = app.overview.comparisons(workstream)
    found = check_view(comparisons)
    width = terminal_width()
    lines = finding_lines(found.findings, show_all=show_all, width=width)
    for name, comparison in comparisons.items():
        if comparison.drift:
            lines += wrapped((advice_of(app, name, comparison),), width)
    if found.is_clean:
        text = f"{agreement(found.findings)} ({found.scope})."
        lines += wrapped((Styled("✓ ", "green"), text), width)
    report(found, lines, as_json=as_json)
    return 0 if found.is_clean else _HAS_FINDINGS


def advice_of(app: App, workstream: str, comparison: DocumentComparison) -> str:
    """The number of differences in one workstream, and the command that repairs them."""
    from fairlead.project.health.doctor import RepairMethod  # not needed when nothing differs

    repairs = app.doctor.repairs(workstream, comparison)
    is_fixable = any(
        repair.finding.is_drift and repair.means is RepairMethod.FIX for repair in repairs
    )
    advice = "Repair with: fairlead doctor --fix" if is_fixable else "For advice: fairlead doctor"
    return f"{counted(len(comparison.drift), 'difference')}. {advice}{stream_words(workstream)}"


def agreement(findings: Iterable[FindingReport]) -> str:
    """What is known when nothing differs: parts that could not be checked are not covered."""
    if any(finding.code in _UNCHECKED for finding in findings):
        return "What could be checked matches the files"
    return "The documents match the files"


def _check_ledgers(ledger_check: LedgerCheck, *, as_json: bool) -> int:
    lines: list[Line] = [(finding.message,) for finding in ledger_check.findings]
    if ledger_check.is_clean:
        text = f"{ledger_check.entries} entries in {ledger_check.ledgers} ledgers are unchanged."
        lines.append((Styled("✓ ", "green"), text))
    else:
        lines.append(
            (f"{len(ledger_check.findings)} faults. Compare with a backup or with git log.",)
        )
    report(ledger_check, lines, as_json=as_json)
    return 0 if ledger_check.is_clean else _HAS_FINDINGS


def finding_lines(
    findings: Iterable[FindingReport], *, show_all: bool, width: int | None = None
) -> list[Line]:
    """The findings with one cause as one group, then what could not be checked, by reason.

    `width` is that of the terminal; None for a pipe.
    """
    causes: dict[tuple[str, ...], list[FindingReport]] = {}
    reasons: dict[tuple[str, str], list[FindingReport]] = {}
    for finding in findings:
        if finding.is_drift:
            causes.setdefault(finding.because, []).append(finding)
        else:
            reasons.setdefault((finding.code, finding.said), []).append(finding)
    lines: list[Line] = []
    for because, group in causes.items():
        # One cause shows in many places; the first ones are enough to see what it is.
        shown = (
            group if show_all or len(group) <= _LISTED_FINDINGS + 1 else group[:_LISTED_FINDINGS]
        )
        for finding in shown:
            lines += wrapped((finding.message, Styled(f"  [{finding.code}]", "yellow")), width)
        if hidden := len(group) - len(shown):
            command = Styled(f"   {with_workstream('fairlead check --all')}", "dim")
            lines += wrapped((f"… and {hidden} more with the same cause", command), width)
        lines += _because_lines(because, width)
    for (code, _), group in reasons.items():
        more = f" (and {len(group) - 1} more)" if len(group) > 1 else ""
        lines += wrapped((group[0].message + more, Styled(f"  [{code}]", "dim")), width)
        lines += _because_lines(group[0].because, width)
    return lines


def _because_lines(because: tuple[str, ...], width: int | None) -> list[Line]:
    indent = " " * _INDENT
    lines: list[Line] = [(Styled(indent + path, "dim"),) for path in because[:_LISTED_FILES]]
    if len(because) > _LISTED_FILES:
        lines.append((Styled(f"{indent}… and {len(because) - _LISTED_FILES} more", "dim"),))
    if width is None:
        return lines  # a path in a pipe is on one line, however long it is
    return [row for line in lines for row in wrapped(line, width, 2 * _INDENT)]


def wrapped(line: Line, width: int | None, indent: int = _INDENT) -> list[Line]:
    """A line in rows of a readable width, none wider than the terminal; None for a pipe."""
    readable = min(width or _READABLE_WIDTH, _READABLE_WIDTH)
    return wrapped_lines(line, readable, indent, breaks_words=width is not None)
