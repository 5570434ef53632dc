"""A plain model: `model_program.py`, which asks it through the official client package.

The program runs under the same supervision as every agent, so its limits hold whatever a client
or a network does, and the client's imports stay out of our own process. The key is in its
environment alone; the question is in a variable and on standard input.
"""

import json
import os
import sys
from collections.abc import Iterator
from functools import partial

from fairlead.agents.custom_agents import ModelService
from fairlead.agents.drivers.driver import Driver, StreamFormat
from fairlead.agents.drivers.fields import (
    Line,
    StreamMemory,
    count,
    fault_of_status,
    number,
    word,
)
from fairlead.agents.model import (
    AgentCall,
    AgentEvent,
    AgentFinished,
    AgentStarted,
    AgentText,
    EndKind,
    ErrorReported,
    OtherEvent,
    Stream,
    TokenUsage,
    UsageReported,
)

CALL = "_FAIRLEAD_MODEL_CALL"  # what the program is asked to do, as JSON
# Parts of the services' names for errors, and our program's names where a service has none.
_FAULTS = {
    EndKind.AUTH: (
        *("authentication", "permission", "billing", "insufficient_quota", "invalid_api_key"),
    ),
    EndKind.RATE_LIMITED: ("rate_limit",),
    EndKind.OVERLOADED: ("overloaded", "api_error", "server_error", "timeout_error", "network"),
    EndKind.TIMEOUT: ("timeout",),
    EndKind.INVALID_OUTPUT: ("garbled",),
}


def driver(service: ModelService) -> Driver:
    """How a plain model is used."""
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "model_program.py")
    address = () if service.base_url else (service.address_env,)
    return Driver(
        name=service.name,
        programs=(sys.executable,),
        stream=Stream.MODEL,
        arguments=lambda _: (),
        passed_variables=(*((service.key_env,) if service.key_env else ()), *address),
        secrets=(service.key_env,),
        call_variables=partial(_call_variables, service),
        program_arguments=("-P", program),  # -P: modules in the project's folder are not imported
        family=service.family,
        service=service,
    )


def client_version(service: ModelService) -> str:
    """The version of the client package that the service needs; empty if it is not installed."""
    from importlib import metadata

    try:
        return metadata.version(service.kind)
    except metadata.PackageNotFoundError:
        return ""


def _call_variables(service: ModelService, call: AgentCall) -> dict[str, str]:
    question = {
        "kind": service.kind,
        "name": service.name,
        "model": call.model or service.model,
        "base_url": service.base_url,
        "key_env": service.key_env,
        "max_tokens": call.max_tokens,
        "seconds": call.limits.wall.total_seconds(),
        "usd_in": service.usd_in,
        "usd_out": service.usd_out,
    }
    return {CALL: json.dumps(question)}


def _decode(line: Line, _: StreamMemory) -> Iterator[AgentEvent]:
    match word(line, "type"):
        case "started":
            yield AgentStarted(word(line, "session"), word(line, "model"))
        case "piece":
            is_thinking = line.get("is_thinking") is True
            yield AgentText(word(line, "text"), is_piece=True, is_thinking=is_thinking)
        case "spent":
            tokens = TokenUsage(
                *(count(line, f"tokens_{part}") for part in ("in", "cached", "out"))
            )
            cost = number(line, "cost_usd") if "cost_usd" in line else None
            yield UsageReported(tokens, cost, is_total=True)
        case "finished" if line.get("is_ok") is True:
            yield AgentFinished(True, is_cut=line.get("is_cut") is True)
        case "finished":
            message = word(line, "message")
            fault = _fault(count(line, "status"), word(line, "error"), message)
            wait = number(line, "retry_after") if "retry_after" in line else None
            yield ErrorReported(fault, message, wait)
            yield AgentFinished(False, "", fault, message)
        case other:
            yield OtherEvent(other)


def _fault(status: int, error: str, message: str) -> EndKind:
    named = (kind for kind, parts in _FAULTS.items() if any(part in error for part in parts))
    fault = next(named, None)
    # An unpaid bill is reported as a rate limit or as a malformed request.
    if fault is EndKind.AUTH or "credit balance is too low" in message:
        return EndKind.AUTH
    return fault_of_status(status) if status >= 400 else fault or EndKind.FAILED


FORMAT = StreamFormat(_decode)
