"""The plans of a phase on disk: their waves, what can run, and the evidence behind them."""

from functools import partial
from pathlib import Path

import pytest

from fairlead.app import App
from fairlead.jobs.ledger import EntryKind, LedgerEntry, appended, head
from fairlead.jobs.paths import ledger_path
from fairlead.plans.errors import PlanCycle
from fairlead.plans.roadmap_report import Roadmaps
from fairlead.plans.service import PlanIndex
from fairlead.project.summary import Summary, new_summary
from fairlead.store.journal import Journal
from fairlead.store.reader import Reader
from tests.support.projects import Project

TASK = "<task type='auto'><name>Task 1: x</name><files>f</files><action>a</action></task>"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def write(project: Project, plan: int, front: str = "", body: str = TASK) -> None:
    front = f"plan: {plan}\nphase: 1\ntype: execute\nautonomous: true\nmust_haves: {{}}\n{front}"
    for key in ("wave: 1", "depends_on: []", f"files_modified: [f{plan}]"):
        front += "" if key.partition(":")[0] in front else f"\n{key}"
    path = project.planning / "phases" / "01-core" / f"01-0{plan}-PLAN.md"
    path.write_text(f"---\n{front}\n---\n{body.replace('<files>f', f'<files>f{plan}')}\n")


def summarise(project: Project, plan: int, **more: object) -> None:
    text = new_summary(Summary("1", plan, "done", "2026-06-01", **more))  # type: ignore[arg-type]
    (project.planning / "phases" / "01-core" / f"01-0{plan}-SUMMARY.md").write_text(text)


def index(project: Project) -> PlanIndex:
    return Roadmaps(Reader(str(project.folder))).plans("1")


def test_the_index_lists_plans_in_waves_and_the_runnable_ones(project: Project) -> None:
    write(project, 1)
    write(project, 2, "depends_on: ['01-01']")
    write(project, 3, "depends_on: [01-02-PLAN.md]")
    write(project, 4)
    summarise(project, 1)
    found = index(project)

    assert found.waves == {"1": ("01-01", "01-04"), "2": ("01-02",), "3": ("01-03",)}
    assert (found.incomplete, found.runnable) == (("01-02", "01-03", "01-04"), ("01-02", "01-04"))


def test_a_halted_plan_blocks_its_dependants(project: Project) -> None:
    write(project, 1)
    write(project, 2, "depends_on: ['01-01']")
    summarise(project, 1, status="halted")
    found = index(project)

    assert [(each.halted, each.blocked_by) for each in found.plans] == [
        (True, ()),
        (False, ("01-01",)),
    ]
    assert not found.runnable


def test_an_unreadable_plan_blocks_only_its_dependants(project: Project) -> None:
    write(project, 1, 'title: "a\\.b"')
    write(project, 2, "depends_on: ['01-01']")
    write(project, 3)
    found = index(project)

    assert found.runnable == ("01-03",)
    assert found.plans[1].blocked_by == ("01-01",)
    assert found.plans[0].faults[0].line == 7


def test_a_plan_with_errors_does_not_run(project: Project) -> None:
    write(project, 1, body="no tasks")

    assert not index(project).runnable


def test_shared_files_and_a_wrong_declared_wave_are_warnings(project: Project) -> None:
    write(project, 1, "files_modified: [a]")
    write(project, 2, "files_modified: [a]")

    assert index(project).warnings == (
        "01-02 runs after 01-01: both change a",
        "01-02 declares wave 1 and runs in wave 2",
    )


def test_waves_are_counted_from_zero_if_a_plan_declares_wave_zero(project: Project) -> None:
    write(project, 1, "wave: 0")

    assert index(project).waves == {"0": ("01-01",)}


def test_a_cycle_is_an_error_that_names_its_plans(project: Project) -> None:
    write(project, 1, "depends_on: ['01-02']")
    write(project, 2, "depends_on: ['01-01']")
    with pytest.raises(PlanCycle, match="01-01"):
        index(project)


def _following(entry: LedgerEntry, last: str) -> str:
    return appended(last, entry)


def record(project: Project, plan: str, count: int) -> str:
    path = project.folder / ledger_path(plan)
    for attempt in range(1, count + 1):
        entry = LedgerEntry(
            EntryKind.VERIFY, f"{plan}-01", attempt, "2026-06-01T12:00:00Z", "fairlead", "npm test",
            exit_code=0, seconds=1.5,
        )  # fmt: skip
        journal = Journal(str(project.folder), ledger_path(plan))
        journal.append(partial(_following, entry), command="test")
    return path.read_text()


def test_the_ledgers_of_a_project_are_checked(project: Project) -> None:
    write(project, 1)
    text = record(project, "01-01", 3)
    summarise(project, 1, ledger=head(text))
    app = App(str(project.folder))
    found = app.ledgers()
    assert (found.is_clean, found.ledgers, found.entries) == (True, 1, 3)

    path = project.folder / ledger_path("01-01")
    path.write_text(text.replace('"exit_code":0', '"exit_code":1', 1))
    assert app.ledgers().findings[0].message.startswith(f"{ledger_path('01-01')}:1: ")

    path.write_text("".join(text.splitlines(keepends=True)[:2]))
    assert [each.what for each in app.ledgers().findings] == ["entries are missing at the end"]

    path.unlink()
    assert not app.ledgers().is_clean


def test_the_evidence_of_a_plan_is_explained(project: Project) -> None:
    write(project, 1)
    record(project, "01-01", 1)
    explained = App(str(project.folder)).overview.explainer().plan("01-01")

    assert [(each.path, each.changed, each.means) for each in explained.evidence[1:]] == [
        (
            ".planning/ledger/01-01.jsonl:1",
            "2026-06-01T12:00:00Z",
            "verify 01-01-01, attempt 1, by fairlead, `npm test`, exit 0, 1.5 s",
        )
    ]


def test_changed_evidence_is_reported_instead_of_explained(project: Project) -> None:
    write(project, 1)
    text = record(project, "01-01", 2)
    (project.folder / ledger_path("01-01")).write_text(text.replace("npm test", "true", 1))
    explained = App(str(project.folder)).overview.explainer().plan("01-01")

    assert explained.evidence[1].means.startswith("the evidence cannot be trusted")
