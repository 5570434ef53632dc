"""The program that asks a plain model: a prompt on standard input, JSON lines on standard output.

    {"type": "started"}  {"type": "piece"}  {"type": "spent"}  {"type": "finished"}

It is started by its path and imports nothing of Fairlead. It asks once; retrying is the caller's
decision. It never writes the key, whatever a service sends back. A stream that breaks off is not
an answer: only the last event of the service ends one successfully.
"""

import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import Any

_CALL = "_FAIRLEAD_MODEL_CALL"
_NO_KEY = "no-key"  # client packages require a key
_CHARACTERS_A_TOKEN = 4
_REPORT_EVERY = 2000  # characters between two reports of estimated usage
_MESSAGE_LENGTH = 1500
_DEFAULT_TOKENS = 8192  # of an answer, for a service that requires a limit
_CONNECT_SECONDS = 20.0
EXTRA_SECONDS = 30.0  # the client's limit is longer than ours, so that ours decides
_NETWORK = {"APIConnectionError", "TransportError", "OSError"}
_TIMEOUTS = {"APITimeoutError", "TimeoutException", "TimeoutError"}

Line = dict[str, object]


@dataclass
class ModelAnswer:
    """An answer while it arrives, reported piece by piece."""

    call: Line
    prompt: str
    say: Callable[[Line], None]
    model: str = ""
    text_length: int = 0
    counted: dict[str, int] = field(default_factory=dict)  # tokens as the service reports them
    end: str = ""  # the service's stop reason
    _is_started: bool = False
    _reported_at: int = 0

    def start(self, session: object, model: object) -> None:
        """The service has begun to answer; from now on the call costs money."""
        if not self._is_started:
            self._is_started = True
            self.model = _text(model) or _text(self.call.get("model"))
            self.say({"type": "started", "session": _text(session), "model": self.model})
            self.report_usage()

    def add(self, text: object, *, is_thinking: bool = False) -> None:
        """Report a piece of the answer."""
        piece = _text(text)
        if piece:
            self.say({"type": "piece", "text": piece, "is_thinking": is_thinking})
            self.text_length += len(piece)
        if self.text_length - self._reported_at > _REPORT_EVERY:
            self._reported_at = self.text_length
            self.report_usage()

    def count(self, **tokens: object) -> None:
        """Remember tokens as the service counts them; others stay estimated."""
        self.counted |= {key: count for key, count in tokens.items() if isinstance(count, int)}

    def report_usage(self) -> None:
        """Report the usage so far, so that a call killed later is still accounted for."""
        if not self._is_started:
            return
        read = self.counted.get("read", -(-len(self.prompt) // _CHARACTERS_A_TOKEN))
        written = self.counted.get("written", -(-self.text_length // _CHARACTERS_A_TOKEN))
        line: Line = {"tokens_in": read, "tokens_cached": self.counted.get("cached", 0)}
        prices = self.call.get("usd_in"), self.call.get("usd_out")
        if all(isinstance(price, int | float) for price in prices):
            usd_in, usd_out = map(float, map(str, prices))
            line["cost_usd"] = (read * usd_in + written * usd_out) / 1e6
        self.say({"type": "spent", **line, "tokens_out": written})


def main() -> int:
    """Ask the question in the environment and on standard input."""
    call = json.loads(os.environ[_CALL])
    prompt = sys.stdin.buffer.read().decode("utf-8", "replace")
    output = sys.stdout.buffer

    def write(line: bytes) -> None:
        output.write(line)
        output.flush()

    return ask(call, prompt, os.environ.get(_text(call["key_env"]), ""), write)


def ask(call: Line, prompt: str, key: str, write: Callable[[bytes], None]) -> int:
    """Ask a model; pass every output line to `write`. The exit code is returned."""

    def say(line: Line) -> None:
        text = json.dumps(line)
        if len(key) >= 8:
            text = text.replace(json.dumps(key)[1:-1], f"[{call['key_env']}]")
        write(text.encode() + b"\n")

    answer = ModelAnswer(call, prompt, say)
    if call["key_env"] and not key:
        return _failed(answer, {"error": "authentication_error"}, f"{call['key_env']} is not set")
    if not call["model"]:
        setting = f"fairlead.models.{call['name']}.model"
        message = f"no model is named: fairlead config set --user {setting} MODEL"
        return _failed(answer, {"error": "client"}, message)
    try:
        request = _anthropic if call["kind"] == "anthropic" else _openai
        request(answer, key or _NO_KEY)
    except ImportError as problem:
        message = f"{problem.name} is missing: pip install 'fairlead[models]'"
        return _failed(answer, {"error": "client"}, message)
    # A client may raise anything, and a traceback could show the key.
    except Exception as problem:  # noqa: BLE001
        return _failed(answer, _kind(problem), *_message(problem))
    answer.report_usage()
    if not answer.end and answer.model:
        return _failed(answer, {"error": "network"}, "the answer broke off")
    if not answer.end:
        return _failed(answer, {"error": "garbled"}, "the response is not an answer of a model")
    if answer.end in ("refusal", "content_filter"):
        return _failed(
            answer, {"error": "refused"}, f"the service refused to answer ({answer.end})"
        )
    is_cut = answer.end in ("max_tokens", "length", "model_context_window_exceeded")
    say({"type": "finished", "is_ok": True, "is_cut": is_cut})
    return 0


def _anthropic(answer: ModelAnswer, key: str) -> None:
    import anthropic

    call = answer.call
    with anthropic.Anthropic(**_options(anthropic, call, key)) as client:
        stream = client.messages.create(
            model=_text(call["model"]),
            max_tokens=int(str(call["max_tokens"])) or _DEFAULT_TOKENS,
            messages=[{"role": "user", "content": answer.prompt}],
            stream=True,
        )
        end: object = ""
        for event in stream:
            match event.type:
                case "message_start":
                    _count_anthropic(answer, event.message.usage)
                    answer.start(event.message.id, event.message.model)
                case "content_block_delta":
                    answer.add(getattr(event.delta, "text", ""))
                    answer.add(getattr(event.delta, "thinking", ""), is_thinking=True)
                case "message_delta":
                    end = event.delta.stop_reason
                    answer.count(written=event.usage.output_tokens)
                case "message_stop":
                    answer.end = _text(end) or "end_turn"


def _count_anthropic(answer: ModelAnswer, usage: Any) -> None:
    uncached, cached = usage.input_tokens, usage.cache_read_input_tokens or 0
    created = usage.cache_creation_input_tokens or 0
    if isinstance(uncached, int):
        answer.count(read=uncached + created + cached, cached=cached)


def _openai(answer: ModelAnswer, key: str) -> None:
    import openai

    with openai.OpenAI(**_options(openai, answer.call, key)) as client:
        for chunk in _chunks(openai, client, answer):
            answer.start(chunk.id, chunk.model)
            for choice in (chunk.choices or ())[:1]:
                answer.add(choice.delta.content)
                # Servers of open models use this name, which the client does not declare.
                answer.add(getattr(choice.delta, "reasoning_content", ""), is_thinking=True)
                answer.end = _text(choice.finish_reason) or answer.end
            if chunk.usage:
                details = chunk.usage.prompt_tokens_details
                answer.count(read=chunk.usage.prompt_tokens, written=chunk.usage.completion_tokens)
                answer.count(cached=details.cached_tokens if details else None)


def _chunks(openai: Any, client: Any, answer: ModelAnswer) -> Iterator[Any]:
    """The stream. Servers differ in their parameters: one that is refused is not sent again."""
    call = answer.call
    is_own = not call["base_url"] and "OPENAI_BASE_URL" not in os.environ
    names = (
        ["max_completion_tokens", "max_tokens"]
        if is_own
        else ["max_tokens", "max_completion_tokens"]
    )
    more: dict[str, object] = {"stream_options": {"include_usage": True}}
    if call["max_tokens"]:
        more[names.pop(0)] = call["max_tokens"]
    while True:
        try:
            yield from client.chat.completions.create(
                model=call["model"],
                messages=[{"role": "user", "content": answer.prompt}],
                stream=True,
                **more,
            )
        except (openai.BadRequestError, openai.UnprocessableEntityError) as problem:
            refused = next((name for name in more if name in str(problem)), "")
            if not refused or answer.model:
                raise
            del more[refused]
            if refused != "stream_options" and names:
                more[names.pop(0)] = call["max_tokens"]
        else:
            return


def _options(client: Any, call: Line, key: str) -> dict[str, Any]:
    seconds = float(str(call["seconds"])) + EXTRA_SECONDS
    return {
        "api_key": key,
        "base_url": call["base_url"] or None,
        "max_retries": 0,
        "timeout": client.Timeout(seconds, connect=_CONNECT_SECONDS),
        # A redirect would send the key to another server.
        "http_client": client.DefaultHttpxClient(follow_redirects=False),
    }


def _failed(answer: ModelAnswer, kind: Line, message: str, retry_after: float | None = None) -> int:
    answer.report_usage()
    line = {"type": "finished", "is_ok": False, "message": message, **kind}
    answer.say(line if retry_after is None else {**line, "retry_after": retry_after})
    return 1


def _message(problem: Exception) -> tuple[str, float | None]:
    """The message of an exception, and the seconds to wait."""
    message = _error_body(problem).get("message")
    headers = getattr(getattr(problem, "response", None), "headers", {})
    text = _text(message) or str(problem) or type(problem).__name__
    return text[:_MESSAGE_LENGTH], _seconds(headers.get("retry-after"))


def _kind(problem: Exception) -> Line:
    """The kind of an exception: an HTTP status with the service's names, or a word of ours."""
    body = _error_body(problem)
    names = [name for key in ("type", "code") if (name := _text(body.get(key)))]
    status = getattr(problem, "status_code", 0)
    if names or status:
        return {"status": status, "error": " ".join(names)}
    classes = {base.__name__ for base in type(problem).__mro__}
    if classes & _TIMEOUTS:
        return {"error": "timeout"}
    if classes & _NETWORK:
        return {"error": "network"}
    return {"error": "garbled"}


def _error_body(problem: Exception) -> Line:
    body = getattr(problem, "body", None)
    error = body.get("error", body) if isinstance(body, dict) else {}
    return error if isinstance(error, dict) else {"message": error}


def _seconds(header: object) -> float | None:
    """The seconds that a retry-after header asks to wait: a number, or a date."""
    try:
        return max(0.0, float(str(header)))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(str(header)).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


if __name__ == "__main__":
    sys.exit(main())
