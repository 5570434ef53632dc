"""A sample of the damaged plans and messages; ten thousand of them are a proof of the long tier."""

import pytest

from tests.support.hook_trials import faults_of, try_hook


@pytest.mark.parametrize("start", range(0, 60, 20))
def test_no_damaged_plan_or_message_makes_the_hook_fail(start: int):
    assert [found for n in range(start, start + 20) if (found := try_hook(1, n))] == []


@pytest.mark.parametrize(
    ("code", "output", "errors"),
    [
        (2, b"", b""),
        (0, b"{", b""),
        (0, b"[]", b""),
        (0, b'{"decision": "block"}', b""),
        (0, b'{"decision": "block", "reason": ""}', b""),
        (0, b"", b"Traceback (most recent call last)\n"),
    ],
)
def test_a_bad_answer_is_found(code: int, output: bytes, errors: bytes):
    assert faults_of(code, output, errors)
