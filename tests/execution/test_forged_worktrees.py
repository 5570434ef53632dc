"""Further ways in which an executor tries to make a failing verify command pass."""

import glob
import os
import subprocess
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from fairlead.agents.model import AgentCall
from fairlead.execution.model import ExecutionReport
from fairlead.jobs.model import JobStatus
from fairlead.project.derive.scan import scan
from tests.support.execution import (
    ExecutionTrial,
    FakeAgent,
    PlanText,
    SteppingClock,
    a_plan,
    a_project,
)
from tests.support.repositories import git, written

Forge = Callable[[Path, Path], object]  # the worktree and the main tree
ARCHIVED = ".planning/milestones/v1.0-phases/01-work/01-01-SUMMARY.md"


def a_trial(
    tmp_path: Path, forge: Forge, verify: str = "sh check.sh", check: str = "42"
) -> ExecutionTrial:
    """An executor that writes 41 and forges; the verify command looks for 42."""
    project = a_project(tmp_path / "p", PlanText("01-01", [("answer.txt", verify)]))
    written(project / "check.sh", f"grep -q {check} answer.txt\n")
    git(project, "add", "--all")
    git(project, "commit", "-qm", "a check")

    def act(order: AgentCall, _: int) -> Mapping[str, object]:
        if order.is_read_only:
            return {"verdict": "APPROVED", "confidence": "high"}
        written(Path(order.folder) / "answer.txt", "41\n")
        forge(Path(order.folder), project)
        return {"status": "success", "done_criteria_met": True, "evidence": "made", "error": None}

    return ExecutionTrial(project, FakeAgent(act), SteppingClock(60))


def blocked(trial: ExecutionTrial) -> ExecutionReport:
    report = trial.run()
    assert report.job.status is JobStatus.BLOCKED
    assert not (trial.project / "answer.txt").exists()
    return report


def _link(place: Path, main: Path) -> None:
    written(main.parent / "ok.sh", "exit 0\n")
    (place / "check.sh").unlink()
    (place / "check.sh").symlink_to(main.parent / "ok.sh")


def _encoding(place: Path, main: Path) -> None:
    written(place / ".gitattributes", "check.sh working-tree-encoding=UTF-16LE\n")
    (place / "check.sh").write_bytes("grep -q 42 answer.txt\n".encode("utf-16le"))


def _read_only_folder(place: Path, main: Path) -> None:
    written(place / "d/x", "x")
    (place / "d").chmod(0o500)
    written(place / "check.sh", "exit 0\n")


def _pipe(place: Path, main: Path) -> None:
    (place / ".git").unlink()
    os.mkfifo(place / ".git")


@pytest.mark.sweep(2)
@pytest.mark.parametrize("forge", [_link, _encoding, _read_only_folder, _pipe])
def test_a_forged_worktree_does_not_pass(tmp_path: Path, forge: Forge) -> None:
    blocked(a_trial(tmp_path, forge))


def test_a_file_hidden_by_the_agents_own_ignore_file_is_gone_at_verify(tmp_path: Path) -> None:
    def hides(place: Path, _: Path) -> None:
        written(place / "lib/.gitignore", "*\n")
        written(place / "lib/ok", "x")

    blocked(a_trial(tmp_path, hides, "test -f lib/ok"))


def test_a_file_hidden_by_the_repositorys_exclude_file_is_asked_about(tmp_path: Path) -> None:
    def hides(place: Path, main: Path) -> None:
        written(main / ".git/info/exclude", "helper\n")
        written(place / "helper", "x")

    trial = a_trial(tmp_path, hides, "test -f helper")
    assert ".git/info/exclude" in blocked(trial).questions[0].text
    assert "helper" not in (trial.project / ".git/info/exclude").read_text()


def test_a_replaced_object_changes_nothing_and_is_restored(tmp_path: Path) -> None:
    def replaces(_: Path, main: Path) -> None:
        words = ["git", "hash-object", "-w", "--stdin"]
        made = subprocess.run(words, cwd=main, input=b"exit 0\n", capture_output=True, check=True)
        git(main, "replace", git(main, "rev-parse", "HEAD:check.sh"), made.stdout.decode().strip())

    trial = a_trial(tmp_path, replaces)
    assert "refs/replace/" in blocked(trial).questions[0].text
    trial.answer("reject")
    assert git(trial.project, "replace", "-l") == ""


def test_a_moved_head_of_the_main_tree_is_restored(tmp_path: Path) -> None:
    trial = a_trial(tmp_path, lambda _, main: git(main, "checkout", "-q", "-b", "elsewhere"))
    blocked(trial)
    trial.answer("reject")
    assert git(trial.project, "symbolic-ref", "HEAD") == "refs/heads/main"


def test_a_summary_in_an_archived_milestone_is_put_aside(tmp_path: Path) -> None:
    trial = a_trial(tmp_path, lambda _, main: written(main / ARCHIVED, "done\n"))
    blocked(trial)
    assert not (trial.project / ARCHIVED).exists()


def test_a_summary_behind_a_linked_phase_folder_does_not_count(tmp_path: Path) -> None:
    def links(_: Path, main: Path) -> None:
        written(main.parent / "out/02-01-SUMMARY.md", "done\n")
        written(main.parent / "out/02-01-PLAN.md", a_plan("02-01", "z.txt").text)
        link = main / ".planning/phases/02-more"
        if not link.is_symlink():
            link.symlink_to(main.parent / "out")

    trial = a_trial(tmp_path, links)
    trial.run()
    plans = [plan for folder in scan(str(trial.project)).folders for plan in folder.plans]
    assert [plan.id for plan in plans if plan.is_complete] == []


def test_a_forged_gate_does_not_pass_its_task(tmp_path: Path) -> None:
    def forges(_: Path, main: Path) -> None:
        for gate in main.glob(".planning/jobs/*/gates/*.json"):
            written(gate, gate.read_text().replace("EXECUTING", "APPROVED"))

    trial = a_trial(tmp_path, forges)
    blocked(trial)
    trial.answer("reject")
    trial.run()
    assert not (trial.project / "answer.txt").exists()


def test_a_damaged_private_index_is_not_used(tmp_path: Path) -> None:
    def damages(_: Path, main: Path) -> None:
        pattern = f"{tempfile.gettempdir()}/fairlead-git-{os.getpid()}-*/indexes/*"
        for path in glob.glob(pattern):
            Path(path).write_bytes(b"damaged")

    assert a_trial(tmp_path, damages, check="41").run().job.status is JobStatus.DONE
