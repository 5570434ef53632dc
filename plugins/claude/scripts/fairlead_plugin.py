"""Starts Fairlead for a plugin: `python3 fairlead_plugin.py HOST HOOK`, or `mcp` as the hook.

A plugin contains a copy of this file, so it uses only the standard library. Without Fairlead a
session starts with the advice how to install it; the other hooks stay silent, because a plugin
must not disturb its host.
"""

import json
import os
import sys

PROGRAM = "fairlead"
ADVICE = (
    "The Fairlead plugin is enabled, but the command `fairlead` is not installed. If the person asks"
    " for Fairlead, tell them to install it from a checkout or a wheel: `pipx install PATH` or"
    " `uv tool install PATH`."
)


def main(arguments: "list[str]") -> int:
    """Become Fairlead; return an exit code only if it is not installed."""
    host, name = (*arguments, "", "")[:2]
    if name != "mcp" and os.environ.get("FAIRLEAD_JOB"):
        return 0  # Fairlead has started this agent itself
    program = found_program()
    if program and name == "mcp":
        os.execv(program, [program, "mcp"])
    if program:
        os.execv(program, [program, "hook", name, "--source", f"{host}-plugin"])
    if name == "session-start":
        output = {"hookEventName": "SessionStart", "additionalContext": ADVICE}
        os.write(1, json.dumps({"hookSpecificOutput": output}).encode() + b"\n")
    if name == "mcp":
        os.write(2, ADVICE.encode() + b"\n")
    return 1 if name == "mcp" else 0


def found_program() -> str:
    """The command on PATH, in folders with an absolute path only; empty if there is none."""
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        path = os.path.join(folder, PROGRAM)
        if os.path.isabs(folder) and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
