"""A marked block of ours in a text file of the user's: in Markdown, and in TOML.

The block is added at the end, and keeps whether the file ends with a line break, so that removing
it restores the text also without a receipt. Everything outside of the markers is the user's.
"""

from __future__ import annotations

import tomllib
from typing import Any

from fairlead.core.host_commands import is_fairlead_command
from fairlead.core.host_names import PRODUCT
from fairlead.interfaces.install.errors import NameTaken, TomlSyntax
from fairlead.text.lines import common_ending, split_lines

BEGIN, END = "fairlead:begin", "fairlead:end"
_SERVERS = "mcp_servers"


def markdown_block(lines: tuple[str, ...]) -> str:
    """The lines between markers that Markdown does not show."""
    note = "written by `fairlead install`, removed by `fairlead uninstall`"
    return "\n".join((f"<!-- {BEGIN} ({note}) -->", *lines, f"<!-- {END} -->"))


def toml_block(lines: tuple[str, ...]) -> str:
    """The lines between comments."""
    note = "written by `fairlead install codex`, removed by `fairlead uninstall codex`"
    return "\n".join((f"# {BEGIN} ({note})", *lines, f"# {END}"))


def with_block(text: str, block: str) -> str:
    """Add a block at the end of a text that has none."""
    ending = common_ending(text)
    block = block.replace("\n", ending)
    if not text.strip("\ufeff"):
        return text + block + ending
    if text.endswith(("\n", "\r")):
        return text + ending + block + ending
    return text + ending + ending + block


def without_block(text: str) -> str:
    """Remove the block with the blank line before it; the text itself if there is no block."""
    lines = split_lines(text)
    marks = [at for at, line in enumerate(lines) if _is_mark(line, BEGIN)]
    ends = [at for at, line in enumerate(lines) if _is_mark(line, END)]
    if not marks or not ends or ends[-1] < marks[0]:
        return text
    first, last = marks[0], ends[-1]
    before, after = lines[:first], lines[last + 1 :]
    had_ending = lines[last].endswith(("\n", "\r"))
    if before and not before[-1].strip():
        before.pop()
    if not had_ending and before:  # the text did not end with a line break either
        before[-1] = before[-1].rstrip("\r\n")
    return "".join(before + after)


def has_block(text: str) -> bool:
    """Whether a text has a complete block."""
    return without_block(text) != text


def with_server(text: str, block: str) -> str:
    """Add the table of our MCP server to the TOML settings of Codex."""
    before = _toml(text)
    servers = before.get(_SERVERS)
    if isinstance(servers, dict) and PRODUCT in servers:
        raise NameTaken("", f"{_SERVERS}.{PRODUCT}")
    after = with_block(text, block)
    # Adding a table must not change the meaning of anything else.
    ours = _toml(block)[_SERVERS]
    if _toml(after) != {**before, _SERVERS: {**(servers or {}), **ours}}:
        raise NameTaken("", _SERVERS)
    return after


def without_server(text: str) -> str:
    """Remove the table of our MCP server, also where the host has moved lines into the block."""
    data = _toml(text)
    servers = data.get(_SERVERS)
    wanted = dict(data)
    if isinstance(servers, dict) and PRODUCT in servers:
        ours = servers[PRODUCT]
        if not isinstance(ours, dict) or not is_fairlead_command(
            ours.get("command"), ours.get("args")
        ):
            return text
        rest = {name: value for name, value in servers.items() if name != PRODUCT}
        wanted[_SERVERS] = rest
        if not rest:
            del wanted[_SERVERS]
    for candidate in (without_block(text), _without_table(text)):
        if _toml(candidate) == wanted:
            return candidate
    return text


def _without_table(text: str) -> str:
    """Remove the markers and the table between them, line by line."""
    kept: list[str] = []
    is_ours = False
    for line in split_lines(text):
        if _is_mark(line, BEGIN) or _is_mark(line, END):
            is_ours = False
            continue
        if line.lstrip().startswith("["):
            is_ours = line.strip().startswith(f"[{_SERVERS}.{PRODUCT}")
        if not is_ours:
            kept.append(line)
    return "".join(kept)


def _is_mark(line: str, mark: str) -> bool:
    return mark in line and line.lstrip("\ufeff \t").startswith(("<!--", "#"))


def _toml(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    except tomllib.TOMLDecodeError as problem:
        raise TomlSyntax(str(problem)) from problem
