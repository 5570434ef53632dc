"""Codex: `codex exec --json`, inside its own sandbox.

Skills, subagents and our own MCP server are left out: they are for the person's sessions, and
would start Fairlead inside Fairlead.
"""

import json
import os
from collections.abc import Iterator

from fairlead.agents.drivers.driver import Driver, StreamFormat, model_option
from fairlead.agents.drivers.fields import (
    SUBJECT_LENGTH,
    Line,
    StreamMemory,
    count,
    fault_of_status,
    rows,
    table,
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
    FileChanged,
    OtherEvent,
    Stream,
    TokenUsage,
    ToolDenied,
    UsageReported,
)
from fairlead.core.host_names import PRODUCT
from fairlead.core.patterns import lazy_pattern

# Codex writes the HTTP status that ended a turn into its message; there is no field for it.
_STATUS = lazy_pattern(r"(?:unexpected status|last status:|http status:?) (\d{3})\b")
_MESSAGES = {
    "We’re currently experiencing high demand": EndKind.OVERLOADED,  # any status from 500 on
    "stream disconnected before completion": EndKind.OVERLOADED,
    "Selected model is at capacity": EndKind.OVERLOADED,
    "You've hit your usage limit": EndKind.RATE_LIMITED,
    "Quota exceeded. Check your plan and billing": EndKind.AUTH,
    "To use Codex with your ChatGPT plan": EndKind.AUTH,
}

_KEYS = ("OPENAI_API_KEY", "CODEX_API_KEY")
_LARGEST = 1 << 20  # characters of its settings


def driver() -> Driver:
    """How Codex is used."""
    return Driver(
        name="codex",
        programs=("codex",),
        login="codex login",
        login_check=("login", "status"),
        login_variables=("CODEX_API_KEY", "OPENAI_API_KEY"),
        login_arguments=("login", "status"),
        is_logged_out=_is_logged_out,
        stream=Stream.CODEX,
        arguments=_arguments,
        passed_variables=(*_KEYS, "OPENAI_BASE_URL", "CODEX_HOME"),
        commands_note=(
            "codex cannot be limited to single commands: it may run any command that writes only to"
            " its worktree and its own temporary folder, without the network"
        ),
        call_variables=lambda call: {"TMPDIR": _temporary(call)},
        folders=lambda call: (_temporary(call),),
        required_options=("--json", "--sandbox", "--skip-git-repo-check"),
        help_arguments=("exec", "--help"),
    )


def _is_logged_out(code: int, output: str) -> bool:
    """Whether nobody is logged in; a key, or a provider of the person's own, needs no login."""
    if code == 0 or "Not logged in" not in output or any(map(os.environ.get, _KEYS)):
        return False
    folder = os.environ.get("CODEX_HOME") or os.path.join(os.path.expanduser("~"), ".codex")
    try:
        with open(os.path.join(folder, "config.toml"), encoding="utf-8") as file:
            return "model_provider" not in file.read(_LARGEST)
    except FileNotFoundError:
        return True
    except (OSError, ValueError):
        return False


def _arguments(call: AgentCall) -> tuple[str, ...]:
    return (
        *("exec", "--json", "--skip-git-repo-check"),
        *_sandbox(call),
        # Without these it waits five seconds at its end for a service that is not needed here.
        *("-c", "analytics.enabled=false", "--disable", "plugins", "--disable", "apps"),
        *("--disable", "multi_agent", "-c", "skills.include_instructions=false"),
        # Complete, so that it is valid also where the person has no such server.
        *("-c", f'mcp_servers.{PRODUCT}={{command="{PRODUCT}",enabled=false}}'),
        *model_option(call),
        "-",
    )


def _sandbox(call: AgentCall) -> tuple[str, ...]:
    if call.is_read_only:
        return ("--sandbox", "read-only")
    if call.commands.is_unlimited:
        return ("--sandbox", "danger-full-access")
    own = f"sandbox_workspace_write.writable_roots={json.dumps([_temporary(call)])}"
    return (
        *("--sandbox", "workspace-write"),
        # Its default lets every agent write to the temporary folder that all programs share.
        *("-c", "sandbox_workspace_write.exclude_slash_tmp=true"),
        *("-c", "sandbox_workspace_write.exclude_tmpdir_env_var=true", "-c", own),
    )


def _temporary(call: AgentCall) -> str:
    """A temporary folder of this call only."""
    return os.path.join(call.raw, "temporary")


def _decode(line: Line, memory: StreamMemory) -> Iterator[AgentEvent]:
    kind = word(line, "type")
    match kind:
        case "thread.started":
            yield AgentStarted(word(line, "thread_id"))
        case "item.started" | "item.completed":
            yield from _item(table(line, "item"), memory, is_end=kind == "item.completed")
        case "turn.completed":
            usage = table(line, "usage")
            cached = count(usage, "cached_input_tokens")
            tokens = TokenUsage(count(usage, "input_tokens"), cached, count(usage, "output_tokens"))
            yield UsageReported(tokens)
            yield AgentFinished(True)
        case "turn.failed":
            message = word(line, "error", "message")
            yield AgentFinished(False, "", _fault(message), message)
        case "error":  # also reported before a retry, so it does not end the call
            message = word(line, "message")
            yield ErrorReported(_fault(message), message)
        case _:
            yield OtherEvent(kind)


def _item(item: Line, memory: StreamMemory, *, is_end: bool) -> Iterator[AgentEvent]:
    kind, identity = word(item, "type"), word(item, "id")
    match kind:
        case "agent_message" if is_end:
            yield AgentText(word(item, "text"))
        case "reasoning" if is_end:
            yield AgentText(word(item, "text"), is_thinking=True)
        case "command_execution" | "mcp_tool_call" | "collab_tool_call" | "web_search":
            tool = word(item, "tool") or kind
            if not is_end:
                yield memory.open(identity, tool, item)
                return
            if word(item, "status") == "declined":
                yield ToolDenied(tool, word(item, "command"))
            is_error = word(item, "status") in ("failed", "declined")
            yield from memory.close(identity, is_error=is_error)
        case "file_change" if is_end:
            for change in rows(item, "changes"):
                yield FileChanged(word(change, "path"))
        case "error" if is_end:
            yield OtherEvent(f"item/error: {word(item, 'message')[:SUBJECT_LENGTH]}")
        case _:
            yield OtherEvent(f"item/{kind}")


def _fault(message: str) -> EndKind:
    status = _STATUS.search(message[:2000])
    if status:
        return fault_of_status(int(status[1]))
    faults = (fault for start, fault in _MESSAGES.items() if message.startswith(start))
    return next(faults, EndKind.FAILED)


FORMAT = StreamFormat(_decode, reports_price=False)
