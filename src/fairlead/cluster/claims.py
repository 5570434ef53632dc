"""What a worker may claim: every report is checked here before anything of it is used.

Pure: the facts about the attempt come from the server, and those about the commit from the shared
repository, never from the worker.
"""

from __future__ import annotations

from fairlead.agents.model import EndKind
from fairlead.cluster.model import (
    LONGEST_PAYLOAD,
    PROTOCOL,
    CallKind,
    CallOrder,
    CallReport,
    own_version,
)
from fairlead.core.values import dataclass

LARGEST_TREE = 1 << 30  # bytes that one call may add or change


@dataclass(frozen=True, slots=True)
class PushedCommit:
    """The commit at the ref of an attempt, as the shared repository shows it."""

    commit: str = ""
    tree: str = ""
    parents: tuple[str, ...] = ()


def size_fault(text: str) -> str:
    """Why a report is not even read; empty: it may be."""
    if len(text) <= LONGEST_PAYLOAD:
        return ""
    return f"its payload has {len(text):,} characters, more than {LONGEST_PAYLOAD:,}"


def claim_fault(order: CallOrder, digest: str, attempt: int, report: CallReport) -> str:
    """Why a report is refused, from the report alone; empty: it is about this call."""
    address = order.address
    if (report.version, report.protocol) != (own_version(), PROTOCOL):
        return f"the worker has version {report.version}, not {own_version()}"
    if report.call != address.id or report.digest != digest:
        return f"it is the result of another call: {report.call}"
    if report.attempt != attempt:
        return f"it is of attempt {report.attempt}, and the server reports attempt {attempt}"
    is_agent = order.kind is CallKind.AGENT
    if (report.result is None) is is_agent or (report.command is None) is not is_agent:
        return "it has no result of this kind of call"
    if report.ref not in ("", address.output_ref(attempt)):
        return f"it names a ref outside its own: {report.ref}"
    if bool(report.ref) != bool(report.commit) or (report.commit and not report.tree):
        return "it names a ref without a commit and a tree"
    result, command = report.result, report.command
    if result and result.kind is EndKind.OK and result.exit_code not in (0, None):
        return f"it claims success with exit code {result.exit_code}"
    if result and (result.text or result.lost or min(_counts(report), default=0) < 0):
        return "its result has values that only the coordinator sets"
    if command and command.exit_code == 0 and (command.is_timeout or command.problem):
        return "it claims exit code 0 for a command that did not end by itself"
    return ""


def tree_fault(order: CallOrder, report: CallReport, pushed: PushedCommit) -> str:
    """Why the tree of a report is refused; empty: it is exactly what its own ref holds."""
    if pushed.commit != report.commit:
        return f"its ref holds {pushed.commit[:12] or 'nothing'}, not {report.commit[:12]}"
    if pushed.tree != report.tree:
        return f"it claims another tree: {report.tree[:12]} instead of {pushed.tree[:12]}"
    if pushed.parents != (order.source.commit,):
        return f"its commit does not follow {order.source.commit[:12]}"
    return ""


def weight_fault(size: int) -> str:
    """Why a tree is not written to a worktree; empty: it may be."""
    if size <= LARGEST_TREE:
        return ""
    return f"its tree adds or changes {size:,} bytes, more than {LARGEST_TREE:,}"


def _counts(report: CallReport) -> tuple[float, ...]:
    assert report.result is not None
    usage = report.result.usage
    cost = report.result.cost_usd or 0.0
    return usage.tokens_in, usage.tokens_out, usage.tokens_cached, cost, report.result.seconds
