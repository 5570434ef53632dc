"""Rehearsing a phase with scripted agents, in a copy of the project or in place."""

import json
import os
from pathlib import Path

import pytest

from fairlead.project.derive.scan import scan
from tests.support.execution import PlanText, a_plan
from tests.support.killing import a_world
from tests.support.programs import Command, Outcome, Program, fairlead, run_here, start
from tests.support.repositories import git, written

PLANS = (a_plan("01-01", "a.txt"), a_plan("01-02", "b.txt", depends_on=["01-01"]))


def made_by_rehearsal(*plans):
    """The same plans, marked as made by a rehearsed planning."""
    mark = ("must_haves:", "rehearsed: true\nmust_haves:")
    return [(plan.id, plan.text.replace(*mark)) for plan in plans]


def executing(world: Path, *words: str) -> Command:
    """The command `phase execute 1` in its own project."""
    settings = {
        "XDG_CONFIG_HOME": str(world / "config"),
        "XDG_STATE_HOME": str(world / "state"),
        "GIT_CONFIG_NOSYSTEM": "1",
        "FAIRLEAD_NOW": "",
    }
    program = Program(fairlead().words, settings)
    return program.command(world / "project", "phase", "execute", "1", *words)


def executed(world: Path, *words: str) -> Outcome:
    """Run `phase execute 1` to its end."""
    return run_here(executing(world, *words))


def everything(folder: Path) -> dict[str, bytes | str]:
    """Every file and link below a folder, including those of git."""
    return {
        str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_symlink() or not path.is_dir()
    }


def complete(project: Path) -> int:
    """The number of complete plans."""
    return sum(plan.is_complete for folder in scan(str(project)).folders for plan in folder.plans)


@pytest.fixture
def world(tmp_path: Path) -> Path:
    return a_world(tmp_path, PLANS)


@pytest.mark.sweep(1)
@pytest.mark.parametrize("option", ["--events", "--slots=1"])
def test_a_run_with_a_closed_pipe_saves_and_exits_as_unfinished(world: Path, option: str) -> None:
    for id_, text in made_by_rehearsal(*PLANS):
        written(world / f"project/.planning/phases/01-work/{id_}-PLAN.md", text)
    words = ("--rehearse", "--here", "--approve", option)
    with start(executing(world, *words)) as child:
        assert child.stdout is not None
        assert child.stdout.readline()
        child.stdout.close()
        _, message = child.communicate()
    assert (child.returncode, b"Traceback" in message) == (6, False), message
    done = executed(world, *words)
    assert done.code == 0, done.text
    [job] = (world / "project/.planning/jobs").iterdir()
    kinds = [json.loads(line)["kind"] for line in (job / "events.jsonl").read_text().splitlines()]
    assert "interrupted" not in kinds


def test_a_rehearsal_leaves_the_project_unchanged_and_fails_twice(world: Path) -> None:
    written(world / "project/README.md", "work that is not committed\n")
    before = everything(world / "project")
    done = executed(world, "--rehearse", "--approve")

    assert done.code == 0, done.text
    assert everything(world / "project") == before
    [copy] = (world / "state/fairlead/rehearsals").glob("*/project")
    [job] = (copy / ".planning/jobs").iterdir()
    assert f"fairlead job show {job.name} --rehearsal" in done.text
    kinds = [json.loads(line)["kind"] for line in (job / "events.jsonl").read_text().splitlines()]
    assert (kinds.count("verify-failed"), kinds.count("rejected")) == (1, 1)
    summary = copy / ".planning/phases/01-work/01-01-SUMMARY.md"
    assert "\nrehearsed: true\n" in summary.read_text()
    assert complete(copy) == 0


def test_output_of_a_failed_command_is_indented(tmp_path: Path) -> None:
    message = "printf 'one\\ntwo\\033[31m\\n'; exit 3"
    world = a_world(tmp_path, (PlanText("01-01", [("a.txt", message)]),))
    done = executed(world, "--rehearse", "--approve")

    assert done.code == 5, done.text
    assert (
        f"3 failed attempts of 3; `{message}` ended with 3\n    | one\n    | two\\x1b[31m\n    answer: retry"
        in done.text
    )
    assert "\\x0a" not in done.text


def test_only_the_copies_that_were_used_last_are_kept(world: Path) -> None:
    above = world / "state/fairlead/rehearsals"
    for age in range(10):
        old = above / f"rehearsal-{age}/project/.planning/STATE.md"
        written(old, "old\n")
        os.utime(above / f"rehearsal-{age}", (1000 - age, 1000 - age))
    executed(world, "--rehearse")  # not approved, so it ends before an agent runs

    names = {path.name for path in above.iterdir()}
    assert len(names) == 8
    assert {f"rehearsal-{age}" for age in range(7)} < names


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
    assert ("01-01-SUMMARY.md" if rehearsed else "01-01-PLAN.md") in done.text
    assert "--here" in done.text
    assert everything(world / "project") == before


def test_the_preview_shows_limits_and_what_exceeds_them(world: Path) -> None:
    written(
        world / "project/.planning/config.json",
        '{"fairlead": {"budget": {"run_tokens": 5000, "run_usd": 2.5}}}\n',
    )
    done = executed(world, "--dry-run")
    assert "limits: 5,000 tokens and $2.50 a run, $100.00 a day; $0.00 spent today" in done.text
    assert "tokens, the limit is 5,000: you are asked when it is reached" in done.text
    document = json.loads(executed(world, "--dry-run", "--json").text)
    assert (document["limits"]["run_usd"], document["beyond_limits"][:8]) == (2.5, "this run")


def test_the_preview_and_the_run_note_approximate_limits(world: Path) -> None:
    settings = world / "config/fairlead/config.json"
    document = json.loads(settings.read_text())
    argv = document["fairlead"]["agents"]["stub"]["argv"]
    document["fairlead"]["agents"]["mute"] = {"argv": argv, "stream": "text"}
    settings.write_text(json.dumps(document))
    message = "mute reports neither tokens nor price"

    assert message in executed(world, "--dry-run", "--agent", "mute").text
    [note] = json.loads(executed(world, "--dry-run", "--agent=mute", "--json").text)["notes"]
    assert note.endswith("hold only roughly: 2,000,000 tokens and $20.00 a run, $100.00 a day")
    assert json.loads(executed(world, "--dry-run", "--json").text)["notes"] == []
    assert executed(world, "--dry-run", "--agent", "nobody").code == 2
    assert f"note  {message}" in executed(world, "--approve", "--agent", "mute").text


@pytest.mark.parametrize("option", ["--events", "--slots=1"])
def test_the_preview_and_the_run_warn_about_an_unknown_dependency(
    tmp_path: Path, option: str
) -> None:
    world = a_world(tmp_path, (a_plan("01-02", "a.txt", depends_on=["01-07"]),))
    message = "01-02 depends on 01-07, which is not a plan of this phase"

    assert f"⚠ {message}" in executed(world, "--dry-run").text
    document = executed(world, "--approve", option)
    assert (document.code, document.text.count(message)) == (0, 1)


def test_here_without_a_rehearsal_is_a_usage_error(world: Path) -> None:
    assert executed(world, "--here").code == 2


def test_a_real_run_replaces_a_rehearsal_in_the_project(world: Path) -> None:
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
    assert real.code == 0, real.text
    assert "rehearsed" not in (folder / "01-01-SUMMARY.md").read_text()
    assert complete(project) == 2
    assert len(git(project, "log", "--format=%s", "--grep=merge(01-01)").splitlines()) >= 1
