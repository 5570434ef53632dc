"""Starts the stop hook in an isolated interpreter, in the least possible time.

Only our own rooms can be imported from, and they are named here, so that no folder of installed
packages is ever searched. Started by `COMMAND` and not as a file: of a file that is gone the
interpreter makes exit code 2, by which a hook that was left behind would hold its host for ever.
"""

import gc
import os
import sys

ROOMS = ("", ".interfaces", ".interfaces.hooks", ".model", ".records", ".store", ".text")
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
    """Run the hook and end the process."""
    gc.disable()  # the process ends before there is anything to collect
    del sys.path[0]
    folder = __file__.rpartition("/interfaces/")[0]
    for room in ROOMS:
        package = type(sys)(f"fairlead{room}")
        package.__path__ = [folder + room.replace(".", "/")]
        sys.modules[package.__name__] = package
    from fairlead.interfaces.hooks.stop import main as stop

    stop()


def start_command(python: str) -> "list[str]":
    """The fastest way to run the stop hook, as an argument list."""
    here = os.path.dirname(os.path.abspath(__file__))
    return [python, "-I", "-S", "-B", "-X", "utf8", "-c", COMMAND, here]
