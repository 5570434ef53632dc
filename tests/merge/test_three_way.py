"""Merges of planning documents keep both sides; only contradicting edits get conflict markers."""

from collections.abc import Callable

import pytest

from fairlead.merge.three_way import MergedText, merge_documents, merge_texts
from tests.support.merge_judge import faults_in
from tests.support.merges import a_case


def details(entries: str) -> str:
    inside = f"<summary>v1</summary>\n\n### Phase 1: A\n\n{entries}\n"
    return f"## Phases\n\n<details>\n{inside}\n</details>\n\n### Phase 2: B\n"


def tasks(*names: str) -> str:
    each = (f"<task>\n<name>{name}</name>\n\nDo it.\n\n</task>\n" for name in names)
    return "<tasks>\n\n" + "\n".join(each) + "\n</tasks>\n"


def stopped(at: str, day: int) -> str:
    front = f"---\nstopped_at: {at}\nlast_updated: 2026-01-0{day}\n---\n"
    return f"{front}\nStopped at: {at}\n"


CLEAN = {
    "entries that both sides added, ours first": (
        "## Decisions\n\n- one\n\n## Next\n",
        "## Decisions\n\n- one\n- ours\n\n## Next\n",
        "## Decisions\n\n- one\n- theirs\n\n## Next\n",
        "## Decisions\n\n- one\n- ours\n- theirs\n\n## Next\n",
    ),
    "new entries on top stay on top": (
        "- one\n- two\n",
        "- ours\n- one\n- two\n",
        "- theirs\n- one\n- two\n",
        "- ours\n- theirs\n- one\n- two\n",
    ),
    "an entry that both sides added once": (
        "- one\n",
        "- one\n- same\n- ours\n",
        "- one\n- same\n",
        "- one\n- same\n- ours\n",
    ),
    "an entry that one side removed": (
        "- one\n- two\n- three\n",
        "- one\n- three\n",
        "- one\n- two\n- three\n- four\n",
        "- one\n- three\n- four\n",
    ),
    "a placeholder that both sides replaced": (
        "### Todos\n\nNone yet.\n",
        "### Todos\n\n- ours\n",
        "### Todos\n\n- theirs\n",
        "### Todos\n\n- ours\n- theirs\n",
    ),
    "a list that one side emptied and the other extended": (
        "### Todos\n\n- old\n\n### Next\n",
        "### Todos\n\nNone yet.\n\n### Next\n",
        "### Todos\n\n- old\n- new\n\n### Next\n",
        "### Todos\n\n- new\n\n### Next\n",
    ),
    "a tick and an edit of one entry": (
        "- [ ] **AUTH-01**: sign in\n",
        "- [x] **AUTH-01**: sign in\n",
        "- [ ] **AUTH-01**: sign in with a key\n",
        "- [x] **AUTH-01**: sign in with a key\n",
    ),
    "entries below an entry": (
        "- one\n  - inner\n- two\n",
        "- one\n  - inner\n  - ours\n- two\n",
        "- one\n  - inner\n  - theirs\n- two, changed\n",
        "- one\n  - inner\n  - ours\n  - theirs\n- two, changed\n",
    ),
    "entries that only theirs moved": (
        "- one\n- two\n- three\n",
        "- one\n- two\n- three\n- ours\n",
        "- three\n- one\n- two\n",
        "- three\n- ours\n- one\n- two\n",
    ),
    "cells of one row": (
        "| Phase | Note | Owner |\n|---|---|---|\n| 1. Base | - | - |\n| 2. Top | - | - |\n",
        "| Phase | Note | Owner |\n|---|---|---|\n| 1. Base | slow | - |\n| 2. Top | - | - |\n",
        "| Phase | Note | Owner |\n|---|---|---|\n| 1. Base | - | Ann |\n| 2. Top | - | - |\n",
        "| Phase | Note | Owner |\n|---|---|---|\n| 1. Base | slow | Ann |\n| 2. Top | - | - |\n",
    ),
    "rows that both sides added, though their first cell is the same": (
        "| Phase | Decision |\n|---|---|\n| 1 | a |\n",
        "| Phase | Decision |\n|---|---|\n| 1 | a |\n| 2 | ours |\n",
        "| Phase | Decision |\n|---|---|\n| 1 | a |\n| 2 | theirs |\n",
        "| Phase | Decision |\n|---|---|\n| 1 | a |\n| 2 | ours |\n| 2 | theirs |\n",
    ),
    "a reformatted table and a changed cell": (
        "| A | B |\n|---|---|\n| one | x |\n| two | y |\n",
        "| A   | B |\n|-----|---|\n| one | x |\n| two | y |\n",
        "| A | B |\n|---|---|\n| one | x |\n| two | z |\n",
        "| A   | B |\n|-----|---|\n| one | x |\n| two | z |\n",
    ),
    "neighbouring fields": (
        "Owner: -\nReviewer: -\nRisk: low\n",
        "Owner: Ann\nReviewer: -\nRisk: low\n",
        "Owner: -\nReviewer: Bob\nRisk: low\n",
        "Owner: Ann\nReviewer: Bob\nRisk: low\n",
    ),
    "a section that ours renamed and theirs extended": (
        "# S\n\n## Decisions\n\n- a\n- b\n- c\n- d\n\n## End\n",
        "# S\n\n## Key Decisions\n\n- a\n- b\n- c\n- d\n\n## End\n",
        "# S\n\n## Decisions\n\n- a\n- b\n- c\n- d\n- e\n\n## End\n",
        "# S\n\n## Key Decisions\n\n- a\n- b\n- c\n- d\n- e\n\n## End\n",
    ),
    "sections that both sides added": (
        "# S\n\ntext\n",
        "# S\n\ntext\n\n## Ours\n\n- o\n",
        "# S\n\ntext\n\n## Theirs\n\n- t\n",
        "# S\n\ntext\n\n## Ours\n\n- o\n\n## Theirs\n\n- t\n",
    ),
    "the same section added on both sides": (
        "# S\n",
        "# S\n\n## Risks\n\n- o\n",
        "# S\n\n## Risks\n\n- t\n",
        "# S\n\n## Risks\n\n- o\n- t\n",
    ),
    "headings inside a details block": (
        details("- a"),
        details("- a\n- o"),
        details("- a\n- t"),
        details("- a\n- o\n- t"),
    ),
    "tasks that both sides added": (
        tasks("A"),
        tasks("A", "O"),
        tasks("A", "T"),
        tasks("A", "O", "T"),
    ),
    "paragraphs that both sides added": (
        "One.\n\nTwo.\n",
        "One.\n\nTwo.\n\nOurs.\n",
        "One.\n\nTwo.\n\nTheirs.\n",
        "One.\n\nTwo.\n\nOurs.\n\nTheirs.\n",
    ),
    "line endings of ours": (
        "- one\n",
        "- one\r\n- ours\r\n",
        "- one\n- theirs\n",
        "- one\r\n- ours\r\n- theirs\r\n",
    ),
    "line endings that ours mixes": (
        "- one\r\n- two\n",
        "- one\r\n- two\n- ours\n",
        "- one\r\n- two\n- theirs\n",
        "- one\r\n- two\n- ours\n- theirs\n",
    ),
    "a last line without a line break": (
        "- one",
        "- one\n- ours",
        "- one\n- theirs",
        "- one\n- ours\n- theirs",
    ),
    "a document that both sides created": (
        "",
        "# S\n\n- a\n- o\n",
        "# S\n\n- a\n- t\n",
        "# S\n\n- a\n- o\n- t\n",
    ),
}


@pytest.mark.parametrize(("base", "ours", "theirs", "merged"), CLEAN.values(), ids=CLEAN)
def test_a_merge_keeps_both_sides(base: str, ours: str, theirs: str, merged: str) -> None:
    outcome = merge_documents(base, ours, theirs)
    assert (outcome.text, outcome.conflicts) == (merged, ())


FRONT = {
    "keys of both sides": (
        "a: 1\nb: 2\n",
        "a: 1\nb: 2\no: x\n",
        "a: 1\nt: y\nb: 3\n",
        "a: 1\nt: y\nb: 3\no: x\n",
    ),
    "a key that one side removed": (
        "a: 1\nb: 2\nc: 3\n",
        "a: 1\nc: 3\n",
        "a: 1\nb: 2\nc: 4\n",
        "a: 1\nc: 4\n",
    ),
    "nested keys": (
        "m:\n  a: 1\n  b: 2\n",
        "m:\n  a: 9\n  b: 2\n",
        "m:\n  a: 1\n  b: 8\n  c: 7\n",
        "m:\n  a: 9\n  b: 8\n  c: 7\n",
    ),
    "lists in brackets": (
        "l: [a, b]\n",
        'l: [a, b, "o, p"]\n',
        "l: [b, t]\n",
        'l: [b, "o, p", t]\n',
    ),
    "lists of lines": (
        "l:\n  - a\n  - b\n",
        "l:\n  - a\n  - b\n  - o\n",
        "l:\n  - b\n  - t\n",
        "l:\n  - b\n  - o\n  - t\n",
    ),
    "a list in brackets and one of lines": (
        "l: []\n",
        "l: [o]\n",
        "l:\n  - t\n",
        "l:\n  - o\n  - t\n",
    ),
    "a list that both sides emptied": (
        "l:\n  - a\n  - b\n",
        "l:\n  - a\n",
        "l:\n  - b\n",
        "l: []\n",
    ),
    "maps by their id": (
        "l:\n  - id: a\n    v: 1\n  - id: b\n    v: 1\n",
        "l:\n  - id: a\n    v: 2\n  - id: b\n    v: 1\n  - id: o\n",
        "l:\n  - id: a\n    v: 1\n    w: 3\n  - id: b\n    v: 4\n",
        "l:\n  - id: a\n    v: 2\n    w: 3\n  - id: b\n    v: 4\n  - id: o\n",
    ),
    "comments of both sides": (
        "a: 1\nb: 2\n",
        "# ours\na: 1\nb: 2\n",
        "a: 1\n# theirs\nb: 2\n",
        "# ours\na: 1\n# theirs\nb: 2\n",
    ),
    "frontmatter that is not valid YAML": (
        "a: x: y\nb: 1\n",
        "a: x: z\nb: 1\n",
        "a: x: y\nb: 2\n",
        "a: x: z\nb: 2\n",
    ),
}


@pytest.mark.parametrize(("base", "ours", "theirs", "merged"), FRONT.values(), ids=FRONT)
def test_frontmatter_is_merged_by_key(base: str, ours: str, theirs: str, merged: str) -> None:
    outcome = merge_documents(*(f"---\n{front}---\n\n# S\n" for front in (base, ours, theirs)))
    assert (outcome.text, outcome.conflicts) == (f"---\n{merged}---\n\n# S\n", ())


COMPUTED = {
    "the newer side of the frontmatter": (
        "---\nprogress:\n  percent: 10\nlast_updated: 2026-01-01\n---\n",
        "---\nprogress:\n  percent: 50\nlast_updated: 2026-01-02\n---\n",
        "---\nprogress:\n  percent: 40\nlast_updated: 2026-01-03\n---\n",
        "---\nprogress:\n  percent: 40\nlast_updated: 2026-01-03\n---\n",
    ),
    "a stop in the words of commands": (
        stopped("Phase 1", 1),
        stopped("Plan 01-02 complete", 2),
        stopped("Completed 01-01-PLAN.md", 3),
        stopped("Completed 01-01-PLAN.md", 3),
    ),
    "the larger number if neither side is newer": (
        "---\nprogress:\n  percent: 10\n---\n",
        "---\nprogress:\n  percent: 50\n---\n",
        "---\nprogress:\n  percent: 40\n---\n",
        "---\nprogress:\n  percent: 50\n---\n",
    ),
    "the bar in the body": (
        "Progress: [█░░░] 25%\n",
        "Progress: [██░░] 50%\n",
        "Progress: [███░] 75%\n",
        "Progress: [███░] 75%\n",
    ),
    "the bar in a fence": (
        "```\nProgress: [=---] 25%\n```\n",
        "```\nProgress: [==--] 50%\n```\n",
        "```\nProgress: [===-] 75%\n```\n",
        "```\nProgress: [===-] 75%\n```\n",
    ),
    "a counter in a list": (
        "- Total plans completed: 3\n- Trend: Stable\n",
        "- Total plans completed: 4\n- Trend: Stable\n",
        "- Total plans completed: 5\n- Trend: Stable\n- note\n",
        "- Total plans completed: 5\n- Trend: Stable\n- note\n",
    ),
    "a row of the progress table": (
        "| Phase | Plans Complete | Status |\n|---|---|---|\n| 1. A | 0/3 | Not started |\n",
        "| Phase | Plans Complete | Status |\n|---|---|---|\n| 1. A | 3/3 | Complete |\n",
        "| Phase | Plans Complete | Status |\n|---|---|---|\n| 1. A | 1/3 | In progress |\n",
        "| Phase | Plans Complete | Status |\n|---|---|---|\n| 1. A | 3/3 | Complete |\n",
    ),
    "a note below a derived value": (
        "Progress: [█░░░] 25%\n",
        "Progress: [██░░] 50%\n",
        "Progress: [███░] 75%\nslow, since the disk is full\n",
        "Progress: [███░] 75%\nslow, since the disk is full\n",
    ),
}


@pytest.mark.parametrize(("base", "ours", "theirs", "merged"), COMPUTED.values(), ids=COMPUTED)
def test_derived_values_never_conflict(base: str, ours: str, theirs: str, merged: str) -> None:
    outcome = merge_documents(base, ours, theirs)
    assert (outcome.text, outcome.conflicts) == (merged, ())
    assert outcome.stale


MARKED = {
    "a stop in a person's words": (
        "Stopped at: Phase 1\n",
        "Stopped at: Phase 2\n",
        "Stopped at: Completed one of two\n",
        "<<<<<<< ours\nStopped at: Phase 2\n=======\nStopped at: Completed one of two\n>>>>>>> theirs\n",
    ),
    "a stop with a note after a quick task": (
        "Stopped at: Phase 1\n",
        "Stopped at: Completed quick task 7: fix login; NEXT: rotate the key\n",
        "Stopped at: Plan 02-01 complete\n",
        (
            "<<<<<<< ours\nStopped at: Completed quick task 7: fix login; NEXT: rotate the key\n"
            "=======\nStopped at: Plan 02-01 complete\n>>>>>>> theirs\n"
        ),
    ),
    "a stop with a note after a transition": (
        "Stopped at: Phase 1\n",
        "Stopped at: Phase 1 complete, transitioned to Phase 2; rotate the key\n",
        "Stopped at: Plan 02-01 complete\n",
        (
            "<<<<<<< ours\nStopped at: Phase 1 complete, transitioned to Phase 2; rotate the key\n"
            "=======\nStopped at: Plan 02-01 complete\n>>>>>>> theirs\n"
        ),
    ),
    "a key": (
        "---\na: 1\nstatus: x\nb: 2\n---\n",
        "---\na: 9\nstatus: y\nb: 2\n---\n",
        "---\na: 1\nstatus: z\nb: 8\n---\n",
        "---\na: 9\n<<<<<<< ours\nstatus: y\n=======\nstatus: z\n>>>>>>> theirs\nb: 8\n---\n",
    ),
    "a key that both sides added": (
        "---\na: 1\nb: 2\n---\n",
        "---\na: 1\nnew: o\nb: 2\n---\n",
        "---\na: 1\nb: 2\nnew: t\n---\n",
        "---\na: 1\n<<<<<<< ours\nnew: o\n=======\nnew: t\n>>>>>>> theirs\nb: 2\n---\n",
    ),
    "a field": (
        "Owner: -\nRisk: low\n",
        "Owner: Ann\nRisk: low\n",
        "Owner: Bob\nRisk: high\n",
        "<<<<<<< ours\nOwner: Ann\n=======\nOwner: Bob\n>>>>>>> theirs\nRisk: high\n",
    ),
    "an entry that both sides edited": (
        "- first\n- wait for the vendor\n- last\n",
        "- first\n- wait for the vendor (called)\n- last\n- ours\n",
        "- first\n- wait for the vendor (wrote)\n- last\n- theirs\n",
        (
            "- first\n<<<<<<< ours\n- wait for the vendor (called)\n=======\n"
            "- wait for the vendor (wrote)\n>>>>>>> theirs\n- last\n- ours\n- theirs\n"
        ),
    ),
    "an entry that theirs removed and ours edited": (
        "- first\n- wait for the vendor\n- last\n",
        "- first\n- wait for the vendor (called)\n- last\n",
        "- first\n- last\n",
        "- first\n<<<<<<< ours\n- wait for the vendor (called)\n=======\n>>>>>>> theirs\n- last\n",
    ),
    "a cell": (
        "| A | Owner |\n|---|---|\n| one | - |\n| two | - |\n",
        "| A | Owner |\n|---|---|\n| one | Ann |\n| two | - |\n",
        "| A | Owner |\n|---|---|\n| one | Bob |\n| two | Eve |\n",
        (
            "| A | Owner |\n|---|---|\n<<<<<<< ours\n| one | Ann |\n=======\n"
            "| one | Bob |\n>>>>>>> theirs\n| two | Eve |\n"
        ),
    ),
    "a paragraph": (
        "One.\n\nThe old words.\n\nThree.\n",
        "One.\n\nThe words of ours.\n\nThree.\n",
        "One.\n\nThe words of theirs.\n\nThree.\n",
        "One.\n\n<<<<<<< ours\nThe words of ours.\n=======\nThe words of theirs.\n>>>>>>> theirs\n\nThree.\n",
    ),
    "line endings of ours around the markers": (
        "A: 1\r\n",
        "A: 2\r\n",
        "A: 3\r\n",
        "<<<<<<< ours\r\nA: 2\r\n=======\r\nA: 3\r\n>>>>>>> theirs\r\n",
    ),
}


@pytest.mark.parametrize(("base", "ours", "theirs", "merged"), MARKED.values(), ids=MARKED)
def test_only_contradicting_edits_are_marked(
    base: str, ours: str, theirs: str, merged: str
) -> None:
    outcome = merge_documents(base, ours, theirs)
    assert outcome.text == merged
    assert len(outcome.conflicts) == 1


def test_a_conflict_names_its_section_field_and_line() -> None:
    outcome = merge_documents(
        "## Now\n\nOwner: -\n", "## Now\n\nOwner: A\n", "## Now\n\nOwner: B\n"
    )
    assert [(each.about, each.line) for each in outcome.conflicts] == [("Now: Owner", 3)]


DAMAGED = {
    "frontmatter that is never closed": ("---\na: 1\n", "---\na: 1\nb: 2\n", "---\nc: 3\na: 1\n"),
    "markers of an older conflict": (
        "- a\n",
        "<<<<<<< HEAD\n- a\n=======\n- b\n>>>>>>> other\n",
        "- a\n- c\n",
    ),
    "bytes that are not UTF-8": ("- a\udcff\n", "- a\udcff\n- b\n", "- c\n- a\udcff\n"),
}


@pytest.mark.parametrize(("base", "ours", "theirs"), DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_document_is_merged_as_plain_text(base: str, ours: str, theirs: str) -> None:
    outcome = merge_documents(base, ours, theirs)
    assert outcome.is_plain
    assert outcome == merge_texts(base, ours, theirs)


def test_an_unresolved_conflict_is_reported_although_the_lines_merge() -> None:
    older = "<<<<<<< HEAD\n- a\n=======\n- b\n>>>>>>> other\n"
    outcome = merge_documents(older, older + "\nours\n", "theirs\n\n" + older)
    assert [each.line for each in outcome.conflicts] == [3]


def test_stale_values_are_regenerated_after_a_clean_merge() -> None:
    texts = ("Progress: 10%\n- a\n", "Progress: 20%\n- a\n", "Progress: 30%\n- a\n")
    outcome = merge_documents(*texts, regenerate=lambda text: text.replace("30%", "50%"))
    assert outcome.text == "Progress: 50%\n- a\n"


@pytest.mark.parametrize(
    "texts",
    [
        pytest.param(("- a\n", "- a\n- b\n", "- a\n- c\n"), id="without computed values"),
        pytest.param(
            ("A: 1\nProgress: 10%\n", "A: 2\nProgress: 20%\n", "A: 3\nProgress: 30%\n"),
            id="with a conflict",
        ),
    ],
)
def test_nothing_is_regenerated_with_a_conflict_or_without_stale_values(
    texts: tuple[str, str, str],
) -> None:
    outcome = merge_documents(*texts, regenerate=lambda _: "computed")
    assert "computed" not in outcome.text


@pytest.mark.sweep(4)
@pytest.mark.parametrize("first", range(0, 500, 50))
def test_generated_merges_lose_nothing_and_mark_only_contradictions(first: int) -> None:
    for seed in range(first, first + 50):
        case = a_case(seed)
        outcome = merge_documents(*case.texts)
        assert faults_in(case, outcome.text, len(outcome.conflicts)) == [], f"seed {seed}"


@pytest.mark.long
def test_many_more_generated_merges_lose_nothing() -> None:
    for seed in range(500, 20_500):
        case = a_case(seed)
        outcome = merge_documents(*case.texts)
        assert faults_in(case, outcome.text, len(outcome.conflicts)) == [], f"seed {seed}"


def dropping_the_last_entry(merged: MergedText) -> str:
    lines = merged.text.split("\n")
    entries = [at for at, line in enumerate(lines) if line.startswith(("- ", "* "))]
    return "\n".join(line for at, line in enumerate(lines) if at not in entries[-1:])


def dropping_a_cell(merged: MergedText) -> str:
    return merged.text.replace("/3 |", "|", 1)


def repeating_an_entry(merged: MergedText) -> str:
    entry = next((line for line in merged.text.split("\n") if line.startswith("- ")), "")
    return merged.text.replace(entry, f"{entry}\n{entry}", 1) if entry else merged.text


@pytest.mark.parametrize(
    "planted",
    [dropping_the_last_entry, dropping_a_cell, repeating_an_entry],
    ids=lambda f: f.__name__,
)
def test_the_judge_finds_a_planted_fault(planted: Callable[[MergedText], str]) -> None:
    for seed in range(30):
        case = a_case(seed)
        outcome = merge_documents(*case.texts)
        spoilt = planted(outcome)
        if spoilt != outcome.text:
            assert faults_in(case, spoilt, len(outcome.conflicts)), f"seed {seed}"


def test_the_judge_finds_a_merge_that_forgets_theirs() -> None:
    cases = [a_case(seed) for seed in range(30)]
    found = [case for case in cases if faults_in(case, case.texts[1], 0)]
    assert len(found) > 25


@pytest.mark.parametrize("seed", range(40))
def test_merging_again_changes_nothing(seed: int) -> None:
    base, ours, theirs = a_case(seed).texts
    once = merge_documents(base, ours, theirs)
    if not once.conflicts:
        assert merge_documents(base, once.text, theirs).text == once.text
