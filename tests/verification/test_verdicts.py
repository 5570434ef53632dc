"""Recording a verdict: a phase with gaps is no longer complete in any document."""

from pathlib import Path

from fairlead.project.derive.inventory import Plan, Proof
from fairlead.project.health.check import compare_project
from fairlead.project.phases import Phases
from fairlead.store.files import Files
from fairlead.store.reader import Reader
from fairlead.verification.service import PhaseVerdict, VerdictRecorder
from tests.support.projects import Project, TickingClock

HOME = ".planning/phases/01-core"


def test_patch_plans_reopen_the_phase_in_the_roadmap(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.plan("1", 1)
    project.summary("1", 1)
    Phases(Files(str(tmp_path)), TickingClock()).complete("1")
    roadmap = tmp_path / ".planning/ROADMAP.md"
    assert "- [x] **Phase 1: Core**" in roadmap.read_text("utf-8")
    texts = {
        f"{HOME}/01-02-PLAN.md": "---\nphase: x\n---\n\n- [ ] Task 1\n",
        f"{HOME}/01-VERIFICATION.md": "---\nstatus: gaps_found\n---\n",
    }
    patch = Plan("01-02", f"{HOME}/01-02-PLAN.md", "", Proof.NONE, False, 1)
    verdict = PhaseVerdict(
        f"{HOME}/01-VERIFICATION.md", "gaps_found", texts, (patch,), "found 1 gap"
    )
    VerdictRecorder(Files(str(tmp_path)), TickingClock()).record("1", verdict)
    assert "- [ ] **Phase 1: Core**" in roadmap.read_text("utf-8")
    assert compare_project(Reader(str(tmp_path))).drift == ()
