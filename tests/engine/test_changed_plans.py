"""A plan that is changed while its job waits: what was judged before is no proof of what it says now."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from fairlead.model.agent_orders import Order
from fairlead.model.job import JobStatus, TaskGate
from tests.support.execution import LOOK, Told, Works, a_plan, a_project, does_it, task_of
from tests.support.repositories import git

PLAN = ".planning/phases/01-work/01-01-PLAN.md"
FRONT = (
    '<task type="auto">\n  <name>Task 1: make new.txt</name>\n  <files>new.txt</files>\n'
    "  <action>Write new.txt.</action>\n  <verify>test -f new.txt</verify>\n"
    "  <done>new.txt exists</done>\n</task>\n"
)
BOX = "  <action>Write a.txt.\n\n- [ ] Task 1: make a\n  </action>"


@pytest.fixture(autouse=True)
def _no_identity_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def waiting(tmp_path: Path, *paths: str, agent: Told | None = None, box: str = "") -> Works:
    """A job that waits at the checkpoint behind the tasks that make these files."""
    plan = a_plan("01-01", *paths, extra=LOOK)
    site = Works(a_project(tmp_path / "p", plan), agent or Told(), slots=1)
    changed(site, "  <action>Write a.txt.</action>", box or "  <action>Write a.txt.</action>")
    assert site.run().job.status is JobStatus.BLOCKED
    site.agent.orders.clear()
    return site


def changed(site: Works, old: str, new: str) -> None:
    path = site.project / PLAN
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new, 1))
    git(site.project, "commit", "-q", "--allow-empty", "-am", "the plan")


def executed(site: Works) -> list[str]:
    return [task_of(order) for order in site.agent.orders if not order.is_read_only]


def gates(site: Works) -> tuple[TaskGate, ...]:
    return site.jobs.one("").gates


def test_another_verify_command_is_run_before_the_plan_is_done(tmp_path: Path) -> None:
    site = waiting(tmp_path, "a.txt")
    changed(site, "<verify>test -f a.txt", "<verify>test -f never-made.txt")
    site.answer("approved")
    report = site.run()
    assert (report.job.status, report.plans) == (JobStatus.BLOCKED, (("01-01", False),))
    assert "test -f never-made.txt" in report.job.note
    assert not (site.project / "a.txt").exists()


def test_a_task_that_is_put_in_front_is_given_to_somebody_and_nothing_before_is_lost(
    tmp_path: Path,
) -> None:
    site = waiting(tmp_path, "a.txt", "b.txt")
    changed(site, '<task type="auto">', f'{FRONT}<task type="auto">')
    site.answer("approved")
    asked = site.run()
    assert asked.job.status is JobStatus.BLOCKED  # what was approved was another work
    assert executed(site) == ["Task 1: make new.txt", "Task 1: make a.txt", "Task 2: make b.txt"]
    site.answer("approved")
    report = site.run()
    assert (report.job.status, report.kept_branches) == (JobStatus.DONE, ())
    assert all((site.project / name).exists() for name in ("new.txt", "a.txt", "b.txt"))
    summary = (site.project / PLAN.replace("PLAN", "SUMMARY")).read_text()
    assert "created: [a.txt, b.txt, new.txt]" in summary


def test_a_changed_task_and_those_after_it_stand_on_the_work_that_is_there(tmp_path: Path) -> None:
    there: list[list[str]] = []

    def looks(order: Order, call: int) -> object:
        if not order.is_read_only:
            there.append(sorted(each.name for each in Path(order.folder).glob("*.txt")))
        return does_it(order, call)

    site = waiting(tmp_path, "a.txt", "b.txt", "c.txt", agent=Told(looks))  # type: ignore[arg-type]
    there.clear()
    changed(site, "<action>Write b.txt.", "<action>Write b.txt, and well.")
    site.run()
    assert executed(site) == ["Task 2: make b.txt", "Task 3: make c.txt"]
    assert there == [["a.txt", "b.txt", "c.txt"]] * 2
    first, second, third = gates(site)
    assert (second.stands_on, third.runs[-1].base) == (third.runs[0].commit, second.work)
    assert len(first.runs) == 1
    site.answer("approved")
    assert site.run().job.status is JobStatus.DONE
    assert git(site.project, "merge-base", "--is-ancestor", third.work, "main") == ""


def test_a_box_that_is_ticked_and_a_blank_behind_it_change_no_task(tmp_path: Path) -> None:
    site = waiting(tmp_path, "a.txt", box=BOX)
    changed(site, "- [ ] Task 1: make a\n", "- [x] Task 1: make a (completed 2026-06-01)  \n")
    site.answer("approved")
    assert site.run().job.status is JobStatus.DONE
    assert executed(site) == []


def test_a_checkpoint_that_asks_something_else_is_answered_again(tmp_path: Path) -> None:
    site = waiting(tmp_path, "a.txt")
    changed(site, "<how-to-verify>Open it", "<how-to-verify>Open it in the dark")
    site.answer("approved")
    asked = site.run()
    assert asked.job.status is JobStatus.BLOCKED
    assert [(each.answer, "in the dark" in each.text) for each in asked.questions] == [("", True)]
    site.answer("approved")
    assert site.run().job.status is JobStatus.DONE
    assert executed(site) == []


def test_a_mend_is_not_lost_under_a_task_that_is_done_again_before_it(tmp_path: Path) -> None:
    def adds(order: Order, call: int) -> object:
        if not order.is_read_only:
            path = Path(order.folder) / "a.txt"
            path.write_text(f"{path.read_text() if path.exists() else ''}{call}\n")
            return {"status": "success", "done_criteria_met": True, "evidence": "made"}
        return does_it(order, call)

    site = waiting(tmp_path, "a.txt", agent=Told(adds))  # type: ignore[arg-type]
    site.answer("fix: once more")
    site.run()
    changed(site, "<done>a.txt exists", "<done>a.txt exists for good")
    site.run()
    site.answer("approved")
    assert site.run().job.status is JobStatus.DONE
    assert len((site.project / "a.txt").read_text().splitlines()) == 3


def test_what_is_asked_about_a_task_is_void_once_the_task_is_another(tmp_path: Path) -> None:
    def fails(order: Order, call: int) -> object:
        if "in blue" not in order.prompt:
            return {"status": "failure", "done_criteria_met": False, "error": "which colour?"}
        return does_it(order, call)

    site = Works(a_project(tmp_path / "p", a_plan("01-01", "a.txt")), Told(fails))  # type: ignore[arg-type]
    assert site.run().job.status is JobStatus.BLOCKED
    changed(site, "<action>Write a.txt.", "<action>Write a.txt in blue.")
    report = site.run()
    assert report.job.status is JobStatus.DONE
    assert [(each.answer, each.by) for each in report.questions] == [
        ("void: the task was changed", "policy")
    ]


def test_tasks_that_are_taken_out_at_the_end_do_not_keep_a_plan_from_ending(
    tmp_path: Path,
) -> None:
    site = waiting(tmp_path, "a.txt", "b.txt", "c.txt")
    text = (site.project / PLAN).read_text()
    second, look = (
        text.index(f'<task type="{each}') for each in ('auto">\n  <name>Task 2', "check")
    )
    changed(site, text[second:look], "")
    site.run()
    site.answer("approved")
    assert site.run().job.status is JobStatus.DONE
    assert executed(site) == []
    assert not (site.project / "c.txt").exists()


def _older(project: Path) -> None:
    """The records as a version wrote them that knew no digests of tasks."""
    for path in (project / ".planning/jobs").glob("*/[gq]*/*.json"):
        held = json.loads(path.read_text())
        held.pop("digest", None)
        path.write_text(json.dumps({**held, **({"about": ""} if "about" in held else {})}))


def _same(_: Path) -> None:
    pass


@pytest.mark.parametrize(("records", "calls"), [(_older, 0), (_same, 1)])
def test_a_gate_of_an_older_version_counts_as_before(
    tmp_path: Path, records: Callable[[Path], None], calls: int
) -> None:
    site = waiting(tmp_path, "a.txt")
    site.answer("approved")
    records(site.project)
    changed(site, "<done>a.txt exists", "<done>a.txt exists for good")
    report = site.run()
    if records is _older:  # its answer stands in no record of the person's, and is asked for again
        site.answer("approved")
        report = site.run()
    assert (len(executed(site)), report.job.status is JobStatus.DONE) == (calls, not calls)


def test_what_was_accepted_of_one_commit_is_not_accepted_of_another(tmp_path: Path) -> None:
    def deletes(order: Order, call: int) -> object:
        if not order.is_read_only:
            gone = "README.md" if "also" not in order.prompt else "LICENSE"
            (Path(order.folder) / gone).unlink(missing_ok=True)
        return does_it(order, call)

    project = a_project(tmp_path / "p", a_plan("01-01", "a.txt"))
    (project / "LICENSE").write_text("yours\n")
    git(project, "add", "--all")
    git(project, "commit", "-qm", "a licence")
    site = Works(project, Told(deletes))  # type: ignore[arg-type]
    site.run()
    site.answer("accept")
    changed(site, "<action>Write a.txt.", "<action>Write a.txt, also.")
    report = site.run()
    assert report.job.status is JobStatus.BLOCKED
    assert "LICENSE, README.md" in report.questions[0].text
