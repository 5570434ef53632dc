"""Starts the status line in an isolated interpreter: python -I -S -B this-file.

Only our own folder can be imported from, so that no folder of installed packages is searched.
This file is compiled at every start, so it holds nothing else.
"""

import sys

if __name__ == "__main__":
    package = type(sys)("fairlead")
    package.__path__ = [__file__.rpartition("/interfaces/")[0]]
    sys.modules["fairlead"] = package
    from fairlead.interfaces.statusline.door import main

    main(sys.argv[1:])
