"""Verifying a phase: three outcomes, what is written with each, and what nobody can talk past."""

import subprocess
from pathlib import Path

import pytest

from conformance.reference import ROOT
from fairlead.engine.verifying import Wishes
from fairlead.errors import NoFinding, PlansNotApproved, PlansOpen
from fairlead.model.inventory import Stage
from fairlead.model.plan import Severity
from fairlead.model.ran import Ran
from fairlead.model.standing import standing_of
from fairlead.model.verification import Finding, HumanItem, Override
from fairlead.records.plan_check import validate
from fairlead.records.plan_sheet import read_plan
from fairlead.records.verification import read_verification
from fairlead.store.scan import scan
from tests.support.hook import require_hook
from tests.support.repositories import git, written
from tests.support.verification import HOME, Done, Told, a_finished_phase, a_room, verified

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
    return standing_of(scan(str(project))).scope.phases[0].stage


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


def test_gaps_get_patch_plans_that_can_be_carried_out(project: Path):
    report = verified(project, STUB)

    path = f"{HOME}/01-02-PLAN.md"
    assert report.plans == (path,)
    plan = read_plan(path, (project / path).read_text())
    assert plan.gap_closure
    assert plan.gap_ids == tuple(gap.id for gap in report.gaps)
    assert plan.files == ("calc.py",)
    assert plan.tasks[0].verify == "pytest -q"
    assert [each for each in validate(plan) if each.severity is Severity.ERROR] == []


def test_after_gaps_the_patch_plans_come_next(project: Path):
    verified(project, STUB)

    standing = standing_of(scan(str(project)))
    assert (standing.next.action, standing.next.phase) == ("execute-phase", "1")
    state = (project / ".planning/STATE.md").read_text()
    assert "Phase 1 verification found 1 gap" in state
    assert "active_phase: null" in state


def test_what_nothing_shows_waits_for_a_person(project: Path):
    report = verified(project, UNSEEN)

    assert report.status == "human_needed"
    assert [each.test for each in report.found.waiting] == ["The colours are calm"]
    assert stage_of(project) is Stage.COMPLETE


def test_a_person_accepts_one_finding_with_a_reason_that_is_shown(project: Path):
    a_finished_phase(project, STUB)
    wish = Wishes(accept=(Override("stub-body calc.py add", "comes with phase 2", "Ada", "now"),))

    report = verified(project, wishes=wish)

    assert report.status == "passed"
    record = read_verification(RECORD, (project / RECORD).read_text())
    assert record.overrides == wish.accept
    assert "comes with phase 2" in (project / RECORD).read_text().partition("\n---\n")[2]


def test_what_a_person_accepted_holds_for_the_next_verification(project: Path):
    a_finished_phase(project, STUB)
    verified(project, wishes=Wishes(accept=(Override("stub-body calc.py add", "later", "Ada"),)))

    assert verified(project).status == "passed"


def test_accepting_one_finding_leaves_the_others(project: Path):
    done = Done(
        {"calc.py": STUB.files["calc.py"] + "\n\ndef sub(a, b):\n    pass\n", "test_calc.py": TEST}
    )
    a_finished_phase(project, done)

    report = verified(project, wishes=Wishes(accept=(Override("stub-body calc.py add", "x"),)))

    assert [each.key for each in report.found.blocking] == ["stub-body calc.py sub"]


def test_accepting_what_was_not_found_is_refused(project: Path):
    a_finished_phase(project, GOOD)

    with pytest.raises(NoFinding):
        verified(project, wishes=Wishes(accept=(Override("stub-body other.py", "x"),)))


def test_a_person_confirms_what_only_a_person_can_see(project: Path):
    a_finished_phase(project, UNSEEN)

    report = verified(project, wishes=Wishes(accept=(Override("The colours are calm", "seen"),)))

    assert report.status == "passed"


def test_commands_that_nobody_approved_are_not_run(project: Path):
    a_finished_phase(project, GOOD)
    commands = Told()
    room = a_room(project, commands)

    with pytest.raises(PlansNotApproved):
        room.verify(room.case("1"), Wishes())

    assert commands.lines == []
    assert not (project / RECORD).exists()


def test_an_approval_does_not_hold_for_another_text(project: Path):
    a_finished_phase(project, GOOD)
    room = a_room(project)
    room.approve(room.case("1"))
    plan = project / HOME / "01-01-PLAN.md"
    plan.write_text(plan.read_text().replace("pytest -q", "rm -rf x"))

    assert not room.case("1").is_approved


def test_without_commands_each_is_left_to_a_person(project: Path):
    a_finished_phase(project, GOOD)

    report = a_room(project).verify(a_room(project).case("1"), Wishes(runs_commands=False))

    assert report.status == "human_needed"


@pytest.mark.parametrize(
    "ran",
    [
        Ran(1, 0.1, "", "1 failed"),
        Ran(0, 300, "", "", is_timeout=True),
        Ran(127, 0, "", "", problem="there is no such program"),
    ],
)
def test_a_command_that_does_not_succeed_makes_a_gap(ran: Ran, project: Path):
    a_finished_phase(project, GOOD)
    room = a_room(project, Told(act=lambda _: ran))
    room.approve(room.case("1"))

    assert room.verify(room.case("1"), Wishes()).status == "gaps_found"


def test_a_plan_without_a_summary_is_not_verified(project: Path):
    a_finished_phase(project, GOOD)
    (project / HOME / "01-01-SUMMARY.md").unlink()

    with pytest.raises(PlansOpen):
        a_room(project).case("1")


def test_a_summary_that_changes_makes_the_verification_stale(project: Path):
    verified(project, GOOD)
    summary = project / HOME / "01-01-SUMMARY.md"
    summary.write_text(summary.read_text() + "\nMore was done on the same day.\n")

    assert stage_of(project) is Stage.COMPLETE


def test_code_that_changed_since_is_named_and_makes_nothing_stale(project: Path):
    verified(project, GOOD)
    written(project / "calc.py", ADD.replace("a + b", "b + a"))

    room = a_room(project)
    assert room.looked(room.case("1"), Wishes()).changed == ("calc.py",)
    assert stage_of(project) is Stage.VERIFIED


def test_a_second_verification_says_what_became_of_the_first(project: Path):
    verified(project, Done(STUB.files), Wishes(makes_plans=False))
    written(project / "calc.py", ADD)

    verified(project)

    text = (project / RECORD).read_text()
    assert "previous_status: gaps_found" in text
    assert "gaps_closed: [It works]" in text


def test_an_agent_can_add_a_gap_to_a_phase_that_the_rules_pass(project: Path):
    a_finished_phase(project, GOOD)
    room = a_room(project)
    room.approve(room.case("1"))
    found = Finding("verifier", "calc.py", 1, "it overflows", "use whole numbers", "sums hold")

    report = room.verify(room.case("1"), Wishes(), lambda *_: ((found,), ()))

    assert report.status == "gaps_found"


def test_an_agent_that_finds_nothing_does_not_make_a_failed_check_pass(project: Path):
    a_finished_phase(project, STUB)
    room = a_room(project)
    room.approve(room.case("1"))

    assert room.verify(room.case("1"), Wishes(), lambda *_: ((), ())).status == "gaps_found"


def test_what_an_agent_leaves_to_a_person_waits(project: Path):
    a_finished_phase(project, GOOD)
    room = a_room(project)
    room.approve(room.case("1"))
    item = HumanItem("It feels quick", "no wait", "a matter of taste")

    assert room.verify(room.case("1"), Wishes(), lambda *_: ((), (item,))).status == "human_needed"


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
def test_what_a_person_tried_counts(result: str, status: str, project: Path):
    a_finished_phase(project, UNSEEN)
    written(project / HOME / "01-UAT.md", UAT.format(result=result))

    assert verified(project).status == status


def test_a_rehearsed_verification_never_counts(project: Path):
    a_finished_phase(project, GOOD)
    room = a_room(project)
    room.approve(room.case("1"))

    report = room.verify(room.case("1", is_rehearsed=True), Wishes())

    assert report.status == "passed"
    assert stage_of(project) is Stage.COMPLETE


def test_a_criterion_of_the_roadmap_that_no_plan_speaks_of_is_not_passed_over(project: Path):
    report = verified(project, Done(GOOD.files, criteria=["Visitors export invoices as sheets"]))

    assert report.status == "human_needed"


def test_a_commit_that_touches_none_of_the_files_proves_nothing(project: Path):
    a_finished_phase(project, Done(GOOD.files, is_git=True))
    first = git(project, "rev-list", "--max-parents=0", "HEAD").strip()
    summary = project / HOME / "01-01-SUMMARY.md"
    told = f"## Task Commits\n\n1. **Task 1: x** - `{first[:10]}`\n\n## Self"
    summary.write_text(summary.read_text().replace("## Self", told))

    assert "summary-commit" in {each.rule for each in verified(project).found.blocking}


def test_a_file_that_is_in_no_commit_is_named(project: Path):
    a_finished_phase(project, Done(GOOD.files, is_git=True))
    git(project, "rm", "-q", "--cached", "calc.py")
    git(project, "commit", "-qm", "less")

    assert "not-committed" in {each.rule for each in verified(project).found.blocking}


def test_a_file_that_a_summary_can_only_show_is_not_missed(project: Path):
    a_finished_phase(project, Done(GOOD.files))
    summary = project / HOME / "01-01-SUMMARY.md"
    text = summary.read_text()
    summary.write_text(text.replace("  created: [", "  created: ['caf\\udce9.py', "))

    assert r"'caf\udce9.py'" in summary.read_text()
    assert "missing-file" not in {each.rule for each in verified(project).found.findings}


@pytest.mark.parametrize(
    ("done", "status"), [(GOOD, "passed"), (STUB, "gaps_found"), (UNSEEN, "human_needed")]
)
def test_the_reference_tool_reads_the_outcome(
    done: Done, status: str, project: Path, tmp_path: Path
):
    require_hook()
    verified(project, done, Wishes(makes_plans=False))
    found = subprocess.run(
        [str(ROOT / "tools" / "reference-tool")], capture_output=True, text=True, check=True
    )
    words = [*found.stdout.split(), "verification.status", HOME]
    said = subprocess.run(
        words, cwd=project, capture_output=True, text=True, check=True, env={"HOME": str(tmp_path)}
    )

    assert f'"status": "{status}"' in said.stdout


def test_what_is_written_is_committed_where_documents_are_kept(project: Path):
    a_finished_phase(project, Done(GOOD.files, is_git=True))

    verified(project, wishes=Wishes(keeps_documents=True))

    assert git(project, "status", "--porcelain", "--", RECORD, ".planning/STATE.md") == ""
    assert git(project, "log", "-1", "--format=%s").strip() == "docs(01): verified"


def test_a_criterion_that_nobody_has_written_yet_is_none(project: Path):
    assert verified(project, Done(GOOD.files, criteria=["Not decided yet."])).status == "passed"


def test_a_verification_that_breaks_off_leaves_nobody_at_work(project: Path):
    a_finished_phase(project, GOOD)

    with pytest.raises(NoFinding):
        verified(project, wishes=Wishes(accept=(Override("nothing of the kind", "x", "Ada"),)))

    state = (project / ".planning/STATE.md").read_text()
    assert ("active_phase: null" in state, "verification stopped" in state) == (True, True)
