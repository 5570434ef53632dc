"""Plans, summaries and verifications, as far as the derivation needs them.

Works on bytes and looks before it parses: of ten thousand files nearly all are settled by one
search for a word.
"""

from dataclasses import dataclass

from fairlead.model.inventory import Proof
from fairlead.text.quick import read_front


@dataclass(frozen=True, slots=True)
class PlanHead:
    """What counts of a plan."""

    is_superseded: bool
    tasks: int


@dataclass(frozen=True, slots=True)
class SummaryHead:
    """What counts of a summary."""

    proof: Proof
    completed: str  # the date it gives; empty if none


def plan_head(content: bytes) -> PlanHead:
    """Whether the plan is superseded, and how many tasks it has."""
    superseded = (
        b"superseded" in content.lower() and _front(content).get("status", "") == "superseded"
    )
    return PlanHead(superseded, content.count(b"<task ") + content.count(b"<task>"))


def summary_head(content: bytes) -> SummaryHead:
    """What the summary proves."""
    if not content.strip():
        return SummaryHead(Proof.EMPTY, "")
    front = _front(content) if b"status:" in content or b"completed:" in content else {}
    completed = front.get("completed", "")
    if front.get("status", "") == "blocked":
        return SummaryHead(Proof.BLOCKED, completed)
    if b"FAILED" in content and _self_check_failed(content):
        return SummaryHead(Proof.FAILED, completed)
    return SummaryHead(Proof.COMPLETE, completed)


def verified_head(content: bytes) -> tuple[str, str]:
    """The status of a verification and when it was made."""
    front = _front(content)
    return front.get("status", ""), front.get("verified", "")


def _self_check_failed(content: bytes) -> bool:
    for line in content.splitlines():
        words = line.strip(b"#* \t").lower().replace(b"*", b"")
        if line.lstrip().startswith((b"#", b"**")) and words.startswith(b"self-check"):
            return words.partition(b":")[2].strip().startswith(b"failed")
    return False


def _front(content: bytes) -> dict[str, str]:
    end = content.find(b"\n---", 3)
    head = content[: end + 5] if end > 0 else b""
    front = read_front(head.decode("utf-8", "surrogateescape"))
    return {
        key: value.lower() if key == "status" else value
        for key, value in front.items()
        if isinstance(value, str)
    }
