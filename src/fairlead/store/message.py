"""The message of a host agent: all of stdin, within a limit of size and time.

A status line or a hook that waits for ever holds its host up, and one that reads without end
fills the memory; so both are told None instead.
"""

import os
import select
import time

INPUT_SECONDS = 3.0

_INPUT_LIMIT = 1024 * 1024
_PIECE = 1 << 16


def read_message(limit: int = _INPUT_LIMIT) -> "bytes | None":
    """All of stdin; None when it does not end in time, or never ends."""
    deadline = time.monotonic() + INPUT_SECONDS
    poll = select.poll()
    poll.register(0, select.POLLIN)
    pieces: list[bytes] = []
    room = limit
    while room > 0:
        left = deadline - time.monotonic()
        if left <= 0 or not poll.poll(left * 1000):
            return None
        piece = os.read(0, _PIECE)
        if not piece:
            return b"".join(pieces)
        pieces.append(piece)
        room -= len(piece)
    return None
