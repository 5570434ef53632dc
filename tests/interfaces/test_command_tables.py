"""A group lists its commands without importing them, and says what they say themselves."""

import subprocess
import sys
from collections.abc import Iterator

import click
import pytest

from fairlead.interfaces.cli.lazy_group import LazyGroup
from fairlead.interfaces.cli.main import cli

WIDE = 1000
PACKAGE = "fairlead.interfaces.cli"


def groups(
    group: click.Group, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Group]]:
    """The group and every group below it, with the words that lead to it."""
    yield path, group
    context = click.Context(group)
    for name in group.list_commands(context):
        inner = group.get_command(context, name)
        if isinstance(inner, click.Group):
            yield from groups(inner, (*path, name))


ALL_GROUPS = dict(groups(cli))
GROUPS = {
    path: group for path, group in ALL_GROUPS.items() if isinstance(group, LazyGroup) and group.lazy
}


@pytest.mark.parametrize("path", GROUPS, ids=" ".join)
def test_the_table_has_the_first_sentence_of_every_help(path: tuple[str, ...]):
    group = GROUPS[path]
    context = click.Context(group)
    for name, (_, sentence) in group.lazy.items():
        command = group.get_command(context, name)
        assert command is not None
        assert not command.hidden
        assert sentence == command.get_short_help_str(WIDE), name


@pytest.mark.parametrize("path", ALL_GROUPS, ids=" ".join)
def test_the_list_of_commands_shows_whole_sentences(path: tuple[str, ...]):
    group = ALL_GROUPS[path]
    context = click.Context(group, info_name="fairlead", terminal_width=80)
    shown = " ".join(group.get_help(context).split())
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        assert command.hidden or command.get_short_help_str(WIDE) in shown


@pytest.mark.parametrize("path", GROUPS, ids=" ".join)
def test_the_help_imports_no_command_of_the_table(path: tuple[str, ...]):
    code = "import sys; from fairlead.interfaces.cli.main import run; run(sys.argv[1:])"
    words = [sys.executable, "-c", f"{code}; print(*sys.modules)", *path, "--help"]
    done = subprocess.run(words, capture_output=True, check=True)
    places = {place.partition(":")[0] for place, _ in GROUPS[path].lazy.values()}

    # A command may be defined in the module of its group.
    expected = places - set(path)
    assert not set(done.stdout.decode().split()) & {f"{PACKAGE}.{module}" for module in expected}
