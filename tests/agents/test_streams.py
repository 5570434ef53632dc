"""Agents' streams: the table of events by program, and what no stream may do to its reader."""

import json
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.agents.model import (
    AgentFinished,
    AgentStarted,
    AgentText,
    EndKind,
    ErrorReported,
    FileChanged,
    MalformedLine,
    ModelRetried,
    OtherEvent,
    Stream,
    TokenUsage,
    ToolDenied,
    ToolFinished,
    ToolStarted,
    UsageReported,
)
from fairlead.agents.streams import Decoder, Exit, Tally, events_of
from fairlead.execution.decide import service_pause

CLAUDE, CODEX, GEMINI, OPENCODE = Stream.CLAUDE, Stream.CODEX, Stream.GEMINI, Stream.OPENCODE
JSON_STREAMS = [CLAUDE, CODEX, GEMINI, OPENCODE, Stream.ANTIGRAVITY]


def assistant(**block):
    return {"type": "assistant", "parent_tool_use_id": None, "message": {"content": [block]}}


def answered(identity, *, is_error=False):
    block = {"type": "tool_result", "tool_use_id": identity, "is_error": is_error}
    return {"type": "user", "message": {"content": [block]}}


def item(kind, *, event="item.completed", **fields):
    return {"type": event, "item": {"id": "i1", "type": kind, **fields}}


WRITE = {"file_path": "a.py", "content": "x"}
RESULT = {"type": "result", "subtype": "success", "is_error": False, "result": "done"}
USED = {"modelUsage": {"m": {"inputTokens": 5, "cacheReadInputTokens": 3, "outputTokens": 2}}}
STATS = {"input_tokens": 9, "cached": 4, "output_tokens": 2}
PART = {"tokens": {"input": 5, "output": 2, "reasoning": 1, "cache": {"read": 3, "write": 1}}}

# The stream, what the program writes, and what it means.
MEANINGS = [
    (
        CLAUDE,
        [{"type": "system", "subtype": "init", "session_id": "s", "model": "m"}],
        [AgentStarted("s", "m")],
    ),
    (CODEX, [{"type": "thread.started", "thread_id": "s"}], [AgentStarted("s")]),
    (GEMINI, [{"type": "init", "session_id": "s", "model": "m"}], [AgentStarted("s", "m")]),
    (
        OPENCODE,
        [{"type": "step_start", "sessionID": "s"}],
        [AgentStarted("s"), OtherEvent("step_start")],
    ),
    (CLAUDE, [assistant(type="text", text="hi")], [AgentText("hi")]),
    (CODEX, [item("agent_message", text="hi")], [AgentText("hi")]),
    (
        GEMINI,
        [{"type": "message", "role": "assistant", "content": "hi", "delta": True}],
        [AgentText("hi", is_piece=True)],
    ),
    (GEMINI, [{"type": "message", "role": "user", "content": "hi"}], [OtherEvent("message")]),
    (OPENCODE, [{"type": "text", "part": {"text": "hi"}}], [AgentText("hi")]),
    (CLAUDE, [assistant(type="thinking", thinking="hm")], [AgentText("hm", is_thinking=True)]),
    (CODEX, [item("reasoning", text="hm")], [AgentText("hm", is_thinking=True)]),
    (
        OPENCODE,
        [{"type": "reasoning", "part": {"text": "hm"}}],
        [AgentText("hm", is_thinking=True)],
    ),
    (
        CLAUDE,
        [assistant(type="tool_use", id="t", name="Write", input=WRITE), answered("t")],
        [ToolStarted("t", "Write", "a.py"), ToolFinished("t", "Write"), FileChanged("a.py")],
    ),
    (
        CLAUDE,
        [
            assistant(type="tool_use", id="t", name="Write", input=WRITE),
            answered("t", is_error=True),
        ],
        [ToolStarted("t", "Write", "a.py"), ToolFinished("t", "Write", is_error=True)],
    ),
    (
        CODEX,
        [
            item("command_execution", event="item.started", command="ls"),
            item("command_execution", command="ls", status="completed"),
        ],
        [ToolStarted("i1", "command_execution", "ls"), ToolFinished("i1", "command_execution")],
    ),
    (
        GEMINI,
        [
            {"type": "tool_use", "tool_id": "t", "tool_name": "write_file", "parameters": WRITE},
            {"type": "tool_result", "tool_id": "t", "status": "success"},
        ],
        [
            ToolStarted("t", "write_file", "a.py"),
            ToolFinished("t", "write_file"),
            FileChanged("a.py"),
        ],
    ),
    (
        OPENCODE,
        [
            {
                "type": "tool_use",
                "part": {
                    "callID": "t",
                    "tool": "write",
                    "state": {"status": "completed", "input": {"filePath": "a.py"}},
                },
            }
        ],
        [ToolStarted("t", "write", "a.py"), ToolFinished("t", "write"), FileChanged("a.py")],
    ),
    (
        Stream.ANTIGRAVITY,
        [
            {"event": "init", "conversation_id": "c", "model": "m"},
            {
                "event": "step_update",
                "step_id": "t",
                "status": "DONE",
                "tool_info": {"name": "write_file", "parameters": {"file_path": "a.py"}},
            },
            {"event": "step_update", "content": "said"},
            {"event": "result", "status": "success", "response": "done"},
        ],
        [
            AgentStarted("c", "m"),
            ToolStarted("t", "write_file", "a.py"),
            ToolFinished("t", "write_file"),
            FileChanged("a.py"),
            AgentText("said"),
            UsageReported(TokenUsage(), is_total=True),
            AgentFinished(is_ok=True, text="done"),
        ],
    ),
    (
        CODEX,
        [item("file_change", changes=[{"path": "a.py", "kind": "add"}])],
        [FileChanged("a.py")],
    ),
    (
        CLAUDE,
        [
            {
                "type": "system",
                "subtype": "api_retry",
                "attempt": 2,
                "retry_delay_ms": 500,
                "error": "overloaded",
            }
        ],
        [ModelRetried(2, 0.5, "overloaded")],
    ),
    (
        GEMINI,
        [{"type": "error", "severity": "warning", "message": "again"}],
        [ModelRetried(0, 0.0, "again")],
    ),
    (
        CLAUDE,
        [{"type": "system", "subtype": "permission_denied", "tool_name": "Bash", "message": "no"}],
        [ToolDenied("Bash", "no")],
    ),
    (
        CODEX,
        [item("command_execution", command="rm", status="declined")],
        [ToolDenied("command_execution", "rm"), ToolFinished("i1", "", is_error=True)],
    ),
    (
        CLAUDE,
        [{**RESULT, **USED, "total_cost_usd": 0.5}],
        [
            UsageReported(TokenUsage(8, 3, 2), 0.5, is_total=True),
            AgentFinished(is_ok=True, text="done"),
        ],
    ),
    (
        CODEX,
        [
            {
                "type": "turn.completed",
                "usage": {"input_tokens": 8, "cached_input_tokens": 3, "output_tokens": 2},
            }
        ],
        [UsageReported(TokenUsage(8, 3, 2)), AgentFinished(is_ok=True)],
    ),
    (
        GEMINI,
        [{"type": "result", "status": "success", "stats": STATS}],
        [UsageReported(TokenUsage(9, 4, 2), is_total=True), AgentFinished(is_ok=True)],
    ),
    (
        GEMINI,
        [{"type": "result", "status": "success", "stats": {**STATS, "total_tokens": 90}}],
        [UsageReported(TokenUsage(9, 4, 81), is_total=True), AgentFinished(is_ok=True)],
    ),
    (
        OPENCODE,
        [{"type": "step_finish", "part": {**PART, "cost": 0.1}}],
        [UsageReported(TokenUsage(9, 3, 3), 0.1)],
    ),
    (OPENCODE, [{"type": "step_finish", "part": PART}], [UsageReported(TokenUsage(9, 3, 3))]),
    (
        CODEX,
        [{"type": "turn.failed", "error": {"message": "unexpected status 401 Unauthorized: no"}}],
        [AgentFinished(False, "", EndKind.AUTH, "unexpected status 401 Unauthorized: no")],
    ),
    *(
        (
            CODEX,
            [{"type": "turn.failed", "error": {"message": said}}],
            [AgentFinished(False, "", kind, said)],
        )
        for said, kind in (
            ("Quota exceeded. Check your plan and billing details.", EndKind.AUTH),
            ("To use Codex with your ChatGPT plan, upgrade to Plus: there.", EndKind.AUTH),
            (
                "Selected model is at capacity. Please try a different model.",
                EndKind.OVERLOADED,
            ),
        )
    ),
    (
        CODEX,
        [{"type": "error", "message": "reconnecting"}],
        [ErrorReported(EndKind.FAILED, "reconnecting")],
    ),
    (
        OPENCODE,
        [
            {
                "type": "error",
                "error": {
                    "name": "APIError",
                    "data": {
                        "statusCode": 429,
                        "message": "slow",
                        "responseHeaders": {"retry-after": "7"},
                    },
                },
            }
        ],
        [ErrorReported(EndKind.RATE_LIMITED, "slow", 7.0)],
    ),
    (
        CLAUDE,
        [{"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": 99}}],
        [ErrorReported(EndKind.RATE_LIMITED, "the account's limit is reached", resets_at=99)],
    ),
]


def lines(*events) -> bytes:
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def ending(stream, *events, **exit_):
    tally = Tally(stream)
    for event in events_of(stream, lines(*events)):
        tally.add(event)
    return tally.ending(Exit(**{"code": 0, **exit_}))


@pytest.mark.parametrize(("stream", "written", "meant"), MEANINGS)
def test_a_line_of_a_program_becomes_its_events(stream, written, meant):
    assert list(events_of(stream, lines(*written))) == meant


@pytest.mark.parametrize("stream", JSON_STREAMS)
def test_an_unknown_event_has_no_effect(stream):
    assert list(events_of(stream, lines({"type": "telepathy", "part": 5}))) == [
        OtherEvent("telepathy")
    ]


@pytest.mark.parametrize("stream", JSON_STREAMS)
@pytest.mark.parametrize(
    "line",
    [
        b"warming up",
        b"[1]",
        b'{"type": "a", "type": "b"}',
        b'{"type": NaN}',
        b'{"type": "\xff"}',
        b'{"type": "a"}{"type": "b"}',
        b'{"type": "a"',
        b'{"a":' * 100_000,
        b'{"a": ' + b"9" * 5000 + b"}",
    ],
)
def test_an_ambiguous_line_is_no_event(stream, line):
    (event,) = events_of(stream, line + b"\n")

    assert isinstance(event, MalformedLine)


@pytest.mark.parametrize("stream", JSON_STREAMS)
def test_a_line_over_the_limit_is_dropped_and_the_next_is_read(stream):
    decoder = Decoder(stream, line_bytes=50)
    long = b'{"type": "' + b"x" * 100 + b'"}'

    events = [*decoder.feed(long + b"\n" + lines({"type": "odd"})), *decoder.close()]

    assert events == [MalformedLine("a line over the limit", len(long)), OtherEvent("odd")]


@pytest.mark.parametrize("stream", JSON_STREAMS)
def test_a_stream_split_at_any_byte_has_the_same_events(stream):
    written = [line for each, lines, _ in MEANINGS if each is stream for line in lines]
    data = b"noise \xc3\xa9\n" + lines(*written, {"type": "é€🎉"}) + b'{"torn": '
    whole = events_of(stream, data)

    for place in range(len(data)):
        decoder = Decoder(stream)
        split = (*decoder.feed(data[:place]), *decoder.feed(data[place:]), *decoder.close())
        assert split == whole, place


@given(st.binary(max_size=300), st.sampled_from(list(Stream)))
def test_no_bytes_break_a_decoder(data, stream):
    events_of(stream, data)


odd_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=5,
)


@given(st.data(), st.sampled_from(MEANINGS))
def test_a_field_of_another_type_breaks_no_decoder(data, case):
    stream, written, _ = case
    event = json.loads(json.dumps(data.draw(st.sampled_from(written))))
    inner = data.draw(st.sampled_from([event, *(v for v in event.values() if isinstance(v, dict))]))
    inner[data.draw(st.sampled_from(sorted(inner)))] = data.draw(odd_values)

    ending(stream, event)


@pytest.mark.parametrize(
    ("stream", "events", "exit_", "kind"),
    [
        (CLAUDE, [{**RESULT, **USED}], {}, EndKind.OK),
        (CLAUDE, [{**RESULT, **USED, "is_error": True}], {}, EndKind.FAILED),
        (
            CLAUDE,
            [{**RESULT, **USED, "is_error": True, "api_error_status": 529}],
            {},
            EndKind.OVERLOADED,
        ),
        (
            CLAUDE,
            [
                {**assistant(type="text", text="no"), "error": "rate_limit"},
                {**RESULT, "is_error": True},
            ],
            {},
            EndKind.RATE_LIMITED,
        ),
        (CLAUDE, [{**RESULT, **USED, "subtype": "error_max_turns"}], {}, EndKind.FAILED),
        (
            CLAUDE,
            [
                {**assistant(type="text", text="wait"), "error": "overloaded"},
                assistant(type="text", text="done"),
                {**RESULT, **USED},
            ],
            {},
            EndKind.OK,
        ),
        (
            CLAUDE,
            [
                {
                    **assistant(type="text", text="no"),
                    "error": "overloaded",
                    "parent_tool_use_id": "t",
                },
                {**RESULT, **USED},
            ],
            {},
            EndKind.OK,
        ),
        (
            CLAUDE,
            [
                {"type": "assistant", "message": {"id": "m", "usage": {"output_tokens": 3}}},
                RESULT,
            ],
            {},
            EndKind.OK,
        ),
        (CLAUDE, [RESULT], {}, EndKind.INVALID_OUTPUT),
        (CLAUDE, [{**RESULT, **USED}], {"code": 1}, EndKind.FAILED),
        (CLAUDE, [{**RESULT, **USED}], {"code": -15, "stopped": EndKind.KILLED}, EndKind.OK),
        (CLAUDE, [], {}, EndKind.INVALID_OUTPUT),
        (CLAUDE, [], {"code": -9}, EndKind.KILLED),
        (CLAUDE, [], {"code": -15, "stopped": EndKind.IDLE}, EndKind.IDLE),
        (CODEX, [{"type": "turn.completed"}], {}, EndKind.OK),
        (
            CODEX,
            [{"type": "error", "message": "again"}, {"type": "turn.completed"}],
            {},
            EndKind.OK,
        ),
        (CODEX, [{"type": "turn.completed"}], {"code": 1}, EndKind.FAILED),
        (CODEX, [item("agent_message", text="all done")], {}, EndKind.INVALID_OUTPUT),
        (
            CODEX,
            [{"type": "turn.failed", "error": {"message": "last status: 429"}}],
            {"code": 1},
            EndKind.RATE_LIMITED,
        ),
        (CODEX, [item("agent_message", text="unexpected status 429")], {"code": 1}, EndKind.FAILED),
        (GEMINI, [{"type": "result", "status": "success"}], {}, EndKind.OK),
        (
            GEMINI,
            [{"type": "result", "status": "error", "error": {"message": "no"}}],
            {},
            EndKind.FAILED,
        ),
        (GEMINI, [], {"code": 41}, EndKind.AUTH),
        (GEMINI, [{"type": "result", "status": "error"}], {"code": 401 % 256}, EndKind.AUTH),
        (
            GEMINI,
            [{"type": "result", "status": "error"}],
            {"code": 429 % 256},
            EndKind.RATE_LIMITED,
        ),
        (OPENCODE, [{"type": "text", "part": {"text": "done"}}], {}, EndKind.OK),
        (OPENCODE, [{"type": "step_start"}], {}, EndKind.FAILED),
        (OPENCODE, [{"type": "text", "part": {"text": "done"}}], {"code": 1}, EndKind.FAILED),
        (
            OPENCODE,
            [
                {"type": "text", "part": {"text": "x"}},
                {"type": "error", "error": {"name": "ProviderAuthError"}},
            ],
            {},
            EndKind.AUTH,
        ),
    ],
)
def test_the_result_follows_from_typed_fields_and_the_exit(stream, events, exit_, kind):
    assert ending(stream, *events, **exit_).kind is kind


def test_a_denied_tool_is_reported_once():
    denial = {"tool_name": "Bash", "tool_use_id": "t"}
    reported = {"type": "system", "subtype": "permission_denied", **denial}
    more = {"tool_name": "Write", "tool_use_id": "u"}
    events = [reported, {**RESULT, **USED, "permission_denials": [denial, more]}]
    assert ending(CLAUDE, *events).denied == ("Bash", "Write")


def test_the_last_message_is_the_answer_if_the_result_has_none():
    said = [item("agent_message", text="first"), item("agent_message", text="last")]

    assert ending(CODEX, *said, {"type": "turn.completed"}).text == "last"


def test_pieces_after_the_last_tool_are_joined():
    piece = {"type": "message", "role": "assistant", "delta": True}
    tool = {"type": "tool_use", "tool_id": "t", "tool_name": "ls", "parameters": {}}
    said = [
        {**piece, "content": "look"},
        tool,
        {**piece, "content": "a"},
        {**piece, "content": "b"},
    ]

    assert ending(GEMINI, *said, {"type": "result", "status": "success"}).text == "ab"


def test_steps_are_added_up_until_the_total_is_reported():
    usage = {"input_tokens": 4, "output_tokens": 1}
    first = {"type": "assistant", "message": {"id": "m1", "usage": usage, "content": []}}
    second = {"type": "assistant", "message": {"id": "m2", "usage": usage, "content": []}}

    assert ending(CLAUDE, first, first, second).usage == TokenUsage(8, 0, 2)
    assert ending(CLAUDE, first, {**RESULT, **USED}).usage == TokenUsage(8, 3, 2)


def test_a_total_without_tokens_keeps_the_sum_of_the_steps():
    usage = {"input_tokens": 4, "output_tokens": 1}
    step = {"type": "assistant", "message": {"id": "m1", "usage": usage, "content": []}}
    ended = ending(CLAUDE, step, {**RESULT, "total_cost_usd": 3.5})

    assert (ended.usage, ended.cost_usd) == (TokenUsage(4, 0, 1), 3.5)


def test_a_number_that_is_not_finite_is_ignored():
    digits = "9" * 401
    line = f'{{"type": "turn.completed", "usage": {{"input_tokens": {digits}}}}}\n'.encode()
    assert list(events_of(CODEX, line)) == [UsageReported(TokenUsage()), AgentFinished(is_ok=True)]
    header = {"data": {"statusCode": 429, "responseHeaders": {"retry-after": digits}}}
    waits = ending(OPENCODE, {"type": "error", "error": header}, code=1)
    assert service_pause(waits.retry_after, 0) <= timedelta(days=366)


def test_half_a_surrogate_pair_is_shown_as_a_question_mark():
    (said,) = events_of(
        CODEX, b'{"type":"item.completed","item":{"type":"agent_message","text":"\\ud83d!"}}\n'
    )

    assert said == AgentText("?!")


def test_text_without_a_protocol_is_the_answer_when_the_exit_code_is_0():
    tally = Tally(Stream.TEXT)
    for event in events_of(Stream.TEXT, b"hello\nworld\n"):
        tally.add(event)

    assert (tally.ending(Exit(0)).kind, tally.ending(Exit(0)).text) == (
        EndKind.OK,
        "hello\nworld\n",
    )
    assert tally.ending(Exit(3)).kind is EndKind.FAILED


def test_a_text_split_at_any_byte_is_the_same_text():
    data = "größe 🎈\n".encode()
    for place in range(len(data) + 1):
        decoder = Decoder(Stream.TEXT)
        events = (*decoder.feed(data[:place]), *decoder.feed(data[place:]), *decoder.close())
        said = [each.text for each in events if isinstance(each, AgentText)]
        assert "".join(said) == "größe 🎈\n", place


def test_half_a_character_at_the_end_of_a_text_is_shown():
    assert events_of(Stream.TEXT, "ö".encode()[:1]) == (AgentText("\ufffd", is_piece=True),)
