"""Findings with their repairs, the verification of a phase, and the agents of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairlead.project.health.findings import FindingKind
from fairlead.project.overview import finding_report
from fairlead.views.document import fields

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from fairlead.project.health.doctor import RepairProposal
    from fairlead.store.files import WriteOutcome
    from fairlead.verification.service import VerificationReport


def doctor_view(
    repairs: Sequence[RepairProposal], command: Callable[[str], str] = str
) -> dict[str, Any]:
    """Every finding with its repair. `command` completes a command with the options in use."""
    is_clean = not any(repair.finding.is_drift for repair in repairs)
    return {"findings": _repairs(repairs, command), "is_clean": is_clean}


def repaired_view(
    outcome: WriteOutcome,
    left: Sequence[RepairProposal],
    command: Callable[[str], str] = str,
    *,
    dry_run: bool,
) -> dict[str, Any]:
    """What a repair changed, and what a person has to repair."""
    drift = [repair for repair in left if repair.finding.is_drift]
    return {
        "changed": list(outcome.paths),
        "dry_run": dry_run,
        "notices": [*unread_documents(left), *(str(notice) for notice in outcome.notices)],
        "left": [] if dry_run else _repairs(drift, command),
    }


def unread_documents(repairs: Sequence[RepairProposal]) -> list[str]:
    """Documents that could not be read, so that no derived value considers them."""
    findings = [repair.finding for repair in repairs]
    return [
        str(finding)
        for finding in findings
        if finding.kind is FindingKind.DOCUMENT and not finding.is_drift
    ]


def agents_view(
    agents: Sequence[object],
    answers: Sequence[object],
    asking_cost: str,
    logins: Mapping[str, str],
) -> dict[str, Any]:
    """The agents that were found, their logins, and what those that were asked have answered."""
    return {
        "agents": list(agents),
        "logins": {name: str(login) for name, login in logins.items()},
        "answers": list(answers),
        "price_of_asking": asking_cost,
    }


def _repairs(
    repairs: Sequence[RepairProposal], command: Callable[[str], str]
) -> list[dict[str, object]]:
    return [
        {
            "finding": finding_report(repair.finding),
            "means": str(repair.means),
            "repair": command(repair.how),
        }
        for repair in repairs
    ]


def verification_view(done: VerificationReport, *, dry_run: bool) -> dict[str, Any]:
    """The verification of a phase as recorded, or as a preview."""
    if dry_run:
        return {**_verification_members(done), "dry_run": True}
    return {**_verification_members(done), "ok": done.status == "passed", "dry_run": False}


def _verification_members(done: VerificationReport) -> dict[str, Any]:
    result, target = done.result, done.target
    verified, total = result.score
    return {
        "phase": target.phase.id.short,
        "name": target.phase.name,
        "status": done.status,
        "score": {"verified": verified, "total": total},
        "checks": [
            fields(check, "kind", "what", "state", "evidence", "detail", "plan")
            for check in result.checks
        ],
        "findings": [
            {
                **fields(finding, "rule", "key", "path", "line", "why", "cure"),
                "blocking": finding.is_blocking,
                "accepted": finding.key in result.accepted,
            }
            for finding in result.findings
        ],
        "gaps": [fields(gap, "id", "truth", "reason", "path") for gap in done.gaps],
        "human": [fields(check, "test", "expected", "why") for check in result.waiting],
        "overrides": list(result.overrides),
        "commands": [
            {"plan": command.plan, "command": command.line} for command in target.commands
        ],
        "approved": target.is_approved,
        "file": target.path,
        "plans": list(done.plans),
        "changed": list(done.written.paths),
        "changed_since": list(done.changed),
        "rehearsed": target.is_rehearsed,
        "notes": list(done.notes),
    }
