"""The rules in the code are those of the compatibility page, and each is exact."""

from pathlib import Path
from typing import Any

from conformance.compared import comparisons, look
from conformance.rules import RULES, Causes
from tests.support.peculiar import BASE, put
from tests.support.planning_trees import make_tree
from tests.support.trees import read_tree

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "compatibility.md"
MOST_RULES = 25


def sections() -> dict[str, str]:
    parts = PAGE.read_text("utf-8").split("\n### ")[1:]
    return {part.partition("\n")[0]: part.partition("\n")[2] for part in parts}


def agreeing(folder: Path) -> dict[str, dict[str, Any]]:
    """Answers of a reference tool that agrees with us."""
    numbers = [phase.id.short for phase in look(folder, {}).position.scope.phases]
    bare = {"roadmap": {"phases": [{"number": number} for number in numbers]}}
    ours: dict[str, Any] = {each.field: each.ours for each in comparisons(look(folder, bare))}
    phases = [
        {
            "number": number,
            "plan_count": ours[f"phase {number} plans"],
            "summary_count": ours[f"phase {number} summaries"],
            "disk_status": ours[f"phase {number} stage"],
        }
        for number in numbers
    ]
    folders = {
        phase.folder.path.rpartition("/")[2]: {
            "key": phase.id.padded,
            "plans": {
                plan.path.rpartition("/")[2]: plan.is_complete for plan in phase.folder.live_plans
            },
            "has_all_summaries": phase.folder.is_implemented,
            "is_complete": False,
        }
        for phase in look(folder, {}).position.scope.phases
        if phase.folder
    }
    return {
        "folders": folders,
        "line": ours["line"],
        "progress": {
            "total_plans": ours["plans"],
            "total_summaries": ours["plans completed"],
            "percent": ours["plans percent"],
        },
        "stats": {
            "phases_total": ours["phases"],
            "phases_completed": ours["phases completed"],
        },
        "state": {
            "progress": {"percent": ours["percent"]},
            "current_phase": ours["position"],
        },
        "roadmap": {
            "phases": phases,
            "current_phase": ours["current phase"],
            "next_phase": ours["next phase"],
            "scope": "complete",
        },
        "phases": {"directories": list(ours["folders"]), "phase_scope": "complete"},
    }


def test_the_page_and_the_code_have_the_same_rules():
    assert list(sections()) == list(RULES)


def test_there_are_not_too_many_rules():
    assert len(RULES) <= MOST_RULES


def test_every_rule_has_an_example_and_rests_on_a_ruling_or_a_defect():
    for name, text in sections().items():
        assert "Example: " in text, name
        assert "Ruling: " in text or "Defect" in text, name


def test_no_rule_explains_a_difference_on_a_plain_project(tmp_path):
    put(tmp_path, BASE)
    answers = agreeing(tmp_path)
    for command, key in (
        ("progress", "total_plans"),
        ("progress", "total_summaries"),
        ("stats", "phases_total"),
        ("stats", "phases_completed"),
    ):
        tree = look(tmp_path, {**answers, command: {**answers[command], key: 77}})
        wrong = [
            each for each in comparisons(tree) if not each.is_equal and each.field != "percent"
        ]

        assert len(wrong) == 1, key
        assert Causes(tree).of(wrong[0]) == "", key


def test_a_number_gives_the_same_tree_again(tmp_path):
    for seed in range(20):
        one = read_tree(make_tree(tmp_path / "one" / str(seed), seed))
        other = read_tree(make_tree(tmp_path / "other" / str(seed), seed))

        assert one == other
