"""A layered layout: dependencies flow from left to right, and layers are columns.

The layer of a node is the longest path to it, so the waves of a phase are its columns. An edge that
passes several layers gets a bend in each, and nodes are ordered to reduce crossings by the usual
sweeps over neighbours. The layout is deterministic: equal graphs give equal drawings. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise

from fairlead.core.values import dataclass
from fairlead.report.model import Graph, GraphNode

BOX_WIDTH = 196
BOX_HEIGHT = 44
_GAP_X = 48
_GAP_Y = 16
_BEND_HEIGHT = 10
MARGIN = 16
_SWEEPS = 8


@dataclass(frozen=True, slots=True)
class PlacedNode:
    """A node with the position of its upper left corner."""

    node: GraphNode
    x: int
    y: int
    layer: int


@dataclass(frozen=True, slots=True)
class Route:
    """An edge as the points it passes, from box to box."""

    source: str
    target: str
    points: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Drawing:
    """A graph with positions."""

    width: int
    height: int
    nodes: tuple[PlacedNode, ...]
    routes: tuple[Route, ...]


_Bend = tuple[str, str, int]  # the place of an edge in a layer that it passes
_Item = str | _Bend


def layout(graph: Graph) -> Drawing:
    """Give every node of a graph its position."""
    known = {node.id: node for node in graph.nodes}
    edges = _acyclic(
        known, [(a, b) for a, b in graph.edges if a in known and b in known and a != b]
    )
    layer_of = _layers(known, edges)
    columns, chains = _columns(known, edges, layer_of)
    neighbours = _neighbours(chains.values())
    _order(columns, neighbours)
    tops = _heights(columns, neighbours)
    height = max((tops[item] + _height(item) for column in columns for item in column), default=0)
    step = BOX_WIDTH + _GAP_X
    placed = tuple(
        PlacedNode(node, MARGIN + layer_of[name] * step, MARGIN + tops[name], layer_of[name])
        for name, node in known.items()
    )
    routes = tuple(
        Route(*edge, _points(chain, layer_of, tops)) for edge, chain in sorted(chains.items())
    )
    width = len(columns) * step - _GAP_X if columns else 0
    return Drawing(width + 2 * MARGIN, height + 2 * MARGIN, placed, routes)


def _acyclic(nodes: Iterable[str], edges: Sequence[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """The edges without those that close a cycle; a picture shows faulty plans, too."""
    kept = list(dict.fromkeys(edges))
    while True:
        before: dict[str, list[str]] = {name: [] for name in nodes}
        for source, target in kept:
            before[target].append(source)
        try:
            TopologicalSorter(before).prepare()
        except CycleError as error:
            cycle: list[str] = error.args[1]
            kept.remove((cycle[-2], cycle[-1]))
        else:
            return tuple(kept)


def _layers(nodes: Iterable[str], edges: Iterable[tuple[str, str]]) -> dict[str, int]:
    before: dict[str, list[str]] = {name: [] for name in nodes}
    for source, target in edges:
        before[target].append(source)
    layer_of: dict[str, int] = {}
    for name in TopologicalSorter(before).static_order():
        layer_of[name] = max((layer_of[each] + 1 for each in before[name]), default=0)
    return layer_of


def _columns(
    nodes: Iterable[str], edges: Iterable[tuple[str, str]], layer_of: Mapping[str, int]
) -> tuple[list[list[_Item]], dict[tuple[str, str], list[_Item]]]:
    """The items of each layer, and for each edge the items that it connects."""
    columns: list[list[_Item]] = [[] for _ in range(max(layer_of.values(), default=-1) + 1)]
    for name in nodes:
        columns[layer_of[name]].append(name)
    chains: dict[tuple[str, str], list[_Item]] = {}
    for source, target in edges:
        bends: list[_Item] = []
        for layer in range(layer_of[source] + 1, layer_of[target]):
            bend = (source, target, layer)
            columns[layer].append(bend)
            bends.append(bend)
        chains[source, target] = [source, *bends, target]
    return columns, chains


def _neighbours(
    chains: Iterable[Sequence[_Item]],
) -> tuple[Mapping[_Item, list[_Item]], Mapping[_Item, list[_Item]]]:
    """For each item, its neighbours in the layer before and in the layer after."""
    before: dict[_Item, list[_Item]] = defaultdict(list)
    after: dict[_Item, list[_Item]] = defaultdict(list)
    for chain in chains:
        for left, right in pairwise(chain):
            after[left].append(right)
            before[right].append(left)
    return before, after


def _order(
    columns: list[list[_Item]],
    neighbours: tuple[Mapping[_Item, list[_Item]], Mapping[_Item, list[_Item]]],
) -> None:
    """Order each column by the middle of its neighbours, forwards and backwards in turn."""
    rank = {item: at for column in columns for at, item in enumerate(column)}
    for sweep in range(_SWEEPS):
        is_forward = sweep % 2 == 0
        near = neighbours[0 if is_forward else 1]
        for column in columns if is_forward else reversed(columns):
            middle = {
                item: sum(rank[each] for each in near[item]) / len(near[item])
                if near.get(item)
                else float(rank[item])
                for item in column
            }
            column.sort(key=middle.__getitem__)
            rank.update((item, at) for at, item in enumerate(column))


def _heights(
    columns: Sequence[Sequence[_Item]],
    neighbours: tuple[Mapping[_Item, list[_Item]], Mapping[_Item, list[_Item]]],
) -> dict[_Item, int]:
    """The upper edge of every item: near the middle of its neighbours, without overlap."""
    centre: dict[_Item, float] = {}
    for column in columns:
        bottom = 0.0
        for item in column:
            centre[item] = bottom + _height(item) / 2
            bottom += _height(item) + _GAP_Y
    for sweep in range(_SWEEPS):
        is_forward = sweep % 2 == 0
        near = neighbours[0 if is_forward else 1]
        for column in columns if is_forward else list(reversed(columns)):
            wanted = [
                sum(centre[each] for each in near[item]) / len(near[item])
                if near.get(item)
                else centre[item]
                for item in column
            ]
            centre.update(zip(column, _spread(column, wanted), strict=True))
    tops = {item: centre[item] - _height(item) / 2 for column in columns for item in column}
    first = min(tops.values(), default=0.0)
    return {item: round(top - first) for item, top in tops.items()}


def _spread(column: Sequence[_Item], wanted: Sequence[float]) -> list[float]:
    """Positions in the given order, at least a gap apart and close to the wanted ones.

    Items that would overlap form a block, which is placed at the average of what its items want.
    """
    blocks: list[tuple[float, list[float]]] = []  # position of the first item, offsets in the block
    for index in range(len(column)):
        blocks.append((wanted[index], [0.0]))
        while len(blocks) > 1:
            (start, offsets), (next_start, next_offsets) = blocks[-2:]
            last = index - len(next_offsets)
            distance = (_height(column[last]) + _height(column[last + 1])) / 2 + _GAP_Y
            if start + offsets[-1] + distance <= next_start:
                break
            joined = [*offsets, *(offsets[-1] + distance + each for each in next_offsets)]
            first = index + 1 - len(joined)
            total = sum(wanted[first + at] - offset for at, offset in enumerate(joined))
            blocks[-2:] = [(total / len(joined), joined)]
    return [start + offset for start, offsets in blocks for offset in offsets]


def _height(item: _Item) -> int:
    return BOX_HEIGHT if isinstance(item, str) else _BEND_HEIGHT


def _points(
    chain: Sequence[_Item], layer_of: Mapping[str, int], tops: Mapping[_Item, int]
) -> tuple[tuple[int, int], ...]:
    points: list[tuple[int, int]] = []
    for at, item in enumerate(chain):
        layer = layer_of[item] if isinstance(item, str) else item[2]
        left = MARGIN + layer * (BOX_WIDTH + _GAP_X)
        middle = MARGIN + tops[item] + _height(item) // 2
        if at > 0:
            points.append((left, middle))
        if at < len(chain) - 1:
            points.append((left + BOX_WIDTH, middle))
    return tuple(points)
