"""Explanations: each value names the files that led to it, with their times."""

import re
from pathlib import Path

from fairlead.engine.explain import Explainer, Explanation
from fairlead.engine.overview import Overview
from fairlead.store.load import Reader
from tests.support.peculiar import BASE, put

STRICT = {"config.json": '{"fairlead": {"completion": "verified"}}\n'}
PASSED = {"phases/01-login/01-VERIFICATION.md": "---\nstatus: passed\n---\n"}

DISCUSSED = {
    **{name: text for name, text in BASE.items() if "02-search" not in name},
    "phases/02-search/02-CONTEXT.md": "# Context\n",
}


def explainer(folder: Path) -> Explainer:
    return Overview(Reader(str(folder))).explainer()


def told(found: Explanation) -> dict[str, str]:
    assert all(
        re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ", each.changed) for each in found.evidence
    )
    return {each.path.removeprefix(".planning/"): each.means for each in found.evidence}


def test_under_the_strict_rule_progress_names_the_verifications(tmp_path: Path) -> None:
    found = explainer(put(tmp_path, {**BASE, **STRICT, **PASSED})).progress()

    assert found.value.startswith("50%")
    assert told(found)["phases/01-login/01-VERIFICATION.md"] == "phase 1: verification passed"
    assert told(found)["phases/02-search"] == "phase 2: no verification"


def test_a_phase_whose_folder_is_a_link_names_the_link(tmp_path: Path) -> None:
    home = put(tmp_path, BASE) / ".planning/phases/02-search"
    home.rename(tmp_path / "elsewhere")
    home.symlink_to(tmp_path / "elsewhere")

    means = "phase 2: not looked into, since it is a link or a file"
    assert told(explainer(tmp_path).phase("2"))["phases/02-search"] == means
    assert told(explainer(tmp_path).progress())["phases/02-search"] == means
    assert "phases/02-search" not in told(explainer(tmp_path).phase("1"))


def test_a_finished_phase_that_does_not_count_says_so_with_the_rule(tmp_path: Path) -> None:
    found = explainer(put(tmp_path, {**BASE, **STRICT})).phase("1")

    assert found.value == "Login: complete, and not counted: no verification passed"
    assert found.rule.endswith("its verification passed")


def test_next_names_the_files_of_the_phase_it_is_about(tmp_path: Path) -> None:
    found = explainer(put(tmp_path, DISCUSSED)).next()

    assert found.value == "fairlead phase verify 1"
    assert "phases/01-login/01-01-SUMMARY.md" in told(found)


def test_a_status_of_documents_names_them(tmp_path: Path) -> None:
    found = explainer(put(tmp_path, DISCUSSED)).status()

    assert told(found)["phases/02-search/02-CONTEXT.md"] == "phase 2: discussed"


def test_the_roadmap_is_named_with_its_path_line_and_time(tmp_path: Path) -> None:
    found = explainer(put(tmp_path, BASE)).phase("2")
    place = next(path for path in told(found) if path.startswith("ROADMAP.md:"))
    line = BASE["ROADMAP.md"].splitlines()[int(place.partition(":")[2]) - 1]

    assert "Phase 2" in line
