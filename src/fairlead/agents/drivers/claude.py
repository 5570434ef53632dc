"""Claude Code: `claude -p` with its stream-json output.

The settings of the project are not read: without a person to ask, the program would run the
repository's hooks and start its MCP servers unseen. Skills, our own subagents and our own memory
file are left out: they are for the person's sessions, and would start Fairlead inside Fairlead.
"""

import json
import re
import uuid
from collections.abc import Iterator, Mapping

from fairlead.agents.drivers.driver import Driver, StreamFormat, model_option
from fairlead.agents.drivers.fields import (
    MOST_CALLS,
    Line,
    StreamMemory,
    count,
    fault_of_status,
    number,
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
from fairlead.core.host_names import CLAUDE_MEMORY, SUBAGENTS, installed_name, plugin_name
from fairlead.core.patterns import lazy_pattern

# Quoted text is kept together: an operator inside it is text.
_QUOTED_OR_OPERATOR = lazy_pattern(
    r"""('[^']*'|"(?:[^"\\]|\\.)*"|\\.|&&|\|\||(?<![<>])[|&;\n](?!>))""", re.DOTALL
)
_LOGIN = "run /login"  # the advice of the program to a person who is not logged in
_READERS = ("Read", "Grep", "Glob")
_WEB = ("WebSearch", "WebFetch")
_FAULTS = {
    "authentication_failed": EndKind.AUTH,
    "oauth_org_not_allowed": EndKind.AUTH,
    "billing_error": EndKind.AUTH,
    "rate_limit": EndKind.RATE_LIMITED,
    "overloaded": EndKind.OVERLOADED,
    "server_error": EndKind.OVERLOADED,
}


def driver() -> Driver:
    """How Claude Code is used."""
    return Driver(
        name="claude",
        programs=("claude",),
        login="claude auth login",
        login_check=("auth", "status"),
        login_arguments=("auth", "status"),
        is_logged_out=lambda code, output: code != 0 and '"loggedIn": false' in output,
        stream=Stream.CLAUDE,
        arguments=_arguments,
        passed_variables=(
            *("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL"),
            *("ANTHROPIC_CUSTOM_HEADERS", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR"),
            *("CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_MAX_RETRIES"),
            *("AWS_REGION", "AWS_PROFILE", "AWS_BEARER_TOKEN_BEDROCK"),
            *("CLOUD_ML_REGION", "ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_APPLICATION_CREDENTIALS"),
        ),
        commands_note=(
            "claude refuses some allowed lines because of their shell syntax, such as loops over"
            " variables and process substitution"
        ),
        variables={"DISABLE_AUTOUPDATER": "1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"},
        required_options=(
            *("--output-format", "--permission-mode", "--setting-sources", "--strict-mcp-config"),
            *("--settings", "--disable-slash-commands"),
        ),
    )


def _arguments(call: AgentCall) -> tuple[str, ...]:
    web = tuple(tool for tool in call.tools if tool in _WEB)
    permissions: tuple[str, ...] = ("--permission-mode", "acceptEdits")
    if call.is_read_only:  # no tool that writes is even offered
        readers = ",".join((*_READERS, *web))
        permissions = (
            "--permission-mode",
            "dontAsk",
            "--tools",
            readers,
            "--allowedTools",
            readers,
        )
    elif web:  # a role that researches may search without being asked for permission
        permissions = (*permissions, "--allowedTools", ",".join((*_READERS, *web)))
    return (
        *("-p", "--output-format", "stream-json", "--verbose"),
        *("--setting-sources", "user", "--strict-mcp-config", "--disable-slash-commands"),
        *("--settings", json.dumps(_settings(call))),
        *permissions,
        *_session(call.session),
        *model_option(call),
    )


def _settings(call: AgentCall) -> dict[str, object]:
    """The settings of one call: which commands may run, and nothing of our own installation."""
    names = [name for role in SUBAGENTS for name in (installed_name(role), plugin_name(role))]
    permissions: dict[str, object] = {"deny": [f"Agent({name})" for name in names]}
    if rules := _command_rules(call):
        # As settings: `--allowedTools` splits at commas, which commands contain.
        permissions["allow"] = rules
    return {"permissions": permissions, "claudeMdExcludes": [f"**/{CLAUDE_MEMORY}"]}


def _command_rules(call: AgentCall) -> list[str]:
    commands = CommandPermissions() if call.is_read_only else call.commands
    if commands.is_unlimited:
        return ["Bash"]
    # The program judges the parts of a line on their own, first of a pipe and then of a list.
    parts = (part for line in commands.lines for part in (line, *_parts(line)))
    prefixes = (f"{words}:*" for words in commands.programs)
    return [f"Bash({rule})" for rule in dict.fromkeys((*parts, *prefixes))]


def _parts(line: str) -> Iterator[str]:
    """The commands that a line consists of: the members of its pipes, and those of its lists."""
    pieces = _QUOTED_OR_OPERATOR.split(line)
    for operators in (("|",), ("|", "||", "&&", "&", ";", "\n")):
        part = ""
        for piece in pieces:
            if piece in operators:
                yield part.strip()
                part = ""
            else:
                part += piece
        yield part.strip()


def _session(name: str) -> tuple[str, ...]:
    try:
        return ("--session-id", str(uuid.UUID(name)))
    except ValueError:  # the program accepts only a UUID; without one it chooses its own
        return ()


def _decode(line: Line, memory: StreamMemory) -> Iterator[AgentEvent]:
    kind, detail = word(line, "type"), word(line, "subtype")
    match kind, detail:
        case "system", "init":
            yield AgentStarted(word(line, "session_id"), word(line, "model"))
        case "system", "api_retry":
            status = word(line, "error") or str(count(line, "error_status"))
            delay = number(line, "retry_delay_ms") / 1000
            yield ModelRetried(count(line, "attempt"), delay, status)
        case "system", "permission_denied":
            yield from _denied(line, memory)
        case "assistant", _:
            yield from _message(line, memory)
        case "user", _:
            for block in rows(line, "message", "content"):
                if word(block, "type") == "tool_result":
                    is_error = block.get("is_error") is True
                    yield from memory.close(word(block, "tool_use_id"), is_error=is_error)
        case "rate_limit_event", _ if word(line, "rate_limit_info", "status") == "rejected":
            resets = number(line, "rate_limit_info", "resetsAt") or None
            message = "the account's limit is reached"
            yield ErrorReported(EndKind.RATE_LIMITED, message, resets_at=resets)
        case "result", _:
            yield from _result(line, memory)
        case _:
            yield OtherEvent(f"{kind}/{detail}" if detail else kind)


def _message(line: Line, memory: StreamMemory) -> Iterator[AgentEvent]:
    is_main = not word(line, "parent_tool_use_id")
    error = word(line, "error")
    fault = _FAULTS.get(error, EndKind.FAILED) if error else None
    if fault:
        yield ErrorReported(fault, error)
    if is_main:  # the program may continue after an error, and after an error of a subagent
        memory.fault = fault
    usage, identity = table(line, "message", "usage"), word(line, "message", "id")
    if usage and identity != memory.message:  # every block of a message repeats its usage
        memory.message = identity
        tokens = _usage(usage)
        memory.has_answer = memory.has_answer or tokens.tokens_out > 0
        yield UsageReported(tokens)
    for block in rows(line, "message", "content"):
        match word(block, "type"):
            case "text" if is_main:
                yield AgentText(word(block, "text"))
            case "thinking" if is_main:
                yield AgentText(word(block, "thinking"), is_thinking=True)
            case "tool_use":
                values = table(block, "input")
                yield memory.open(word(block, "id"), word(block, "name"), values)
            case other:
                yield OtherEvent(f"assistant/{other}")


def _result(line: Line, memory: StreamMemory) -> Iterator[AgentEvent]:
    models = [model for model in table(line, "modelUsage").values() if isinstance(model, Mapping)]
    total = TokenUsage()
    for model in models:
        cached = count(model, "cacheReadInputTokens")
        uncached = count(model, "inputTokens") + count(model, "cacheCreationInputTokens")
        total += TokenUsage(uncached + cached, cached, count(model, "outputTokens"))
    total = total if models else _usage(table(line, "usage"))
    has_cost = line.get("total_cost_usd") is not None
    cost = number(line, "total_cost_usd") if has_cost else None
    yield UsageReported(total, cost, is_total=True)
    for denial in rows(line, "permission_denials"):
        yield from _denied(denial, memory)
    text = word(line, "result")
    if line.get("is_error") is not False or word(line, "subtype") != "success":
        fault = memory.fault or fault_of_status(count(line, "api_error_status"))
        if fault is EndKind.FAILED and _LOGIN in text:
            fault = EndKind.AUTH
        errors = line.get("errors")
        messages = (
            [error for error in errors if isinstance(error, str)]
            if isinstance(errors, list)
            else []
        )
        yield AgentFinished(
            False, text, fault, "; ".join(messages) or text or word(line, "subtype")
        )
    elif memory.fault or not (total.tokens_out or memory.has_answer):
        # A program with this format reports success after its model refused the key.
        fault = memory.fault or EndKind.INVALID_OUTPUT
        yield AgentFinished(False, text, fault, "success without one token of a model's answer")
    else:
        yield AgentFinished(True, text)


def _denied(denial: Line, memory: StreamMemory) -> Iterator[AgentEvent]:
    call = word(denial, "tool_use_id")
    if call not in memory.denied:  # a denial is reported when it happens and again at the end
        if call and len(memory.denied) < MOST_CALLS:
            memory.denied.add(call)
        yield ToolDenied(word(denial, "tool_name"), word(denial, "message"))


def _usage(usage: Line) -> TokenUsage:
    cached = count(usage, "cache_read_input_tokens")
    uncached = count(usage, "input_tokens") + count(usage, "cache_creation_input_tokens")
    return TokenUsage(uncached + cached, cached, count(usage, "output_tokens"))


FORMAT = StreamFormat(_decode)
