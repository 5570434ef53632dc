"""The stop hook with a sample of damaged plans and messages; `make prove` tries ten thousand."""

import pytest

from tests.support.hook_trials import faults_of, try_hook


@pytest.mark.parametrize("start", range(0, 60, 20))
def test_the_hook_survives_damaged_plans_and_messages(start: int):
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
def test_an_invalid_response_is_detected(code: int, output: bytes, errors: bytes):
    assert faults_of(code, output, errors)
