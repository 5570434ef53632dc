"""REQUIREMENTS.md compared with the roadmap and the files."""

from pathlib import Path

import pytest

from fairlead.project.health.check import compare_project
from fairlead.project.health.doctor import ClaimPolicy, Doctor, RepairMethod
from fairlead.project.health.findings import Finding
from fairlead.store.files import Files
from tests.support.peculiar import SECOND_SUMMARY, put, requirements
from tests.support.projects import TickingClock

PATH = ".planning/REQUIREMENTS.md"


def found(folder: Path) -> list[Finding]:
    return [each for each in compare_project(Files(str(folder))).findings if each.path == PATH]


def doctor(folder: Path) -> Doctor:
    return Doctor(Files(str(folder)), TickingClock())


def test_correct_requirements_have_no_finding(tmp_path: Path) -> None:
    assert found(put(tmp_path, requirements())) == []


def test_a_requirement_with_an_unknown_phase_gets_the_phase_from_the_roadmap(
    tmp_path: Path,
) -> None:
    put(tmp_path, requirements(("FIND-01 | Phase 2", "FIND-01 | Phase 9")))
    (finding,) = found(tmp_path)
    doctor(tmp_path).fix()

    assert str(finding) == f"{PATH}:18: FIND-01 phase says Phase 9, the files say Phase 2"
    assert "| FIND-01 | Phase 2 | Pending |" in (tmp_path / PATH).read_text("utf-8")


def test_a_requirement_without_a_phase_in_the_roadmap_is_left_to_a_person(tmp_path: Path) -> None:
    put(tmp_path, requirements(("FIND-01 | Phase 2", "FIND-01 | Phase 9"), asked="None"))
    (repair,) = (each for each in doctor(tmp_path).repairs() if each.finding.path == PATH)

    assert (repair.means, repair.finding.is_drift) == (RepairMethod.PERSON, False)
    assert doctor(tmp_path).fix().changes == ()


@pytest.mark.parametrize("title", ["Requirement", "REQ-ID", "Requirement ID"])
def test_an_unmapped_requirement_gets_a_row_if_the_roadmap_names_its_phase(
    tmp_path: Path, title: str
) -> None:
    gone = ("| FIND-02 | Phase 2 | Pending |\n", "")
    put(tmp_path, requirements(gone, ("| Requirement |", f"| {title} |")))
    (finding,) = found(tmp_path)
    doctor(tmp_path).fix()

    assert (str(finding.kind), finding.what, finding.line) == ("requirement-unmapped", "FIND-02", 7)
    assert (tmp_path / PATH).read_text("utf-8").endswith("| FIND-02 | Phase 2 | Pending |\n")
    assert found(tmp_path) == []


@pytest.mark.parametrize("box", ["x", " "])
def test_a_new_row_and_its_box_are_complete_if_the_phase_is(tmp_path: Path, box: str) -> None:
    gone = ("| FIND-02 | Phase 2 | Pending |\n", "")
    put(tmp_path, requirements(gone, ("- [ ] **FIND-02", f"- [{box}] **FIND-02")))
    put(tmp_path, SECOND_SUMMARY)
    doctor(tmp_path).fix()
    text = (tmp_path / PATH).read_text("utf-8")

    assert text.endswith("| FIND-02 | Phase 2 | Complete |\n")
    assert "- [x] **FIND-02" in text
    assert found(tmp_path) == []


def test_a_new_row_of_a_ticked_requirement_is_complete_while_its_phase_is_in_progress(
    tmp_path: Path,
) -> None:
    gone = ("| FIND-02 | Phase 2 | Pending |\n", "")
    put(tmp_path, requirements(gone, ("- [ ] **FIND-02", "- [x] **FIND-02")))
    doctor(tmp_path).fix()

    assert (tmp_path / PATH).read_text("utf-8").endswith("| FIND-02 | Phase 2 | Complete |\n")


def test_a_refuted_tick_is_not_repeated_in_a_new_row(tmp_path: Path) -> None:
    gone = ("| FIND-02 | Phase 2 | Pending |\n", "")
    put(tmp_path, requirements(gone, ("- [ ] **FIND-02", "- [x] **FIND-02")))
    (tmp_path / ".planning/phases/02-search/02-01-SUMMARY.md").unlink()
    doctor(tmp_path).fix()
    left = [each.what for each in found(tmp_path)]
    doctor(tmp_path).fix(ClaimPolicy.CORRECT)

    assert (tmp_path / PATH).read_text("utf-8").endswith("| FIND-02 | Phase 2 | Pending |\n")
    assert left == ["FIND-02 box"]
    assert found(tmp_path) == []


def test_a_requirement_out_of_scope_needs_no_phase(tmp_path: Path) -> None:
    put(tmp_path, requirements())

    assert "FIND-09" not in {each.what for each in found(tmp_path)}


def test_a_requirement_may_be_complete_with_one_plan_of_its_phase(tmp_path: Path) -> None:
    changes = ("FIND-01 | Phase 2 | Pending", "FIND-01 | Phase 2 | Complete")

    assert found(put(tmp_path, requirements(changes))) == []


def test_a_complete_requirement_of_a_phase_without_any_proof_is_a_claim(tmp_path: Path) -> None:
    put(tmp_path, requirements(("FIND-01 | Phase 2 | Pending", "FIND-01 | Phase 2 | Complete")))
    (tmp_path / ".planning/phases/02-search/02-01-SUMMARY.md").unlink()
    claim = next(each for each in found(tmp_path) if each.what == "FIND-01 status")
    doctor(tmp_path).fix(ClaimPolicy.CORRECT)

    assert (str(claim.kind), claim.said, claim.true) == ("claim-unproven", "Complete", "Pending")
    assert "| FIND-01 | Phase 2 | Pending |" in (tmp_path / PATH).read_text("utf-8")
    assert found(tmp_path) == []
