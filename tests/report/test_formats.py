"""SVG, Mermaid and dot: whatever a file says, a graph stays a graph."""

from xml.etree import ElementTree as ET

import pytest

from fairlead.report.formats import FORMATS, svg
from fairlead.report.model import Graph, GraphNode, NodeState

HOSTILE = (
    "<script>alert(1)</script>",
    '"]; click n1 href "javascript:alert(1)',
    "'\"><img src=x onerror=alert(1)>",
    "a\x1b[31mb\x00c\u202ed",
    "]]>--><!--",
    'x"]:::done\n  n9["y',
    '\\";}\n evil [label=x',
    "&lt;b&gt; #quot; ``` %%{init: {}}%%",
)


def hostile_graph(text: str) -> Graph:
    nodes = (
        GraphNode(text, text, text, NodeState.DONE),
        GraphNode("b", "b", text, NodeState.RUNNING, text),
    )
    return Graph(text, nodes, ((text, "b"),))


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_text_in_svg(text: str) -> None:
    picture = ET.fromstring(svg(hostile_graph(text), link=lambda _: "/plan"))  # noqa: S314
    tags = {element.tag.partition("}")[2] for element in picture.iter()}
    assert tags == {"svg", "title", "path", "g", "rect", "text", "a"}
    names = {name for element in picture.iter() for name in element.attrib}
    assert not {name for name in names if name.startswith("on") or name == "style"}
    assert {element.get("href") for element in picture.iter()} - {None} == {"/plan"}


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("form", FORMATS)
def test_hostile_text_adds_no_control_character(form: str, text: str) -> None:
    written = FORMATS[form](hostile_graph(text))
    assert "made by fairlead" in written[:80]
    assert not {mark for mark in written if (mark < " " and mark != "\n") or mark == "\u202e"}


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_adds_no_line_to_mermaid(text: str) -> None:
    lines = FORMATS["mermaid"](hostile_graph(text)).splitlines()
    plain = FORMATS["mermaid"](hostile_graph("plain")).splitlines()
    assert len(lines) == len(plain)
    for line in lines[2:4]:
        content = line.partition('["')[2].rpartition('"]')[0]
        assert '"' not in content
        assert "<" not in content.replace("<br/>", "")


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_inside_its_quotes_in_dot(text: str) -> None:
    lines = FORMATS["dot"](hostile_graph(text)).splitlines()
    assert len(lines) == len(FORMATS["dot"](hostile_graph("plain")).splitlines())
    for line in lines:
        assert (line.count('"') - line.count('\\"')) % 2 == 0


def test_only_a_file_of_its_own_has_a_style_sheet() -> None:
    graph = hostile_graph("plain")
    assert "<style>" not in svg(graph)
    assert "prefers-color-scheme: dark" in svg(graph, is_standalone=True)
