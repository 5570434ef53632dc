"""A port on loopback, for servers that only this machine reaches."""

from __future__ import annotations

import socket
from collections.abc import Callable

from fairlead.core.errors import FairleadError

HOST = "127.0.0.1"


def listen(port: int, busy: Callable[[int, str], FairleadError]) -> socket.socket:
    """A listening socket; port 0 is any free one. `busy` makes the error of a port in use."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
    except (OSError, OverflowError) as problem:
        listening.close()
        raise busy(port, getattr(problem, "strerror", None) or str(problem)) from problem
    listening.listen(256)
    return listening
