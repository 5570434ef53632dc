"""Starts the status line in an isolated interpreter: python -I -S -B this-file.

Only our own rooms can be imported from, and they are named here, so that no folder of
installed packages is ever searched; the `__init__` of each holds nothing but its docstring.
This file is compiled at every start, so it holds nothing else.
"""

import gc
import sys

ROOMS = ("", ".interfaces", ".interfaces.statusline", ".model", ".records", ".store", ".text")

if __name__ == "__main__":
    gc.disable()  # the process ends before there is anything to collect
    folder = __file__.rpartition("/interfaces/")[0]
    for room in ROOMS:
        package = type(sys)(f"fairlead{room}")
        package.__path__ = [folder + room.replace(".", "/")]
        sys.modules[package.__name__] = package
    from fairlead.interfaces.statusline.door import main

    main(sys.argv[1:])
