"""Rehearsing a phase: the installed command with its scripted agents, in a copy or in place."""

import json
import os
from pathlib import Path

import pytest

from fairlead.store.scan import scan
from tests.support.execution import PlanText, a_plan
from tests.support.killing import a_world
from tests.support.programs import Command, Outcome, Program, fairlead, run, start
from tests.support.repositories import git, written

PLANS = (a_plan("01-01", "a.txt"), a_plan("01-02", "b.txt", depends_on=["01-01"]))


def made_by_rehearsal(*plans):
    """The same plans, as a rehearsed planning would have left them."""
    mark = ("must_haves:", "rehearsed: true\nmust_haves:")
    return [(each.id, each.text.replace(*mark)) for each in plans]


def executing(world: Path, *words: str) -> Command:
    """`phase execute 1` in a world of its own."""
    settings = {
        "XDG_CONFIG_HOME": str(world / "config"),
        "XDG_STATE_HOME": str(world / "state"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "FAIRLEAD_NOW": "",
    }
    program = Program(fairlead().words, settings)
    return program.command(world / "project", "phase", "execute", "1", *words)


def executed(world: Path, *words: str) -> Outcome:
    """The same, to its end."""
    return run(executing(world, *words))


def everything(folder: Path) -> dict[str, bytes | str]:
    """Every file and link below a folder, git's own among them."""
    return {
        str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or not path.is_dir()
    }


def complete(project: Path) -> int:
    """How many plans count as done."""
    return sum(plan.is_complete for each in scan(str(project)).folders for plan in each.plans)


@pytest.fixture
def world(tmp_path: Path) -> Path:
    return a_world(tmp_path, PLANS)


@pytest.mark.parametrize("manner", ["--events", "--slots=1"])
def test_a_run_whose_reader_goes_away_saves_and_says_that_it_is_not_done(
    world: Path, manner: str
) -> None:
    for id_, text in made_by_rehearsal(*PLANS):
        written(world / f"project/.planning/phases/01-work/{id_}-PLAN.md", text)
    words = ("--rehearse", "--here", "--approve", manner)
    with start(executing(world, *words)) as child:
        assert child.stdout is not None
        assert child.stdout.readline()
        child.stdout.close()
        _, said = child.communicate()
    assert (child.returncode, b"Traceback" in said) == (6, False), said
    done = executed(world, *words)
    assert done.code == 0, done.said
    [job] = (world / "project/.planning/jobs").iterdir()
    kinds = [json.loads(line)["kind"] for line in (job / "events.jsonl").read_text().splitlines()]
    assert "interrupted" not in kinds


def test_a_rehearsal_leaves_the_project_as_it_is_and_goes_wrong_twice(world: Path) -> None:
    written(world / "project/README.md", "work that is not committed\n")
    before = everything(world / "project")
    done = executed(world, "--rehearse", "--approve")

    assert done.code == 0, done.said
    assert everything(world / "project") == before
    [copy] = (world / "state/fairlead/rehearsals").glob("*/project")
    [job] = (copy / ".planning/jobs").iterdir()
    assert f"cd {copy} && fairlead job show {job.name}" in done.said
    kinds = [json.loads(line)["kind"] for line in (job / "events.jsonl").read_text().splitlines()]
    assert (kinds.count("verify-failed"), kinds.count("rejected")) == (1, 1)
    summary = copy / ".planning/phases/01-work/01-01-SUMMARY.md"
    assert "\nrehearsed: true\n" in summary.read_text()
    assert complete(copy) == 0


def test_what_a_failed_command_said_stands_on_lines_of_its_own(tmp_path: Path) -> None:
    said = "printf 'one\\ntwo\\033[31m\\n'; exit 3"
    world = a_world(tmp_path, (PlanText("01-01", [("a.txt", said)]),))
    done = executed(world, "--rehearse", "--approve")

    assert done.code == 5, done.said
    assert (
        f"2 retries; `{said}` ended with 3\n    | one\n    | two\\x1b[31m\n    answer: retry"
        in done.said
    )
    assert "\\x0a" not in done.said


def test_only_the_newest_three_copies_are_kept(world: Path) -> None:
    above = world / "state/fairlead/rehearsals"
    for age in range(5):
        old = above / f"rehearsal-{age}/project/.planning/STATE.md"
        written(old, "old\n")
        os.utime(above / f"rehearsal-{age}", (1000 - age, 1000 - age))
    executed(world, "--rehearse")  # not approved: it ends before anybody works

    names = sorted(each.name for each in above.iterdir())
    assert len(names) == 3
    assert {"rehearsal-0", "rehearsal-1"} < set(names)


@pytest.mark.parametrize("rehearsed", [(), ("01-01-PLAN.md", "01-02-PLAN.md")])
def test_rehearsing_here_is_refused_beside_anything_real(world: Path, rehearsed) -> None:
    folder = world / "project/.planning/phases/01-work"
    for id_, text in made_by_rehearsal(*PLANS) if rehearsed else ():
        written(folder / f"{id_}-PLAN.md", text)
    if rehearsed:
        written(folder / "01-01-SUMMARY.md", "---\nphase: 01-work\nplan: 01\n---\n\n# Done\n")
    before = everything(world / "project")
    done = executed(world, "--rehearse", "--here", "--approve")

    assert done.code == 4
    assert ("01-01-SUMMARY.md" if rehearsed else "01-01-PLAN.md") in done.said
    assert "leave out --here" in done.said
    assert everything(world / "project") == before


def test_the_preview_says_the_limits_and_what_would_go_beyond_them(world: Path) -> None:
    written(
        world / "project/.planning/config.json",
        '{"fairlead": {"budget": {"run_tokens": 5000, "run_usd": 2.5}}}\n',
    )
    done = executed(world, "--dry-run")
    assert "limits: 5,000 tokens and $2.50 a run, $100.00 a day; today $0.00 spent" in done.said
    assert "tokens, the limit is 5,000: a person is asked when it gets there" in done.said
    told = json.loads(executed(world, "--dry-run", "--json").said)
    assert (told["limits"]["run_usd"], told["beyond_limits"][:8]) == (2.5, "this run")


def test_the_preview_and_the_run_say_which_limits_hold_only_roughly(world: Path) -> None:
    settings = world / "config/fairlead/config.json"
    told = json.loads(settings.read_text())
    argv = told["fairlead"]["agents"]["stub"]["argv"]
    told["fairlead"]["agents"]["mute"] = {"argv": argv, "stream": "text"}
    settings.write_text(json.dumps(told))
    said = "mute tells neither tokens nor price"

    assert said in executed(world, "--dry-run", "--agent", "mute").said
    [note] = json.loads(executed(world, "--dry-run", "--agent=mute", "--json").said)["notes"]
    assert note.endswith("hold only roughly: 2,000,000 tokens and $20.00 a run, $100.00 a day")
    assert json.loads(executed(world, "--dry-run", "--json").said)["notes"] == []
    assert executed(world, "--dry-run", "--agent", "nobody").code == 0  # it needs none
    assert f"note  {said}" in executed(world, "--approve", "--agent", "mute").said


@pytest.mark.parametrize("manner", ["--events", "--slots=1"])
def test_the_preview_and_the_run_say_that_a_need_names_no_plan(tmp_path: Path, manner: str) -> None:
    world = a_world(tmp_path, (a_plan("01-02", "a.txt", depends_on=["01-07"]),))
    said = "01-02 depends on 01-07, which is no plan of this phase"

    assert f"⚠ {said}" in executed(world, "--dry-run").said
    told = executed(world, "--approve", manner)
    assert (told.code, told.said.count(said)) == (0, 1)


def test_here_without_a_rehearsal_is_a_wrong_use(world: Path) -> None:
    assert executed(world, "--here").code == 2


def test_what_was_rehearsed_here_is_replaced_by_a_real_run(world: Path) -> None:
    project = world / "project"
    folder = project / ".planning/phases/01-work"
    for id_, text in made_by_rehearsal(*PLANS):
        written(folder / f"{id_}-PLAN.md", text)
    assert executed(world, "--rehearse", "--here", "--approve").code == 0
    first = (folder / "01-01-SUMMARY.md").read_text()
    assert "\nrehearsed: true\n" in first
    assert complete(project) == 0

    assert executed(world, "--approve").code == 6, "a plan of a rehearsal is none"
    for each in PLANS:
        written(folder / f"{each.id}-PLAN.md", each.text)
    real = executed(world, "--approve", "--json")
    assert real.code == 0, real.said
    assert "rehearsed" not in (folder / "01-01-SUMMARY.md").read_text()
    assert complete(project) == 2
    assert len(git(project, "log", "--format=%s", "--grep=merge(01-01)").splitlines()) >= 1
