"""From the bytes of an agent's output to events, and from events to how the call ended.

    decoder = Decoder(Stream.CLAUDE)
    events = [*decoder.feed(first_bytes), *decoder.feed(more_bytes), *decoder.close()]

Bytes may be split anywhere. Memory is bounded whatever comes: a line over the limit is dropped
and counted. A line with a repeated key, a number that is none, or bytes that are no UTF-8 is no
event: what one reader takes for a yes and another for a no must not pass a gate.
"""

import codecs
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from enum import StrEnum

from fairlead.model import agent_dialects, model_dialect
from fairlead.model.agent_events import (
    AgentEvent,
    Denied,
    Ending,
    EndKind,
    Finished,
    Malformed,
    Said,
    Spent,
    Started,
    ToolFinished,
    ToolStarted,
    Trouble,
    Usage,
)
from fairlead.model.resets import wait_told
from fairlead.values import dataclass

LINE_BYTES = 4 << 20
TEXT_LENGTH = 1 << 20
_ERROR_LENGTH = 2000
_DENIED = 20


class Stream(StrEnum):
    """What a program writes to its standard output."""

    CLAUDE = "claude"
    CODEX = "codex"
    GEMINI = "gemini"
    ANTIGRAVITY = "antigravity"
    OPENCODE = "opencode"
    MODEL = "model"  # our own, of a plain model
    TEXT = "text"  # no protocol: all of it is the answer


_DIALECTS = {
    Stream.CLAUDE: agent_dialects.claude,
    Stream.CODEX: agent_dialects.codex,
    Stream.GEMINI: agent_dialects.gemini,
    Stream.ANTIGRAVITY: agent_dialects.antigravity,
    Stream.OPENCODE: agent_dialects.opencode,
    Stream.MODEL: model_dialect.model,
}
# What no event of a stream ever tells.
TELLS_NO_PRICE = frozenset({Stream.CODEX, Stream.GEMINI, Stream.ANTIGRAVITY, Stream.TEXT})
TELLS_NO_TOKENS = frozenset({Stream.TEXT})
# Streams whose last event says how it went; for the others the exit code does.
_TELLS_ITS_END = frozenset(Stream) - {Stream.OPENCODE, Stream.TEXT}


class Decoder:
    """Reads one stream, as it comes."""

    def __init__(self, stream: Stream, line_bytes: int = LINE_BYTES) -> None:
        self._dialect = _DIALECTS.get(stream)
        self._memory = agent_dialects.Memory()
        self._limit = line_bytes
        self._held = bytearray()
        self._characters = codecs.getincrementaldecoder("utf-8")("replace")
        self._dropped = 0  # bytes of a line that is over the limit

    def feed(self, data: bytes) -> Iterator[AgentEvent]:
        """The events of the lines that these bytes complete."""
        if self._dialect is None:
            yield from self._text(data)
            return
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            self._keep(data[start:end])
            yield from self._line()
            start = end + 1
        self._keep(data[start:])

    def close(self) -> Iterator[AgentEvent]:
        """The events of a last line without an end, and half a character at the end of a text."""
        yield from self._line()
        yield from self._text(b"", is_last=True)

    def _text(self, data: bytes, *, is_last: bool = False) -> Iterator[AgentEvent]:
        if text := self._characters.decode(data, is_last):
            yield Said(text, is_piece=True)

    def _keep(self, piece: bytes) -> None:
        if self._dropped or len(self._held) + len(piece) > self._limit:
            self._dropped += len(self._held) + len(piece)
            self._held.clear()
        else:
            self._held += piece

    def _line(self) -> Iterator[AgentEvent]:
        line, dropped = bytes(self._held).strip(), self._dropped
        self._held.clear()
        self._dropped = 0
        if dropped:
            yield Malformed("a line over the limit", dropped)
        elif line and self._dialect is not None:
            yield from self._events(line, self._dialect)

    def _events(self, line: bytes, dialect: agent_dialects.Dialect) -> Iterator[AgentEvent]:
        try:
            held = _parsed(line)
        except (ValueError, RecursionError) as problem:
            yield Malformed(str(problem)[:200], len(line))
            return
        yield from dialect(held, self._memory)


def events_of(stream: Stream, data: bytes) -> tuple[AgentEvent, ...]:
    """The events of a whole stream."""
    decoder = Decoder(stream)
    return (*decoder.feed(data), *decoder.close())


def _parsed(line: bytes) -> agent_dialects.Line:
    """JSON that every reader takes for the same thing; a ValueError otherwise."""
    if not line.startswith(b"{"):
        raise ValueError("not an object")
    held: agent_dialects.Line = json.loads(
        line.decode("utf-8"), object_pairs_hook=_no_repeats, parse_constant=_no_number
    )
    return held


def _no_repeats(pairs: list[tuple[str, object]]) -> dict[str, object]:
    held = dict(pairs)
    if len(held) != len(pairs):
        raise ValueError("a key stands twice in one object")
    return held


def _no_number(name: str) -> object:
    raise ValueError(f"{name} is no number of JSON")


@dataclass(frozen=True, slots=True)
class Exit:
    """How the process went, as its supervisor saw it."""

    code: int | None = None  # negative: the signal
    stopped: EndKind | None = None  # why the supervisor ended it before it had finished
    reason: str = ""
    errors: str = ""  # the last of its standard error
    dropped_bytes: int = 0
    at: float = 0.0  # when, in seconds since 1970
    zone: int = 0  # how many seconds the clock on the wall is ahead of UTC

    @property
    def wall(self) -> datetime | None:
        """When, as the clock on the wall showed it."""
        local = datetime.fromtimestamp(self.at + self.zone, UTC)
        return local.replace(tzinfo=None) if self.at else None


class Tally:
    """Gathers what matters of a call's events; memory is bounded."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self.session = self.model = ""
        self.finished: Finished | None = None
        self.trouble: Trouble | None = None
        self._text = ""
        self._is_new = True  # what is said next does not continue what was said before
        self._steps = Usage()
        self._total: Usage | None = None
        self._cost: float | None = None
        self._malformed = 0
        self._denied: list[str] = []

    def add(self, event: AgentEvent) -> None:
        """Take one event into account."""
        match event:
            case Started():
                self.session, self.model = event.session, event.model or self.model
            case Said(is_thinking=False):
                self._said(event)
            case ToolStarted() | ToolFinished():
                self._is_new = True
            case Spent():
                self._spent(event)
            case Trouble():
                self.trouble = event
            case Finished():
                self.finished = event
            case Malformed():
                self._malformed += 1
            case Denied() if len(self._denied) < _DENIED:
                self._denied.append(event.tool)
            case _:
                pass

    @property
    def spent(self) -> Spent:
        """Tokens and price so far."""
        return Spent(self._total or self._steps, self._cost, is_total=self._total is not None)

    def ending(self, exit_: Exit) -> Ending:
        """How the call ended, by the program's own last event and its exit."""
        kind, error = self._judged(exit_)
        is_ok = kind is EndKind.OK
        last = self.finished.text if self.finished and self.finished.text else self._text
        spent = self.spent
        return Ending(
            kind=kind,
            text=last[-TEXT_LENGTH:],
            session=self.session,
            model=self.model,
            usage=spent.usage,
            cost_usd=spent.cost_usd,
            exit_code=exit_.code,
            error="" if is_ok else error[:_ERROR_LENGTH],
            retry_after=None if is_ok else self._retry_after(kind, exit_),
            dropped_bytes=exit_.dropped_bytes,
            malformed_lines=self._malformed,
            denied=tuple(self._denied),
            is_cut=self.finished is not None and self.finished.is_cut,
        )

    def _judged(self, exit_: Exit) -> tuple[EndKind, str]:
        finished, trouble = self.finished, self.trouble
        if finished and not finished.is_ok:
            fault = finished.fault
            if fault is EndKind.FAILED and (exit_.code or trouble):  # it says no more than that
                fault = self._bad_exit(exit_.code or 0)
            return fault, finished.message or exit_.errors
        if exit_.stopped and not finished:
            return exit_.stopped, exit_.reason
        told = (trouble.message if trouble else "") or exit_.errors
        if exit_.code and not (exit_.stopped and finished):
            return self._bad_exit(exit_.code), told or f"exit code {exit_.code}"
        if self._stream in _TELLS_ITS_END and not finished:
            fault = trouble.fault if trouble else EndKind.INVALID_OUTPUT
            return fault, told or "it ended without a last event"
        if self._stream is Stream.OPENCODE and (trouble or not self._text.strip()):
            return (trouble.fault, told) if trouble else (EndKind.FAILED, told or "it said nothing")
        return EndKind.OK, ""

    def _retry_after(self, kind: EndKind, exit_: Exit) -> float | None:
        trouble = self.trouble
        if trouble and trouble.resets_at and exit_.at:
            return max(0.0, trouble.resets_at - exit_.at)
        if trouble and trouble.retry_after is not None:
            return trouble.retry_after
        # Not what is on standard error: there, programs repeat what a model said.
        told = (self.finished.message if self.finished else "") or (
            trouble.message if trouble else ""
        )
        return wait_told(told[:_ERROR_LENGTH], exit_.wall) if kind.may_pass else None

    def _bad_exit(self, code: int) -> EndKind:
        if self.trouble:
            return self.trouble.fault
        if self._stream is Stream.GEMINI and code > 0:
            # 41 is its own; else it leaves with the status of the answer, cut to a byte.
            return EndKind.AUTH if code == 41 else agent_dialects.fault_of(code + 256)
        return EndKind.KILLED if code < 0 else EndKind.FAILED

    def _said(self, event: Said) -> None:
        if event.is_piece and not self._is_new:
            self._text = (self._text + event.text)[-TEXT_LENGTH:]
        elif event.text:
            self._text = event.text[-TEXT_LENGTH:]
        self._is_new = False

    def _spent(self, event: Spent) -> None:
        if event.is_total:
            # A total that says nothing is none: what was counted on the way stands.
            self._total = event.usage if event.usage != Usage() else self._total
            self._cost = self._cost if event.cost_usd is None else event.cost_usd
            return
        self._steps += event.usage
        if event.cost_usd is not None:
            self._cost = (self._cost or 0.0) + event.cost_usd
