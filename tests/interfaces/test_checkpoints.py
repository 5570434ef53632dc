"""The three kinds of human checkpoints through the command line: waiting, answer, continuation."""

import json
import shutil
from pathlib import Path

from tests.support.execution import a_plan, commits_of
from tests.support.killing import a_world, ran, result_of
from tests.support.programs import Outcome, Program, fairlead, run_here
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


def answered(world: Path, *words: str) -> Outcome:
    return called(world, "job", "answer", *words)


def output_of(world: Path, *words: str) -> str:
    return called(world, *words).output.decode()


def called(world: Path, *words: str) -> Outcome:
    # The settings and states of the user who started the run.
    homes = {f"XDG_{kind.upper()}_HOME": str(world / kind) for kind in ("config", "state")}
    return run_here(Program(fairlead().words, homes).command(world / "project", *words))


def run_of(world: Path) -> tuple[int, str]:
    run = ran(world)
    return run.code, run.errors.decode()


def test_each_kind_of_checkpoint_waits_and_continues_after_the_answer(tmp_path: Path) -> None:
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
        assert refused.code == 2
        assert right in refused.text
        assert answered(world, job.name, right, "--question", f"{kind}-{task}").code == 0
        assert json.loads(record.read_text())["answer"] == right
    assert run_of(world)[0] == 0
    found = result_of(world)
    assert (found.status, found.calls, len(found.merges)) == ("DONE", 2, 1)
    summary = (world / "project/.planning/phases/01-work/01-02-SUMMARY.md").read_text()
    assert "Which colour?" in summary
    assert "blue" in summary


def test_a_cancelled_job_leaves_its_record_committed(tmp_path: Path) -> None:
    world = a_world(tmp_path / "w", [a_plan("01-02", "a.txt", extra=VERIFY)])
    run_of(world)
    [job] = (world / "project/.planning/jobs").iterdir()
    assert called(world, "job", "cancel", job.name).code == 0
    assert git(world / "project", "status", "--porcelain") == ""
    assert "record the execution" in commits_of(world / "project")[0]
    assert '"FAILED"' in git(world / "project", "show", f"HEAD:.planning/jobs/{job.name}/job.json")


def test_every_possible_answer_is_shown_with_its_effect(tmp_path: Path) -> None:
    world = a_world(tmp_path / "w", [a_plan("01-02", "a.txt", extra=DECIDE)])
    words = ("phase", "execute", "1", "--approve")
    shown = [output_of(world, *words), output_of(world, "job", "show"), output_of(world, "next")]
    for each in shown:
        assert "blue: Blue; for it: p; against it: c" in each
        assert "answer: red" in each
        assert "answer: blue" in each


def test_an_unknown_question_cannot_be_answered(tmp_path: Path) -> None:
    world = a_world(tmp_path / "w", [a_plan("01-02", "a.txt", extra=VERIFY)])
    run_of(world)
    [job] = (world / "project/.planning/jobs").iterdir()
    assert answered(world, job.name, "approved", "--question", "decision-9").code == 2
    assert answered(world, "execute-of-nobody", "approved").code == 2
    assert answered(world, job.name, "approved").code == 0
    assert answered(world, job.name, "approved").code == 2


def test_a_resumed_run_keeps_its_options_unless_new_ones_are_given(tmp_path: Path) -> None:
    world = a_world(tmp_path / "w", [a_plan("01-02", "a.txt", extra=VERIFY)])

    def options_after(*more: str) -> tuple[str, int]:
        ran(world, *more)
        [record] = (world / "project/.planning/jobs").glob("*/job.json")
        record_of_run = json.loads(record.read_text())
        return record_of_run["model"], record_of_run["slots"]

    assert options_after("--model", "sonnet", "--slots", "3") == ("sonnet", 3)
    assert options_after("--model", "opus", "--slots", "1") == ("opus", 1)
    assert options_after() == ("opus", 1)


def test_a_repository_without_a_commit_differs_from_no_repository(tmp_path: Path) -> None:
    world = a_world(tmp_path / "w", [a_plan("01-02", "a.txt")])
    preview = ("phase", "execute", "1", "--dry-run")
    assert "work is merged into branch main" in output_of(world, *preview)
    git(world / "project", "update-ref", "-d", "HEAD")
    assert "git has no commit here yet (make one: git add -A" in output_of(world, *preview)
    shutil.rmtree(world / "project/.git")
    assert "not in a git repository: plans run one at a time" in output_of(world, *preview)
