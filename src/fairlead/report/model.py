"""The values of graphs (nodes and edges) and of report pages (sections made of blocks)."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum

from fairlead.core.values import dataclass, replace

MOST_NODES = 300  # above this a graph shows one node for each group


class NodeState(StrEnum):
    """The state of a node; renderers give each its own colour and mark."""

    DONE = "done"
    RUNNING = "running"
    READY = "ready"
    WAITING = "waiting"
    BLOCKED = "blocked"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class GraphNode:
    """One box of a graph."""

    id: str
    title: str
    note: str = ""  # a second, smaller line
    state: NodeState = NodeState.WAITING
    group: str = ""  # the node that stands for it when the graph is too large; empty: itself
    document: str = ""  # the path of the document it shows


@dataclass(frozen=True, slots=True)
class Graph:
    """Nodes with edges from a node to those that depend on it."""

    title: str
    nodes: tuple[GraphNode, ...]
    edges: tuple[tuple[str, str], ...]  # ids: from, to
    left_out: int = 0  # nodes that their groups stand for

    def readable(self, most: int = MOST_NODES) -> Graph:
        """The same graph, with one node per group if it has too many nodes."""
        if len(self.nodes) <= most:
            return self
        known = {node.id for node in self.nodes}
        stands_for = {
            node.id: node.group if node.group in known else node.id for node in self.nodes
        }
        kept = tuple(node for node in self.nodes if stands_for[node.id] == node.id)
        edges = _unique((stands_for[source], stands_for[target]) for source, target in self.edges)
        left_out = len(self.nodes) - len(kept)
        return replace(self, nodes=kept, edges=edges, left_out=self.left_out + left_out)


def _unique(edges: Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple(dict.fromkeys((source, target) for source, target in edges if source != target))


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
