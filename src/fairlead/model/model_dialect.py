"""The dialect of `adapters.model_program`, which asks plain models: our own, and the simplest."""

from collections.abc import Iterator

from fairlead.model.agent_dialects import Line, Memory, count, fault_of, number, word
from fairlead.model.agent_events import (
    AgentEvent,
    EndKind,
    Finished,
    Other,
    Said,
    Spent,
    Started,
    Trouble,
    Usage,
)

# What the services call their troubles, and our program those that no service names.
_MODEL_FAULTS = {
    EndKind.AUTH: (
        "authentication",
        "permission",
        "billing",
        "insufficient_quota",
        "invalid_api_key",
    ),
    EndKind.RATE_LIMITED: ("rate_limit",),
    EndKind.OVERLOADED: ("overloaded", "api_error", "server_error", "timeout_error", "network"),
    EndKind.TIMEOUT: ("timeout",),
    EndKind.INVALID_OUTPUT: ("garbled",),
}


def model(line: Line, _: Memory) -> Iterator[AgentEvent]:
    """Our own program that asks a plain model."""
    match word(line, "type"):
        case "started":
            yield Started(word(line, "session"), word(line, "model"))
        case "piece":
            is_thinking = line.get("is_thinking") is True
            yield Said(word(line, "text"), is_piece=True, is_thinking=is_thinking)
        case "spent":
            tokens = Usage(*(count(line, f"tokens_{each}") for each in ("in", "cached", "out")))
            cost = number(line, "cost_usd") if "cost_usd" in line else None
            yield Spent(tokens, cost, is_total=True)
        case "finished" if line.get("is_ok") is True:
            yield Finished(True, is_cut=line.get("is_cut") is True)
        case "finished":
            message = word(line, "message")
            fault = _model_fault(count(line, "status"), word(line, "error"), message)
            wait = number(line, "retry_after") if "retry_after" in line else None
            yield Trouble(fault, message, wait)
            yield Finished(False, "", fault, message)
        case other:
            yield Other(other)


def _model_fault(status: int, error: str, message: str) -> EndKind:
    named = next(
        (kind for kind, marks in _MODEL_FAULTS.items() if any(m in error for m in marks)), None
    )
    # A bill that is open comes as a limit, or as a request that is not understood.
    if named is EndKind.AUTH or "credit balance is too low" in message:
        return EndKind.AUTH
    return fault_of(status) if status >= 400 else named or EndKind.FAILED
