"""Verify judges the tree that would land, whatever an agent does to its worktree."""

import hashlib
import json
import os
import py_compile
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from fairlead.agents.model import AgentCall
from fairlead.jobs.context import RunOptions
from fairlead.jobs.model import JobStatus
from tests.support.execution import ExecutionTrial, FakeAgent, PlanText, SteppingClock, a_project
from tests.support.repositories import git, written

Forge = Callable[[Path], object]


def a_trial(tmp_path: Path, verify: str, files: Mapping[str, str], forge: Forge) -> ExecutionTrial:
    """A project whose verify command fails until `answer.txt` says 42; the agent only forges."""
    project = a_project(tmp_path / "p", PlanText("01-01", [("answer.txt", verify)]))
    for name, text in files.items():
        written(project / name, text)
    git(project, "add", "--all", "--force")
    git(project, "commit", "-qm", "a check")

    def act(order: AgentCall, _: int) -> Mapping[str, object]:
        if order.is_read_only:
            return {"verdict": "APPROVED", "confidence": "high"}
        written(Path(order.folder) / "answer.txt", "41\n")
        forge(Path(order.folder))
        return {"status": "success", "done_criteria_met": True, "evidence": "made", "error": None}

    return ExecutionTrial(project, FakeAgent(act), SteppingClock(60))


CHECK = {"check.sh": "grep -q 42 answer.txt\n"}


def _skip_worktree(place: Path) -> None:
    written(place / "check.sh", "exit 0\n")
    git(place, "update-index", "--skip-worktree", "check.sh")


def _assume_unchanged(place: Path) -> None:
    written(place / "check.sh", "exit 0\n")
    git(place, "update-index", "--assume-unchanged", "check.sh")


def _forged_stat_data(place: Path) -> None:
    """An index in which the old blob has the stat data of the new file."""
    old = git(place, "rev-parse", "HEAD:check.sh")
    written(place / "check.sh", "exit 0 " + "#" * (len(CHECK["check.sh"]) - 8) + "\n")
    past = 1_000_000_000
    os.utime(place / "check.sh", (past, past))  # long before the index
    git(place, "add", "check.sh")
    own = Path((place / ".git").read_text().removeprefix("gitdir: ").strip())
    new = git(place, "rev-parse", ":check.sh")
    index = (own / "index").read_bytes()
    forged = index[:-20].replace(bytes.fromhex(new), bytes.fromhex(old))
    (own / "index").write_bytes(forged + hashlib.sha1(forged, usedforsecurity=False).digest())
    assert git(place, "status", "--porcelain", "check.sh") == ""


def _same_size_and_time(place: Path) -> None:
    """A file of the same length with the time of the old one."""
    path = place / "check.sh"
    times = path.stat()
    written(path, "true " + "#" * (times.st_size - 6) + "\n")
    assert path.stat().st_size == times.st_size
    os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))


@pytest.mark.sweep(2)
@pytest.mark.parametrize(
    "forge",
    [_skip_worktree, _assume_unchanged, _forged_stat_data, _same_size_and_time],
)
def test_the_index_of_an_agent_does_not_decide_what_verify_sees(
    tmp_path: Path, forge: Forge
) -> None:
    trial = a_trial(tmp_path, "sh check.sh", CHECK, forge)
    report = trial.run()
    assert report.job.status is JobStatus.BLOCKED
    assert not (trial.project / "answer.txt").exists()


TEST = {
    "test_it.py": "import unittest\n\n\nclass It(unittest.TestCase):\n"
    "    def test_it(self):\n        self.assertIn('42', open('answer.txt').read())\n",
    ".gitignore": "__pycache__/\nnode_modules/\nbuild/\n",
}


def _planted_bytecode(place: Path) -> None:
    """A module that is used whatever its source says."""
    source = TEST["test_it.py"].replace("'42'", "'41'")
    written(place / "forged.py", source)
    tag = sys.implementation.cache_tag
    target = place / f"__pycache__/test_it.{tag}.pyc"
    mode = py_compile.PycInvalidationMode.UNCHECKED_HASH
    py_compile.compile(str(place / "forged.py"), str(target), invalidation_mode=mode)
    (place / "forged.py").unlink()


def test_planted_bytecode_does_not_decide_a_verify_command(tmp_path: Path) -> None:
    command = f"{sys.executable} -m unittest test_it"
    trial = a_trial(tmp_path, command, TEST, _planted_bytecode)
    assert trial.run().job.status is JobStatus.BLOCKED


def test_ignored_files_are_removed_before_verify(tmp_path: Path) -> None:
    trial = a_trial(
        tmp_path,
        "test -f build/ok",
        TEST,
        lambda place: written(place / "build/ok", ""),
    )
    assert trial.run().job.status is JobStatus.BLOCKED


def _with(trial: ExecutionTrial, setup: str = "") -> ExecutionTrial:
    trial.options = RunOptions(kept=("node_modules",), setup=setup)
    return trial


def test_a_dependency_folder_of_the_agent_is_used_and_said(tmp_path: Path) -> None:
    trial = _with(
        a_trial(
            tmp_path,
            "test -f node_modules/ok",
            TEST,
            lambda place: written(place / "node_modules/ok", ""),
        )
    )
    assert trial.run().job.status is JobStatus.DONE
    entries = [
        json.loads(line)
        for line in (trial.project / ".planning/ledger/01-01.jsonl").read_text().splitlines()
    ]
    said = [each["note"] for each in entries if each["kind"] == "verify"]
    remark = "node_modules: made or changed by the agent, and used by the verify command"
    assert said == [remark, f"on the merged tree; {remark}"]
    summary = (trial.project / ".planning/phases/01-work/01-01-SUMMARY.md").read_text()
    assert "node_modules: made or changed by the agent" in summary


def test_a_changed_dependency_folder_is_made_again_by_the_setup(tmp_path: Path) -> None:
    trial = _with(
        a_trial(
            tmp_path,
            "grep -q honest node_modules/ok",
            TEST,
            lambda place: written(place / "node_modules/ok", "forged\n"),
        ),
        setup="mkdir -p node_modules && echo honest > node_modules/ok",
    )
    assert trial.run().job.status is JobStatus.DONE


def test_an_unchanged_dependency_folder_stays(tmp_path: Path) -> None:
    counter = tmp_path / "counter"
    trial = _with(
        a_trial(tmp_path, "test -f node_modules/ok", TEST, lambda _: None),
        setup=f"mkdir -p node_modules && echo x > node_modules/ok && echo x >> {counter}",
    )
    assert trial.run().job.status is JobStatus.DONE
    assert counter.read_text() == "x\n"
    assert not (trial.project / "w").exists()


# -- the merged tree -----------------------------------------------------------------------------


def test_plans_that_pass_alone_and_fail_together_do_not_both_land(tmp_path: Path) -> None:
    both = "test ! -f a.txt || test ! -f b.txt"
    plans = (PlanText("01-01", [("a.txt", both)]), PlanText("01-02", [("b.txt", both)]))
    trial = ExecutionTrial(a_project(tmp_path / "p", *plans), clock=SteppingClock(60))
    report = trial.run()
    assert report.job.status is JobStatus.BLOCKED
    assert "on the merged tree" in report.questions[0].text
    assert [done for _, done in report.plans].count(True) == 1
    assert (trial.project / "a.txt").exists() != (trial.project / "b.txt").exists()


def test_the_result_on_the_merged_tree_is_recorded(tmp_path: Path) -> None:
    plan = PlanText("01-01", [("a.txt", "test -f a.txt"), ("b.txt", "test -f b.txt")])
    trial = ExecutionTrial(a_project(tmp_path / "p", plan), clock=SteppingClock(60))
    assert trial.run().job.status is JobStatus.DONE
    ledger = (trial.project / ".planning/ledger/01-01.jsonl").read_text().splitlines()
    entries = [json.loads(line) for line in ledger]
    merged = [each for each in entries if each.get("note") == "on the merged tree"]
    assert [each["task"] for each in merged] == ["01-01-01", "01-01-02"]
    assert {each["verdict"] for each in merged} == {"verify-passed"}
    kinds = [each["kind"] for each in entries]
    assert kinds.index("merge") > max(at for at, each in enumerate(kinds) if each == "verify")
