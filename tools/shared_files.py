"""Generate share/: the man page and the completion scripts that a wheel installs.

    tools/shared_files.py            write them
    tools/shared_files.py --check    list those that are out of date

The man page is made from the help of every command. The folders below share/ are those that man and
the shells search below the prefix of an installation.
"""

import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from fairlead import __version__
from fairlead.core import errors
from fairlead.interfaces.cli.main import cli

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # so that it runs as a script
from tools.reference import FILES, commands_below, exit_codes, options_of, path_names, written

SHARE = Path(__file__).resolve().parents[1] / "share"
MAN_PAGE = "man/man1/fairlead.1"
COMPLETIONS = {
    "bash": "bash-completion/completions/fairlead",
    "zsh": "zsh/site-functions/_fairlead",
    "fish": "fish/vendor_completions.d/fairlead.fish",
}


def shared_files() -> dict[str, str]:
    """Every file by its path below share/."""
    return {MAN_PAGE: man_page(cli)} | {
        path: completion_script(shell) for shell, path in COMPLETIONS.items()
    }


def completion_script(shell: str) -> str:
    """The script that `fairlead completion SHELL` prints."""
    script_class = get_completion_class(shell)
    assert script_class is not None
    return script_class(cli, {}, "fairlead", "_FAIRLEAD_COMPLETE").source() + "\n"


def man_page(root: click.Group) -> str:
    """The whole help as a man page."""
    context = click.Context(root, info_name="fairlead")
    first, *rest = paragraphs(root.help or "")
    lines = [
        '.\\" Generated from the help by `make docs`; do not edit.',
        f'.TH FAIRLEAD 1 "" "fairlead {__version__}" "User Commands"',
        ".SH NAME",
        f"fairlead \\- {roff(first.rstrip('.'))}",
        ".SH SYNOPSIS",
        ".B fairlead",
        "[\\fIOPTIONS\\fR] [\\fICOMMAND\\fR] [\\fIARGS\\fR]...",
        ".SH DESCRIPTION",
        *(line for text in rest for line in (".PP", roff(text))),
        ".SH OPTIONS",
        *option_lines(context),
        ".SH COMMANDS",
    ]
    for each in list(commands_below(context))[1:]:
        lines += command_lines(each)
    lines.append(".SH EXIT STATUS")
    for code, meaning in exit_codes(errors.FairleadError):
        lines += [".TP", f".B {code}", roff(meaning.replace("`", ""))]
    lines.append(".SH FILES")
    for name, path in sorted(path_names().items()):
        if name in FILES and isinstance(path, str):
            lines += [".TP", f".I {roff(path)}", roff(FILES[name].replace("`", ""))]
    return "\n".join(lines) + "\n"


def command_lines(context: click.Context) -> Iterator[str]:
    """One command: its usage, help, options and example."""
    command = context.command
    yield f".SS {roff(context.command_path)}"
    yield f".B {roff(context.command_path)}"
    yield roff(" ".join(command.collect_usage_pieces(context)))
    for text in (*paragraphs(command.help or ""), *paragraphs(command.epilog or "")):
        if text.startswith("\b"):
            yield from (".PP", ".nf", roff(inspect.cleandoc(text.removeprefix("\b"))), ".fi")
        else:
            yield from (".PP", roff(text))
    yield from option_lines(context)


def option_lines(context: click.Context) -> Iterator[str]:
    """The options of a command with their descriptions."""
    for names, meaning in options_of(context):
        yield from (".TP", f"\\fB{roff(names.strip('`'))}\\fR", roff(meaning))


def paragraphs(text: str) -> list[str]:
    r"""The paragraphs of a help text, each on one line; one after `\b` keeps its lines."""
    parts = inspect.cleandoc(text).split("\n\n")
    return [part if part.startswith("\b") else " ".join(part.split()) for part in parts if part]


def roff(text: str) -> str:
    """Text with what roff would read as its own."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    protected = re.sub(r"^(?=[.'])", r"\\&", escaped, flags=re.MULTILINE)
    return re.sub(r"[^\x00-\x7f]", lambda match: f"\\[u{ord(match[0]):04X}]", protected)


def main(arguments: list[str]) -> int:
    """Write the files, or with --check compare them."""
    stale = {path: text for path, text in shared_files().items() if written(SHARE / path) != text}
    for path, text in stale.items():
        if "--check" in arguments:
            print(f"share/{path} is out of date; run: make docs")
            continue
        (SHARE / path).parent.mkdir(parents=True, exist_ok=True)
        (SHARE / path).write_text(text, "utf-8")
        print(f"wrote share/{path}")
    return 1 if stale and "--check" in arguments else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
