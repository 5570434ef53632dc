"""How long a service wants to be left alone: by a length of time or a time of day, else unknown."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest

from fairlead.agents.model import CallResult, EndKind, Stream
from fairlead.agents.streams import Exit, Tally, events_of, retry_after
from fairlead.execution.decide import is_too_long, service_pause

HIT = "You've hit your usage limit. Upgrade to Pro (https://openai.com/chatgpt/pricing) or"
NOW = datetime(2026, 2, 3, 15, 40, 30)  # noqa: DTZ001 - a clock on a wall has no zone
LIMIT = {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": 1_900}}
ENDS_BADLY = {"type": "result", "subtype": "success", "is_error": True, "result": "limit reached"}


@pytest.mark.parametrize(
    ("message", "seconds"),
    [
        (f"{HIT} try again in 1 minute.", 60),
        (f"{HIT} try again in 3 days 2 hours 5 minutes.", 266_700),
        (f"{HIT} try again in 2 days, 1 hour.", 176_400),
        ("Rate limit reached for gpt-5. Please try again in 1.898s. Visit it.", 1.898),
        ("Rate limit reached: please try again in 6m0s.", 360),
        ("Rate limit reached: please try again in 20ms.", 0.02),
        ("You have exhausted your capacity. Your quota will reset after 3h17m20s.", 11_840),
        ("You exceeded your current quota. Please retry in 48.5s.", 48.5),
        (f"{HIT} try again at 3:42 PM.", 150),
        (f"{HIT} try again at 3:40 PM.", 30),  # the seconds are not told
        (f"{HIT} try again at Feb 4th, 2026 3:40 PM.", 86_430),
        (f"{HIT} try again at 3:39 PM.", None),  # it was, or is another day's
        (f"{HIT} try again at 25:99 PM.", None),
        (f"{HIT} try again at 10 de jul. de 2026, 11:52.", None),
        (f"{HIT} try again later.", None),
        ("try again in 2 business days", None),
        ("try again in 5 mountains", None),
        ("it took 5 minutes", None),
    ],
)
def test_only_a_certain_message_is_a_wait(message: str, seconds: float | None) -> None:
    assert retry_after(message, NOW) == (None if seconds is None else pytest.approx(seconds))


def test_a_time_of_day_needs_the_local_time() -> None:
    assert retry_after(f"{HIT} try again at 3:42 PM.", None) is None


def ended(stream: Stream, *said: Mapping[str, object], **exit_: object) -> CallResult:
    tally = Tally(stream)
    lines = "\n".join(map(json.dumps, said))
    for event in events_of(stream, lines.encode()):
        tally.add(event)
    return tally.ending(Exit(**{"code": 0, "at": 1_000.0, **exit_}))  # type: ignore[arg-type]


def test_codex_is_retried_at_the_time_it_gives() -> None:
    message = f"{HIT} try again in 3 days 2 hours 5 minutes."
    ending = ended(Stream.CODEX, {"type": "turn.failed", "error": {"message": message}}, code=1)
    assert (ending.kind, ending.retry_after) == (EndKind.RATE_LIMITED, 266_700)
    assert is_too_long(service_pause(ending.retry_after, 0), 0)  # so a person is asked at once


def test_a_time_of_day_is_local_time() -> None:
    at = datetime(2026, 2, 3, 20, 40, 30, tzinfo=UTC).timestamp()
    zone = int(timedelta(hours=-5).total_seconds())
    failed = {"type": "turn.failed", "error": {"message": f"{HIT} try again at 3:42 PM."}}
    assert ended(Stream.CODEX, failed, at=at, zone=zone).retry_after == 150


@pytest.mark.parametrize(
    ("stream", "line"),
    [
        (
            Stream.GEMINI,
            {"type": "result", "status": "error", "error": {"code": 429, "message": "retry in 9s"}},
        ),
        (
            Stream.OPENCODE,
            {"type": "error", "error": {"data": {"statusCode": 429, "message": "retry in 9s"}}},
        ),
    ],
)
def test_other_agents_are_retried_as_their_messages_say(
    stream: Stream, line: Mapping[str, object]
) -> None:
    ending = ended(stream, line)
    assert (ending.kind, ending.retry_after) == (EndKind.RATE_LIMITED, 9)


def test_a_failure_that_is_no_limit_has_no_wait() -> None:
    failed = {"type": "turn.failed", "error": {"message": "try again in 5 minutes"}}
    assert ended(Stream.CODEX, failed).retry_after is None


@pytest.mark.parametrize("code", [0, 1])
def test_an_earlier_rate_limit_explains_a_bad_end_whatever_the_exit_code(
    code: int,
) -> None:
    ending = ended(Stream.CLAUDE, LIMIT, ENDS_BADLY, code=code)
    assert (ending.kind, ending.retry_after) == (EndKind.RATE_LIMITED, 900)
