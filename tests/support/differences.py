"""The smallest example projects for every rule of the compatibility page."""

from pathlib import Path

from tests.support.peculiar import BASE, ROADMAP, STATE, Files, put, roadmap, state

_PASSED = {"phases/01-login/01-VERIFICATION.md": "---\nstatus: passed\n---\n"}
_WITHOUT_FIRST = {
    name: text for name, text in BASE.items() if not name.startswith("phases/01-login/")
}
_TWO = ROADMAP.replace("## 🚧", "## ✅ v0.9 Before (Shipped)\n\n### Phase 8: Old\n\n## 🚧")
_LINKED = "the link"
_SECOND = "phases/02-search/02-02"

EXAMPLES: dict[str, Files] = {
    "percent-withheld": {
        **BASE,
        "ROADMAP.md": "# Roadmap\n\n- 🚧 **v1.0 First**\n\n### Phase 1: Login\n\n### Phase 2: Search\n",
    },
    "archived-milestone": {
        "STATE.md": STATE,
        "ROADMAP.md": ROADMAP.replace("🚧 v1.0 First", "✅ v1.0 First (Shipped)").replace("[ ]", "[x]"),
        "milestones/v1.0-phases/01-login/01-01-PLAN.md": "# Plan\n",
        "milestones/v1.0-phases/01-login/01-01-SUMMARY.md": "# Summary\n",
    },
    "other-milestones": {
        **BASE,
        "STATE.md": STATE.replace("milestone: v1.0\n", ""),
        "ROADMAP.md": _TWO,
        "phases/08-old/08-01-PLAN.md": "# Plan\n",
    },
    "phase-without-heading": {
        **BASE,
        "ROADMAP.md": "# Roadmap\n\n## 🚧 v1.0 First\n\n- [x] **Phase 1: Login**\n- [ ] **Phase 2: Search**\n"
        "- [ ] **Phase 3: Export**\n",
    },
    "retired-phase": roadmap(("### Phase 1: Login", "### ~~Phase 1: Login~~")),
    "example-in-a-fence": roadmap(
        (" v1.0 First\n", " v1.0 First\n\n```\n### Phase 9: Example\n```\n")
    ),
    "unlisted-folder": {
        **BASE,
        "STATE.md": STATE.replace("Phase: 2 of 2", "Phase: 3 of 3"),
        "phases/03-hotfix/03-01-PLAN.md": "# Plan\n",
    },
    "number-twice": {**BASE, "phases/01-other/01-01-PLAN.md": "# Plan\n"},
    "plan-names": {**BASE, "phases/02-search/02-golden-test-plan.md": "# Not a plan\n"},
    "summary-names": {**BASE, "phases/02-search/02-search-02-SUMMARY.md": "# Summary\n"},
    "summary-proves-nothing": {**BASE, f"{_SECOND}-SUMMARY.md": ""},
    "verification-stale": {**BASE, "phases/02-search/02-VERIFICATION.md": "---\nstatus: passed\n---\n"},
    "superseded-only": {
        **_WITHOUT_FIRST,
        "phases/01-login/01-01-PLAN.md": "---\nstatus: superseded\n---\n# Plan\n",
    },
    "nothing-of-nothing": {
        "STATE.md": "# State\n",
        "ROADMAP.md": "# Roadmap\n\n### Phase 1: Login\n",
        "phases/01-login/01-01-PLAN.md": "---\nstatus: superseded\n---\n# Plan\n",
        "phases/01-login/01-VERIFICATION.md": "---\nstatus: passed\n---\n",
    },
    "order-of-numbers": {
        **{name: text for name, text in BASE.items() if not name.endswith("SUMMARY.md")},
        "ROADMAP.md": "# Roadmap\n\n## 🚧 v1.0 First\n\n### Phase 2: Search\n\n### Phase 1: Login\n",
    },
    "folder-names": {
        **_WITHOUT_FIRST,
        "phases/p1-login/01-01-PLAN.md": "# Plan\n",
        "phases/p1-login/01-01-SUMMARY.md": "# Summary\n",
    },
    "folder-names, zeros": {
        **_WITHOUT_FIRST,
        "phases/001-login/01-01-PLAN.md": "# Plan\n",
        "phases/001-login/01-01-SUMMARY.md": "# Summary\n",
    },
    "stored-numbers": state(("completed_plans: 2", "completed_plans: 3"), ("percent: 50", "percent: 80")),
    "damaged-frontmatter": state(
        ("owner: Ada", "<<<<<<< ours\nowner: Ada"), ("Phase: 2 of 2", "Phase: 1 of 2")
    ),
    "damaged-frontmatter, verification": {
        **BASE,
        "phases/01-login/01-VERIFICATION.md": "---\nstatus: passed\nrepeated: true\n  before: gaps\n---\n",
    },
    "line-links-and-size": {**BASE, "STATE.md": _LINKED, "elsewhere.md": STATE},
    "line-byte-order-mark": {**BASE, "STATE.md": "\ufeff" + STATE},
    "line-frontmatter-end": state(("progress:", "---- not the end\nprogress:")),
    "line-comments": state(("progress:\n", "progress:\n  # counted by hand\n")),
    "line-values": state(("status: executing", "status: >-\n  executing\n  and more")),
    "line-phase-numbers": state(("Phase: 2 of 2", "Phase: 2.1 of 3")),
    "line-control-characters": state(("milestone_name: First", "milestone_name: \x1b[31mFirst")),
}  # fmt: skip


def put_example(folder: Path, rule: str) -> Path:
    """Write the example project of a rule into a folder."""
    files = EXAMPLES[rule]
    put(folder, files)
    if files["STATE.md"] == _LINKED:
        path = folder / ".planning" / "STATE.md"
        path.unlink()
        path.symlink_to("elsewhere.md")
    return folder
