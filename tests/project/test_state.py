"""STATE.md: decisions land where people look for them, in every generation of the file."""

import pytest

from fairlead.project.state.documents import Decision, add_decision, read_state
from fairlead.text.document import Document
from fairlead.text.errors import ConflictMarkers, NoPlace, UnwritableValue
from tests.support.corpus import corpus_projects
from tests.support.times import NOON

ENTRY = "- [Phase 2]: Store times in UTC"


def added(text: str, summary: str = "Store times in UTC", rationale: str = "") -> str:
    return add_decision(Document(text), Decision("2", summary, rationale), NOON).text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        pytest.param(
            "### Decisions\n\nNone yet.\n\n### Blockers\n\nNone yet.\n",
            f"### Decisions\n\n{ENTRY}\n\n### Blockers\n\nNone yet.\n",
            id="the placeholder of this section only is replaced",
        ),
        pytest.param(
            "## Decisions\n\n- [Phase 1]: a\n  more\n\n## Next\n",
            f"## Decisions\n\n- [Phase 1]: a\n  more\n{ENTRY}\n\n## Next\n",
            id="after the last entry and its continuation",
        ),
        pytest.param(
            "## Decisions\n\n* one\n* two",
            "## Decisions\n\n* one\n* two\n* [Phase 2]: Store times in UTC",
            id="with the bullet and the missing last line break of the list",
        ),
        pytest.param(
            "## Decisions\n\nSee PROJECT.md.\n## Next\n",
            f"## Decisions\n\nSee PROJECT.md.\n\n{ENTRY}\n\n## Next\n",
            id="below prose, with a blank line on both sides",
        ),
        pytest.param(
            "## Accumulated Context\n\n### Blockers\n\nNone\n",
            f"## Accumulated Context\n\n### Decisions\n\n{ENTRY}\n\n### Blockers\n\nNone\n",
            id="in a new section of the accumulated context",
        ),
        pytest.param(
            "# State\r\n",
            f"# State\r\n\r\n## Decisions\r\n\r\n{ENTRY}\r\n",
            id="at the end, with CR LF",
        ),
        pytest.param("", f"## Decisions\n\n{ENTRY}\n", id="in an empty document"),
    ],
)
def test_a_decision_lands_in_its_section(before: str, after: str) -> None:
    assert added(before) == after


def test_a_recorded_decision_is_not_added_again() -> None:
    text = f"## Decisions\n\n{ENTRY}\n"
    assert added(text) == text


def test_the_rationale_follows_the_summary() -> None:
    assert "- [Phase 2]: a — because b" in added("## Decisions\n", "a", "because\nb")


def test_the_time_of_the_write_is_kept_where_the_file_keeps_one() -> None:
    text = '---\nstatus: planning\nlast_updated: "2026-01-01T00:00:00.000Z"\n---\n## Decisions\n'
    assert 'last_updated: "2026-06-01T12:00:00.000Z"' in added(text)
    assert "last_updated" not in added("---\nstatus: planning\n---\n## Decisions\n")


@pytest.mark.parametrize("summary", ["", "\x1b]0;x\x07", "a\u202eb"])
def test_a_summary_without_text_is_refused(summary: str) -> None:
    with pytest.raises(UnwritableValue):
        added("## Decisions\n", summary)


def test_a_conflict_anywhere_in_the_file_is_refused() -> None:
    with pytest.raises(ConflictMarkers):
        added("## Decisions\n\n- a\n\n## X\n<<<<<<< a\n=======\n>>>>>>> b\n")


def test_values_in_a_summary_cannot_add_structure() -> None:
    text = added("## Decisions\n", "x\n## Status: done\n- [ ] y\n---\n<!--")
    assert [section.title for section in Document(text).sections] == ["Decisions"]
    assert read_state(Document(text)).decisions == (
        "[Phase 2]: x ## Status: done - [ ] y --- <!--",
    )


def test_the_recorded_state_is_read_from_body_and_frontmatter() -> None:
    state = read_state(
        Document(
            "---\nmilestone: v2.0\nstatus: executing\n---\n"
            "## Current Position\n\nPhase: 4.10 of 9 (API)\nStatus: Ready\n"
        )
    )
    assert (state.milestone, state.status, state.phase) == ("v2.0", "Ready", "4.10 of 9 (API)")


@pytest.mark.parametrize(
    ("text", "entries"),
    [
        ("### Decisions\n\n- a\n  - nested\n- b\n", ("a", "b")),
        (
            "## Key Decisions (from v1.7)\n\n- a\n\n## Key Decisions (from v1.6)\n\n- b\n",
            ("a", "b"),
        ),
        (
            "## Decisions Made\n\n| Phase | Summary |\n|---|---|\n| 17 | Keep it |\n",
            ("17 — Keep it",),
        ),
        ("## Decisions\n\n#### Phase 3\n\n- a\n\n#### Phase 4\n\n1. b\n", ("a", "b")),
        ("## Decisions\n\n- None yet.\n", ()),
        ("## Decisions\n\n-\ta\n- b\n - c\n\t- nested\n   - nested\n", ("a", "b", "c")),
        ("## Decisions\n\nAuth:\n\n  - a\n  - b\n    - nested\n\n- c\n", ("a", "b", "c")),
        ("## Decisions\n\n10. a\n  - b\n    - nested\n", ("a", "b")),
    ],
)
def test_no_decision_is_missed_under_any_title_or_form(text: str, entries: tuple[str, ...]) -> None:
    assert read_state(Document(text)).decisions == entries


def test_an_indented_or_tabbed_entry_is_not_added_again() -> None:
    text = "## Decisions\n\n-\t[Phase 1]: a\n - [Phase 1]: b\n"
    for summary in ("a", "b"):
        document = Document(text)
        assert add_decision(document, Decision("1", summary), NOON) is document


@pytest.mark.parametrize(
    ("decisions", "blockers"),
    [
        ("Decisiones", "Bloqueos"),
        ("Decisões tomadas", "Bloqueios"),
        ("Décisions", "Blocages"),
        ("Решения", "Блокеры"),
        ("Decyzje", "Blokady"),
        ("Rozhodnutí", "Překážky"),
        ("关键决策", "阻塞"),
        ("決定事項", "ブロッカー"),
        ("결정", "블로커"),
    ],
)
def test_lists_are_read_under_the_titles_of_other_languages(decisions, blockers):
    text = f"# S\n\n## {decisions}\n\n- Keep it small\n\n## {blockers}\n\n- No sandbox\n"

    state = read_state(Document(text))

    assert (state.decisions, state.blockers) == (("Keep it small",), ("No sandbox",))


def test_resolved_blockers_are_listed_separately():
    entries = "- ~~old one~~\n- [x] ticked one\n- real one\n- RESOLVED: third\n- [ ] open one\n"
    table = "\n| Blocker | State |\n|---|---|\n| A key | RESOLVED |\n| A host | asked |\n"

    state = read_state(Document(f"## Blockers\n\n{entries}{table}"))

    assert state.blockers == ("real one", "open one", "A host — asked")
    assert state.resolved == ("~~old one~~", "ticked one", "RESOLVED: third", "A key — RESOLVED")


@pytest.mark.parametrize(
    ("row", "is_open"),
    [
        ("| A key | ✅ | asked |", True),
        ("| ✅ | A key | asked |", True),
        ("| A key | asked | ✅ |", True),
        ("| A key | asked | ✅ Resolved |", False),
        ("| A key | asked | **RESOLVED** in 02-01 |", False),
        ("| A key | RESOLVED | prod still pending |", True),
        ("| ~~A key~~ | **DONE 2026-07-13** | Ann |", False),
        ("| ~~A key~~ | **ACTIVE** again | Ann |", True),
        ("| ~~A key~~ | ~~asked~~ | |", False),
        ("| Resolved addresses differ | asked | Ann |", True),
    ],
)
def test_a_row_of_blockers_is_open_unless_a_cell_says_that_it_is_resolved(row, is_open):
    table = f"| Blocker | State | Seen |\n|---|---|---|\n{row}\n"

    state = read_state(Document(f"## Blockers\n\n{table}"))

    assert (len(state.blockers), len(state.resolved)) == ((1, 0) if is_open else (0, 1))


def test_a_repeated_section_lists_a_decision_once():
    text = "## Decisions\n\n- Keep it small\n\n## Decisions\n\n- Keep it small\n- Ship it\n"

    assert read_state(Document(text)).decisions == ("Keep it small", "Ship it")


def test_no_decision_or_blocker_of_the_corpus_is_missed() -> None:
    for project in corpus_projects():
        for path in sorted(project.glob(".planning/**/STATE.md")):
            text = path.read_text()
            state = read_state(Document(text))
            for entries, words in (
                (state.decisions, ("decision",)),
                ((*state.blockers, *state.resolved), ("blocker", "concern")),
            ):
                assert len(entries) >= counted_bullets(text, words), path


def counted_bullets(text: str, words: tuple[str, ...]) -> int:
    """An independent count: bullets at the margin below a heading that names one of the words."""
    count, inside = 0, 0
    for line in text.splitlines():
        level = len(line) - len(line.lstrip("#"))
        if level and line[level : level + 1] == " ":
            named = level > 1 and any(word in line.lower() for word in words)
            inside = (
                level
                if named and not 0 < inside < level
                else inside
                if inside and level > inside
                else 0
            )
        elif (
            inside
            and line.startswith(("- ", "* "))
            and line[2:].strip(" .").lower() not in ("none", "none yet")
        ):
            count += 1
    return count


@pytest.mark.parametrize("opening", ["```", "<!-- old"])
def test_a_decision_inside_an_unclosed_code_block_is_refused_with_its_line(
    opening: str,
) -> None:
    with pytest.raises(NoPlace) as refusal:
        added(f"# State\n\n{opening}\nx\n\n## Decisions\n\n- [Phase 1]: a\n")
    assert refusal.value.line == 3
