"""The command line is what the golden files say, and each kind of change is noticed.

After a change that is meant: `python tools/golden.py --update`, and read the diff.
"""

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType

import click
import pytest

from tests.golden import pages, tables
from tests.golden.cases import REHEARSED, RESUMED, TABLE
from tests.golden.samples import Result, Samples, scratch_place
from tools import golden

COMMANDS = {name: (command, context) for name, command, context in pages.commands()}
STORED = golden.stored_files()
UPDATE = "if this is meant, run: python tools/golden.py --update"


def named(command: str) -> str:
    return command or "fairlead"


@pytest.fixture(scope="module")
def samples() -> Iterator[Samples]:
    with tempfile.TemporaryDirectory(prefix="golden-", dir=scratch_place()) as folder:
        yield Samples(Path(folder) / "scratch")


def found_differences(name: str, page: pages.Page, part: str) -> str:
    file = golden.file_of(name)
    now = {file: json.dumps(page)}
    return "\n".join(golden.differences({file: STORED[file]}, now, part))


def page_of(name: str, samples: Samples, command: click.Command | None = None) -> pages.Page:
    known, context = COMMANDS[name]
    stored = json.loads(STORED[golden.file_of(name)])
    return pages.page_of(name, command or known, context, samples, stored)


def test_every_command_has_a_golden_file_and_cases() -> None:
    files = {golden.file_of(name) for name in COMMANDS}
    assert files == {name for name in STORED if name.startswith(golden.COMMANDS)}
    leaves = {name for name, (each, _) in COMMANDS.items() if not isinstance(each, click.Group)}
    assert leaves <= TABLE.keys() <= COMMANDS.keys()


@pytest.mark.parametrize("name", COMMANDS, ids=named)
def test_a_command_is_what_its_golden_file_says(name: str, samples: Samples) -> None:
    page = page_of(name, samples)
    assert found_differences(name, page, "behaviour") == "", UPDATE
    assert found_differences(name, page, "wording") == "", UPDATE


@pytest.mark.long
@pytest.mark.parametrize("name", sorted({*REHEARSED, *RESUMED}))
def test_a_command_that_starts_agents_is_what_its_golden_file_says(
    name: str, samples: Samples
) -> None:
    page = pages.page_of(name, *COMMANDS[name], samples, None)
    assert found_differences(name, page, "behaviour") == "", UPDATE


def test_error_codes_are_those_of_the_golden_file() -> None:
    assert tables.error_codes(tables.modules()) == STORED[golden.ERROR_CODES], UPDATE


def test_settings_are_those_of_the_golden_file(samples: Samples) -> None:
    assert tables.settings(samples) == json.loads(STORED[golden.SETTINGS]), UPDATE


def test_public_names_are_those_of_the_golden_file(samples: Samples) -> None:
    assert tables.public_names(samples) == STORED[golden.PUBLIC_NAMES], UPDATE


# Planted faults: the comparison must notice each kind.

PLANTED = "state get"


class Changed(Samples):
    """Samples in which every command answers a little differently."""

    def __init__(self, scratch: Path, change: Callable[[Result], Result]) -> None:
        super().__init__(scratch)
        self._change = change

    def run(
        self, world: Path, argv: Sequence[str], stdin: str = "", *, is_timeless: bool = True
    ) -> Result:
        return self._change(super().run(world, argv, stdin, is_timeless=is_timeless))


def replacing(old: str, new: str) -> Callable[[Result], Result]:
    return lambda done: Result(
        done.exit_code, done.stdout.replace(old, new), done.stderr.replace(old, new)
    )


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (lambda done: done._replace(exit_code=done.exit_code + 1), "state get/exit: 1"),
        (replacing('"ok":', '"okay":'), "/.okay: "),
        (replacing('"version": 1', '"version": "1"'), '/.version: "str"'),
        (replacing('"no-project"', '"without-project"'), '"without-project"'),
    ],
    ids=["exit code", "JSON key", "JSON type", "error code"],
)
def test_a_changed_result_is_noticed_as_behaviour(
    tmp_path: Path, change: Callable[[Result], Result], expected: str
) -> None:
    page = page_of(PLANTED, Changed(tmp_path / "scratch", change))
    lines = found_differences(PLANTED, page, "behaviour").splitlines()
    added = [line for line in lines if line.startswith("+")]
    assert any(expected in line for line in added), lines


@pytest.mark.parametrize(
    "option",
    [
        click.Option(["--json"], is_flag=True, hidden=True),
        click.Option(["--json", "-j"], is_flag=True),
        click.Option(["--json"], type=click.Choice(["a"])),
        click.Option(["--json"], is_flag=True, default=True),
    ],
    ids=["hidden", "flags", "type", "default"],
)
def test_a_changed_option_is_noticed_as_behaviour(option: click.Option) -> None:
    known, _ = COMMANDS[PLANTED]
    params = [each for each in known.params if "--json" not in each.opts]
    changed = click.Command(PLANTED, params=[*params, option])
    assert pages.parameters(changed) != pages.parameters(known)


def test_a_changed_sentence_is_noticed_as_wording_alone(tmp_path: Path) -> None:
    page = page_of(
        PLANTED, Changed(tmp_path / "scratch", replacing("no .planning", "No .planning"))
    )
    assert found_differences(PLANTED, page, "behaviour") == ""
    assert "No .planning" in found_differences(PLANTED, page, "wording")


def test_a_new_error_code_is_found_as_a_class_and_as_a_row() -> None:
    class Row:
        __module__ = "fairlead.planted"

        def __init__(self, code: str, exit_code: int) -> None:
            self.code = code
            self.exit_code = exit_code

    planted = ModuleType("fairlead.planted")
    vars(planted).update(ERRORS=(Row("planted-row", 4),), ONE=Row("planted-value", 3))
    lines = tables.error_codes([planted]).splitlines()
    assert lines == ["planted-value  exit 3  document", "planted-row  exit 4  conflict"]
