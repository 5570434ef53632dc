"""The development server of Temporal, with a database in a file: for one machine and for trying."""

from __future__ import annotations

import fcntl
import os
import sys

from fairlead.cluster.errors import DevPortBusy, DevServerRuns, NoDevServer
from fairlead.core.errors import NoProgram
from fairlead.core.loopback import listen
from fairlead.core.process import program
from fairlead.store.files import make_private_folders


def dev_program() -> str:
    """The program `temporal`: from PATH, or beside this interpreter, where the extra puts it."""
    try:
        return program("temporal")
    except NoProgram:
        beside = os.path.join(os.path.dirname(sys.executable), "temporal")
        if os.access(beside, os.X_OK):
            return beside
        raise NoDevServer from None


def reserve(folder: str, port: int, ui_port: int) -> int:
    """Lock the database, or raise if it or a port is in use.

    The lock belongs to an open file, which the program that this process becomes inherits.
    """
    lock = os.open(os.path.join(folder, "lock"), os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        for each in (port, ui_port):
            listen(each, DevPortBusy).close()
    except BlockingIOError:
        os.close(lock)
        raise DevServerRuns(folder) from None
    except DevPortBusy:
        os.close(lock)
        raise
    os.set_inheritable(lock, True)
    return lock


def dev_words(folder: str, port: int, ui_port: int, ip: str = "127.0.0.1") -> list[str]:
    """The command line of a development server that keeps its database in a folder."""
    make_private_folders(folder)
    pragmas = ("journal_mode=WAL", "synchronous=NORMAL")
    return [
        *(dev_program(), "server", "start-dev", "--log-level", "error"),
        *("--ip", ip, "--port", str(port), "--ui-ip", ip, "--ui-port", str(ui_port)),
        *("--db-filename", os.path.join(folder, "temporal.db")),
        *(word for pragma in pragmas for word in ("--sqlite-pragma", pragma)),
    ]
