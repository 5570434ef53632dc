"""The places where the planning documents and the files differ."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from fairlead.core.values import dataclass
from fairlead.project.derive.scope import Certainty, Scope
from fairlead.project.overview import FindingReport, finding_report

if TYPE_CHECKING:
    from fairlead.project.health.check import DocumentComparison


@dataclass(frozen=True, slots=True)
class CheckView:
    """The findings of one check."""

    is_clean: bool
    scope: str
    certainty: str
    findings: tuple[FindingReport, ...]


def check_view(comparisons: Mapping[str, DocumentComparison]) -> CheckView:
    """The findings of all workstreams, given the comparison of each."""
    scopes = [
        f"{name}: {comparison.position.scope.words}" if name else comparison.position.scope.words
        for name, comparison in comparisons.items()
    ]
    findings = tuple(
        finding_report(finding)
        for comparison in comparisons.values()
        for finding in comparison.findings
    )
    return CheckView(
        is_clean=not any(finding.is_drift for finding in findings),
        scope="; ".join(scopes),
        certainty=_least_certain(each.position.scope for each in comparisons.values()),
        findings=findings,
    )


def _least_certain(scopes: Iterable[Scope]) -> str:
    """The certainty of the scope that is settled least."""
    order = list(Certainty)
    return str(max((scope.certainty for scope in scopes), key=order.index))
