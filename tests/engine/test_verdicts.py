"""Verdicts: a phase with gaps is no longer complete, and every document says so."""

from pathlib import Path

from fairlead.engine.phases import Phases
from fairlead.engine.truth import truth_of
from fairlead.engine.verdicts import Judged, Verdicts
from fairlead.model.inventory import Plan, Proof
from fairlead.store.files import Files
from fairlead.store.load import Reader
from tests.support.projects import Project, ToldClock

HOME = ".planning/phases/01-core"


def test_patch_plans_take_back_what_the_roadmap_had_marked_as_done(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.plan("1", 1)
    project.summary("1", 1)
    Phases(Files(str(tmp_path)), ToldClock()).complete("1")
    roadmap = tmp_path / ".planning/ROADMAP.md"
    assert "- [x] **Phase 1: Core**" in roadmap.read_text("utf-8")
    texts = {
        f"{HOME}/01-02-PLAN.md": "---\nphase: x\n---\n\n- [ ] Task 1\n",
        f"{HOME}/01-VERIFICATION.md": "---\nstatus: gaps_found\n---\n",
    }
    patch = Plan("01-02", f"{HOME}/01-02-PLAN.md", "", Proof.NONE, False, 1)
    judged = Judged(f"{HOME}/01-VERIFICATION.md", "gaps_found", texts, (patch,), "found 1 gap")
    Verdicts(Files(str(tmp_path)), ToldClock()).record("1", judged)
    assert "- [ ] **Phase 1: Core**" in roadmap.read_text("utf-8")
    assert truth_of(Reader(str(tmp_path))).drift == ()
