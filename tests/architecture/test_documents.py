"""README, tutorial and guides: links lead somewhere, commands and options exist, blocks run."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from fairlead.interfaces.cli.main import cli
from tests.support.documented import Step, blocks_of, is_true_to, masked
from tests.support.programs import ROOT
from tools.links import anchors, broken, pages, remote, unlisted

MOST_README_LINES = 150
WALKED = ("README.md", "docs/tutorial.md")
# Blocks of the walked pages that no walk runs, by their reasons.
NOT_RUN = {
    "they install for your user; make check-install tries them in scratch folders": 1,
    "the session starts with this command installed": 1,
}
MISTYPED = "$ fairlead execute-phase 2\n"  # an example of a typo in a guide
_INLINE = re.compile(r"`(fairlead(?: [^`\n]+)?)`")
_FENCED = re.compile(r"^(?:\$ )?(fairlead .*)$", re.MULTILINE)
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def text_of(page: str) -> str:
    return (ROOT / page).read_text("utf-8")


def put(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")


def test_the_readme_is_short() -> None:
    assert len(text_of("README.md").splitlines()) <= MOST_README_LINES


def unlinked_figures(readme: str, root: Path) -> list[str]:
    """Figures in the reasons of the README that no page linked beside them contains."""
    found: list[str] = []
    for reason in re.findall(r"^- \*\*.*?(?=^- \*\*|^$)", readme, re.MULTILINE | re.DOTALL):
        links = re.findall(r"\]\(([^)#]+)\)", reason)
        linked = "\n".join((root / link).read_text("utf-8") for link in links)
        figures = re.findall(r"\b\d{1,3}(?:,\d{3})+\b|\b\d{3,}\b", reason)
        found += [each for each in figures if not re.search(rf"(?<![\d,]){each}\b", linked)]
    return found


def test_every_figure_of_the_readme_is_on_a_page_that_it_links() -> None:
    readme = text_of("README.md")
    assert unlinked_figures(readme, ROOT) == []
    assert unlinked_figures(readme.replace("2,291", "2,292"), ROOT) == ["2,292"]


# --- links -------------------------------------------------------------------------------


def test_every_link_leads_to_a_file_and_a_heading() -> None:
    assert [*broken(ROOT), *unlisted(ROOT)] == []


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("[a](gone.md)", "no such file: gone.md"),
        ("[a](b.md#gone)", "no such heading: b.md#gone"),
        ("[a](#gone)", "no such heading: #gone"),
        ("![a](../../outside.svg)", "no such file: ../../outside.svg"),
        ("[a](b.md#a--b)", "no such heading: b.md#a--b"),  # spelled so in one place only
    ],
)
def test_a_broken_link_is_found(tmp_path: Path, text: str, fault: str) -> None:
    root = tmp_path / "root"
    put(root, "docs/a.md", f"# A\n\n`[x](code.md)` [b](b.md#two-words)\n\n{text}\n")
    put(root, "docs/b.md", "# B\n\n## Two words\n\n## A – b\n")
    assert list(broken(root)) == [f"docs/a.md:5: {fault}"]


def test_a_page_outside_the_navigation_is_found(tmp_path: Path) -> None:
    put(tmp_path, "docs/a.md", "# A\n")
    put(tmp_path, "mkdocs.yml", "nav:\n  - Gone: b.md\n")
    assert list(unlisted(tmp_path)) == [
        "mkdocs.yml: docs/a.md is not in the navigation",
        "mkdocs.yml: docs/b.md does not exist",
    ]


def test_a_heading_in_a_code_block_is_no_anchor() -> None:
    assert anchors("# One `two`\n\n```sh\n# three\n```\n") == {"one-two"}


def test_a_page_that_loads_from_another_host_is_found(tmp_path: Path) -> None:
    put(tmp_path, "a.html", '<a href="https://example.org">fine</a><img src="b.svg">')
    put(tmp_path, "b.html", '<script src="https://example.org/x.js"></script>')
    put(tmp_path, "c.css", "@font-face { src: url(//example.org/f.woff) }")
    assert [fault.split(":")[0] for fault in remote(tmp_path)] == ["b.html", "c.css"]


# --- blocks that run ---------------------------------------------------------------------


def test_blocks_that_do_not_run_are_counted() -> None:
    reasons = [block.reason for page in WALKED for block in blocks_of(text_of(page))]
    left_out = [reason for reason in reasons if reason]
    assert {reason: left_out.count(reason) for reason in left_out} == NOT_RUN
    assert len(reasons) - len(left_out) >= 12


@pytest.mark.parametrize("page", WALKED)
def test_a_page_that_is_walked_has_commands_in_console_blocks_only(page: str) -> None:
    others = [kind for kind, _ in _BLOCK.findall(text_of(page)) if kind in ("", "sh", "bash")]
    assert others == []


def test_a_block_has_its_commands_what_they_show_and_the_reason_not_to_run() -> None:
    text = (
        "x\n\n```console\n$ a # b\nout\n\n$ c\n```\n<!-- not run: why -->\n```console\n$ d\n```\n"
    )
    first, second = blocks_of(text)
    assert first.steps == (Step("a # b", ("out",)), Step("c", ()))
    assert (first.reason, second.reason) == ("", "why")


@pytest.mark.parametrize(
    ("shown", "is_true"),
    [
        (["one", "two", "three"], True),
        (["one", "…"], True),
        (["…", "three"], True),
        (["…", "two", "…"], True),
        (["one", "…", "four"], False),
        (["one", "two"], False),
        (["…", "three", "two"], False),
    ],
)
def test_what_a_page_shows_is_compared(shown: list[str], is_true: bool) -> None:
    assert is_true_to(shown, ["one", "two", "three"]) == is_true


def test_only_what_differs_from_run_to_run_is_masked() -> None:
    line = "05:00:39  01-01  merged  95e470f97e  2 of 2 plans, 5,830 tokens, $0.10"
    assert masked(line) == "TIME  01-01  merged  HASH  2 of 2 plans, N tokens, $N"


# --- commands and options ----------------------------------------------------------------


def commands_in(text: str) -> Iterator[str]:
    """The lines of a page that call the command, from blocks and from prose."""
    for kind, block in _BLOCK.findall(text):
        if kind in ("", "console", "sh", "text"):
            yield from _FENCED.findall(block)
    yield from _INLINE.findall(_BLOCK.sub("", text))


def options_of(command: click.Command) -> dict[str, click.Option]:
    """The options of a command by every name they have."""
    options = (each for each in command.params if isinstance(each, click.Option))
    return {name: each for each in options for name in (*each.opts, *each.secondary_opts)}


def unknown_in(line: str) -> Iterator[str]:
    """The commands and options of a line that do not exist."""
    try:
        words = shlex.split(
            line.split(" # ", maxsplit=1)[0].split("  ", maxsplit=1)[0], posix=True
        )[1:]
    except ValueError:
        return  # a quotation that goes on in the next line
    command: click.Command = cli
    context = click.Context(cli, info_name="fairlead")
    is_value = False
    for word in words:
        if word in (">", "|", "&&", "||", ";", "--"):
            return
        if is_value:
            is_value = False
        elif word.startswith("--") and word not in ("--help", "--version"):
            name, equals, _ = re.sub(r"[|,…].*", "", word.rstrip(".…")).partition("=")
            option = options_of(command).get(name) or options_of(cli).get(name)
            if option is None:
                yield f"{context.command_path} {name}"
            is_value = option is not None and not option.is_flag and not equals
        elif isinstance(command, click.Group) and re.fullmatch(r"[a-z][a-z-]+", word):
            found = command.get_command(context, word)
            if found is None:
                yield f"{context.command_path} {word}"
                return
            command, context = found, click.Context(found, info_name=word, parent=context)


@pytest.mark.parametrize("page", [page.relative_to(ROOT).as_posix() for page in pages(ROOT)])
def test_every_command_and_option_that_a_page_names_exists(page: str) -> None:
    text = text_of(page).replace(MISTYPED, "")
    assert [each for line in commands_in(text) for each in unknown_in(line)] == []


@pytest.mark.parametrize(
    ("line", "unknown"),
    [
        ("fairlead phase plan 1 --aprove", ["fairlead phase plan --aprove"]),
        ("fairlead phase exectue 1", ["fairlead phase exectue"]),
        ('fairlead new "An --idea" --auto  # --whatever', []),
    ],
)
def test_an_unknown_command_or_option_is_found(line: str, unknown: list[str]) -> None:
    assert list(unknown_in(line)) == unknown
