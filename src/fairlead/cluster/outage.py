"""Exchanges with the shared repository, repeated while it is away.

A tree that cannot be sent or fetched would cost a paid call. So an exchange that fails is repeated
until the repository answers. If it answers, and the exchange fails again, the fault is another one.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from fairlead.cluster.errors import RemoteUnreachable
from fairlead.core.values import dataclass
from fairlead.vcs.errors import GitFault
from fairlead.vcs.remote import RemoteRepository

_TICK_SECONDS = 1.0
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class OutagePatience:
    """How long the shared repository may be away."""

    seconds: float
    pause: Callable[[float], None] = time.sleep
    note: Callable[[str], None] = lambda _: None  # tells a person what is waited for


def exchanged(
    remote: RemoteRepository,
    exchange: Callable[[], Value],
    patience: OutagePatience,
    is_wanted: Callable[[], bool] = lambda: True,
) -> Value:
    """The result of an exchange; raises `RemoteUnreachable` after an outage that is too long."""
    began, has_answered, is_noted = 0.0, False, False
    while True:
        try:
            return exchange()
        except GitFault as fault:
            answers = remote.answers()
            if answers and has_answered:
                raise
            has_answered = answers  # it may have come back after the exchange
            began = began or time.monotonic()
            is_over = time.monotonic() - began >= patience.seconds or not is_wanted()
            if is_over and not answers:
                raise RemoteUnreachable(remote.url, str(fault)) from fault
        if not has_answered:
            if not is_noted:
                seconds = round(patience.seconds)
                patience.note(f"waiting up to {seconds} s for the shared repository {remote.url}")
                is_noted = True
            patience.pause(_TICK_SECONDS)
