"""One attack, carried out in an arena of its own: what is wrong with how it ended."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from tests.attacks.arena import Arena
from tests.attacks.table import ATTACKS
from tests.attacks.weaknesses import WEAKNESSES

PATIENCE_SECONDS = 90  # an attack that makes a run wait for ever has succeeded


def fault_of(attack: str, folder: Path, weakness: str = "") -> str:
    """What is wrong: the attack succeeded, or with the weakness it did not; empty: nothing."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("FAIRLEAD_DEPTH", raising=False)
        patch.setenv("GIT_CONFIG_NOSYSTEM", "1")
        weak = WEAKNESSES.get(weakness)
        arena = weak.arena(folder, patch) if weak else Arena(folder, patch)
        try:
            with _patience():
                ATTACKS[attack].carry_out(arena)
            success = ""
        except AssertionError as error:
            success = str(error) or f"{error.__traceback__ and _place(error)}"
        finally:
            for process in arena.left_processes():
                with suppress(ProcessLookupError):  # it may end by itself
                    os.kill(int(process), signal.SIGKILL)
    if weak is None:
        return f"{attack}: {success}" if success else ""
    is_shown = re.search(weak.shows, success)
    return "" if is_shown else f"{attack} with {weakness}: expected {weak.shows!r}, got {success!r}"


@contextmanager
def _patience() -> Iterator[None]:
    def over(*_: object) -> None:
        raise AssertionError("the run did not end")

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(PATIENCE_SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _place(error: AssertionError) -> str:
    """The line of the check that failed."""
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    return f"{trace.tb_frame.f_code.co_filename}:{trace.tb_lineno}" if trace else "unknown"
