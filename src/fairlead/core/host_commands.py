"""Recognises the commands in a host's settings that run Fairlead.

`interfaces/install` removes them, and a hook of a plugin gives way to them.
"""

from __future__ import annotations

import shlex

# How a word of the commands ends that `start_command` of hooks and status line return.
_ENTRY_POINTS = ("/fairlead/interfaces/hooks", "/fairlead/interfaces/statusline/__main__.py")
_COMMANDS = ("hook", "statusline", "mcp")


def is_fairlead_command(command: object, arguments: object = None) -> bool:
    """Whether a command runs Fairlead, given as an argument list or as a shell command."""
    if isinstance(command, list) and command:
        first: object
        first, *rest = command
        command, arguments = first, rest
    if not isinstance(command, str):
        return False
    words = command_words(command, arguments)
    if any(word.endswith(_ENTRY_POINTS) for word in words):
        return True
    program = words[0].rpartition("/")[2] if words else ""
    if words[1:3] == ["-m", "fairlead"]:
        program, words = "fairlead", words[2:]
    return program == "fairlead" and words[1:2] != [] and words[1] in _COMMANDS


def command_words(command: str, arguments: object = None) -> list[str]:
    """The words of a command; none if the shell could not read it either."""
    if isinstance(arguments, list):
        return [command, *map(str, arguments)]
    try:
        return shlex.split(command)
    except ValueError:
        return []
