"""The reference lists the commands, errors and settings of the code, completely."""

import ast
import inspect
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import click
import pytest

from fairlead.core import errors
from fairlead.core.settings import SETTINGS
from fairlead.council.model import TRANSITIONS, Blocker, StatusTransition
from fairlead.interfaces.cli.main import cli
from fairlead.store import layout
from tests.support.subjects import product_subjects
from tools import reference

ERRORS: list[type[errors.FairleadError]] = [
    errors.FairleadError,
    *reference.kinds_below(errors.FairleadError),
]
COMMANDS = list(reference.commands_below(click.Context(cli, info_name="fairlead")))
LEAVES = [context for context in COMMANDS if not isinstance(context.command, click.Group)]

# Words that stand for something unnamed.
EMPTY_WORDS = ("invalid", "failed to", "error:")


def shared(codes: Iterable[str]) -> list[str]:
    return [code for code, times in Counter(codes).items() if times > 1]


def empty_words(source: str) -> list[str]:
    texts = [
        node.value
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return [text for text in texts if any(word in text.lower() for word in EMPTY_WORDS)]


def test_every_page_is_what_the_code_says():
    assert sorted(reference.stale_pages(reference.REFERENCE)) == []


def test_a_page_that_was_edited_by_hand_is_found(tmp_path: Path):
    for name, text in reference.pages().items():
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "errors.md").write_text("# Errors\n\nNone.\n", "utf-8")

    assert sorted(reference.stale_pages(tmp_path)) == ["errors.md"]


def test_a_command_stands_in_the_reference():
    page = reference.written(reference.REFERENCE / "commands.md")
    names = [context.command_path for context in COMMANDS]

    assert len(names) > 80
    assert [name for name in names if f"\n## {name}\n" not in page] == []


def test_a_command_says_what_it_does():
    assert [context.command_path for context in COMMANDS if not context.command.help] == []


def test_a_command_shows_an_example():
    texts = {
        context.command_path: (context.command.help or "") + (context.command.epilog or "")
        for context in LEAVES
    }

    assert [name for name, text in texts.items() if name not in text] == []


def test_an_option_says_what_it_means():
    silent = [
        (context.command_path, names)
        for context in LEAVES
        for names, meaning in reference.options_of(context)
        if not meaning
    ]

    assert silent == []


def test_an_error_has_a_code_of_its_own():
    assert len(ERRORS) > 100
    assert [kind.__name__ for kind in ERRORS if "code" not in vars(kind)] == []


def test_no_two_errors_share_a_code():
    assert shared(kind.code for kind in ERRORS) == []


def test_a_code_given_twice_is_found():
    assert shared(["lock-busy", "disk-full", "lock-busy"]) == ["lock-busy"]


def test_an_error_stands_in_the_reference():
    page = reference.written(reference.REFERENCE / "errors.md")

    assert [kind.code for kind in ERRORS[1:] if f"| `{kind.code}` |" not in page] == []


def test_an_error_keeps_the_exit_code_of_its_family():
    for kind in ERRORS[1:]:
        family = kind.__mro__[kind.__mro__.index(errors.FairleadError) - 1]

        assert issubclass(family, errors.FairleadError)
        assert (kind, kind.exit_code) == (kind, family.exit_code)


def test_families_have_the_documented_exit_codes():
    families = {kind.__name__: kind.exit_code for kind in errors.FairleadError.__subclasses__()}

    assert families == {
        "UsageError": 2,
        "DocumentError": 3,
        "ConflictError": 4,
        "AgentError": 5,
        "BlockedError": 6,
        "StorageError": 7,
    }


def test_errors_name_the_thing_and_not_only_that_something_is_wrong():
    modules = {inspect.getmodule(kind) for kind in ERRORS}
    sources = [inspect.getsource(module) for module in modules if module is not None]
    assert [word for source in sources for word in empty_words(source)] == []


def test_a_message_that_names_nothing_is_found():
    assert empty_words('raise X(f"failed to open {path}")') == ["failed to open "]


def test_a_setting_stands_in_the_reference():
    page = reference.written(reference.REFERENCE / "configuration.md")

    assert [setting.key for setting in SETTINGS if f"| `{setting.key}` |" not in page] == []


@pytest.mark.parametrize("edge", TRANSITIONS, ids=lambda edge: f"{edge.source}-{edge.target}")
def test_a_way_between_statuses_stands_in_the_reference(edge: StatusTransition):
    page = reference.written(reference.REFERENCE / "statuses.md")
    assert f"| {edge.source} | {edge.target} |" in page


@pytest.mark.parametrize("code", Blocker)
def test_a_reason_to_be_blocked_stands_in_the_guide(code: Blocker):
    guide = reference.written(reference.REFERENCE.parent / "guides" / "council.md")
    assert f"`{code}`" in guide


def test_a_new_command_changes_its_page():
    group = click.Group("sample", commands={"mend": click.Command("mend", help="Mend a sail.")})

    assert "\n## sample mend\n" in reference.commands_page(group, "sample")


def test_a_new_path_of_the_layout_has_to_be_told():
    with pytest.raises(KeyError, match="SAILS"):
        reference.files_page({**vars(layout), "SAILS": f"{layout.PLANNING}/SAILS.md"})


def test_help_text_keeps_its_lines_where_the_terminal_does():
    paragraphs = list(reference.prose("One\nsentence.\n\n\b\nExample:\n  fairlead status"))

    assert paragraphs == ["One sentence.", "```\nExample:\n  fairlead status\n```"]


def test_every_command_that_changes_something_is_under_the_crash_sweeps() -> None:
    changing = {
        context.command_path.removeprefix("fairlead ")
        for context in LEAVES
        if any(parameter.name == "dry_run" for parameter in context.command.params)
    }
    swept = {" ".join(subject.arguments) for subject in product_subjects().values()}
    # tests/crash/test_execution.py and test_council.py kill complete runs step by step; the tests
    # of each workflow cover what it adds.
    changing -= {"phase execute", "quick", "debug", "run", "phase plan", "phase discuss", "new"}
    # These write nothing; and tests/execution/test_take_back.py covers what a discard removes.
    changing -= {"notify test", "cluster dev", "rehearsal discard"}
    assert {path for path in changing if not any(s.startswith(path) for s in swept)} == set()
