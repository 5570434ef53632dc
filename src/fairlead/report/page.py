"""The values of a report page: sections made of blocks, which every renderer can show."""

from __future__ import annotations

from fairlead.core.values import dataclass
from fairlead.report.model import Graph


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Plain text."""

    text: str
    is_warning: bool = False


@dataclass(frozen=True, slots=True)
class PageTable:
    """Rows of plain text below a head."""

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: tuple[int, ...] = ()  # columns that hold numbers


@dataclass(frozen=True, slots=True)
class DocumentText:
    """A Markdown document of the project, or a part of it; folded until somebody opens it."""

    title: str
    markdown: str


@dataclass(frozen=True, slots=True)
class ProgramOutput:
    """What a program printed."""

    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A graph."""

    graph: Graph


Block = Paragraph | PageTable | DocumentText | ProgramOutput | Picture


@dataclass(frozen=True, slots=True)
class PageSection:
    """A titled part of a page."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class ReportPage:
    """A report."""

    title: str
    status: str
    facts: tuple[tuple[str, str], ...]
    sections: tuple[PageSection, ...]
