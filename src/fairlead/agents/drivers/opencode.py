"""OpenCode: `opencode run --format json`.

It waits for ever on a permission that has to be asked for, so every permission is decided before
the start. Its stream has no last event; the exit code says how the call ended.
"""

import json
from collections.abc import Iterator, Mapping

from fairlead.agents.drivers.driver import Driver, StreamFormat, model_option
from fairlead.agents.drivers.fields import (
    Line,
    StreamMemory,
    count,
    fault_of_status,
    number,
    table,
    word,
)
from fairlead.agents.model import (
    AgentCall,
    AgentEvent,
    AgentStarted,
    AgentText,
    EndKind,
    ErrorReported,
    OtherEvent,
    Stream,
    TokenUsage,
    UsageReported,
)


def driver() -> Driver:
    """How OpenCode is used."""
    return Driver(
        name="opencode",
        programs=("opencode",),
        login="opencode auth login",
        stream=Stream.OPENCODE,
        arguments=lambda call: ("run", "--format", "json", *model_option(call)),
        passed_variables=(
            *("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENROUTER_API_KEY", "GEMINI_API_KEY"),
            *("OPENCODE_CONFIG", "OPENCODE_CONFIG_DIR", "OPENCODE_DISABLE_MODELS_FETCH"),
        ),
        variables={"OPENCODE_DISABLE_AUTOUPDATE": "1"},
        call_variables=_permissions,
        required_options=("--format",),
        help_arguments=("run", "--help"),
    )


def _permissions(call: AgentCall) -> Mapping[str, str]:
    edit = "deny" if call.is_read_only else "allow"
    rules = {"*": "deny", "read": "allow", "grep": "allow", "glob": "allow", "list": "allow"}
    return {"OPENCODE_PERMISSION": json.dumps({**rules, "edit": edit, "bash": _commands(call)})}


def _commands(call: AgentCall) -> str | dict[str, str]:
    """The rules for commands, of which the last that matches decides."""
    commands = call.commands
    if call.is_read_only or not (commands.is_unlimited or commands.lines or commands.programs):
        return "deny"
    if commands.is_unlimited:
        return "allow"
    prefixes = [pattern for words in commands.programs for pattern in (words, f"{words} *")]
    return {"*": "deny", **dict.fromkeys((*commands.lines, *prefixes), "allow")}


def _decode(line: Line, memory: StreamMemory) -> Iterator[AgentEvent]:
    session, kind = word(line, "sessionID"), word(line, "type")
    if session and not memory.session:
        memory.session = session
        yield AgentStarted(session)
    part = table(line, "part")
    match kind:
        case "text":
            yield AgentText(word(part, "text"))
        case "reasoning":
            yield AgentText(word(part, "text"), is_thinking=True)
        case "tool_use":
            call = word(part, "callID")
            yield memory.open(call, word(part, "tool"), table(part, "state", "input"))
            is_error = word(part, "state", "status") != "completed"
            yield from memory.close(call, is_error=is_error)
        case "step_finish":
            cached = count(part, "tokens", "cache", "read")
            uncached = count(part, "tokens", "input") + count(part, "tokens", "cache", "write")
            written = count(part, "tokens", "output") + count(part, "tokens", "reasoning")
            cost = number(part, "cost") if "cost" in part else None
            yield UsageReported(TokenUsage(uncached + cached, cached, written), cost)
        case "error":
            yield _error(table(line, "error"))
        case _:
            yield OtherEvent(kind)


def _error(error: Line) -> ErrorReported:
    fault = fault_of_status(count(error, "data", "statusCode"))
    fault = EndKind.AUTH if word(error, "name") == "ProviderAuthError" else fault
    wait = word(error, "data", "responseHeaders", "retry-after")[:10]  # seconds, or a date
    message = word(error, "data", "message") or word(error, "name")
    return ErrorReported(fault, message, float(wait) if wait.isdecimal() else None)


FORMAT = StreamFormat(_decode, reports_end=False, needs_text=True)
