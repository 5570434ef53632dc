"""Lines in a terminal: none is wider than the terminal, nothing is lost, and no command is cut."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from wcwidth import wcswidth

from fairlead.core.values import replace
from fairlead.interfaces.cli.check import finding_lines
from fairlead.interfaces.cli.output import (
    Line,
    Styled,
    box_lines,
    cut,
    fitted_line,
    wrapped_lines,
)
from fairlead.interfaces.cli.status_page import status_page
from fairlead.project.derive.position import Next
from fairlead.project.health.findings import Finding, FindingKind
from fairlead.project.open_jobs import JobState, OpenJob
from fairlead.project.overview import Overview, finding_report
from fairlead.store.reader import Reader
from tests.support.peculiar import BASE, put

WIDTHS = (40, 60, 80, 120)
LONG = "job-" + "x" * 120
ALPHABET = "ab c-/.日本語한글é界"
PARTS = st.lists(
    st.tuples(st.text(ALPHABET, max_size=60), st.sampled_from(("", "dim", "bold"))), max_size=4
)


def texts(lines: list[Line]) -> list[str]:
    return [
        "".join(part if isinstance(part, str) else part.text for part in line) for line in lines
    ]


def line_of(parts: list[tuple[str, str]]) -> Line:
    return [Styled(text, style) if style else text for text, style in parts]


@given(PARTS, st.integers(12, 80), st.sampled_from((0, 4, 8)))
def test_a_wrapped_line_fits_and_keeps_every_character(
    parts: list[tuple[str, str]], width: int, indent: int
) -> None:
    line = line_of(parts)
    rows = texts(wrapped_lines(line, width, indent, breaks_words=True))

    assert all(wcswidth(row) <= width for row in rows)
    assert "".join("".join(rows).split()) == "".join(texts([line])[0].split())


@given(PARTS, st.integers(12, 80))
def test_without_breaks_every_word_stays_whole(parts: list[tuple[str, str]], width: int) -> None:
    line = line_of(parts)
    rows = texts(wrapped_lines(line, width, 4, breaks_words=False))

    assert [word for row in rows for word in row.split()] == texts([line])[0].split()


@given(PARTS, st.integers(12, 80))
def test_a_wrapped_line_keeps_its_styles(parts: list[tuple[str, str]], width: int) -> None:
    line = line_of(parts)
    rows = wrapped_lines(line, width, 4, breaks_words=True)

    def styled(lines: list[Line]) -> list[tuple[str, str]]:
        pieces = [(each, "") if isinstance(each, str) else each for row in lines for each in row]
        return [(mark, style) for text, style in pieces for mark in text if mark != " "]

    assert styled(rows) == styled([line])


@given(PARTS, st.integers(1, 80))
def test_a_fitted_line_fits(parts: list[tuple[str, str]], width: int) -> None:
    line = line_of(parts)
    [shown] = texts([fitted_line(line, width)])

    assert wcswidth(shown) <= width
    assert shown.endswith("…") == (wcswidth(texts([line])[0].rstrip()) > width)


@given(st.text(ALPHABET, max_size=60), st.integers(1, 40))
def test_a_cut_text_fits(text: str, width: int) -> None:
    assert wcswidth(cut(text, width)) <= width


@given(st.lists(PARTS, max_size=4), st.integers(30, 80))
def test_the_rows_of_a_box_are_equally_wide_and_fit(
    content: list[list[tuple[str, str]]], width: int
) -> None:
    rows = texts(box_lines("Where it stopped", [line_of(parts) for parts in content], width))

    assert {wcswidth(row) for row in rows} == {wcswidth(rows[0])}
    assert wcswidth(rows[0]) <= width


def test_a_label_is_not_left_alone_in_a_row() -> None:
    rows = texts(wrapped_lines(("left    ", "x" * 50), 30, 8, breaks_words=True))

    assert rows[0] == "left    " + "x" * 22


FINDINGS = [
    Finding(
        FindingKind.POSITION,
        ".planning/STATE.md",
        12,
        "Current focus",
        words,
        "Phase 2 — Search",
        (f".planning/phases/02-search/{words.replace(' ', '-')}-02-SUMMARY.md",),
    )
    for words in ("Phase 7 and more words", "第七阶段" * 12, "a" * 34, "é" * 40)
]
NOTES = [
    Finding(
        FindingKind.UNREAD, ".planning/STATE.md", 0, "position", "読めない " * 9, "", is_drift=False
    )
]


@pytest.mark.parametrize("width", WIDTHS)
def test_no_line_of_a_finding_is_wider_than_the_terminal(width: int) -> None:
    findings = [finding_report(each) for each in FINDINGS + NOTES]
    rows = texts(finding_lines(findings, show_all=True, width=width))

    assert max(map(wcswidth, rows)) <= width
    joined = "".join("".join(rows).split())
    for finding in findings:
        assert "".join(finding.message.split()) + f"[{finding.code}]" in joined


def test_in_a_pipe_a_path_stays_on_one_line() -> None:
    path = ".planning/phases/" + "x" * 120 + "/02-02-SUMMARY.md"
    finding = replace(FINDINGS[0], because=(path,), said=path)
    rows = texts(finding_lines([finding_report(finding)], show_all=True))

    assert f"    {path}" in rows
    assert any(path in row for row in rows[:-1])


@pytest.mark.parametrize("width", WIDTHS)
def test_status_never_cuts_a_command(tmp_path: Path, width: int) -> None:
    put(tmp_path, BASE)
    jobs = tuple(
        OpenJob(
            f"{LONG}-{at}", "execute", "02", "BLOCKED", JobState.WAITS, False, "why " * 30, each
        )
        for at, each in enumerate(("fairlead job answer x", f"fairlead job answer {LONG} --all"))
    )
    answer = Next("resume", "", jobs[0].command, f"job {LONG} waits for a person")
    report = replace(Overview(Reader(str(tmp_path))).status(), jobs=jobs, next=answer)
    rows = texts(status_page(report, show_all=False, width=width))

    assert any(row.startswith(f"next  {answer.command}") for row in rows)
    assert any(row.endswith(jobs[1].command) for row in rows)
    rest = [row for row in rows if "fairlead job answer" not in row]
    assert max(map(wcswidth, rest)) <= width
