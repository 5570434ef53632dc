"""A scripted model on loopback: real agent programs run against it, turn by turn.

It implements the Anthropic Messages, OpenAI Responses, Chat Completions and Gemini protocols,
streamed or not. A script is a list of turns, the last of which repeats, or a function from request
to turn. Requests beside the conversation (a title, a token count, a choice of model) are answered
without using a turn. Every request is recorded. A turn can also simulate network faults.
"""

import gzip
import json
import socket
import struct
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

USAGE = (100, 5)  # tokens in and out of every turn
DUMMY_KEY = "sk-dummy"

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool that the model wants to use."""

    name: str
    arguments: Mapping[str, object]
    namespace: str = ""  # in which Codex offers the tools of an MCP server


class Fault(StrEnum):
    """A fault on the way of an answer."""

    SILENCE = "the request is taken, and nothing comes"
    STALL = "half a stream, then nothing more"
    SLOW = "a byte at a time"
    BREAK = "half a stream, then the connection ends in good order"
    RESET = "the connection is reset before a word"
    RESET_LATE = "half a stream, then the connection is reset"
    PAGE = "a page for people, with status 200"
    GARBLED = "a stream whose events are no JSON"
    EMPTY = "a stream without an event"
    OTHER_SHAPE = "a stream of events that nobody knows"
    ERROR_EVENT = "half a stream, then an error in it"
    REDIRECT = "a pointer to another address"


@dataclass(frozen=True, slots=True)
class Turn:
    """An answer of the model: text, tool calls or a failure."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    status: int = 200  # any other is a failure
    retry_after_seconds: int | None = None
    is_cut: bool = False  # the token limit was reached
    fault: Fault | None = None
    cut_at: int | None = None  # the bytes of a stream before it breaks off; None: half of it
    error: Mapping[str, str] = field(default_factory=dict)  # details of a failure: type, message


@dataclass(frozen=True, slots=True)
class Request:
    """A recorded request."""

    path: str
    body: Json
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def tools(self) -> tuple[str, ...]:
        """The names of the tools that the model may use."""
        names: list[str] = []
        for tool in self.body.get("tools") or ():
            if "functionDeclarations" in tool:
                names += [each["name"] for each in tool["functionDeclarations"]]
            else:
                names.append(tool.get("function", tool).get("name") or tool.get("type", ""))
        return tuple(names)

    @property
    def conversation(self) -> str:
        """The conversation so far as one text."""
        return "\n".join(self.texts)

    @property
    def texts(self) -> list[str]:
        """Every text of the conversation so far."""
        keys = ("messages", "input", "contents", "system", "instructions", "systemInstruction")
        said = {key: self.body[key] for key in keys if key in self.body}
        return list(_texts(said))

    @property
    def is_aside(self) -> bool:
        """Whether it is outside the conversation, whose requests offer tools and ask for prose."""
        config = self.body.get("generationConfig") or {}
        return not self.tools or "responseJsonSchema" in config or "responseSchema" in config


Script = Sequence[Turn] | Callable[[Request], Turn]


class ModelServer:
    """The model, as a context; `url` is its base address."""

    def __init__(
        self, script: Script, *, aside: str = '{"title": "Aside"}', has_asides: bool = True
    ) -> None:
        self._script = script
        self._has_asides = has_asides  # a plain model is never offered tools
        self.is_over = threading.Event()
        self._aside = Turn(aside)
        self._used = 0
        self._lock = threading.Lock()
        self.requests: list[Request] = []  # the conversation
        self.asides: list[Request] = []
        handler = type("Handler", (_Handler,), {"model": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> "ModelServer":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.is_over.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def turn(self, request: Request) -> tuple[int, Turn]:
        """The answer to a request, and its number."""
        with self._lock:
            number = len(self.requests) + len(self.asides) + 1
            if request.is_aside and self._has_asides:
                self.asides.append(request)
                return number, self._aside
            self.requests.append(request)
            if callable(self._script):
                return number, self._script(request)
            at = min(self._used, len(self._script) - 1)
            self._used += 1
            return number, self._script[at]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: ModelServer

    def log_message(self, *_: object) -> None:
        """Do not log: requests are recorded."""

    def do_GET(self) -> None:
        """Answer the only GET request there is: the list of models."""
        is_list = self.path.partition("?")[0].endswith("/models")
        listed = {"object": "list", "data": [{"id": "mock-model", "object": "model"}], "models": []}
        self._document(listed if is_list else {"error": "not found"}, 200 if is_list else 404)

    do_HEAD = do_GET  # noqa: N815  # the names that http.server calls

    def do_POST(self) -> None:
        """Answer one turn in the protocol of the path."""
        request = Request(self.path.partition("?")[0], self._body(), dict(self.headers))
        path = request.path
        if path.endswith(("/count_tokens", ":countTokens")):
            self._document({"input_tokens": USAGE[0], "totalTokens": USAGE[0]})
            return
        speak = next((speak for end, speak in _PROTOCOLS if end in path), None)
        if speak is None:
            self._document({"error": {"message": f"nothing at {path}"}}, 404)
            return
        number, turn = self.model.turn(request)
        if turn.status != 200:
            kind = {401: "authentication_error", 429: "rate_limit_error"}.get(turn.status)
            message = f"scripted {turn.status}"
            error = {"type": kind or "api_error", "message": message, **turn.error}
            after = turn.retry_after_seconds
            self._document({"type": "error", "error": error}, turn.status, retry_after=after)
            return
        complete, events, is_named, end = speak(number, turn, request)
        if turn.fault:
            pieces = _stream_bytes(events, end, is_named=is_named)
            half = b"".join(pieces[: (len(pieces) - 1) // 2])
            if turn.cut_at is not None:
                half = b"".join(pieces)[: turn.cut_at]
            self._go_wrong(turn.fault, half, b"".join(pieces))
            return
        if request.body.get("stream") or "streamGenerateContent" in path:
            self._stream(events, is_named=is_named, end=end)
        else:
            self._document(complete)

    def _body(self) -> Json:
        if self.headers.get("transfer-encoding") == "chunked":
            content = b"".join(self._chunks())
        else:
            content = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self.headers.get("content-encoding") == "gzip":
            content = gzip.decompress(content)
        body = json.loads(content or b"{}")
        return body if isinstance(body, dict) else {}

    def _chunks(self) -> Iterable[bytes]:
        while size := int(self.rfile.readline().strip() or b"0", 16):
            yield self.rfile.read(size)
            self.rfile.readline()
        self.rfile.readline()

    def _document(
        self, document: Json, status: int = 200, *, retry_after: int | None = None
    ) -> None:
        content = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(content)))
        if retry_after is not None:
            self.send_header("retry-after", str(retry_after))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _stream(self, events: Sequence[Json], *, is_named: bool, end: bytes) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for piece in _stream_bytes(events, end, is_named=is_named):
            self.wfile.write(piece)
            self.wfile.flush()
        self.close_connection = True

    def _go_wrong(self, fault: Fault, half: bytes, whole: bytes) -> None:
        self.close_connection = True
        is_late = fault in (Fault.STALL, Fault.BREAK, Fault.RESET_LATE, Fault.ERROR_EVENT)
        if fault is Fault.REDIRECT:
            self.send_response(307)
            self.send_header("location", f"{self.model.url}/elsewhere{self.path}")
            self.send_header("content-length", "0")
            self.end_headers()
        elif fault not in (Fault.SILENCE, Fault.RESET):
            self.send_response(200)
            kind = "text/html" if fault is Fault.PAGE else "text/event-stream"
            self.send_header("content-type", kind)
            self.send_header("connection", "close")
            self.end_headers()
        sent = {
            Fault.PAGE: b"<html><body>Please log in</body></html>",
            Fault.GARBLED: b'event: message_start\ndata: {"type": "mess\n\ndata: ]}\n\n',
            Fault.OTHER_SHAPE: b'event: hello\ndata: {"type": 7, "choices": "none"}\n\n' * 3,
            Fault.ERROR_EVENT: half + _ERROR_EVENT,
        }.get(fault, half if is_late else b"")
        self.wfile.write(sent)
        self.wfile.flush()
        if fault is Fault.SLOW:
            for byte in whole:
                self.wfile.write(bytes([byte]))
                self.wfile.flush()
                if self.model.is_over.wait(0.05):
                    return
        if fault in (Fault.SILENCE, Fault.STALL):
            self.model.is_over.wait(60)
        if fault in (Fault.RESET, Fault.RESET_LATE):
            self.wfile.flush()
            at_once = struct.pack("ii", 1, 0)
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, at_once)
            self.connection.close()


_BUSY = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
_ERROR_EVENT = f"event: error\ndata: {json.dumps(_BUSY)}\n\n".encode()


def _stream_bytes(events: Sequence[Json], end: bytes, *, is_named: bool) -> list[bytes]:
    names = [f"event: {event['type']}\n" if is_named else "" for event in events]
    pairs = zip(names, events, strict=True)
    return [*(f"{name}data: {json.dumps(event)}\n\n".encode() for name, event in pairs), end]


# --- protocols: the complete answer, its events, whether they have names, and the last bytes ---

_Reply = tuple[Json, list[Json], bool, bytes]


def _anthropic(number: int, turn: Turn, request: Request) -> _Reply:
    blocks: list[Json] = (
        [{"type": "text", "text": turn.text}] if turn.text or not turn.calls else []
    )
    blocks += [
        {
            "type": "tool_use",
            "id": f"toolu_{number:04}_{at}",
            "name": call.name,
            "input": call.arguments,
        }
        for at, call in enumerate(turn.calls)
    ]
    reason = "tool_use" if turn.calls else "max_tokens" if turn.is_cut else "end_turn"
    head: Json = {
        "id": f"msg_{number}",
        "type": "message",
        "role": "assistant",
        "model": request.body.get("model"),
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": {"input_tokens": USAGE[0], "output_tokens": 1},
    }
    events: list[Json] = [{"type": "message_start", "message": head}]
    for at, block in enumerate(blocks):
        if block["type"] == "text":
            start, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            start = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        events += [
            {"type": "content_block_start", "index": at, "content_block": start},
            {"type": "content_block_delta", "index": at, "delta": delta},
            {"type": "content_block_stop", "index": at},
        ]
    end = {"stop_reason": reason, "stop_sequence": None}
    events.append({"type": "message_delta", "delta": end, "usage": {"output_tokens": USAGE[1]}})
    events.append({"type": "message_stop"})
    complete = {**head, "content": blocks, **end}
    complete["usage"] = {"input_tokens": USAGE[0], "output_tokens": USAGE[1]}
    return complete, events, True, b""


def _responses(number: int, turn: Turn, request: Request) -> _Reply:
    items: list[Json] = []
    if turn.text or not turn.calls:
        content = [{"type": "output_text", "text": turn.text, "annotations": []}]
        items.append(
            {"type": "message", "id": f"m_{number}", "role": "assistant", "content": content}
        )
    for at, call in enumerate(turn.calls):
        identity = {"id": f"fc_{number}_{at}", "call_id": f"call_{number}_{at}", "name": call.name}
        identity |= {"namespace": call.namespace} if call.namespace else {}
        items.append({"type": "function_call", **identity, "arguments": json.dumps(call.arguments)})
    items = [{**item, "status": "completed"} for item in items]
    head: Json = {"id": f"resp_{number}", "object": "response", "created_at": 0, "output": []}
    head |= {"model": request.body.get("model"), "status": "in_progress"}
    events: list[Json] = [{"type": "response.created", "response": head}]
    for at, item in enumerate(items):
        events.append({"type": "response.output_item.added", "output_index": at, "item": item})
        if item["type"] == "message":
            place = {"item_id": item["id"], "output_index": at, "content_index": 0}
            events.append({"type": "response.output_text.delta", **place, "delta": turn.text})
        events.append({"type": "response.output_item.done", "output_index": at, "item": item})
    usage = {
        "input_tokens": USAGE[0],
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": USAGE[1],
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": sum(USAGE),
    }
    complete = {**head, "status": "completed", "output": items, "usage": usage}
    events.append({"type": "response.completed", "response": complete})
    numbered = [{**event, "sequence_number": at} for at, event in enumerate(events)]
    return complete, numbered, True, b""


def _chat(number: int, turn: Turn, request: Request) -> _Reply:
    message: Json = {"role": "assistant", "content": turn.text or (None if turn.calls else "")}
    if turn.calls:
        message["tool_calls"] = [
            {
                "index": at,
                "id": f"call_{number}_{at}",
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
            }
            for at, call in enumerate(turn.calls)
        ]
    reason = "tool_calls" if turn.calls else "length" if turn.is_cut else "stop"
    usage = {"prompt_tokens": USAGE[0], "completion_tokens": USAGE[1], "total_tokens": sum(USAGE)}
    head = {"id": f"chat_{number}", "created": 0, "model": request.body.get("model")}
    choice = {"index": 0, "finish_reason": reason, "message": message}
    complete = {**head, "object": "chat.completion", "choices": [choice], "usage": usage}
    chunk = {**head, "object": "chat.completion.chunk"}
    events = [
        {**chunk, "choices": [{"index": 0, "delta": message, "finish_reason": None}]},
        {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]},
        {**chunk, "choices": [], "usage": usage},
    ]
    return complete, events, False, b"data: [DONE]\n\n"


def _gemini(number: int, turn: Turn, request: Request) -> _Reply:
    parts: list[Json] = [{"text": turn.text}] if turn.text or not turn.calls else []
    parts += [{"functionCall": {"name": call.name, "args": call.arguments}} for call in turn.calls]
    content = {"role": "model", "parts": parts}
    complete = {
        "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {
            "promptTokenCount": USAGE[0],
            "candidatesTokenCount": USAGE[1],
            "totalTokenCount": sum(USAGE),
        },
        "modelVersion": "mock",
    }
    return complete, [complete], False, b""


_PROTOCOLS: tuple[tuple[str, Callable[[int, Turn, Request], _Reply]], ...] = (
    ("/messages", _anthropic),
    ("/responses", _responses),
    ("/chat/completions", _chat),
    ("enerateContent", _gemini),
)


def _texts(value: object) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
