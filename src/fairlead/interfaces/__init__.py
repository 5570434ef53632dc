"""Interfaces: how people and programs reach Fairlead.

`cli` is the `fairlead` command, `hooks` and `statusline` are programs that a host agent starts,
and `install` edits the settings of host agents. Each parses its input, makes one call and shows
the result; decisions belong in the capability packages. Interfaces do not import each other,
except that `cli` offers the others as commands. Start reading in `cli/main.py`.
"""
