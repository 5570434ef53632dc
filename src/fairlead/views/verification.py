"""The verification of a phase: checks, findings, gaps, and what only a person can judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fairlead.views.document import fields

if TYPE_CHECKING:
    from fairlead.verification.service import VerificationReport


def verification_view(done: VerificationReport, *, dry_run: bool) -> dict[str, Any]:
    """The verification of a phase as recorded, or as a preview."""
    if dry_run:
        return {**_members(done), "dry_run": True}
    return {**_members(done), "ok": done.status == "passed", "dry_run": False}


def _members(done: VerificationReport) -> dict[str, Any]:
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
