"""What a worker may claim: every report is checked here before anything of it is used.

Pure: the facts about the attempt come from the server, and those about the commit from the shared
repository, never from the worker.
"""

from __future__ import annotations

from collections.abc import Iterator

from fairlead.agents.model import EndKind
from fairlead.cluster.model import (
    LONGEST_PAYLOAD,
    PROTOCOL,
    CallKind,
    CallOrder,
    CallReport,
    SentText,
    is_worker,
    own_version,
)
from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass

LARGEST_TREE = 1 << 30  # bytes that one call may add or change
MOST_FILES = 100_000  # that one call may add, change or delete
_LARGEST = 1e15  # a number that a driver on this machine would believe
_LARGEST_CODE = 1 << 32
_LONGEST_NAME = 1000
_DIGEST = lazy_pattern(r"(?:[0-9a-f]{64})?")


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
    if not is_worker(report.worker):
        return f"it is of no worker: {report.worker!r}"
    for name, number, least, largest in _numbers(report):
        if not least <= number <= largest:  # also if it is no number
            return f"its {name} is {number!r:.40}"
    for name, text in _names(report):
        if len(text) > _LONGEST_NAME:
            return f"its {name} has {len(text):,} characters, more than {_LONGEST_NAME:,}"
    return _result_fault(report) or _command_fault(report)


def _result_fault(report: CallReport) -> str:
    result = report.result
    if result is None:
        return ""
    if result.kind is EndKind.OK and result.exit_code not in (0, None):
        return f"it claims success with exit code {result.exit_code}"
    if result.text or result.lost:
        return "its result has values that only the coordinator sets"
    if report.text.text and report.text.object:
        return "it has two answers"
    return ""


def _command_fault(report: CallReport) -> str:
    command = report.command
    if command is None:
        return ""
    if report.ref or report.text != SentText():
        return "it has files or an answer, and a command has neither"
    if command.is_stopped:  # who is stopped sends no report
        return "it claims that the command was stopped"
    if command.exit_code == 0 and (command.is_timeout or command.problem):
        return "it claims exit code 0 for a command that did not end by itself"
    if not _DIGEST.fullmatch(command.sha256):
        return f"its sha256 is {command.sha256[:64]!r}"
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


def weight_fault(files: int, size: int) -> str:
    """Why a tree is not written to a worktree; empty: it may be."""
    if files > MOST_FILES:
        return f"its tree changes {files:,} files, more than {MOST_FILES:,}"
    if size > LARGEST_TREE:
        return f"its tree adds or changes {size:,} bytes, more than {LARGEST_TREE:,}"
    return ""


def _numbers(report: CallReport) -> Iterator[tuple[str, float, float, float]]:
    """Every number of a report with its name, and the least and largest that is believed."""
    result, command = report.result, report.command
    if command:
        yield "exit code", command.exit_code, -_LARGEST_CODE, _LARGEST_CODE
        yield "duration", command.seconds, 0, _LARGEST
    if result is None:
        return
    yield "exit code", result.exit_code or 0, -_LARGEST_CODE, _LARGEST_CODE
    usage = result.usage
    for name, number in (
        ("number of tokens", usage.tokens_in),
        ("number of tokens", usage.tokens_out),
        ("number of tokens", usage.tokens_cached),
        ("cost", result.cost_usd or 0.0),
        ("duration", result.seconds),
        ("time to wait", result.retry_after or 0.0),
        ("number of dropped bytes", result.dropped_bytes),
        ("number of malformed lines", result.malformed_lines),
        ("length of the prompt", result.prompt_characters),
    ):
        yield name, number, 0, _LARGEST


def _names(report: CallReport) -> Iterator[tuple[str, str]]:
    """The short texts of a report, with what they are."""
    if report.result:
        yield "session", report.result.session
        yield "model", report.result.model
        yield from (("name of a tool", each) for each in report.result.denied)
