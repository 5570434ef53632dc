"""Every explanation names the files behind a value, with their modification times."""

import re
from pathlib import Path

from fairlead.project.health.explain import Explainer, Explanation
from fairlead.project.overview import Overview
from fairlead.store.reader import Reader
from tests.support.peculiar import BASE, put

STRICT = {"config.json": '{"fairlead": {"completion": "verified"}}\n'}
PASSED = {"phases/01-login/01-VERIFICATION.md": "---\nstatus: passed\n---\n"}

DISCUSSED = {
    **{name: text for name, text in BASE.items() if "02-search" not in name},
    "phases/02-search/02-CONTEXT.md": "# Context\n",
}


def explainer(folder: Path) -> Explainer:
    return Overview(Reader(str(folder))).explainer()


def evidence_by_path(explanation: Explanation) -> dict[str, str]:
    assert all(
        re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ", each.changed) for each in explanation.evidence
    )
    return {each.path.removeprefix(".planning/"): each.means for each in explanation.evidence}


def test_progress_names_the_verifications_if_they_count(tmp_path: Path) -> None:
    explanation = explainer(put(tmp_path, {**BASE, **STRICT, **PASSED})).progress()

    assert explanation.value.startswith("50%")
    assert (
        evidence_by_path(explanation)["phases/01-login/01-VERIFICATION.md"]
        == "phase 1: verification passed"
    )
    assert evidence_by_path(explanation)["phases/02-search"] == "phase 2: no verification"


def test_a_phase_whose_folder_is_a_link_names_the_link(tmp_path: Path) -> None:
    home = put(tmp_path, BASE) / ".planning/phases/02-search"
    home.rename(tmp_path / "elsewhere")
    home.symlink_to(tmp_path / "elsewhere")

    means = "phase 2: not read, because it is a link or a file"
    assert evidence_by_path(explainer(tmp_path).phase("2"))["phases/02-search"] == means
    assert evidence_by_path(explainer(tmp_path).progress())["phases/02-search"] == means
    assert "phases/02-search" not in evidence_by_path(explainer(tmp_path).phase("1"))


def test_a_finished_phase_without_verification_is_explained_with_the_rule(tmp_path: Path) -> None:
    explanation = explainer(put(tmp_path, {**BASE, **STRICT})).phase("1")

    assert explanation.value == "Login: complete, not counted: no verification passed"
    assert explanation.rule.endswith("its verification passed")


def test_next_names_the_files_of_its_phase(tmp_path: Path) -> None:
    explanation = explainer(put(tmp_path, DISCUSSED)).next()

    assert explanation.value == "fairlead phase verify 1"
    assert "phases/01-login/01-01-SUMMARY.md" in evidence_by_path(explanation)


def test_the_status_names_the_context_file_behind_it(tmp_path: Path) -> None:
    explanation = explainer(put(tmp_path, DISCUSSED)).status()

    assert evidence_by_path(explanation)["phases/02-search/02-CONTEXT.md"] == "phase 2: discussed"


def test_the_roadmap_is_named_with_path_line_and_time(tmp_path: Path) -> None:
    explanation = explainer(put(tmp_path, BASE)).phase("2")
    place = next(path for path in evidence_by_path(explanation) if path.startswith("ROADMAP.md:"))
    line = BASE["ROADMAP.md"].splitlines()[int(place.partition(":")[2]) - 1]

    assert "Phase 2" in line
