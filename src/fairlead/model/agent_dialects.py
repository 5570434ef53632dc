"""The dialects of the agents' JSON streams: one function each, from a parsed line to events.

A field that is missing or of another type reads as empty, and an event nobody knows becomes
`Other`: programs change from week to week, and a new field must not end a run. Errors are told
apart by typed fields and by the program's own error messages, never by what a model said.
"""

import re
from collections.abc import Callable, Iterator, Mapping

from fairlead.model.agent_events import (
    AgentEvent,
    Denied,
    EndKind,
    FileChanged,
    Finished,
    Other,
    Retried,
    Said,
    Spent,
    Started,
    ToolFinished,
    ToolStarted,
    Trouble,
    Usage,
)

Line = Mapping[str, object]

_CLAUDE_FAULTS = {
    "authentication_failed": EndKind.AUTH,
    "oauth_org_not_allowed": EndKind.AUTH,
    "billing_error": EndKind.AUTH,
    "rate_limit": EndKind.RATE_LIMITED,
    "overloaded": EndKind.OVERLOADED,
    "server_error": EndKind.OVERLOADED,
}
# How Codex words the status that ended a turn; its protocol has no field for it.
_CODEX_STATUS = re.compile(r"(?:unexpected status|last status:|http status:?) (\d{3})\b")
_CODEX_SENTENCES = {
    "We’re currently experiencing high demand": EndKind.OVERLOADED,  # any status from 500 on
    "stream disconnected before completion": EndKind.OVERLOADED,
    "Selected model is at capacity": EndKind.OVERLOADED,
    "You've hit your usage limit": EndKind.RATE_LIMITED,
    "Quota exceeded. Check your plan and billing": EndKind.AUTH,
    "To use Codex with your ChatGPT plan": EndKind.AUTH,
}
_WRITERS = {"Edit", "Write", "MultiEdit", "NotebookEdit", "write_file", "replace", "write", "edit"}
_NAMES_OF_FILES = ("file_path", "filePath", "absolute_path", "notebook_path", "path")
_SUBJECT_LENGTH = 200
_MOST_CALLS = 1000


class Memory:
    """What a dialect has to remember between lines."""

    def __init__(self) -> None:
        self.session = ""
        self.tools: dict[str, tuple[str, str]] = {}  # calls that are open: tool and file
        self.message = ""  # whose tokens were counted last
        self.fault: EndKind | None = None  # of the main thread's last message
        self.has_answer = False  # some message of a model has cost tokens
        self.denied: set[str] = set()  # calls that were told as not allowed

    def open(self, call: str, tool: str, values: Line) -> ToolStarted:
        """A tool call that has begun."""
        path = next((found for name in _NAMES_OF_FILES if (found := word(values, name))), "")
        if len(self.tools) < _MOST_CALLS:  # a stream that opens calls for ever is not kept whole
            self.tools[call] = (tool, path if tool in _WRITERS else "")
        subject = path or word(values, "command") or word(values, "cmd") or word(values, "pattern")
        return ToolStarted(call, tool, subject[:_SUBJECT_LENGTH])

    def close(self, call: str, *, is_error: bool) -> Iterator[AgentEvent]:
        """A tool call that has its answer."""
        tool, path = self.tools.pop(call, ("", ""))
        yield ToolFinished(call, tool, is_error)
        if path and not is_error:
            yield FileChanged(path)


Dialect = Callable[[Line, Memory], Iterator[AgentEvent]]


def claude(line: Line, memory: Memory) -> Iterator[AgentEvent]:
    """Claude Code's stream-json, and the programs that speak like it."""
    kind, detail = word(line, "type"), word(line, "subtype")
    match kind, detail:
        case "system", "init":
            yield Started(word(line, "session_id"), word(line, "model"))
        case "system", "api_retry":
            status = word(line, "error") or str(int(number(line, "error_status")))
            delay = number(line, "retry_delay_ms") / 1000
            yield Retried(int(number(line, "attempt")), delay, status)
        case "system", "permission_denied":
            yield from _claude_denied(line, memory)
        case "assistant", _:
            yield from _claude_message(line, memory)
        case "user", _:
            for block in rows(line, "message", "content"):
                if word(block, "type") == "tool_result":
                    is_error = block.get("is_error") is True
                    yield from memory.close(word(block, "tool_use_id"), is_error=is_error)
        case "rate_limit_event", _ if word(line, "rate_limit_info", "status") == "rejected":
            resets = number(line, "rate_limit_info", "resetsAt") or None
            yield Trouble(EndKind.RATE_LIMITED, "the account's limit is reached", resets_at=resets)
        case "result", _:
            yield from _claude_result(line, memory)
        case _:
            yield Other(f"{kind}/{detail}" if detail else kind)


def _claude_message(line: Line, memory: Memory) -> Iterator[AgentEvent]:
    is_main = not word(line, "parent_tool_use_id")
    fault = word(line, "error")
    told = _CLAUDE_FAULTS.get(fault, EndKind.FAILED) if fault else None
    if told:
        yield Trouble(told, fault)
    if is_main:  # the program may go on after a fault, and after one of a subagent
        memory.fault = told
    usage, identity = table(line, "message", "usage"), word(line, "message", "id")
    if usage and identity != memory.message:  # the blocks of one message repeat its usage
        memory.message = identity
        spent = _anthropic_usage(usage)
        memory.has_answer = memory.has_answer or spent.tokens_out > 0
        yield Spent(spent)
    blocks = rows(line, "message", "content")
    for block in blocks:
        match word(block, "type"):
            case "text" if is_main:
                yield Said(word(block, "text"))
            case "thinking" if is_main:
                yield Said(word(block, "thinking"), is_thinking=True)
            case "tool_use":
                values = table(block, "input")
                yield memory.open(word(block, "id"), word(block, "name"), values)
            case other:
                yield Other(f"assistant/{other}")


def _claude_result(line: Line, memory: Memory) -> Iterator[AgentEvent]:
    models = [each for each in table(line, "modelUsage").values() if isinstance(each, Mapping)]
    total = Usage()
    for each in models:
        cached = count(each, "cacheReadInputTokens")
        fresh = count(each, "inputTokens") + count(each, "cacheCreationInputTokens")
        total += Usage(fresh + cached, cached, count(each, "outputTokens"))
    total = total if models else _anthropic_usage(table(line, "usage"))
    cost = line.get("total_cost_usd")
    yield Spent(total, number(line, "total_cost_usd") if cost is not None else None, is_total=True)
    for denial in rows(line, "permission_denials"):
        yield from _claude_denied(denial, memory)
    text = word(line, "result")
    if line.get("is_error") is not False or word(line, "subtype") != "success":
        fault = memory.fault or fault_of(int(number(line, "api_error_status")))
        errors = line.get("errors")
        told = (
            [each for each in errors if isinstance(each, str)] if isinstance(errors, list) else []
        )
        yield Finished(False, text, fault, "; ".join(told) or text or word(line, "subtype"))
    elif memory.fault or not (total.tokens_out or memory.has_answer):
        # A program of this family reports success after its model refused the key.
        fault = memory.fault or EndKind.INVALID_OUTPUT
        yield Finished(False, text, fault, "success without one token of a model's answer")
    else:
        yield Finished(True, text)


def _claude_denied(held: Line, memory: Memory) -> Iterator[AgentEvent]:
    call = word(held, "tool_use_id")
    if call not in memory.denied:  # told when it happens, and once more at the end
        if call and len(memory.denied) < _MOST_CALLS:
            memory.denied.add(call)
        yield Denied(word(held, "tool_name"), word(held, "message"))


def _anthropic_usage(usage: Line) -> Usage:
    cached = count(usage, "cache_read_input_tokens")
    fresh = count(usage, "input_tokens") + count(usage, "cache_creation_input_tokens")
    return Usage(fresh + cached, cached, count(usage, "output_tokens"))


def codex(line: Line, memory: Memory) -> Iterator[AgentEvent]:
    """`codex exec --json`."""
    kind = word(line, "type")
    match kind:
        case "thread.started":
            yield Started(word(line, "thread_id"))
        case "item.started" | "item.completed":
            yield from _codex_item(table(line, "item"), memory, is_end=kind == "item.completed")
        case "turn.completed":
            usage = table(line, "usage")
            cached = count(usage, "cached_input_tokens")
            tokens = Usage(count(usage, "input_tokens"), cached, count(usage, "output_tokens"))
            yield Spent(tokens)
            yield Finished(True)
        case "turn.failed":
            message = word(line, "error", "message")
            yield Finished(False, "", _codex_fault(message), message)
        case "error":  # also told before a retry: only the turn's end is the end
            message = word(line, "message")
            yield Trouble(_codex_fault(message), message)
        case _:
            yield Other(kind)


def _codex_item(item: Line, memory: Memory, *, is_end: bool) -> Iterator[AgentEvent]:
    kind, identity = word(item, "type"), word(item, "id")
    match kind:
        case "agent_message" if is_end:
            yield Said(word(item, "text"))
        case "reasoning" if is_end:
            yield Said(word(item, "text"), is_thinking=True)
        case "command_execution" | "mcp_tool_call" | "collab_tool_call" | "web_search":
            tool = word(item, "tool") or kind
            if not is_end:
                yield memory.open(identity, tool, item)
                return
            if word(item, "status") == "declined":
                yield Denied(tool, word(item, "command"))
            is_error = word(item, "status") in ("failed", "declined")
            yield from memory.close(identity, is_error=is_error)
        case "file_change" if is_end:
            for change in rows(item, "changes"):
                yield FileChanged(word(change, "path"))
        case "error" if is_end:
            yield Other(f"item/error: {word(item, 'message')[:_SUBJECT_LENGTH]}")
        case _:
            yield Other(f"item/{kind}")


def _codex_fault(message: str) -> EndKind:
    found = _CODEX_STATUS.search(message[:2000])
    if found:
        return fault_of(int(found[1]))
    beginnings = _CODEX_SENTENCES.items()
    return next((kind for said, kind in beginnings if message.startswith(said)), EndKind.FAILED)


def gemini(line: Line, memory: Memory) -> Iterator[AgentEvent]:
    """Gemini's stream-json."""
    kind = word(line, "type")
    match kind:
        case "init":
            yield Started(word(line, "session_id"), word(line, "model"))
        case "message" if word(line, "role") == "assistant":
            yield Said(word(line, "content"), is_piece=line.get("delta") is True)
        case "tool_use":
            values = table(line, "parameters")
            yield memory.open(word(line, "tool_id"), word(line, "tool_name"), values)
        case "tool_result":
            is_error = word(line, "status") != "success"
            yield from memory.close(word(line, "tool_id"), is_error=is_error)
            if "denied" in word(line, "error", "type") or "policy" in word(line, "error", "type"):
                yield Denied(word(line, "tool_id"), word(line, "error", "message"))
        case "error" if word(line, "severity") == "warning":
            yield Retried(0, 0.0, word(line, "message"))
        case "error":
            yield Trouble(EndKind.FAILED, word(line, "message"))
        case "result":
            stats = table(line, "stats")
            cached = count(stats, "cached")
            read, made = count(stats, "input_tokens"), count(stats, "output_tokens")
            thought = count(stats, "total_tokens") - read  # its output is without its thoughts
            yield Spent(Usage(read, cached, max(made, thought)), is_total=True)
            status = int(number(line, "error", "code") or number(line, "error", "status"))
            message = word(line, "error", "message")
            yield Finished(word(line, "status") == "success", "", fault_of(status), message)
        case _:
            yield Other(kind)


def antigravity(line: Line, memory: Memory) -> Iterator[AgentEvent]:
    """Antigravity's stream-json, as others describe it: steps that are told more than once."""
    kind = word(line, "event") or word(line, "type")
    match kind:
        case "init":
            session = word(line, "conversation_id") or word(line, "session_id")
            yield Started(session, word(line, "model"))
        case "step_update":
            step, tool = word(line, "step_id"), table(line, "tool_info")
            status = word(line, "status").lower()
            if tool:
                name = word(tool, "name") or word(line, "step_type")
                yield memory.open(step or name, name, table(tool, "parameters"))
                if status in ("done", "completed", "success", "error", "failed"):
                    is_error = status in ("error", "failed")
                    yield from memory.close(step or name, is_error=is_error)
            elif said := word(line, "content") or word(line, "text"):
                yield Said(said, is_piece=line.get("delta") is True)
        case "error":
            status_code = int(number(line, "error", "code"))
            yield Trouble(fault_of(status_code), word(line, "error", "message"))
        case "result":
            used = table(line, "stats") or table(line, "usage")
            tokens = Usage(
                count(used, "input_tokens"), count(used, "cached"), count(used, "output_tokens")
            )
            yield Spent(tokens, is_total=True)
            said = word(line, "result") or word(line, "response")
            status_code = int(number(line, "error", "code"))
            is_ok = word(line, "status").lower() in ("success", "ok", "completed", "done")
            message = word(line, "error", "message")
            yield Finished(is_ok, said, fault_of(status_code), message)
        case _:
            yield Other(kind)


def opencode(line: Line, memory: Memory) -> Iterator[AgentEvent]:
    """`opencode run --format json`. It has no last event: the exit code is the end."""
    session, kind = word(line, "sessionID"), word(line, "type")
    if session and not memory.session:
        memory.session = session
        yield Started(session)
    part = table(line, "part")
    match kind:
        case "text":
            yield Said(word(part, "text"))
        case "reasoning":
            yield Said(word(part, "text"), is_thinking=True)
        case "tool_use":
            call = word(part, "callID")
            yield memory.open(call, word(part, "tool"), table(part, "state", "input"))
            is_error = word(part, "state", "status") != "completed"
            yield from memory.close(call, is_error=is_error)
        case "step_finish":
            cached = count(part, "tokens", "cache", "read")
            fresh = count(part, "tokens", "input") + count(part, "tokens", "cache", "write")
            out = count(part, "tokens", "output") + count(part, "tokens", "reasoning")
            cost = number(part, "cost") if "cost" in part else None
            yield Spent(Usage(fresh + cached, cached, out), cost)
        case "error":
            held = table(line, "error")
            fault = fault_of(int(number(held, "data", "statusCode")))
            fault = EndKind.AUTH if word(held, "name") == "ProviderAuthError" else fault
            wait = word(held, "data", "responseHeaders", "retry-after")[:10]  # seconds, or a date
            message = word(held, "data", "message") or word(held, "name")
            yield Trouble(fault, message, float(wait) if wait.isdecimal() else None)
        case _:
            yield Other(kind)


def fault_of(status: int) -> EndKind:
    """What the status of a model's answer means for the call."""
    if status in (401, 402, 403):
        return EndKind.AUTH
    if status == 429:
        return EndKind.RATE_LIMITED
    return EndKind.OVERLOADED if status in (408, 500, 502, 503, 504, 529) else EndKind.FAILED


def word(held: Line, *path: str) -> str:
    """The text at a path, or nothing."""
    value = _at(held, path)
    if not isinstance(value, str):
        return ""
    # Half a surrogate pair, from a program that cut its text there, cannot be written down.
    return value.encode("utf-8", "replace").decode("utf-8")


def number(held: Line, *path: str) -> float:
    """The number at a path, or 0; a number that is not finite or below 0 is none."""
    value = _at(held, path)
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return value if is_number and 0 <= value < 1e15 else 0  # type: ignore[operator,return-value]


def count(held: Line, *path: str) -> int:
    """The whole number at a path, or 0."""
    return int(number(held, *path))


def table(held: Line, *path: str) -> Line:
    """The object at a path, or an empty one."""
    value = _at(held, path)
    return value if isinstance(value, Mapping) else {}


def rows(held: Line, *path: str) -> list[Line]:
    """The objects of the list at a path."""
    value = _at(held, path)
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _at(held: object, path: tuple[str, ...]) -> object:
    for name in path:
        held = held.get(name) if isinstance(held, Mapping) else None
    return held
