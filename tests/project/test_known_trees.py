"""Generated projects with a known truth: the answers are right or doubtful, and repairs do no harm.

The long tier takes two thousand trees (`prove/known_trees.py`).
"""

import re
from pathlib import Path
from random import Random
from typing import Any

import pytest

from tests.support.known_trees import judge
from tests.support.known_trees.draw import draw_project
from tests.support.known_trees.make import KnownTree, make_tree
from tests.support.known_trees.model import Counts, MilestoneState, Place, Spoiling
from tests.support.trees import read_tree

SEED = 7
_PLAN = re.compile(r"(?:^|/)(?:[\d.]+-(?:\d+-)?(?:[a-z-]+-)?)?PLAN\.md$")


def intact_trees(folder: Path, count: int) -> list[KnownTree]:
    """Trees that nothing was taken from."""
    trees = []
    for number in range(count):
        made = folder / str(number)
        made.mkdir()
        trees.append(make_tree(made, SEED, number, Spoiling.NOTHING))
    return trees


def ideal_status(tree: KnownTree) -> dict[str, Any]:
    """What a perfect program would answer."""
    numbers = {key: getattr(tree.counts, key) for key in (*judge.KEYS, "percent")}
    step = {"action": "new-milestone"} if tree.project.is_between else {}
    at = tree.current.current or tree.current.phases[-1]
    return {
        "milestone": tree.current.name,
        "progress": {**numbers, "is_verifiable": True},
        "scope": {"certainty": "certain", "milestone": tree.current.name, "readings": []},
        "phase": "" if tree.project.is_between else at.number,
        "next": step,
    }


def ideal_check(tree: KnownTree) -> dict[str, Any]:
    """A perfect report of the planted lines."""
    findings = [
        {
            "path": path,
            "line": line,
            "code": "counter-differs",
            "is_drift": True,
            "verdict": "refuted",
            "message": f"{path}:{line}",
        }
        for path, line in sorted(tree.planted)
    ]
    return {"findings": findings}


SAMPLE = 4  # parts of five trees


@pytest.mark.sweep(2)
@pytest.mark.parametrize("part", range(SAMPLE))
def test_every_law_holds_for_a_sample_of_trees(part):
    faults = [judge.try_tree(SEED, number) for number in range(5 * part, 5 * part + 5)]

    assert [fault for fault in faults if fault] == []


def test_the_same_number_makes_the_same_tree(tmp_path):
    one, other = tmp_path / "one", tmp_path / "other"
    for folder in (one, other):
        folder.mkdir()
        make_tree(folder, SEED, 5)

    assert read_tree(one) == read_tree(other)


def test_the_truth_is_what_lies_on_disk(tmp_path):
    for tree in intact_trees(tmp_path, 25):
        folders = [
            each
            for phase in tree.current.phases
            for each in sorted(tree.folder.rglob(phase.folder))[:1]
        ]
        names = [
            file.relative_to(folder).as_posix()
            for folder in folders
            for file in folder.rglob("*.md")
        ]
        gone = [each for each in tree.current.phases if each.form == "gone" and each.is_complete]

        assert sum("SUMMARY" in name for name in names) == tree.counts.completed_plans
        assert sum(map(bool, map(_PLAN.search, names))) + len(gone) == tree.counts.total_plans


def test_the_sample_has_every_kind_of_project():
    projects = [draw_project(Random(f"{SEED}/{number}")) for number in range(200)]
    milestones = [each for project in projects for each in project.milestones]

    assert {each.state for each in milestones} == {*MilestoneState}
    assert {each.place for each in milestones} == {*Place}
    assert any(project.restarts for project in projects)
    assert any(project.workstream for project in projects)
    assert any(project.is_between for project in projects)
    assert any(each.has_leftovers for each in milestones)
    assert any("." in phase.number for each in milestones for phase in each.phases)
    assert any(each.name[0].isdigit() for each in milestones)
    assert any(each.name.isalpha() or "-" in each.name for each in milestones)


@pytest.mark.parametrize(
    ("counts", "percent"),
    [
        (Counts(10, 17, 47, 84), 56),
        (Counts(0, 0, 0, 0), 0),
        (Counts(1, 1, 200, 201), 99),
        (Counts(1, 5, 3, 3), 20),
        (Counts(2, 2, 4, 4), 100),
    ],
)
def test_the_oracle_computes_the_percentage_of_the_ruling(counts: Counts, percent: int):
    assert counts.percent == percent


def test_a_perfect_answer_has_no_fault_and_any_other_has_one(tmp_path, monkeypatch):
    for tree in intact_trees(tmp_path, 8):
        status = ideal_status(tree)
        monkeypatch.setattr(judge, "answer", lambda *_, status=status: status)
        assert judge.answer_fault(tree) == ""

        for key in (*judge.KEYS, "percent"):
            progress = {**status["progress"], key: status["progress"][key] + 1}
            wrong = {**status, "progress": progress}
            monkeypatch.setattr(judge, "answer", lambda *_, wrong=wrong: wrong)
            assert judge.answer_fault(tree).startswith("certain of")

        for key, text in (("phase", "77"), ("next", {"action": "verify-phase", "phase": "77"})):
            astray = {**status, key: text}
            monkeypatch.setattr(judge, "answer", lambda *_, astray=astray: astray)
            assert "77" in judge.answer_fault(tree)

        doubtful = {**status, "scope": {**status["scope"], "certainty": "uncertain"}}
        monkeypatch.setattr(judge, "answer", lambda *_, doubtful=doubtful: doubtful)
        assert judge.answer_fault(tree).startswith("the answer is uncertain")


def test_a_perfect_check_has_no_fault_and_any_other_has_one(tmp_path, monkeypatch):
    planted = [each for each in intact_trees(tmp_path, 16) if each.planted]
    assert len(planted) > 2
    for tree in planted:
        check = ideal_check(tree)
        monkeypatch.setattr(judge, "answer", lambda *_, check=check: check)
        assert judge.finding_fault(tree) == ""

        fewer = {"findings": check["findings"][1:]}
        monkeypatch.setattr(judge, "answer", lambda *_, fewer=fewer: fewer)
        assert judge.finding_fault(tree).startswith("not reported")

        alarm = {**check["findings"][0], "path": ".planning/PROJECT.md", "line": 1}
        more = {"findings": [*check["findings"], alarm]}
        monkeypatch.setattr(judge, "answer", lambda *_, more=more: more)
        assert judge.finding_fault(tree).startswith("a false alarm")


def test_a_repair_that_writes_another_false_value_is_found(tmp_path, monkeypatch):
    asked = judge.answer
    written: list[int] = []

    def careless(*words: str) -> dict[str, Any]:
        report = asked(*words)
        if words[0] == "doctor" and not written:
            state = Path(".planning/STATE.md")
            text = state.read_text("utf-8")
            at = next(n for n, line in enumerate(text.split("\n"), 1) if "completed_plans" in line)
            state.write_text(re.sub("completed_plans: .*", "completed_plans: 77", text), "utf-8")
            finding = {"path": ".planning/STATE.md", "line": at}
            report["left"].append({"finding": finding})
            written.append(at)
        return report

    monkeypatch.setattr(judge, "answer", careless)
    with judge.scratch_project() as folder:
        planning = folder / ".planning"
        (planning / "phases/01-a").mkdir(parents=True)
        (planning / "phases/01-a/01-01-PLAN.md").write_text("x", "utf-8")
        (planning / "phases/01-a/01-01-SUMMARY.md").write_text("# Summary\n\nDone.\n", "utf-8")
        (planning / "ROADMAP.md").write_text("# R\n\n- [ ] **Phase 1: A**\n", "utf-8")
        state = "---\ngsd_state_version: '1.0'\nstatus: verifying\nprogress:\n  completed_plans: 0\n---\n"
        (planning / "STATE.md").write_text(state, "utf-8")
        fault = judge.repair_fault(folder)

    assert written
    assert fault.startswith("the repair made a statement false")
    assert "77" in fault
