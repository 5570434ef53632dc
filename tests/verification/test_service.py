"""Verification of a phase: the three results, the documents written with each, and overrides."""

import subprocess
from pathlib import Path

import pytest

from conformance.reference import ROOT
from fairlead.execution.errors import PlansNotApproved
from fairlead.plans.check import validate
from fairlead.plans.documents import read_plan
from fairlead.plans.model import CommandResult, Severity
from fairlead.project.derive.inventory import Stage
from fairlead.project.derive.position import position_of
from fairlead.project.derive.scan import scan
from fairlead.project.errors import PlansOpen
from fairlead.verification.documents import read_verification
from fairlead.verification.errors import NoFinding
from fairlead.verification.model import HumanItem, Override, RuleFinding
from fairlead.verification.service import VerifyOptions
from tests.support.hook import require_hook
from tests.support.repositories import git, written
from tests.support.verification import (
    HOME,
    Done,
    FakeCommands,
    a_finished_phase,
    verified,
    verifier_in,
)

ADD = "def add(a, b):\n    return a + b\n"
TEST = "from calc import add\n\n\ndef test_add():\n    assert add(1, 2) == 3\n"
GOOD = Done({"calc.py": ADD, "test_calc.py": TEST})
STUB = Done({"calc.py": "def add(a, b):\n    pass\n", "test_calc.py": TEST})
UNSEEN = Done({"notes.txt": "x\n"}, verify="", truths=("The colours are calm",))
RECORD = f"{HOME}/01-VERIFICATION.md"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return tmp_path / "project"


def stage_of(project: Path) -> Stage:
    return position_of(scan(str(project))).scope.phases[0].stage


def test_a_pass_marks_the_phase_complete_in_every_document(project: Path):
    report = verified(project, GOOD)

    assert report.status == "passed"
    assert "status: passed" in (project / RECORD).read_text()
    state = (project / ".planning/STATE.md").read_text()
    assert "Phase 1 COMPLETE, verified" in state
    assert "Phase: 2 of 2 (More)" in state
    assert "- [x] **Phase 1: Work**" in (project / ".planning/ROADMAP.md").read_text()
    assert stage_of(project) is Stage.VERIFIED


def test_the_evidence_of_each_check_is_recorded(project: Path):
    verified(project, GOOD)

    text = (project / RECORD).read_text()
    assert "| It works | ✓ VERIFIED | `pytest -q` exit 0, 0.1 s: 1 passed in 0.01s |" in text


def test_gaps_get_valid_patch_plans(project: Path):
    report = verified(project, STUB)

    path = f"{HOME}/01-02-PLAN.md"
    assert report.plans == (path,)
    plan = read_plan(path, (project / path).read_text())
    assert plan.gap_closure
    assert plan.gap_ids == tuple(gap.id for gap in report.gaps)
    assert plan.files == ("calc.py",)
    assert plan.tasks[0].verify == "pytest -q"
    assert [each for each in validate(plan) if each.severity is Severity.ERROR] == []


def test_after_gaps_the_next_step_is_to_execute_the_patch_plans(project: Path):
    verified(project, STUB)

    position = position_of(scan(str(project)))
    assert (position.next.action, position.next.phase) == ("execute-phase", "1")
    state = (project / ".planning/STATE.md").read_text()
    assert "Phase 1 verification found 1 gap" in state
    assert "active_phase: null" in state


def test_a_truth_without_evidence_waits_for_a_person(project: Path):
    report = verified(project, UNSEEN)

    assert report.status == "human_needed"
    assert [each.test for each in report.result.waiting] == ["The colours are calm"]
    assert stage_of(project) is Stage.COMPLETE


def test_an_accepted_finding_is_recorded_with_its_reason(project: Path):
    a_finished_phase(project, STUB)
    options = VerifyOptions(
        accept=(Override("stub-body calc.py add", "comes with phase 2", "Ada", "now"),)
    )

    report = verified(project, options=options)

    assert report.status == "passed"
    record = read_verification(RECORD, (project / RECORD).read_text())
    assert record.overrides == options.accept
    assert "comes with phase 2" in (project / RECORD).read_text().partition("\n---\n")[2]


def test_an_override_stays_valid_for_the_next_verification(project: Path):
    a_finished_phase(project, STUB)
    verified(
        project, options=VerifyOptions(accept=(Override("stub-body calc.py add", "later", "Ada"),))
    )

    assert verified(project).status == "passed"


def test_accepting_one_finding_leaves_the_others(project: Path):
    done = Done(
        {"calc.py": STUB.files["calc.py"] + "\n\ndef sub(a, b):\n    pass\n", "test_calc.py": TEST}
    )
    a_finished_phase(project, done)

    report = verified(
        project, options=VerifyOptions(accept=(Override("stub-body calc.py add", "x"),))
    )

    assert [each.key for each in report.result.blocking] == ["stub-body calc.py sub"]


def test_accepting_an_unknown_finding_is_refused(project: Path):
    a_finished_phase(project, GOOD)

    with pytest.raises(NoFinding):
        verified(project, options=VerifyOptions(accept=(Override("stub-body other.py", "x"),)))


def test_a_person_confirms_a_truth_without_evidence(project: Path):
    a_finished_phase(project, UNSEEN)

    report = verified(
        project, options=VerifyOptions(accept=(Override("The colours are calm", "seen"),))
    )

    assert report.status == "passed"


def test_commands_run_only_after_approval(project: Path):
    a_finished_phase(project, GOOD)
    commands = FakeCommands()
    verifier = verifier_in(project, commands)

    with pytest.raises(PlansNotApproved):
        verifier.verify(verifier.load("1"), VerifyOptions())

    assert commands.lines == []
    assert not (project / RECORD).exists()


def test_an_approval_is_void_for_a_changed_plan(project: Path):
    a_finished_phase(project, GOOD)
    verifier = verifier_in(project)
    verifier.approve(verifier.load("1"))
    plan = project / HOME / "01-01-PLAN.md"
    plan.write_text(plan.read_text().replace("pytest -q", "rm -rf x"))

    assert not verifier.load("1").is_approved


def test_without_commands_a_person_has_to_check_them(project: Path):
    a_finished_phase(project, GOOD)

    report = verifier_in(project).verify(
        verifier_in(project).load("1"), VerifyOptions(runs_commands=False)
    )

    assert report.status == "human_needed"


@pytest.mark.parametrize(
    "result",
    [
        CommandResult(1, 0.1, "", "1 failed"),
        CommandResult(0, 300, "", "", is_timeout=True),
        CommandResult(127, 0, "", "", problem="there is no such program"),
    ],
)
def test_a_failed_command_is_a_gap(result: CommandResult, project: Path):
    a_finished_phase(project, GOOD)
    verifier = verifier_in(project, FakeCommands(act=lambda _: result))
    verifier.approve(verifier.load("1"))

    assert verifier.verify(verifier.load("1"), VerifyOptions()).status == "gaps_found"


def test_a_plan_without_summary_cannot_be_verified(project: Path):
    a_finished_phase(project, GOOD)
    (project / HOME / "01-01-SUMMARY.md").unlink()

    with pytest.raises(PlansOpen):
        verifier_in(project).load("1")


def test_a_changed_summary_makes_the_verification_stale(project: Path):
    verified(project, GOOD)
    summary = project / HOME / "01-01-SUMMARY.md"
    summary.write_text(summary.read_text() + "\nMore was done on the same day.\n")

    assert stage_of(project) is Stage.COMPLETE


def test_changed_code_is_listed_and_makes_nothing_stale(project: Path):
    verified(project, GOOD)
    written(project / "calc.py", ADD.replace("a + b", "b + a"))

    verifier = verifier_in(project)
    assert verifier.preview(verifier.load("1"), VerifyOptions()).changed == ("calc.py",)
    assert stage_of(project) is Stage.VERIFIED


def test_a_second_verification_lists_the_closed_gaps(project: Path):
    verified(project, Done(STUB.files), VerifyOptions(makes_plans=False))
    written(project / "calc.py", ADD)

    verified(project)

    text = (project / RECORD).read_text()
    assert "previous_status: gaps_found" in text
    assert "gaps_closed: [It works]" in text


def test_a_model_review_can_add_a_gap(project: Path):
    a_finished_phase(project, GOOD)
    verifier = verifier_in(project)
    verifier.approve(verifier.load("1"))
    finding = RuleFinding(
        "verifier", "calc.py", 1, "it overflows", "use whole numbers", "sums hold"
    )

    report = verifier.verify(verifier.load("1"), VerifyOptions(), lambda *_: ((finding,), ()))

    assert report.status == "gaps_found"


def test_a_model_review_cannot_remove_a_gap(project: Path):
    a_finished_phase(project, STUB)
    verifier = verifier_in(project)
    verifier.approve(verifier.load("1"))

    assert (
        verifier.verify(verifier.load("1"), VerifyOptions(), lambda *_: ((), ())).status
        == "gaps_found"
    )


def test_a_model_review_can_add_a_question(project: Path):
    a_finished_phase(project, GOOD)
    verifier = verifier_in(project)
    verifier.approve(verifier.load("1"))
    item = HumanItem("It feels quick", "no wait", "a matter of taste")

    assert (
        verifier.verify(verifier.load("1"), VerifyOptions(), lambda *_: ((), (item,))).status
        == "human_needed"
    )


UAT = """\
---
status: complete
phase: 01-work
---
## Tests
### 1. The colours are calm
expected: nothing flickers
result: {result}
reported: "it flickers"
"""


@pytest.mark.parametrize(
    ("result", "status"),
    [("pass", "passed"), ("issue", "gaps_found"), ("[pending]", "human_needed")],
)
def test_uat_results_count(result: str, status: str, project: Path):
    a_finished_phase(project, UNSEEN)
    written(project / HOME / "01-UAT.md", UAT.format(result=result))

    assert verified(project).status == status


def test_a_rehearsed_verification_never_counts(project: Path):
    a_finished_phase(project, GOOD)
    verifier = verifier_in(project)
    verifier.approve(verifier.load("1"))

    report = verifier.verify(verifier.load("1", is_rehearsed=True), VerifyOptions())

    assert report.status == "passed"
    assert stage_of(project) is Stage.COMPLETE


def test_a_criterion_that_no_plan_mentions_needs_a_person(project: Path):
    report = verified(project, Done(GOOD.files, criteria=["Visitors export invoices as sheets"]))

    assert report.status == "human_needed"


def test_a_commit_that_touches_no_file_of_the_plan_is_a_finding(project: Path):
    a_finished_phase(project, Done(GOOD.files, is_git=True))
    first = git(project, "rev-list", "--max-parents=0", "HEAD").strip()
    summary = project / HOME / "01-01-SUMMARY.md"
    commits = f"## Task Commits\n\n1. **Task 1: x** - `{first[:10]}`\n\n## Self"
    summary.write_text(summary.read_text().replace("## Self", commits))

    assert "summary-commit" in {each.rule for each in verified(project).result.blocking}


def test_a_file_that_is_in_no_commit_is_a_finding(project: Path):
    a_finished_phase(project, Done(GOOD.files, is_git=True))
    git(project, "rm", "-q", "--cached", "calc.py")
    git(project, "commit", "-qm", "less")

    assert "not-committed" in {each.rule for each in verified(project).result.blocking}


def test_an_escaped_file_name_in_a_summary_is_not_reported_as_missing(project: Path):
    a_finished_phase(project, Done(GOOD.files))
    summary = project / HOME / "01-01-SUMMARY.md"
    text = summary.read_text()
    summary.write_text(text.replace("  created: [", "  created: ['caf\\udce9.py', "))

    assert r"'caf\udce9.py'" in summary.read_text()
    assert "missing-file" not in {each.rule for each in verified(project).result.findings}


@pytest.mark.parametrize(
    ("done", "status"), [(GOOD, "passed"), (STUB, "gaps_found"), (UNSEEN, "human_needed")]
)
def test_the_reference_tool_reads_the_status(
    done: Done, status: str, project: Path, tmp_path: Path
):
    require_hook()
    verified(project, done, VerifyOptions(makes_plans=False))
    tool = subprocess.run(
        [str(ROOT / "tools" / "reference-tool")], capture_output=True, text=True, check=True
    )
    words = [*tool.stdout.split(), "verification.status", HOME]
    output = subprocess.run(
        words, cwd=project, capture_output=True, text=True, check=True, env={"HOME": str(tmp_path)}
    )

    assert f'"status": "{status}"' in output.stdout


def test_the_documents_are_committed_if_the_project_keeps_them(project: Path):
    a_finished_phase(project, Done(GOOD.files, is_git=True))

    verified(project, options=VerifyOptions(keeps_documents=True))

    assert git(project, "status", "--porcelain", "--", RECORD, ".planning/STATE.md") == ""
    assert git(project, "log", "-1", "--format=%s").strip() == "docs(01): verified"


def test_a_placeholder_criterion_is_ignored(project: Path):
    assert verified(project, Done(GOOD.files, criteria=["Not decided yet."])).status == "passed"


def test_an_interrupted_verification_is_not_left_running(project: Path):
    a_finished_phase(project, GOOD)

    with pytest.raises(NoFinding):
        verified(
            project, options=VerifyOptions(accept=(Override("nothing of the kind", "x", "Ada"),))
        )

    state = (project / ".planning/STATE.md").read_text()
    assert ("active_phase: null" in state, "verification stopped" in state) == (True, True)
