"""A command group that imports a command when it is called, and knows what a typo meant.

A short command must not pay for importing a long one, so a group has a table of its commands: the
place as `module:function` within `fairlead.interfaces.cli`, and the first sentence of the help. The
help of the group needs no more than that. It lists the commands by purpose. An unknown command is
refused with the command that was probably meant.
"""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

import click

from fairlead.core.errors import UsageError

# The key of the click context that holds the announcer of a job in the background.
ANNOUNCER = "fairlead.announcer"
_PACKAGE = "fairlead.interfaces.cli"
_REST = "More commands"
_WHOLE = 1000  # characters, more than any first sentence has
_HINT_WIDTH = 100  # a longer command line is not repeated in a hint


class LazyGroup(click.Group):
    """A group with commands that are imported when they are needed."""

    def __init__(
        self,
        *args: Any,
        lazy: Mapping[str, tuple[str, str]] | None = None,
        sections: Mapping[str, Sequence[str]] | None = None,
        **options: Any,
    ) -> None:
        super().__init__(*args, **options)
        self.lazy = lazy or {}  # name of the command: `module:function`, first sentence of its help
        self._sections = sections or {}  # title in the help: names of commands

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, without importing any."""
        return sorted((*self.commands, *self.lazy))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import one command."""
        if cmd_name not in self.lazy:
            return super().get_command(ctx, cmd_name)
        module, _, name = self.lazy[cmd_name][0].partition(":")
        command = getattr(import_module(f"{_PACKAGE}.{module}"), name)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command of the first word; an unknown word is refused with a suggestion."""
        word = args[0]
        if not word.startswith("-") and self.get_command(ctx, word) is None:
            if not ctx.resilient_parsing:
                raise unknown_command(ctx, args)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands of the help, by purpose."""
        left = self.list_commands(ctx)
        titles = {
            title: [name for name in names if name in left]
            for title, names in self._sections.items()
        }
        listed = {name for names in titles.values() for name in names}
        rest = [name for name in left if name not in listed]
        width = max(map(len, left), default=0)
        for title, names in {**titles, (_REST if listed else "Commands"): rest}.items():
            rows = []
            for name in names:
                command = self._listed_command(ctx, name)
                if command is not None and not command.hidden:
                    # The whole first sentence: the formatter wraps it where it does not fit.
                    rows.append((name.ljust(width), command.get_short_help_str(_WHOLE)))
            if rows:
                with formatter.section(title):
                    formatter.write_dl(rows)

    def _listed_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """A command that has at least its short help. Imports nothing."""
        if name in self.lazy:
            return click.Command(name, help=self.lazy[name][1])
        return super().get_command(ctx, name)


def unknown_command(context: click.Context, words: Sequence[str]) -> UsageError:
    """The error for a word that is no command of a group, with the command that was meant."""
    import shlex  # like the suggestions, needed only by a mistyped command

    from fairlead.interfaces.cli.suggestions import suggestions

    root = context.find_root()
    level = context.command_path.split()[1:]
    paths = list(command_paths(root.command, root))
    found = suggestions(list(words), level, paths)
    if len(words) > 1 and found and f"{found[0]} {words[1]}" not in paths:
        # A second word that is part of the suggestion is not repeated behind it.
        words = (
            words if found[0] in suggestions(words[:1], level, paths) else [*words[:1], *words[2:]]
        )
    name = root.info_name or "fairlead"
    hint = f"see: {context.command_path} --help"
    if found:
        lines = [f"{name} {each}" for each in found]
        more = f" {shlex.join(words[1:])}" if len(words) > 1 and len(found) == 1 else ""
        if len(lines[0] + more) <= _HINT_WIDTH and not found[0].endswith(tuple(words[1:]) or "\n"):
            lines[0] += more
        hint = f"did you mean: {', or: '.join(lines)}"
    return UsageError.saying(f"no such command: {' '.join((*level, words[0]))}", hint)


def command_paths(command: click.Command, context: click.Context) -> Iterator[str]:
    """Every command below a group, as `phase execute`; groups as well."""
    if not isinstance(command, click.Group):
        return
    for name in command.list_commands(context):
        inner = command.get_command(context, name)
        if inner is not None and not inner.hidden:
            yield name
            yield from (f"{name} {below}" for below in command_paths(inner, context))
