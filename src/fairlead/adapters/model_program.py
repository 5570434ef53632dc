"""The program that asks a plain model: a prompt on standard input, JSON lines on standard output.

    {"type": "started"}  {"type": "piece"}  {"type": "spent"}  {"type": "finished"}

It imports nothing of ours and is started by its path. It asks once: who called it knows whether to
ask again. Nothing it writes holds the key, whatever a service sends back. A stream that breaks off
is no answer: only the service's own last word ends one well.
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
_NO_KEY = "no-key"  # clients insist on one
_CHARACTERS_A_TOKEN = 4
_TOLD_EVERY = 2000  # characters between two estimates of what was written
_MESSAGE = 1500
_LEAST_TOKENS = 8192  # of an answer, where the service wants to be told and nobody has said
_CONNECTING = 20.0  # seconds
OWN_LIMIT = 30.0  # seconds that a client's limit lies beyond ours: ours decides
_NETWORK = {"APIConnectionError", "TransportError", "OSError"}
_TIMEOUTS = {"APITimeoutError", "TimeoutException", "TimeoutError"}

Line = dict[str, object]


@dataclass
class Answer:
    """An answer as it comes, told piece by piece."""

    call: Line
    prompt: str
    say: Callable[[Line], None]
    model: str = ""
    text_length: int = 0
    counted: dict[str, int] = field(default_factory=dict)  # as the service says
    end: str = ""  # the service's word for how it ended
    _is_started: bool = False
    _told_at: int = 0

    def start(self, session: object, model: object) -> None:
        """The service has begun to answer: from here on it costs something."""
        if not self._is_started:
            self._is_started = True
            self.model = _text(model) or _text(self.call.get("model"))
            self.say({"type": "started", "session": _text(session), "model": self.model})
            self.tell_spent()

    def add(self, text: object, *, is_thinking: bool = False) -> None:
        """A piece of it."""
        piece = _text(text)
        if piece:
            self.say({"type": "piece", "text": piece, "is_thinking": is_thinking})
            self.text_length += len(piece)
        if self.text_length - self._told_at > _TOLD_EVERY:
            self._told_at = self.text_length
            self.tell_spent()

    def count(self, **tokens: object) -> None:
        """Tokens as the service counts them; what it leaves out stays an estimate."""
        self.counted |= {key: held for key, held in tokens.items() if isinstance(held, int)}

    def tell_spent(self) -> None:
        """All that was spent so far: killed after this, the call is still accounted for."""
        if not self._is_started:
            return
        read = self.counted.get("read", -(-len(self.prompt) // _CHARACTERS_A_TOKEN))
        written = self.counted.get("written", -(-self.text_length // _CHARACTERS_A_TOKEN))
        line: Line = {"tokens_in": read, "tokens_cached": self.counted.get("cached", 0)}
        prices = self.call.get("usd_in"), self.call.get("usd_out")
        if all(isinstance(each, int | float) for each in prices):
            usd_in, usd_out = map(float, map(str, prices))
            line["cost_usd"] = (read * usd_in + written * usd_out) / 1e6
        self.say({"type": "spent", **line, "tokens_out": written})


def main() -> int:
    """Ask once, with what the environment and standard input say."""
    call = json.loads(os.environ[_CALL])
    prompt = sys.stdin.buffer.read().decode("utf-8", "replace")
    output = sys.stdout.buffer

    def write(line: bytes) -> None:
        output.write(line)
        output.flush()

    return ask(call, prompt, os.environ.get(_text(call["key_env"]), ""), write)


def ask(call: Line, prompt: str, key: str, write: Callable[[bytes], None]) -> int:
    """Ask a model; every line of the protocol goes to `write`."""

    def say(line: Line) -> None:
        said = json.dumps(line)
        if len(key) >= 8:
            said = said.replace(json.dumps(key)[1:-1], f"[{call['key_env']}]")
        write(said.encode() + b"\n")

    answer = Answer(call, prompt, say)
    if call["key_env"] and not key:
        return _failed(answer, {"error": "authentication_error"}, f"{call['key_env']} is not set")
    if not call["model"]:
        key_of_it = f"fairlead.models.{call['name']}.model"
        told = f"no model is named: fairlead config set --user {key_of_it} MODEL"
        return _failed(answer, {"error": "client"}, told)
    try:
        wire = _anthropic if call["kind"] == "anthropic" else _openai
        wire(answer, key or _NO_KEY)
    except ImportError as problem:
        told = f"{problem.name} is missing: pip install 'fairlead[models]'"
        return _failed(answer, {"error": "client"}, told)
    # A client may raise anything; a traceback would show what must not be shown.
    except Exception as problem:  # noqa: BLE001
        return _failed(answer, _kind(problem), *_told(problem))
    answer.tell_spent()
    if not answer.end and answer.model:
        return _failed(answer, {"error": "network"}, "the answer broke off")
    if not answer.end:
        return _failed(answer, {"error": "garbled"}, "what came is no answer of a model")
    if answer.end in ("refusal", "content_filter"):
        return _failed(
            answer, {"error": "refused"}, f"the service refused to answer ({answer.end})"
        )
    is_cut = answer.end in ("max_tokens", "length", "model_context_window_exceeded")
    say({"type": "finished", "is_ok": True, "is_cut": is_cut})
    return 0


def _anthropic(answer: Answer, key: str) -> None:
    import anthropic

    call = answer.call
    with anthropic.Anthropic(**_options(anthropic, call, key)) as client:
        stream = client.messages.create(
            model=_text(call["model"]),
            max_tokens=int(str(call["max_tokens"])) or _LEAST_TOKENS,
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


def _count_anthropic(answer: Answer, usage: Any) -> None:
    fresh, cached = usage.input_tokens, usage.cache_read_input_tokens or 0
    made = usage.cache_creation_input_tokens or 0
    if isinstance(fresh, int):
        answer.count(read=fresh + made + cached, cached=cached)


def _openai(answer: Answer, key: str) -> None:
    import openai

    with openai.OpenAI(**_options(openai, answer.call, key)) as client:
        for chunk in _chunks(openai, client, answer):
            answer.start(chunk.id, chunk.model)
            for choice in (chunk.choices or ())[:1]:
                answer.add(choice.delta.content)
                # A name that servers of open models gave to it; the client does not know it.
                answer.add(getattr(choice.delta, "reasoning_content", ""), is_thinking=True)
                answer.end = _text(choice.finish_reason) or answer.end
            if chunk.usage:
                details = chunk.usage.prompt_tokens_details
                answer.count(read=chunk.usage.prompt_tokens, written=chunk.usage.completion_tokens)
                answer.count(cached=details.cached_tokens if details else None)


def _chunks(openai: Any, client: Any, answer: Answer) -> Iterator[Any]:
    """The stream. Servers differ in which names they know: one they refuse is not sent again."""
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
    seconds = float(str(call["seconds"])) + OWN_LIMIT
    return {
        "api_key": key,
        "base_url": call["base_url"] or None,
        "max_retries": 0,
        "timeout": client.Timeout(seconds, connect=_CONNECTING),
        # The key would go along to wherever a service points.
        "http_client": client.DefaultHttpxClient(follow_redirects=False),
    }


def _failed(answer: Answer, kind: Line, message: str, retry_after: float | None = None) -> int:
    answer.tell_spent()
    line = {"type": "finished", "is_ok": False, "message": message, **kind}
    answer.say(line if retry_after is None else {**line, "retry_after": retry_after})
    return 1


def _told(problem: Exception) -> tuple[str, float | None]:
    """What a problem says, and how long to wait."""
    message = _error_body(problem).get("message")
    headers = getattr(getattr(problem, "response", None), "headers", {})
    told = _text(message) or str(problem) or type(problem).__name__
    return told[:_MESSAGE], _seconds(headers.get("retry-after"))


def _kind(problem: Exception) -> Line:
    """What sort of problem it is: the status of an answer, or a word for its absence."""
    body = _error_body(problem)
    names = [held for key in ("type", "code") if (held := _text(body.get(key)))]
    status = getattr(problem, "status_code", 0)
    if names or status:
        return {"status": status, "error": " ".join(names)}
    classes = {each.__name__ for each in type(problem).__mro__}
    if classes & _TIMEOUTS:
        return {"error": "timeout"}
    if classes & _NETWORK:
        return {"error": "network"}
    return {"error": "garbled"}


def _error_body(problem: Exception) -> Line:
    body = getattr(problem, "body", None)
    held = body.get("error", body) if isinstance(body, dict) else {}
    return held if isinstance(held, dict) else {"message": held}


def _seconds(told: object) -> float | None:
    """How long a service asks to wait: in seconds, or until a date."""
    try:
        return max(0.0, float(str(told)))
    except ValueError:
        pass
    try:
        return max(0.0, parsedate_to_datetime(str(told)).timestamp() - time.time())
    except (TypeError, ValueError):
        return None


def _text(held: object) -> str:
    return held if isinstance(held, str) else ""


if __name__ == "__main__":
    sys.exit(main())
