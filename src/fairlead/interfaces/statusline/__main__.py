"""Starts the status line in an isolated interpreter: python -I -S -B this-file.

The packages that the line imports are created here, so no installed package is searched and no
`__init__` is run (each contains only a docstring). Python compiles this file at every start, so
it does nothing else.
"""

import gc
import sys

PACKAGES = (
    "",
    ".core",
    ".interfaces",
    ".interfaces.statusline",
    ".planphase",
    ".project",
    ".project.derive",
    ".project.state",
    ".store",
    ".text",
)

if __name__ == "__main__":
    gc.disable()  # the process ends before a collection would pay off
    folder = __file__.rpartition("/interfaces/")[0]
    for name in PACKAGES:
        package = type(sys)(f"fairlead{name}")
        package.__path__ = [folder + name.replace(".", "/")]
        sys.modules[package.__name__] = package
    from fairlead.interfaces.statusline.entry import main

    main(sys.argv[1:])
