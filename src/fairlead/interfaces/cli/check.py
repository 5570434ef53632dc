"""`fairlead check`: where the documents say something that the files do not."""

from collections.abc import Iterable, Sequence

import click

from fairlead.engine.evidence import LedgerCheck
from fairlead.engine.reports import FindingReport, finding_report
from fairlead.engine.truth import Truth
from fairlead.interfaces.cli.options import json_option, with_app, workstream_option
from fairlead.interfaces.cli.show import Part, Styled, counted, report
from fairlead.model.divergence import Kind
from fairlead.model.ids import stream_words
from fairlead.wiring import App

_FOUND = 1
_SHOWN_FILES = 5


@click.command(epilog="Example: fairlead check || fairlead doctor")
@click.option("--ledger", is_flag=True, help="Check the evidence of the plans instead.")
@workstream_option
@json_option
@with_app
def check(app: App, *, ledger: bool, workstream: str, as_json: bool) -> int:
    """Hold the documents against the files. Exit code 1 when they differ.

    Every finding has a stable code, a place and the files behind it. Nothing is changed;
    `fairlead doctor` repairs.
    """
    if ledger:
        return _ledgers(app.overview.ledgers(workstream), as_json=as_json)
    truths = app.overview.truths(workstream)
    scopes = [
        f"{name}: {truth.standing.scope.words}" if name else truth.standing.scope.words
        for name, truth in truths.items()
    ]
    findings = [finding_report(each) for truth in truths.values() for each in truth.findings]
    is_clean = not any(finding.is_drift for finding in findings)
    content = {"is_clean": is_clean, "scope": "; ".join(scopes), "findings": findings}
    lines: list[Sequence[Part]] = []
    for finding in findings:
        lines += _lines(finding)
    for name, truth in truths.items():
        if truth.drift:
            lines.append((_how(app, name, truth),))
    if is_clean:
        told = f"{agreement(findings)} ({'; '.join(scopes)})."
        lines.append((Styled("✓ ", "green"), told))
    report(content, lines, as_json=as_json)
    return 0 if is_clean else _FOUND


def _how(app: App, workstream: str, truth: Truth) -> str:
    """What to do about the differences of one memory."""
    from fairlead.engine.doctor import Means  # only where something differs

    repairs = app.doctor.repairs(workstream, truth)
    is_fixable = any(each.finding.is_drift and each.means is Means.FIX for each in repairs)
    how = "Repair with: fairlead doctor --fix" if is_fixable else "What to do: fairlead doctor"
    return f"{counted(len(truth.drift), 'difference')}. {how}{stream_words(workstream)}"


def agreement(findings: Iterable[FindingReport]) -> str:
    """What may be said of documents in which nothing differs; more of them than was read may not."""
    if any(each.code == Kind.UNREAD for each in findings):
        return "What was understood of the documents is what the files say"
    return "The documents say what the files say"


def _ledgers(found: LedgerCheck, *, as_json: bool) -> int:
    lines: list[Sequence[Part]] = [(each.message,) for each in found.findings]
    if found.is_clean:
        told = f"{found.entries} entries in {found.ledgers} ledgers are what was written."
        lines.append((Styled("✓ ", "green"), told))
    else:
        lines.append((f"{len(found.findings)} faults. Compare with your backups or with git log.",))
    report(found, lines, as_json=as_json)
    return 0 if found.is_clean else _FOUND


def _lines(finding: FindingReport) -> list[Sequence[Part]]:
    style = "yellow" if finding.is_drift else "dim"
    lines: list[Sequence[Part]] = [(finding.message, Styled(f"  [{finding.code}]", style))]
    lines += [(Styled(f"    {path}", "dim"),) for path in finding.because[:_SHOWN_FILES]]
    if len(finding.because) > _SHOWN_FILES:
        lines.append((Styled(f"    … and {len(finding.because) - _SHOWN_FILES} more", "dim"),))
    return lines
