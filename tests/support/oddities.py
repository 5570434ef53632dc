"""Peculiarities of real planning documents, one small change each.

A change takes a text or the folder of a phase; `planning_trees` chooses among them at random.
"""

from collections.abc import Callable
from pathlib import Path
from random import Random

Text = Callable[[str], str]

WORDS = ("Fase", "Этап", "Étape", "Fáze", "阶段", "フェーズ")
SLUGS = ("登录", "funda-o", "2024-review", "3d-viewer", "Über-sicht")


def _in_front(line: str) -> Text:
    """Add a line of frontmatter before the progress."""
    return lambda text: text.replace("\nprogress:", f"\n{line}\nprogress:", 1)


def _once(old: str, new: str) -> Text:
    return lambda text: text.replace(old, new, 1)


STATE: tuple[Text, ...] = (
    lambda text: "\ufeff" + text,
    lambda text: text.replace("\n", "\r\n"),
    _once("progress:\n", "progress:\n  # counted by hand\n"),
    _once("status: executing\n", "status: executing # or so\n"),
    _once("status: executing\n", "status: >-\n  still executing\n  the rest\n"),
    _in_front("active_phase: ~"),
    _in_front("active_phase: 4.5"),
    _in_front("next_action: execute-phase\nnext_phases: [2, \"2.1\"]"),
    _in_front("---- not the end"),
    _in_front("milestone_name: \x1b[31mred\x07"),
    _in_front("owner: Ada: the first"),
    _once("progress:\n  total_phases", "progress: {percent: 30}\nother:\n  total_phases"),
    _once("(Work)", "(a\u202eb)"),
    lambda text: text + "x" * (256 * 1024) + "\nPhase: 9 of 9 (Far away)\n",
    lambda text: text.replace(" of ", " de ").replace("Phase:", "Fase:"),
    _once("(Work)", "— EXECUTING"),
    _once("Phase: ", "Phase: Milestone v1.0 complete\nOld phase: "),
    _once("Status: In progress", "Status: In progress\nPhase: 1 of 9 (Old)"),
    _once("milestone: v", "milestone: (none)\nformer: v"),
    _once("milestone: v", "milestone: reset-baseline\nformer: v"),
    _once("\n---\n\n# Project", "\n---\n\n---\nstatus: planning\nprogress:\n  percent: 3\n---\n\n# Project"),
    _once("status: executing", "<<<<<<< HEAD\nstatus: executing\n=======\nstatus: planning\n>>>>>>> other"),
)  # fmt: skip

ROADMAP: tuple[Text, ...] = (
    lambda text: text.replace("\n", "\r\n"),
    lambda text: text + "\n<!--\n### Phase 8: Hidden\n-->\n",
    lambda text: text + "\n~~~\n### Phase 7: Example\n~~~\n",
    lambda text: text.replace("### Phase", "#### Phase"),
    lambda text: text.replace("### Phase", "### [api] Phase"),
    lambda text: text.replace(".1: ", ".1 (INSERTED): "),
    lambda text: text.replace("**Phase ", "**Phase 0"),
    lambda text: text.replace(": ", " — "),
    _once("# Roadmap\n", "# Roadmap\n\n## Overview\n\n- Phases 1-4 come first\n- 🚧 **v1.0 Part** - now\n"),
    lambda text: _with_table(text, "Complete"),
    lambda text: _with_table(text, "In Progress"),
    lambda text: text + "\n## Phase Details\n\n### Phase 1: Once more\n\n**Goal**: Again\n",
    lambda text: text + "\n## Backlog\n\n### Phase 999.1: Someday\n\n**Goal**: Later\n",
    lambda text: text.replace("- [x]", "* [x]").replace("- [ ]", "*"),
)  # fmt: skip


def _with_table(text: str, status: str) -> str:
    rows = "\n".join(f"| {number}. Some | v1.0 | 1/1 | {status} | - |" for number in (1, 2))
    head = "| Phase | Milestone | Plans Complete | Status | Completed |\n|---|---|---|---|---|"
    return f"{text}\n## Progress\n\n{head}\n{rows}\n"


def in_other_words(text: str, word: str) -> str:
    """The roadmap in another language."""
    return text.replace("Phase ", f"{word} ")


def odd_files(home: Path, prefix: str, rng: Random) -> None:
    """Add a file to a phase folder that is easily mistaken for something else."""
    passed = "---\nstatus: passed\nverified: 2026-01-02\n---\n# V\n"
    kinds = {
        f"{prefix}-golden-test-plan.md": "# Not a plan\n",
        f"{prefix}-01-PLAN-CHECK.md": "# Check\n",
        f"{prefix}-01-PLAN-REVIEW.md": "# Review\n",
        f"{prefix}-OUTLINE.md": "# Outline\n",
        "PHASE-2-PLANNING-SUMMARY.md": "# Planning\n",
        "v1-MILESTONE-SUMMARY.md": "# Milestone\n",
        f"{prefix}-01-GAP-SUMMARY.md": "# Gap\n",
        f"{prefix}-FIX-login-SUMMARY.md": "# Fix\n",
        f"{prefix}-07-plan.md": "# A plan in small letters\n",
        f"{prefix}-08-PLAN.md": "---\nstatus: superseded\n---\n# Plan\n",
        f"{prefix}-06-SUMMARY.md": "---\ncompleted: 2026-01-09\n---\n# Later\n",
        f"{prefix}-VERIFICATION.md": passed,
        "VERIFICATION.md": passed.replace("passed", "human_needed"),
        "plans/PLAN-01-x.md": "# Nested\n",
        "plans/SUMMARY-01-x.md": "# Nested, done\n",
        "UAT.md": "# Tried\n",
    }
    name = rng.choice(sorted(kinds))
    (home / name).parent.mkdir(parents=True, exist_ok=True)
    (home / name).write_text(kinds[name], "utf-8")
