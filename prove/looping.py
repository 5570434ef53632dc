"""A long-lived writer: `python -m prove.looping FOLDER UPDATES TAG` adds TAG-0, TAG-1 and so on.

It uses the package in process, as another program would, and prints each tag once it is saved.
"""

import sys

from fairlead.app import App
from fairlead.project.state.documents import Decision


def main(folder: str, updates: str, tag: str) -> int:
    """Add this many decisions, one after the other."""
    memory = App(folder).memory
    for number in range(int(updates)):
        name = f"{tag}-{number}"
        memory.add_decision(Decision("1", name, ""))
        sys.stdout.write(f"{name}\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
