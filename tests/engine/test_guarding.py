"""Guarding when a run does not end as it should: stopped at once, or killed in the middle of a call."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from fairlead.engine.fanout import Signal
from fairlead.model.agent_events import Ending, EndKind
from fairlead.model.agent_orders import Order
from fairlead.model.job import JobStatus, QuestionKind
from tests.support.daily import a_workshop, plays, quick_plan
from tests.support.execution import Ticking, Told, Works, a_plan, a_project, does_it
from tests.support.repositories import git, written
from tests.support.roles import Answer as Given

Answer = Mapping[str, object] | Ending
Touch = Callable[[Path], object]
PHASE = ".planning/phases/01-work"
THIRD = a_plan("01-03", "c.txt").text
HOOK = ".git/hooks/post-checkout"


@pytest.fixture(autouse=True)
def _no_identity_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


class Killed(BaseException):
    """The process ends here."""


def works(tmp_path: Path, act: Callable[[Order, int], Answer]) -> Works:
    plans = a_plan("01-01", "a.txt"), a_plan("01-02", "b.txt", depends_on=["01-01"])
    return Works(a_project(tmp_path / "p", *plans), Told(act), Ticking(60))


def killed_in_a_call(tmp_path: Path, touch: Touch, *, is_review: bool = False) -> Works:
    """A run that died while an agent was at work, and an agent that does as it should from now on."""

    def dies(order: Order, call: int) -> Answer:
        if order.is_read_only is is_review:
            touch(site.project)
            raise Killed
        return does_it(order, call)

    site = works(tmp_path, dies)
    with pytest.raises(Killed):
        site.run()
    site.agent = Told()
    return site


def sightings(site: Works) -> Iterator[Path]:
    return Path(site.state.folder).glob("runs/*/*/seen/*.json")


def forged_gate(project: Path) -> None:
    [gate] = project.glob(".planning/jobs/*/gates/01-01-01.json")
    text = gate.read_text().replace("01-01-01", "01-02-01").replace("EXECUTING", "APPROVED")
    written(gate.parent / "01-02-01.json", text)


# -- proofs --------------------------------------------------------------------------------------

OTHER = ".planning/phases/02-more"


def forging(tmp_path: Path, path: str) -> Works:
    """An agent that writes a proof itself, into the tree of the person."""

    def forges(order: Order, call: int) -> Answer:
        if not order.is_read_only:
            written(site.project / path, "All done.\n")
        return does_it(order, call)

    site = Works(a_project(tmp_path / "p", a_plan("01-01", "a.txt")), Told(forges), Ticking(60))
    written(site.project / OTHER / "02-01-PLAN.md", a_plan("02-01", "b.txt").text)
    git(site.project, "add", "--all")
    git(site.project, "commit", "-qm", "another phase")
    return site


@pytest.mark.parametrize(
    "path",
    [f"{PHASE}/01-01-SUMMARY.md", f"{PHASE}/01-VERIFICATION.md", f"{OTHER}/02-01-SUMMARY.md"],
    ids=["summary", "verification", "of-another-phase"],
)
def test_a_proof_that_an_agent_wrote_ends_no_job(tmp_path: Path, path: str) -> None:
    site = forging(tmp_path, path)
    for _ in range(2):  # the next run does not believe it either
        report = site.run()
        assert report.job.status is JobStatus.BLOCKED
        [question] = report.questions
        assert path in question.text
        assert "All done" not in git(site.project, "log", "-p", "--all")


@pytest.mark.parametrize("name", ["notes.", "old ", "aux", "a\\b", "caf\udce9.md", "README.md"])
def test_whatever_else_lies_beside_the_phases_ends_no_run(tmp_path: Path, name: str) -> None:
    site = Works(a_project(tmp_path / "p", a_plan("01-01", "a.txt")), clock=Ticking(60))
    written(site.project / ".planning/phases" / name, "of somebody\n")
    assert site.run().job.status is JobStatus.DONE


def test_a_person_may_remove_a_forged_summary_and_go_on(tmp_path: Path) -> None:
    site = forging(tmp_path, f"{PHASE}/01-01-SUMMARY.md")
    site.run()
    (site.project / PHASE / "01-01-SUMMARY.md").unlink()
    site.answer("accept")
    site.agent = Told()
    assert site.run().job.status is JobStatus.DONE
    assert (site.project / "a.txt").exists()


def test_a_quick_task_proves_no_plan_of_a_phase(tmp_path: Path) -> None:
    forged = f"{PHASE}/01-01-SUMMARY.md"
    usual = plays(quick_plan("hello.txt"))

    def forges(order: Order, call: int) -> Given:
        written(workshop.stage.project / forged, "All done.\n")
        return usual["executor"](order, call)

    workshop = a_workshop(tmp_path, {**usual, "executor": forges})
    quick = workshop.quick
    report = quick.carry_out(quick.new("Add a greeting"), workshop.stage.company, workshop.hands())
    assert report.job.status is JobStatus.BLOCKED
    assert any(forged in each.text for each in report.questions)


def test_a_run_whose_plans_are_gone_still_says_how_it_ended(tmp_path: Path) -> None:
    def removes(order: Order, call: int) -> Answer:
        (site.project / PHASE / "01-01-PLAN.md").unlink(missing_ok=True)
        return does_it(order, call)

    site = Works(a_project(tmp_path / "p", a_plan("01-01", "a.txt")), Told(removes), Ticking(60))
    report = site.run()
    assert (report.job.status, report.plans) == (JobStatus.BLOCKED, (("01-01", False),))
    assert "01-01-PLAN.md" in report.questions[0].text


# -- stopped at once -----------------------------------------------------------------------------


@pytest.mark.parametrize("is_review", [False, True])
def test_what_an_agent_touched_is_asked_though_a_person_stopped_it(
    tmp_path: Path, is_review: bool
) -> None:
    stop, over = Signal(), Signal()

    def stopped(order: Order, call: int) -> Answer:
        if order.is_read_only is is_review:
            written(site.project / HOOK, "#!/bin/sh\n")
            stop.give()
            over.give()
            return Ending(EndKind.KILLED)
        return does_it(order, call)

    site = works(tmp_path, stopped)
    site.run(stop, over)
    site.agent = Told()
    again = site.run()
    assert again.job.status is JobStatus.BLOCKED
    assert [each.text for each in again.questions] == [
        f"while an agent worked on 01-01-01, this was changed: {HOOK}"
    ]
    assert site.agent.orders == []


# -- killed --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("touch", "named"),
    [
        (lambda project: written(project / HOOK, "#!/bin/sh\n"), HOOK),
        (lambda project: git(project, "config", "core.pager", "evil"), ".git/config"),
        (lambda project: written(project / ".planning/config.json", "{}"), "config.json"),
        (lambda project: written(project / PHASE / "01-03-PLAN.md", THIRD), "01-03-PLAN.md"),
        (lambda project: written(project / PHASE / "02-SUMMARY.md", "x"), "02-SUMMARY.md"),
        (lambda project: written(project.parent / "home/.gitconfig", "[a]\n"), ".gitconfig"),
        (forged_gate, "01-02-01.json"),
    ],
    ids=["hook", "git", "settings", "plan", "summary", "person-git", "gate"],
)
@pytest.mark.parametrize("is_review", [False, True])
def test_what_an_agent_touched_is_asked_though_its_run_was_killed(
    tmp_path: Path, touch: Touch, named: str, is_review: bool
) -> None:
    site = killed_in_a_call(tmp_path, touch, is_review=is_review)
    report = site.run()
    assert report.job.status is JobStatus.BLOCKED
    [question] = report.questions
    assert question.kind is QuestionKind.TOUCHED
    assert named in question.text
    assert site.agent.orders == []


def test_what_was_touched_is_asked_once(tmp_path: Path) -> None:
    site = killed_in_a_call(tmp_path, lambda project: written(project / HOOK, "#!/bin/sh\n"))
    site.run()
    site.answer("accept")
    assert site.run().job.status is JobStatus.DONE


def test_what_a_person_does_between_a_kill_and_the_next_run_is_theirs(tmp_path: Path) -> None:
    site = killed_in_a_call(tmp_path, lambda _: None)
    written(site.project / "README.md", "more\n")
    git(site.project, "commit", "-qam", "by hand")
    git(site.project, "branch", "mine")
    assert site.run().job.status is JobStatus.DONE


def test_a_run_that_is_killed_knows_afterwards_what_it_wrote_itself(tmp_path: Path) -> None:
    landed = threading.Event()

    class Heard(list[str]):
        def append(self, each: str) -> None:
            super().append(each)
            if each == "01-02 summarised":
                landed.set()

    def dies(order: Order, call: int) -> Answer:
        if "a.txt" in order.prompt:
            assert landed.wait(60)
            raise Killed
        return does_it(order, call)

    plans = a_plan("01-01", "a.txt"), a_plan("01-02", "b.txt")
    site = Works(a_project(tmp_path / "p", *plans), Told(dies), Ticking(60), happened=Heard())
    with pytest.raises(Killed):
        site.run()
    site.agent = Told()
    report = site.run()
    assert (report.job.status, report.questions) == (JobStatus.DONE, ())


def test_a_quick_task_that_is_killed_is_looked_at_as_well(tmp_path: Path) -> None:
    usual = plays(quick_plan("hello.txt"))

    def dies(order: Order, call: int) -> Given:
        written(workshop.stage.project / HOOK, "#!/bin/sh\n")
        raise Killed

    workshop = a_workshop(tmp_path, {**usual, "executor": dies})
    quick = workshop.quick
    task = quick.new("Add a greeting")
    with pytest.raises(Killed):
        quick.carry_out(task, workshop.stage.company, workshop.hands())
    workshop.stage.over = Signal()
    again = workshop.quick
    held = again.carry_out(again.found(task.id), workshop.stage.company, workshop.hands())
    assert held.job.status is JobStatus.BLOCKED
    assert [each.text.rpartition(": ")[2] for each in held.questions if not each.answer] == [HOOK]


# -- what is kept for it -------------------------------------------------------------------------


def test_what_was_seen_is_the_persons_own_and_goes_with_the_end_of_the_call(tmp_path: Path) -> None:
    def looks(order: Order, call: int) -> Answer:
        [path] = sightings(site)
        modes.append(path.stat().st_mode & 0o777)
        assert not path.is_relative_to(site.project)
        return does_it(order, call)

    modes: list[int] = []
    site = works(tmp_path, looks)
    assert site.run().job.status is JobStatus.DONE
    assert modes == [0o600] * 4
    assert list(sightings(site)) == []


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"plan": 1, "boot": 2, "digests": []}'])
def test_what_was_seen_and_cannot_be_read_any_more_is_asked(tmp_path: Path, text: str) -> None:
    site = killed_in_a_call(tmp_path, lambda _: None)
    [path] = sightings(site)
    written(path, text)
    [question] = site.run().questions
    assert question.text.endswith(str(path))


def test_after_a_loss_of_power_only_what_we_never_write_is_compared(tmp_path: Path) -> None:
    def touch(project: Path) -> None:
        written(project / HOOK, "#!/bin/sh\n")
        forged_gate(project)

    site = killed_in_a_call(tmp_path, touch)
    [path] = sightings(site)
    written(path, json.dumps({**json.loads(path.read_text()), "boot": "another"}))
    [question] = site.run().questions
    assert question.text.endswith(f": {HOOK}")
