"""Settings of a host agent: ours goes in and out again, and nothing else moves."""

import json
import shlex

import pytest

from fairlead.errors import DocumentError
from fairlead.records.host_settings import (
    Handler,
    Wanted,
    has_ours,
    installed,
    is_ours,
    status_line_of,
    taken_out,
    was_there,
)
from tests.support.host_settings import REFUSED, SETTINGS

LINE = ("/x/python", "-I", "/lib/fairlead/interfaces/statusline/__main__.py")
WANTED = Wanted(
    (
        Handler("Stop", ("/x/python", "-c", "code", "/lib/fairlead/interfaces/hooks"), 10),
        Handler("SessionEnd", ("/x/bin/fairlead", "hook", "session-end"), 5),
    ),
    has_arguments=True,
    status_line=LINE,
)


@pytest.mark.parametrize("text", SETTINGS.values(), ids=SETTINGS)
def test_what_is_put_in_is_taken_out_byte_for_byte(text: str):
    done = installed(text, None, WANTED)

    assert has_ours(done.text)
    assert taken_out(done.text, done.receipt) == text


@pytest.mark.parametrize("text", SETTINGS.values(), ids=SETTINGS)
def test_a_second_time_changes_nothing(text: str):
    done = installed(text, None, WANTED)

    assert installed(done.text, done.receipt, WANTED).text == done.text


@pytest.mark.parametrize("text", SETTINGS.values(), ids=SETTINGS)
def test_every_value_that_was_there_is_there_still(text: str):
    before = json.loads(text.lstrip("\ufeff").strip() or "{}")
    after = json.loads(installed(text, None, WANTED).text.lstrip("\ufeff"))

    hooks = before.pop("hooks", {})
    line = before.pop("statusLine", None)
    assert {key: after[key] for key in before} == before
    assert all(after["hooks"][event][: len(held)] == held for event, held in hooks.items())
    if isinstance(line, dict) and "command" in line:
        assert after["statusLine"] == {**line, "command": after["statusLine"]["command"]}
        assert shlex.split(after["statusLine"]["command"])[-1] == line["command"]


@pytest.mark.parametrize("text", SETTINGS.values(), ids=SETTINGS)
def test_after_a_persons_edit_only_ours_is_taken_out(text: str):
    done = installed(text, None, WANTED)
    edited = done.text.replace("{", '{"edited": {"by": "a person"},', 1)

    rest = json.loads(taken_out(edited, done.receipt).lstrip("\ufeff"))

    expected = json.loads(text.lstrip("\ufeff").strip() or "{}")
    hooks = {event: held for event, held in expected.pop("hooks", {}).items() if held}
    assert rest.pop("hooks", {}) == hooks
    assert rest == {"edited": {"by": "a person"}, **expected}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_read_exactly_is_refused(text: str):
    with pytest.raises(DocumentError):
        installed(text, None, WANTED)


def test_a_newer_way_to_start_replaces_the_older_one():
    text = SETTINGS["a hook for the same event"]
    older = installed(text, None, Wanted(WANTED.handlers[1:], True, ("fairlead", "statusline")))

    newer = installed(older.text, older.receipt, WANTED)

    assert newer.text == installed(text, None, WANTED).text
    assert taken_out(newer.text, newer.receipt) == text


@pytest.mark.parametrize("receipt", [None, "", "{", "[]", '{"after": 1, "undo": 5}'])
def test_without_a_usable_receipt_ours_goes_all_the_same(receipt: str | None):
    done = installed('{"model": "opus"}', None, WANTED)

    assert taken_out(done.text, receipt) == '{"model": "opus"}'


def test_a_receipt_changed_by_hand_proves_nothing():
    done = installed('{"model": "opus"}', None, WANTED)
    told = json.loads(done.receipt) | {"undo": [["a", "b"]]}

    assert taken_out(done.text, json.dumps(told)) == '{"model": "opus"}'


def test_the_receipt_tells_whether_there_was_a_file():
    assert not was_there(installed(None, None, WANTED).receipt)
    assert was_there(installed("", None, WANTED).receipt)


def test_the_receipt_holds_nothing_of_the_file_but_the_status_line():
    text = '{"env": {"SECRET": "hush"}, "statusLine": {"type": "command", "command": "mine"}}'

    assert "hush" not in installed(text, None, WANTED).receipt


def test_a_status_line_of_another_kind_stays_and_that_is_said():
    done = installed('{"statusLine": {"type": "other"}}', None, WANTED)

    assert done.keeps
    assert json.loads(done.text)["statusLine"] == {"type": "other"}


def test_a_persons_status_line_is_shown_before_ours():
    done = installed(SETTINGS["a status line"], None, WANTED)

    words = shlex.split(status_line_of(done.text))
    assert words == [*LINE, "--before", "/bin/sh", "-c", "~/bin/my line | head -1"]


def test_codex_gets_one_text_for_its_shell():
    wanted = Wanted((Handler("Stop", ("/a b/fairlead", "hook", "stop"), 10),), False)

    entry = json.loads(installed(None, None, wanted).text)["hooks"]["Stop"][0]["hooks"][0]

    assert entry == {"type": "command", "command": "'/a b/fairlead' hook stop", "timeout": 10}


@pytest.mark.parametrize(
    ("command", "arguments", "ours"),
    [
        ("fairlead hook stop", None, True),
        ("/a/bin/fairlead", ["hook", "stop"], True),
        ("/p/python -m fairlead hook stop", None, True),
        ("/p/python", ["-c", "x", "/lib/fairlead/interfaces/hooks"], True),
        ("fairlead statusline", None, True),
        ("fairlead status", None, False),
        ("my-fairlead hook stop", None, False),
        ("echo fairlead hook", None, False),
        ("it's broken", None, False),
        (5, None, False),
        ("", None, False),
    ],
)
def test_ours_is_told_from_theirs(command: object, arguments: object, ours: bool):
    assert is_ours(command, arguments) is ours
