"""Decode an agent's output into events, and events into the result of the call.

    decoder = Decoder(Stream.CLAUDE)
    events = [*decoder.feed(first_bytes), *decoder.feed(more_bytes), *decoder.close()]

Bytes may be split anywhere. Memory is bounded: a line over the limit is dropped and counted. A
line with a repeated key, with NaN or Infinity, or with bytes that are not UTF-8 is not an event,
because two JSON readers could disagree about what it says.
"""

import codecs
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from fairlead.agents.drivers.catalog import FORMATS
from fairlead.agents.drivers.driver import StreamFormat
from fairlead.agents.drivers.fields import Line, StreamMemory
from fairlead.agents.model import (
    AgentEvent,
    AgentFinished,
    AgentStarted,
    AgentText,
    CallResult,
    EndKind,
    ErrorReported,
    MalformedLine,
    Stream,
    TokenUsage,
    ToolDenied,
    ToolFinished,
    ToolStarted,
    UsageReported,
)
from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass

LINE_BYTES = 4 << 20
TEXT_LENGTH = 1 << 20
_ERROR_LENGTH = 2000
_DENIED = 20


class Decoder:
    """Decodes one stream while it arrives."""

    def __init__(self, stream: Stream, line_bytes: int = LINE_BYTES) -> None:
        self._decode = FORMATS[stream].decode
        self._memory = StreamMemory()
        self._limit = line_bytes
        self._line = bytearray()  # the bytes since the last line end
        self._characters = codecs.getincrementaldecoder("utf-8")("replace")
        self._dropped = 0  # bytes of a line over the limit

    def feed(self, data: bytes) -> Iterator[AgentEvent]:
        """The events of the lines that these bytes complete."""
        if self._decode is None:
            yield from self._text(data)
            return
        start = 0
        while (end := data.find(b"\n", start)) >= 0:
            self._append(data[start:end])
            yield from self._end_line()
            start = end + 1
        self._append(data[start:])

    def close(self) -> Iterator[AgentEvent]:
        """The events of a last line without a line end, or of an incomplete last character."""
        yield from self._end_line()
        yield from self._text(b"", is_last=True)

    def _text(self, data: bytes, *, is_last: bool = False) -> Iterator[AgentEvent]:
        if text := self._characters.decode(data, is_last):
            yield AgentText(text, is_piece=True)

    def _append(self, piece: bytes) -> None:
        if self._dropped or len(self._line) + len(piece) > self._limit:
            self._dropped += len(self._line) + len(piece)
            self._line.clear()
        else:
            self._line += piece

    def _end_line(self) -> Iterator[AgentEvent]:
        line, dropped = bytes(self._line).strip(), self._dropped
        self._line.clear()
        self._dropped = 0
        if dropped:
            yield MalformedLine("a line over the limit", dropped)
        elif line and self._decode is not None:
            try:
                fields = _parsed(line)
            except (ValueError, RecursionError) as problem:
                yield MalformedLine(str(problem)[:200], len(line))
                return
            yield from self._decode(fields, self._memory)


def events_of(stream: Stream, data: bytes) -> tuple[AgentEvent, ...]:
    """The events of a complete stream."""
    decoder = Decoder(stream)
    return (*decoder.feed(data), *decoder.close())


def _parsed(line: bytes) -> Line:
    """A JSON object that every reader understands the same way; a ValueError otherwise."""
    if not line.startswith(b"{"):
        raise ValueError("not an object")
    fields: Line = json.loads(
        line.decode("utf-8"), object_pairs_hook=_unique_keys, parse_constant=_no_constant
    )
    return fields


def _unique_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("an object has the same key twice")
    return fields


def _no_constant(name: str) -> object:
    raise ValueError(f"{name} is not a JSON number")


@dataclass(frozen=True, slots=True)
class Exit:
    """How the process ended, as the supervision saw it."""

    code: int | None = None  # negative: the signal
    stopped: EndKind | None = None  # why the supervision ended it early
    reason: str = ""
    errors: str = ""  # the last lines of its standard error
    dropped_bytes: int = 0
    at: float = 0.0  # when, in seconds since 1970
    zone: int = 0  # seconds that local time is ahead of UTC

    @property
    def wall(self) -> datetime | None:
        """When, in local time without a zone; None if unknown."""
        local = datetime.fromtimestamp(self.at + self.zone, UTC)
        return local.replace(tzinfo=None) if self.at else None


class Tally:
    """Collects what a call reported, in bounded memory."""

    def __init__(self, stream: Stream) -> None:
        self._format: StreamFormat = FORMATS[stream]
        self.session = self.model = ""
        self.finished: AgentFinished | None = None
        self.last_error: ErrorReported | None = None
        self._text = ""
        self._is_new = True  # the next text does not continue the one before
        self._steps = TokenUsage()
        self._total: TokenUsage | None = None
        self._cost: float | None = None
        self._malformed = 0
        self._denied: list[str] = []

    def add(self, event: AgentEvent) -> None:
        """Take one event into account."""
        match event:
            case AgentStarted():
                self.session, self.model = event.session, event.model or self.model
            case AgentText(is_thinking=False):
                self._add_text(event)
            case ToolStarted() | ToolFinished():
                self._is_new = True
            case UsageReported():
                self._add_usage(event)
            case ErrorReported():
                self.last_error = event
            case AgentFinished():
                self.finished = event
            case MalformedLine():
                self._malformed += 1
            case ToolDenied() if len(self._denied) < _DENIED:
                self._denied.append(event.tool)
            case _:
                pass

    @property
    def spent(self) -> UsageReported:
        """Tokens and price so far."""
        return UsageReported(
            self._total or self._steps, self._cost, is_total=self._total is not None
        )

    def ending(self, exit_: Exit) -> CallResult:
        """How the call ended, by the program's own last event and its exit."""
        kind, error = self._judged(exit_)
        is_ok = kind is EndKind.OK
        last = self.finished.text if self.finished and self.finished.text else self._text
        spent = self.spent
        return CallResult(
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
        finished, error = self.finished, self.last_error
        if finished and not finished.is_ok:
            fault = finished.fault
            if fault is EndKind.FAILED and (exit_.code or error):  # the exit may say more
                fault = self._bad_exit(exit_.code or 0)
            return fault, finished.message or exit_.errors
        if exit_.stopped and not finished:
            return exit_.stopped, exit_.reason
        message = (error.message if error else "") or exit_.errors
        if exit_.code and not (exit_.stopped and finished):
            return self._bad_exit(exit_.code), message or f"exit code {exit_.code}"
        if self._format.reports_end and not finished:
            fault = error.fault if error else EndKind.INVALID_OUTPUT
            return fault, message or "it ended without a last event"
        if self._format.needs_text and (error or not self._text.strip()):
            return (
                (error.fault, message) if error else (EndKind.FAILED, message or "it said nothing")
            )
        return EndKind.OK, ""

    def _retry_after(self, kind: EndKind, exit_: Exit) -> float | None:
        error = self.last_error
        if error and error.resets_at and exit_.at:
            return max(0.0, error.resets_at - exit_.at)
        if error and error.retry_after is not None:
            return error.retry_after
        # Standard error is not searched: programs repeat there what a model said.
        message = (self.finished.message if self.finished else "") or (
            error.message if error else ""
        )
        return retry_after(message[:_ERROR_LENGTH], exit_.wall) if kind.may_pass else None

    def _bad_exit(self, code: int) -> EndKind:
        if self.last_error:
            return self.last_error.fault
        if self._format.exit_fault and code > 0:
            return self._format.exit_fault(code)
        return EndKind.KILLED if code < 0 else EndKind.FAILED

    def _add_text(self, event: AgentText) -> None:
        if event.is_piece and not self._is_new:
            self._text = (self._text + event.text)[-TEXT_LENGTH:]
        elif event.text:
            self._text = event.text[-TEXT_LENGTH:]
        self._is_new = False

    def _add_usage(self, event: UsageReported) -> None:
        if event.is_total:
            # A total of zero is no total: the sum of the steps stays.
            self._total = event.usage if event.usage != TokenUsage() else self._total
            self._cost = self._cost if event.cost_usd is None else event.cost_usd
            return
        self._steps += event.usage
        if event.cost_usd is not None:
            self._cost = (self._cost or 0.0) + event.cost_usd


_UNITS = {"d": 86_400.0, "h": 3_600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
_PIECE = r"([0-9]{1,9}(?:\.[0-9]{1,9})?) ?(ms|d(?:ays?)?|h(?:ours?)?|m(?:in(?:ute)?s?)?|s(?:ec(?:ond)?s?)?)"
_LENGTH = lazy_pattern(
    rf"\b(?:try again|retry|reset) (?:in|after) ((?:{_PIECE}(?![a-z]),? ?)+)", re.IGNORECASE
)
_ONE = lazy_pattern(_PIECE, re.IGNORECASE)
_CLOCK = lazy_pattern(
    r"\btry again at (?:([A-Z][a-z]{2} [0-9]{1,2})(?:st|nd|rd|th), ([0-9]{4}) )?"
    r"([0-9]{1,2}:[0-9]{2} [AP]M)\b"
)
_MINUTE = timedelta(minutes=1)  # the message gives a time of day without seconds


def retry_after(message: str, now: datetime | None) -> float | None:
    """The seconds that a message asks to wait; `now` is the local time, if known.

    Only two forms are certain enough: a length of time, and a time of day as Codex writes it,
    which omits the date only on the same day. For anything else the retry policy decides.
    """
    length = _LENGTH.search(message)
    if length:
        return sum(float(count) * _UNITS[_short(unit)] for count, unit in _ONE.findall(length[1]))
    clock = _CLOCK.search(message)
    return _until(clock, now) if clock and now else None


def _until(clock: re.Match[str], now: datetime) -> float | None:
    day = f"{clock[1]} {clock[2]}" if clock[1] else f"{now:%b %d %Y}"
    try:
        until = datetime.strptime(f"{day} {clock[3]}", "%b %d %Y %I:%M %p")  # noqa: DTZ007 - local time
    except ValueError:
        return None
    left = (until + _MINUTE - now).total_seconds()
    return left if left >= 0 else None


def _short(unit: str) -> str:
    return "ms" if unit.lower() == "ms" else unit[0].lower()
