"""A long-lived writer: `python -m prove.looping FOLDER UPDATES TAG` adds TAG-0, TAG-1 and so on.

It goes through the engine, as a program that uses the package would, and prints each tag once
it was told that it is saved.
"""

import sys

from fairlead.records.state import Decision
from fairlead.wiring import App


def main(folder: str, updates: str, tag: str) -> int:
    """Add so many decisions, one after the other."""
    memory = App(folder).memory
    for number in range(int(updates)):
        name = f"{tag}-{number}"
        memory.add_decision(Decision("1", name, ""))
        sys.stdout.write(f"{name}\n")
        sys.stdout.flush()
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
