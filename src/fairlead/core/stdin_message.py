"""Reads the message a host agent writes to stdin, within a limit of size and time.

The status line and the hooks share it. Neither may block its host for long or fill the memory,
so a message that does not end in time or is too long counts as none.
"""

import os
import select
import time

INPUT_SECONDS = 3.0

_INPUT_LIMIT = 1024 * 1024
_CHUNK = 1 << 16


def read_message(limit: int = _INPUT_LIMIT) -> "bytes | None":
    """All of stdin; None when it does not end in time or exceeds the limit."""
    deadline = time.monotonic() + INPUT_SECONDS
    poll = select.poll()
    poll.register(0, select.POLLIN)
    chunks: list[bytes] = []
    remaining = limit
    while remaining > 0:
        seconds_left = deadline - time.monotonic()
        if seconds_left <= 0 or not poll.poll(seconds_left * 1000):
            return None
        chunk = os.read(0, _CHUNK)
        if not chunk:
            return b"".join(chunks)
        chunks.append(chunk)
        remaining -= len(chunk)
    return None
