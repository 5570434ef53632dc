"""The layout of graphs: every layer is a column, nothing overlaps, and equal graphs look equal."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.report.layout import BOX_HEIGHT, BOX_WIDTH, layout
from fairlead.report.model import Graph, GraphNode


def a_graph(count: int, pairs: list[tuple[int, int]]) -> Graph:
    nodes = tuple(
        GraphNode(f"n{at}", f"Node {at}", group=f"n{at // 10 * 10}") for at in range(count)
    )
    edges = tuple((f"n{a % count}", f"n{b % count}") for a, b in pairs)
    return Graph("A graph", nodes, edges)


numbers = st.integers(0, 30)
graphs = st.builds(a_graph, st.integers(1, 25), st.lists(st.tuples(numbers, numbers), max_size=60))


@given(graphs)
def test_no_two_boxes_overlap_and_all_lie_inside_the_drawing(graph: Graph) -> None:
    drawing = layout(graph)
    assert len(drawing.nodes) == len(graph.nodes)
    for node in drawing.nodes:
        assert 0 <= node.x <= drawing.width - BOX_WIDTH
        assert 0 <= node.y <= drawing.height - BOX_HEIGHT
    for one, other in combinations(drawing.nodes, 2):
        is_apart = abs(one.x - other.x) >= BOX_WIDTH or abs(one.y - other.y) >= BOX_HEIGHT
        assert is_apart, (one, other)


@given(graphs)
def test_every_edge_goes_to_a_later_layer(graph: Graph) -> None:
    drawing = layout(graph)
    layer_of = {node.node.id: node.layer for node in drawing.nodes}
    for route in drawing.routes:
        assert layer_of[route.source] < layer_of[route.target]
        assert list(route.points) == sorted(route.points, key=lambda point: point[0])


@given(graphs)
def test_equal_graphs_are_drawn_equally(graph: Graph) -> None:
    assert layout(graph) == layout(graph)


def test_a_graph_with_a_cycle_is_still_drawn() -> None:
    drawing = layout(a_graph(3, [(0, 1), (1, 2), (2, 0)]))
    assert len(drawing.routes) == 2


def test_the_layer_is_the_longest_path() -> None:
    drawing = layout(a_graph(4, [(0, 1), (1, 2), (0, 2), (2, 3)]))
    assert [node.layer for node in drawing.nodes] == [0, 1, 2, 3]


@pytest.mark.parametrize(("count", "shown"), [(300, 300), (301, 31)])
def test_a_large_graph_shows_one_node_for_each_group(count: int, shown: int) -> None:
    graph = a_graph(count, [(at, at + 1) for at in range(count - 1)]).readable()
    assert (len(graph.nodes), graph.left_out) == (shown, count - shown)
    known = {node.id for node in graph.nodes}
    assert all(a in known and b in known and a != b for a, b in graph.edges)


def test_two_crossing_edges_are_uncrossed() -> None:
    drawing = layout(a_graph(4, [(0, 3), (1, 2)]))
    top = {node.node.id: node.y for node in drawing.nodes}
    assert (top["n0"] < top["n1"]) == (top["n3"] < top["n2"])
