"""Messages and hints: every `fairlead` command that a string in the code names exists."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from fairlead.interfaces.cli.main import cli
from tests.architecture.test_documents import unknown_in
from tests.support.programs import ROOT

SOURCES = ROOT / "src" / "fairlead"
# Strings without messages: words that people type, and the program of the hooks.
NO_MESSAGES = {"interfaces/cli/neighbour_names.py", "interfaces/hooks/start.py"}
_NAMED = re.compile(r"\bfairlead(?: -C \S+)?( [a-z][a-z-]*\b[^;,:`'\")\n]*)")
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def strings(source: str) -> Iterator[str]:
    """The strings of a module without its docstrings; a value in a string is shown as {}."""
    tree = ast.parse(source)
    skipped = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, _DOCUMENTED) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(part) for part in node.values}
            parts = (part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
            yield "".join(map(str, parts))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if id(node) not in skipped:
                yield node.value


def wrong_commands(source: str) -> list[str]:
    """What does not exist, and groups that are named without one of their commands."""
    wrong: list[str] = []
    for words in (each for text in strings(source) for each in _NAMED.findall(text)):
        line = re.sub(r"(?<=\S)\{[^}]*\}", "", f"fairlead{words.rstrip('. ')}")
        before, hole, _ = line.partition(" {")
        is_begun = words.endswith(" ") or bool(hole)  # what follows may name the command
        if not is_begun or not is_group(before):
            wrong += unknown_in(line)
            wrong += [line] if is_group(line) else []
    return wrong


def is_group(line: str) -> bool:
    """Whether a line ends with a group, which needs one of its commands."""
    command: click.Command | None = cli
    for word in line.split()[1:]:
        if not isinstance(command, click.Group):
            return False
        command = command.get_command(click.Context(command), word)
    return isinstance(command, click.Group) and not command.invoke_without_command


def modules() -> list[str]:
    found = (path.relative_to(SOURCES).as_posix() for path in SOURCES.rglob("*.py"))
    return sorted(set(found) - NO_MESSAGES)


def test_every_command_that_a_message_names_exists() -> None:
    wrong = {name: wrong_commands(Path(SOURCES, name).read_text("utf-8")) for name in modules()}
    assert {name: lines for name, lines in wrong.items() if lines} == {}


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        ("hint = 'list them: fairlead roadmap'", ["fairlead roadmap"]),
        ("hint = f'see: fairlead phase exectue {n}'", ["fairlead phase exectue"]),
        ("hint = 'repair: fairlead doctor --fixx; or not'", ["fairlead doctor --fixx"]),
        ("hint = f'next: fairlead phase {verb} {n} --dry-run'", []),
        ("hint = 'see: fairlead doctor, fairlead job list'", []),
    ],
)
def test_a_wrong_command_in_a_message_is_found(source: str, wrong: list[str]) -> None:
    assert wrong_commands(source) == wrong
