"""The commands that the sweeps try: one row a command, so that a new one is a row more.

A subject says how its world is made, what is run in it, which command comes next, and how a
person would edit its main file meanwhile.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.support.programs import ROOT, Command, Program, fairlead, interpreter, run

PROJECT = "project"
STATE = ".planning/STATE.md"
CONFIG = ".planning/config.json"
FOREIGN_LINE = b"a line by somebody else\n"


@dataclass(frozen=True, slots=True)
class Editing:
    """The file a person may edit while the command runs, and how."""

    path: str
    edit: Callable[[bytes], bytes]


@dataclass(frozen=True, slots=True)
class Subject:
    """A state-changing command in a world of its own: a project folder beside a home folder."""

    name: str
    program: Program
    arguments: tuple[str, ...]
    prepare: Callable[[Path], None]
    follow_up: tuple[str, ...]
    reader: tuple[str, ...]
    follow_up_codes: frozenset[int] = frozenset({0})
    reader_codes: frozenset[int] = frozenset({0})
    editing: Editing | None = None

    def command(self, world: Path) -> Command:
        """The command under test, in the given world."""
        return self.program.command(world / PROJECT, *self.arguments)

    def next_command(self, world: Path) -> Command:
        """The state-changing command that comes after a fault."""
        return self.program.command(world / PROJECT, *self.follow_up)

    def read_command(self, world: Path) -> Command:
        """A command that only reads."""
        return self.program.command(world / PROJECT, *self.reader)


def append_a_line(text: bytes) -> bytes:
    """A person's edit of a Markdown file."""
    return text + FOREIGN_LINE


def add_a_setting(text: bytes) -> bytes:
    """A person's edit of a JSON file: one more key, right after the opening brace."""
    head, brace, tail = text.partition(b"{")
    return head + brace + b'\n  "somebody": "else",' + tail


def product_subjects() -> dict[str, Subject]:
    """Every state-changing command of the product."""
    program = fairlead()

    def empty(world: Path) -> None:
        (world / "home").mkdir(parents=True)
        (world / PROJECT).mkdir()

    def with_project(world: Path) -> None:
        empty(world)
        made = run(program.command(world / PROJECT, "init", "Sample", "--yes"))
        assert made.code == 0, made.describe()

    decision = ("state", "add-decision", "--phase", "1", "--summary")
    reader = ("status", "--json")
    return {
        subject.name: subject
        for subject in (
            Subject(
                "add-decision",
                program,
                (*decision, "ours", "--json"),
                with_project,
                (*decision, "next"),
                reader,
                editing=Editing(STATE, append_a_line),
            ),
            Subject(
                "config-set",
                program,
                ("config", "set", "mode", "yolo", "--json"),
                with_project,
                (*decision, "next"),
                reader,
                editing=Editing(CONFIG, add_a_setting),
            ),
            Subject(
                "config-set-user",
                program,
                ("config", "set", "--user", "mode", "yolo", "--json"),
                with_project,
                ("config", "set", "--user", "fairlead.color", "never"),
                reader,
            ),
            Subject(
                "init",
                program,
                ("init", "Sample", "--yes", "--json"),
                empty,
                ("init", "Sample", "--yes"),
                reader,
                follow_up_codes=frozenset({0, 4}),
                reader_codes=frozenset({0, 2}),
            ),
        )
    }


def planted_subject(fault: str) -> Subject:
    """A writer with a planted fault, tried by the same sweeps."""
    script = ROOT / "tests" / "support" / "planted_writer.py"
    program = Program((interpreter(), "-I", "-S", str(script), fault))

    def prepare(world: Path) -> None:
        (world / "home").mkdir(parents=True)
        service = world / PROJECT / ".planning" / ".fairlead"
        service.mkdir(parents=True)
        (service / "lock").touch()
        state = world / PROJECT / STATE
        state.write_bytes(b"# State\n\n## Decisions\n- first\n\n## Notes\n" + b"note\n" * 1000)

    return Subject(
        f"planted-{fault}",
        program,
        ("add", "ours"),
        prepare,
        ("add", "next"),
        ("show",),
        editing=Editing(STATE, append_a_line),
    )
