"""Antigravity CLI, the successor of Gemini CLI: `agy -p` with its stream-json output.

The program is closed and needs a browser to log in, so this driver follows reports of others;
`fairlead doctor agents` checks that the options exist. It has no read-only mode: a review by it
is void as soon as it changes a file. The editor of the same name ships another `agy` without
these options.
"""

import math
from collections.abc import Iterator

from fairlead.agents.drivers.driver import Driver, StreamFormat, model_option
from fairlead.agents.drivers.fields import (
    Line,
    StreamMemory,
    count,
    fault_of_status,
    table,
    word,
)
from fairlead.agents.model import (
    AgentCall,
    AgentEvent,
    AgentFinished,
    AgentStarted,
    AgentText,
    ErrorReported,
    OtherEvent,
    Stream,
    TokenUsage,
    UsageReported,
)


def driver() -> Driver:
    """How Antigravity is used."""
    return Driver(
        name="agy",
        programs=("agy",),
        stream=Stream.ANTIGRAVITY,
        arguments=_arguments,
        commands_note="agy cannot be limited to single commands: it may run any, in its own sandbox",
        required_options=("--print", "--output-format", "--print-timeout", "--sandbox"),
    )


def _arguments(call: AgentCall) -> tuple[str, ...]:
    minutes = math.ceil(call.limits.wall.total_seconds() / 60)  # its own limit is too short
    return (
        *("--print", "--output-format", "stream-json", "--print-timeout", f"{minutes}m"),
        "--sandbox",
        *(() if call.is_read_only else ("--dangerously-skip-permissions",)),
        *model_option(call),
    )


def _decode(line: Line, memory: StreamMemory) -> Iterator[AgentEvent]:
    kind = word(line, "event") or word(line, "type")
    match kind:
        case "init":
            session = word(line, "conversation_id") or word(line, "session_id")
            yield AgentStarted(session, word(line, "model"))
        case "step_update":
            yield from _step(line, memory)
        case "error":
            fault = fault_of_status(count(line, "error", "code"))
            yield ErrorReported(fault, word(line, "error", "message"))
        case "result":
            usage = table(line, "stats") or table(line, "usage")
            read, written = count(usage, "input_tokens"), count(usage, "output_tokens")
            yield UsageReported(TokenUsage(read, count(usage, "cached"), written), is_total=True)
            text = word(line, "result") or word(line, "response")
            is_ok = word(line, "status").lower() in ("success", "ok", "completed", "done")
            fault = fault_of_status(count(line, "error", "code"))
            yield AgentFinished(is_ok, text, fault, word(line, "error", "message"))
        case _:
            yield OtherEvent(kind)


def _step(line: Line, memory: StreamMemory) -> Iterator[AgentEvent]:
    """The events of one step, which the program may report more than once."""
    step, tool = word(line, "step_id"), table(line, "tool_info")
    if tool:
        name = word(tool, "name") or word(line, "step_type")
        yield memory.open(step or name, name, table(tool, "parameters"))
        status = word(line, "status").lower()
        if status in ("done", "completed", "success", "error", "failed"):
            yield from memory.close(step or name, is_error=status in ("error", "failed"))
    elif text := word(line, "content") or word(line, "text"):
        yield AgentText(text, is_piece=line.get("delta") is True)


FORMAT = StreamFormat(_decode, reports_price=False)
