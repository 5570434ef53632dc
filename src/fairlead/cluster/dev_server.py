"""The development server of Temporal, with a database in a file: for one machine and for trying."""

from __future__ import annotations

import os
import sys

from fairlead.cluster.errors import NoDevServer
from fairlead.core.errors import NoProgram
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
