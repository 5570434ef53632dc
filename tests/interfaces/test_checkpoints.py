"""The three kinds of human checkpoints, through the command line: waiting, answered, gone on with."""

import json
import shutil
import subprocess
from pathlib import Path

from tests.support.execution import a_plan, commits_of
from tests.support.killing import PATIENCE_SECONDS, a_world, result_of, started
from tests.support.programs import fairlead, scratch_environment
from tests.support.repositories import git

VERIFY = (
    '<task type="checkpoint:human-verify" gate="blocking">\n<what-built>A page</what-built>\n'
    "<how-to-verify>Open it</how-to-verify>\n<resume-signal>Say so</resume-signal>\n</task>\n"
)
DECIDE = (
    '<task type="checkpoint:decision" gate="blocking">\n<decision>Which colour?</decision>\n'
    '<context>It is seen</context>\n<options>\n<option id="red"><name>Red</name><pros>p</pros>'
    '<cons>c</cons></option>\n<option id="blue"><name>Blue</name><pros>p</pros><cons>c</cons>'
    "</option>\n</options>\n<resume-signal>Pick one</resume-signal>\n</task>\n"
)
ACT = (
    '<task type="checkpoint:human-action" gate="blocking">\n<action>Buy a domain</action>\n'
    "<instructions>Go to the shop</instructions>\n<verification>It is yours</verification>\n"
    "<resume-signal>Say done</resume-signal>\n</task>\n"
)


def answered(world: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return called(world, "job", "answer", *words)


def said(world: Path, *words: str) -> str:
    return called(world, *words).stdout


def called(world: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*fairlead().words, *words],
        cwd=world / "project",
        env={
            **scratch_environment(world),
            "XDG_CONFIG_HOME": str(world / "config"),
            "XDG_STATE_HOME": str(world / "state"),  # of the person whose run it is
        },
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
    )


def run_of(world: Path) -> tuple[int, str]:
    with started(world) as run:
        _, problems = run.communicate(timeout=PATIENCE_SECONDS)
    return run.returncode, problems


def test_each_kind_of_checkpoint_waits_with_a_record_and_goes_on_when_it_is_answered(
    installed_command: Path, tmp_path: Path
) -> None:
    world = a_world(tmp_path / "w", [a_plan("01-02", "a.txt", extra=VERIFY + DECIDE + ACT)])
    for kind, task, wrong, right in (
        ("human-verify", "01-02-02", "looks good", "approved"),
        ("decision", "01-02-03", "green", "blue"),
        ("human-action", "01-02-04", "later", "done"),
    ):
        code, problems = run_of(world)
        [job] = (world / "project/.planning/jobs").iterdir()
        assert (code, f"job answer {job.name}" in problems) == (6, True), problems
        [record] = job.rglob(f"{kind}-{task}.json")
        assert json.loads(record.read_text())["answer"] == ""
        refused = answered(world, job.name, wrong)
        assert refused.returncode == 2
        assert right in refused.stderr
        assert answered(world, job.name, right, "--question", f"{kind}-{task}").returncode == 0
        assert json.loads(record.read_text())["answer"] == right
    assert run_of(world)[0] == 0
    found = result_of(world)
    assert (found.status, found.calls, len(found.merges)) == ("DONE", 2, 1)
    summary = (world / "project/.planning/phases/01-work/01-02-SUMMARY.md").read_text()
    assert "Which colour?" in summary
    assert "blue" in summary


def test_a_job_that_is_cancelled_leaves_its_record_committed(
    installed_command: Path, tmp_path: Path
) -> None:
    world = a_world(tmp_path / "w", [a_plan("01-02", "a.txt", extra=VERIFY)])
    run_of(world)
    [job] = (world / "project/.planning/jobs").iterdir()
    assert called(world, "job", "cancel", job.name).returncode == 0
    assert git(world / "project", "status", "--porcelain") == ""
    assert "the record of its execution" in commits_of(world / "project")[0]
    assert '"FAILED"' in git(world / "project", "show", f"HEAD:.planning/jobs/{job.name}/job.json")


def test_every_answer_is_shown_with_what_it_means(installed_command: Path, tmp_path: Path) -> None:
    world = a_world(tmp_path / "w", [a_plan("01-02", "a.txt", extra=DECIDE)])
    words = ("phase", "execute", "1", "--approve")
    shown = [said(world, *words), said(world, "job", "show"), said(world, "next")]
    for each in shown:
        assert "blue: Blue; for it: p; against it: c" in each
        assert "answer: red" in each
        assert "answer: blue" in each


def test_a_question_that_is_not_there_cannot_be_answered(
    installed_command: Path, tmp_path: Path
) -> None:
    world = a_world(tmp_path / "w", [a_plan("01-02", "a.txt", extra=VERIFY)])
    run_of(world)
    [job] = (world / "project/.planning/jobs").iterdir()
    assert answered(world, job.name, "approved", "--question", "decision-9").returncode == 2
    assert answered(world, "execute-of-nobody", "approved").returncode == 2
    assert answered(world, job.name, "approved").returncode == 0
    assert answered(world, job.name, "approved").returncode == 2


def test_a_run_goes_on_as_it_was_begun_unless_it_is_told_otherwise(
    installed_command: Path, tmp_path: Path
) -> None:
    world = a_world(tmp_path / "w", [a_plan("01-02", "a.txt", extra=VERIFY)])

    def said(*more: str) -> tuple[str, int]:
        with started(world, *more) as run:
            run.communicate(timeout=PATIENCE_SECONDS)
        [record] = (world / "project/.planning/jobs").glob("*/job.json")
        held = json.loads(record.read_text())
        return held["model"], held["slots"]

    assert said("--model", "sonnet", "--slots", "3") == ("sonnet", 3)
    assert said("--model", "opus", "--slots", "1") == ("opus", 1)
    assert said() == ("opus", 1)


def test_a_repository_without_a_commit_is_not_taken_for_none(
    installed_command: Path, tmp_path: Path
) -> None:
    world = a_world(tmp_path / "w", [a_plan("01-02", "a.txt")])
    preview = ("phase", "execute", "1", "--dry-run")
    assert "work lands on branch main" in said(world, *preview)
    git(world / "project", "update-ref", "-d", "HEAD")
    assert "git has no commit here yet (make one: git add -A" in said(world, *preview)
    shutil.rmtree(world / "project/.git")
    assert "there is no git here: one plan at a time" in said(world, *preview)
