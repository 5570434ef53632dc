"""Streams that the real programs wrote, recorded against a scripted model on loopback.

`work` writes one file, `review` may only read, a number is the status of the model's answer.
tests/agents/test_real_agents.py runs the programs themselves.
"""

from pathlib import Path

import pytest

from fairlead.agents.model import (
    AgentStarted,
    EndKind,
    FileChanged,
    MalformedLine,
    Stream,
    TokenUsage,
)
from fairlead.agents.streams import Decoder, Exit, Tally, events_of

CORPUS = Path(__file__).resolve().parents[1] / "corpus" / "streams"
SAID = "FINAL: done"
OK, AUTH, LIMITED, BUSY = EndKind.OK, EndKind.AUTH, EndKind.RATE_LIMITED, EndKind.OVERLOADED

# The recording, the stream's dialect, the exit code it had, and how the call ended.
RECORDED = [
    ("claude-work", Stream.CLAUDE, 0, OK, SAID, TokenUsage(20, 0, 10)),
    ("claude-review", Stream.CLAUDE, 0, OK, SAID, TokenUsage(10, 0, 5)),
    ("claude-401", Stream.CLAUDE, 1, AUTH, None, TokenUsage()),
    ("claude-429", Stream.CLAUDE, 1, LIMITED, None, TokenUsage()),
    ("claude-500", Stream.CLAUDE, 1, BUSY, None, TokenUsage()),
    ("codex-work", Stream.CODEX, 0, OK, SAID, TokenUsage(20, 0, 10)),
    ("codex-review", Stream.CODEX, 0, OK, SAID, TokenUsage(20, 0, 10)),
    ("codex-401", Stream.CODEX, 1, AUTH, "", TokenUsage()),
    ("codex-429", Stream.CODEX, 1, LIMITED, "", TokenUsage()),
    ("codex-500", Stream.CODEX, 1, BUSY, "", TokenUsage()),
    ("gemini-work", Stream.GEMINI, 0, OK, SAID, TokenUsage(20, 0, 10)),
    ("gemini-review", Stream.GEMINI, 0, OK, SAID, TokenUsage(20, 0, 10)),
    ("gemini-401", Stream.GEMINI, 145, AUTH, "", TokenUsage()),
    ("opencode-work", Stream.OPENCODE, 0, OK, SAID, TokenUsage(20, 0, 10)),
    ("opencode-review", Stream.OPENCODE, 0, OK, SAID, TokenUsage(10, 0, 5)),
    ("opencode-401", Stream.OPENCODE, 1, AUTH, "", TokenUsage()),
    ("qwen-work", Stream.CLAUDE, 0, OK, SAID, TokenUsage(20, 0, 10)),
    # It ends with success, no error and code 0; that no token was answered gives it away.
    ("qwen-401", Stream.CLAUDE, 0, EndKind.INVALID_OUTPUT, None, TokenUsage()),
]


def recording(name: str) -> bytes:
    return (CORPUS / f"{name}.jsonl").read_bytes()


def test_every_recording_is_in_the_table():
    assert {path.stem for path in CORPUS.iterdir()} == {name for name, *_ in RECORDED}


@pytest.mark.parametrize(("name", "stream", "code", "kind", "text", "usage"), RECORDED)
def test_a_recorded_call_ends_as_it_did(name, stream, code, kind, text, usage):
    tally = Tally(stream)
    events = events_of(stream, recording(name))
    for event in events:
        tally.add(event)
    ending = tally.ending(Exit(code))

    assert not any(isinstance(event, MalformedLine) for event in events)
    assert (ending.kind, ending.usage) == (kind, usage)
    assert text is None or ending.text == text
    assert [event.session for event in events if isinstance(event, AgentStarted)] == [
        ending.session
    ]


@pytest.mark.parametrize("name", ["claude-work", "gemini-work", "opencode-work"])
def test_a_written_file_is_reported(name):
    stream = next(row[1] for row in RECORDED if row[0] == name)

    assert FileChanged("/home/user/project/out.txt") in events_of(stream, recording(name))


@pytest.mark.parametrize(("name", "stream"), [row[:2] for row in RECORDED])
def test_a_recording_split_anywhere_has_the_same_events(name, stream):
    data = recording(name)
    whole = events_of(stream, data)

    for place in range(0, len(data), 41):
        decoder = Decoder(stream)
        assert (*decoder.feed(data[:place]), *decoder.feed(data[place:]), *decoder.close()) == whole


@pytest.mark.parametrize(
    ("name", "stream"),
    [row[:2] for row in RECORDED if row[3] is OK and row[1] is not Stream.OPENCODE],
)
def test_a_recording_that_breaks_off_is_never_a_success(name, stream):
    data = recording(name)

    for place in range(0, len(data) - 2, 97):
        tally = Tally(stream)
        for event in events_of(stream, data[:place]):
            tally.add(event)
        assert tally.ending(Exit(0)).kind is not OK, place
