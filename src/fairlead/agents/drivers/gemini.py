"""Gemini CLI: its stream-json output, with edits and the allowed commands approved."""

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
    CommandPermissions,
    EndKind,
    ErrorReported,
    ModelRetried,
    OtherEvent,
    Stream,
    TokenUsage,
    ToolDenied,
    UsageReported,
)

_SHELL = "run_shell_command"
_NO_SERVER = "none"


def driver() -> Driver:
    """How Gemini CLI is used."""
    return Driver(
        name="gemini",
        programs=("gemini",),
        login="gemini",
        login_variables=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
        stream=Stream.GEMINI,
        arguments=_arguments,
        passed_variables=(
            *("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "GEMINI_CLI_HOME"),
            *("GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"),
            *("GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_GENAI_USE_GCA"),
        ),
        variables={"GEMINI_CLI_TRUST_WORKSPACE": "true"},  # else it refuses; the folder is ours
        commands_note="gemini allows a command by its beginning, so an allowed line may continue",
        required_options=(
            "--output-format",
            "--approval-mode",
            "--allowed-tools",
            "--allowed-mcp-server-names",
        ),
    )


def _arguments(call: AgentCall) -> tuple[str, ...]:
    return (
        *("--output-format", "stream-json"),
        *("--approval-mode", "plan" if call.is_read_only else "auto_edit"),
        *("--allowed-mcp-server-names", _NO_SERVER),  # ours is for the person's sessions
        *(() if call.is_read_only else _allowed(call.commands)),
        *model_option(call),
    )


def _allowed(commands: CommandPermissions) -> tuple[str, ...]:
    """The commands that run without being asked about; a rule stands for all longer lines too."""
    lines = (*commands.lines, *commands.programs)
    rules = (_SHELL,) if commands.is_unlimited else (f"{_SHELL}({line})" for line in lines)
    return tuple(word for rule in rules for word in ("--allowed-tools", rule))


def _decode(line: Line, memory: StreamMemory) -> Iterator[AgentEvent]:
    kind = word(line, "type")
    match kind:
        case "init":
            yield AgentStarted(word(line, "session_id"), word(line, "model"))
        case "message" if word(line, "role") == "assistant":
            yield AgentText(word(line, "content"), is_piece=line.get("delta") is True)
        case "tool_use":
            values = table(line, "parameters")
            yield memory.open(word(line, "tool_id"), word(line, "tool_name"), values)
        case "tool_result":
            is_error = word(line, "status") != "success"
            yield from memory.close(word(line, "tool_id"), is_error=is_error)
            if "denied" in word(line, "error", "type") or "policy" in word(line, "error", "type"):
                yield ToolDenied(word(line, "tool_id"), word(line, "error", "message"))
        case "error" if word(line, "severity") == "warning":
            yield ModelRetried(0, 0.0, word(line, "message"))
        case "error":
            yield ErrorReported(EndKind.FAILED, word(line, "message"))
        case "result":
            stats = table(line, "stats")
            read, written = count(stats, "input_tokens"), count(stats, "output_tokens")
            # Its output tokens leave out the thinking, which is in the total.
            with_thinking = count(stats, "total_tokens") - read
            tokens = TokenUsage(read, count(stats, "cached"), max(written, with_thinking))
            yield UsageReported(tokens, is_total=True)
            status = count(line, "error", "code") or count(line, "error", "status")
            message = word(line, "error", "message")
            is_ok = word(line, "status") == "success"
            yield AgentFinished(is_ok, "", fault_of_status(status), message)
        case _:
            yield OtherEvent(kind)


def _exit_fault(code: int) -> EndKind:
    # 41 is its own code; otherwise it exits with the HTTP status, cut to a byte.
    return EndKind.AUTH if code == 41 else fault_of_status(code + 256)


FORMAT = StreamFormat(_decode, reports_price=False, exit_fault=_exit_fault)
