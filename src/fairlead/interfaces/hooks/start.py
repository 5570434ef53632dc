"""Starts the stop hook in an isolated interpreter, as fast as possible.

The packages that the hook imports are created here, so no installed package is searched and no
`__init__` is run. Hosts run `COMMAND` with `-c` and not this file: Python exits with code 2 when a
file is missing, and with that code a hook left behind by an uninstall would block the host.
"""

import gc
import os
import sys

PACKAGES = (
    "",
    ".core",
    ".interfaces",
    ".interfaces.hooks",
    ".planphase",
    ".project",
    ".project.derive",
    ".project.state",
    ".store",
    ".text",
)
COMMAND = """\
import sys
sys.path.insert(0, sys.argv[1])
try:
    from start import main
except ImportError:
    sys.exit("fairlead is gone and its hook was left behind: take it out of the settings")
main()
"""


def main() -> None:
    """Run the stop hook and end the process."""
    gc.disable()  # the process ends before a collection would pay off
    del sys.path[0]
    folder = __file__.rpartition("/interfaces/")[0]
    for name in PACKAGES:
        package = type(sys)(f"fairlead{name}")
        package.__path__ = [folder + name.replace(".", "/")]
        sys.modules[package.__name__] = package
    from fairlead.interfaces.hooks.stop import main as stop

    stop()


def start_command(python: str) -> "list[str]":
    """The argument list that starts the stop hook fastest."""
    folder = os.path.dirname(os.path.abspath(__file__))
    return [python, "-I", "-S", "-B", "-X", "utf8", "-c", COMMAND, folder]
