"""Difficult merges keep the additions of both sides, whichever side is ours."""

import pytest

from fairlead.merge.three_way import merge_documents

STATE = """\
---
milestone: v1.0
tags: [a, b]
progress:
  percent: 50
owner: Ada # a person's key
---

# Project State

Progress: [█████░░░░░] 50%

## Performance Metrics

| Plan | Duration | Tasks |
|------|----------|-------|
| Phase 1 P1 | 5min | 2 tasks |

## Accumulated Context

### Decisions

- [Phase 1]: Keep it small
- [Phase 1]: Use plain files

### Blockers/Concerns

None yet.

## Session Continuity

Stopped at: Plan 1
Resume file: None
"""
FIRST = "- [Phase 1]: Keep it small\n"
LAST = "- [Phase 1]: Use plain files\n"
ROW = "| Phase 1 P1 | 5min | 2 tasks |\n"
BLOCKERS = "### Blockers/Concerns\n\nNone yet.\n\n"


def changed(*changes: tuple[str, str]) -> str:
    text = STATE
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    return text


HERS = changed((LAST, f"{LAST}- HERS\n"))
# His version of STATE, her version, the words that must survive, and whether the merge is clean.
CASES = {
    "decisions at the same place": (
        changed((LAST, f"{LAST}- HIS1\n- HIS2\n")),
        HERS,
        "HIS1 HIS2 HERS",
        True,
    ),
    "one prunes and one adds": (changed((FIRST, "")), HERS, "HERS", True),
    "one prunes all and one adds": (
        changed((FIRST, ""), (LAST, "None yet.\n")),
        HERS,
        "HERS",
        True,
    ),
    "one reorders and one adds": (
        changed((FIRST + LAST, LAST + FIRST)),
        HERS,
        "HERS small plain",
        True,
    ),
    "an entry with a fence in it": (
        changed((LAST, f"{LAST}- HIS\n\n  ```\n  - CODE\n  ```\n")),
        HERS,
        "HIS CODE HERS",
        True,
    ),
    "two wordings of one entry": (
        changed(("small", "HIS")),
        changed(("small", "HERS")),
        "HIS HERS",
        True,
    ),
    "an entry edited and removed": (changed(("small", "HIS")), changed((FIRST, "")), "HIS", True),
    "rows": (
        changed((ROW, f"{ROW}| HIS | 1 | 1 |\n")),
        changed((ROW, f"{ROW}| HERS | 1 | 1 |\n")),
        "HIS HERS",
        True,
    ),
    "two cells of one row": (
        changed(("5min", "HIS")),
        changed(("2 tasks", "HERS")),
        "HIS HERS",
        True,
    ),
    "other line ends": (
        changed((LAST, f"{LAST}- HIS\n")).replace("\n", "\r\n"),
        HERS,
        "HIS HERS",
        True,
    ),
    "no line end at the end": (changed(("None\n", "HIS")).rstrip("\n"), HERS, "HIS HERS", True),
    "a moved section": (
        changed((BLOCKERS, ""), ("### Decisions", f"{BLOCKERS}### Decisions")),
        changed(("None yet.", "- HERS")),
        "HERS",
        True,
    ),
    "a renamed section": (
        changed(("### Decisions", "### Decisions Made")),
        HERS,
        "Made HERS",
        True,
    ),
    "a deleted section that the other edits": (
        changed((BLOCKERS, "")),
        changed(("None yet.", "- HERS")),
        "HERS",
        False,
    ),
    "both blockers over the placeholder": (
        changed(("None yet.", "- HIS")),
        changed(("None yet.", "- HERS")),
        "HIS HERS",
        True,
    ),
    "new sections at one place": (
        changed(("## Session", "## HIS\n\n- x\n\n## Session")),
        changed(("## Session", "## HERS\n\n- y\n\n## Session")),
        "HIS x HERS y",
        True,
    ),
    "one new section with two entries": (
        changed(("## Session", "## New\n\n- HIS\n\n## Session")),
        changed(("## Session", "## New\n\n- HERS\n\n## Session")),
        "HIS HERS",
        True,
    ),
    "two keys": (changed(("Ada", "HIS")), changed(("[a, b]", "[a, b, HERS]")), "HIS HERS", True),
    "two new keys": (
        changed(("owner:", "one: HIS\nowner:")),
        changed(("owner:", "two: HERS\nowner:")),
        "HIS HERS",
        True,
    ),
    "two items of one list": (
        changed(("a, b", "a, b, HIS")),
        changed(("a, b", "a, b, HERS")),
        "HIS HERS",
        True,
    ),
    "one key in two ways": (changed(("Ada", "HIS")), changed(("Ada", "HERS")), "HIS HERS", False),
    "frontmatter removed and changed": (
        STATE[STATE.index("# Project") :],
        changed(("Ada", "HERS")),
        "HERS",
        False,
    ),
    "numbers that are derived": (
        changed(("percent: 50", "percent: 75"), ("50%", "75%")),
        changed(("percent: 50", "percent: 25"), ("50%", "25%"), (LAST, f"{LAST}- HERS\n")),
        "HERS",
        True,
    ),
    "fields of one section": (
        changed(("Plan 1", "HIS")),
        changed(("file: None", "file: HERS")),
        "HIS HERS",
        True,
    ),
    "prose at one place": (
        changed(("State\n", "State\n\nHIS words.\n")),
        changed(("State\n", "State\n\nHERS too.\n")),
        "HIS HERS",
        True,
    ),
}


@pytest.mark.parametrize("is_swapped", [False, True], ids=["his", "hers"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_additions_of_both_sides_are_kept(case: str, *, is_swapped: bool):
    his, hers, words, is_clean = CASES[case]
    merged = merge_documents(STATE, *((hers, his) if is_swapped else (his, hers)))

    assert [word for word in words.split() if word not in merged.text] == []
    assert ("<<<<<<<" not in merged.text) == is_clean == (not merged.conflicts)
