"""The cases of the status line, read from `tests/corpus/statusline.md`."""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

CASES = Path(__file__).resolve().parents[1] / "corpus" / "statusline.md"
FOLDER = "work"
SAID = '{"model": {"display_name": "Opus"}, "workspace": {"current_dir": "PROJECT"}}'

_COLOR = re.compile("\x1b\\[[0-9;]*m")
_ESCAPE = re.compile(r"\\(?:r|x[0-9a-f]{2}|u[0-9a-f]{4})")


@dataclass(slots=True)
class Case:
    """One case: a title, the content of files and stdin, and the expected line."""

    title: str
    line: int
    differs: bool = False
    parts: dict[str, str] = field(default_factory=dict)

    def build(self, folder: Path) -> Path:
        """Make the project below a folder."""
        project = folder / FOLDER
        project.mkdir()
        for name in ("STATE.md", "config.json"):
            if name in self.parts:
                path = project / ".planning" / name
                path.parent.mkdir(exist_ok=True)
                path.write_bytes(self.text(name).encode())
        return project

    def message(self, project: Path) -> str:
        """The message of the host."""
        message = self.parts.get("stdin", SAID)
        return message.replace('"PROJECT"', json.dumps(str(project)))

    def text(self, name: str) -> str:
        """A part, with its escapes decoded if the case uses them."""
        part = self.parts[name]
        if not self.title.endswith("escaped"):
            return part
        return _ESCAPE.sub(lambda match: match[0].encode().decode("unicode_escape"), part)

    @property
    def expected(self) -> str:
        """The expected line; with colours if the case gives them."""
        if "bytes" in self.parts:
            return self.parts["bytes"].removesuffix("\n").replace("␛", "\x1b")
        return self.parts["shown"].removesuffix("\n")

    def seen(self, line: str) -> str:
        """A line in the form that this case uses."""
        return line if "bytes" in self.parts else without_colors(line)


def without_colors(line: str) -> str:
    """The line without the codes that colour it."""
    return _COLOR.sub("", line)


def cases() -> list[Case]:
    """Every case, in the order of the page."""
    return list(_read(CASES.read_text("utf-8").split("\n")))


def _read(lines: list[str]) -> Iterator[Case]:
    case: Case | None = None
    part: str | None = None
    for number, line in enumerate(lines, start=1):
        if line.startswith("```"):
            part = None if part else line.removeprefix("```")
            if case and part:
                case.parts[part] = ""
        elif part and case:
            case.parts[part] += line + "\n"
        elif line.startswith("### "):
            if case:
                yield case
            case = Case(line.removeprefix("### "), number)
        elif line.startswith("## ") and case:
            yield case
            case = None
        elif line.startswith("Differs: ") and case:
            case.differs = True
    if case:
        yield case
