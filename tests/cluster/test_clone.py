"""The clone of a worker: what it fetches, and what it leaves behind."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from fairlead.agents.model import CallLimits, CallSource
from fairlead.cluster.connection import ServerSettings
from fairlead.cluster.model import (
    CallAddress,
    CallKind,
    CallOrder,
    SentLimits,
    WorkerIdentity,
    encoded,
    report_of,
)
from fairlead.cluster.worker import CallRunner, SharedClone, WorkerOptions, worker_faults
from fairlead.core.values import replace
from fairlead.vcs.errors import BadRemote, GitFault
from tests.support.execution import a_plan, a_project
from tests.support.repositories import git, written


def a_clone(folder: Path) -> tuple[SharedClone, CallOrder, Path]:
    """A clone, an order whose commit is in the shared repository, and that repository."""
    project, shared = a_project(folder / "project", a_plan("01-01", "a.txt")), folder / "shared.git"
    git(folder, "init", "--quiet", "--bare", str(shared))
    commit = git(project, "rev-parse", "HEAD").strip()
    address = CallAddress("p", "j", "c")
    git(project, "push", "--quiet", str(shared), f"{commit}:{address.base_ref(commit)}")
    limits, source = SentLimits.of(CallLimits()), CallSource(commit)
    order = CallOrder(address, CallKind.AGENT, "fake", str(shared), source, limits)
    return SharedClone(str(folder / "worker"), str(shared)), order, shared


def test_a_commit_is_fetched_once(tmp_path: Path) -> None:
    clone, order, shared = a_clone(tmp_path)
    clone.prepare(order, str(tmp_path / "one"))
    git(shared, "update-ref", "-d", order.address.base_ref(order.source.commit))

    clone.prepare(order, str(tmp_path / "two"))

    assert (tmp_path / "two/README.md").exists()


def test_a_folder_that_is_left_out_is_deleted_and_what_a_link_leads_to_is_not(
    tmp_path: Path,
) -> None:
    _, order, shared = a_clone(tmp_path)
    project, outside = tmp_path / "project", tmp_path / "outside"
    written(outside / "jobs/kept.txt", "of somebody else\n")
    written(project / "apps/one/.planning/jobs/old.txt", "an answer\n")
    (project / "apps/two").symlink_to(outside)
    git(project, "add", "--all")
    git(project, "commit", "--quiet", "-m", "a link")
    commit = git(project, "rev-parse", "HEAD")
    git(project, "push", "--quiet", str(shared), f"{commit}:{order.address.base_ref(commit)}")
    runner = CallRunner(
        WorkerOptions(("verify",), 1, str(tmp_path / "worker"), ServerSettings()),
        WorkerIdentity("here", 1, 1),
    )

    def code_of(line: str, *left_out: str) -> int:
        source = CallSource(commit, "apps", left_out)
        made = replace(order, kind=CallKind.COMMAND, queue="verify", source=source, line=line)
        command = report_of(runner.perform(encoded(made), 1, lambda: True)).command
        assert command
        return command.exit_code

    assert code_of("test -d one/.planning/jobs") == 0
    assert code_of("test -d one/.planning/jobs", "one/.planning/jobs", "two/jobs") == 1
    assert (outside / "jobs/kept.txt").exists()
    runner.close()


def test_a_remote_that_is_refused_holds_no_clone(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(BadRemote):
            SharedClone(str(tmp_path), "ext::sh -c true")

    assert os.listdir(tmp_path) == ["0"]


def test_two_workers_of_one_user_never_share_a_clone(tmp_path: Path) -> None:
    first, order, shared = a_clone(tmp_path)
    second = SharedClone(str(tmp_path / "worker"), str(shared))

    for clone in (first, second):
        clone.prepare(order, f"{clone.runs}/one")
    first.close()
    third = SharedClone(str(tmp_path / "worker"), str(shared))

    assert first.runs == third.runs != second.runs
    assert not Path(first.runs).exists()  # what a worker leaves is deleted
    assert Path(second.runs, "one/README.md").exists()


def test_a_clone_is_free_again_when_its_worker_is_killed(tmp_path: Path) -> None:
    clone, order, shared = a_clone(tmp_path)
    clone.close()
    program = "import sys, time; from fairlead.cluster.worker import SharedClone as Clone; "
    program += "clone = Clone(*sys.argv[1:]); print(clone.runs, flush=True); time.sleep(600)"
    words = [sys.executable, "-c", program, str(tmp_path / "worker"), str(shared)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(words, stdout=subprocess.PIPE, env=environment, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline().strip() == clone.runs
        during = SharedClone(str(tmp_path / "worker"), str(shared))
        other.kill()

    after = SharedClone(str(tmp_path / "worker"), str(shared))

    assert during.runs != clone.runs == after.runs
    after.prepare(order, str(tmp_path / "one"))


def test_many_commits_leave_one_ref(tmp_path: Path) -> None:
    clone, order, shared = a_clone(tmp_path)
    project = tmp_path / "project"
    for at in range(3):
        git(project, "commit", "--quiet", "--allow-empty", "-m", f"{at}")
        commit = git(project, "rev-parse", "HEAD")
        git(project, "push", "--quiet", str(shared), f"{commit}:{order.address.base_ref(commit)}")
        clone.prepare(replace(order, source=CallSource(commit)), str(tmp_path / f"place-{at}"))

    assert clone.remote.fetched("refs/") == ("refs/kept/p",)


def test_a_commit_that_was_never_fetched_is_an_error(tmp_path: Path) -> None:
    clone, order, shared = a_clone(tmp_path)
    git(shared, "update-ref", "-d", order.address.base_ref(order.source.commit))

    for _ in range(2):
        with pytest.raises(GitFault):
            clone.prepare(order, str(tmp_path / "one"))


@pytest.mark.parametrize("is_read_only", [True, False])
def test_only_a_changed_tree_is_committed_and_no_branch_is_left(
    tmp_path: Path, is_read_only: bool
) -> None:
    clone, order, _ = a_clone(tmp_path)
    order = replace(order, is_read_only=is_read_only)
    place = tmp_path / "one"
    repository = clone.prepare(order, str(place))
    assert clone.commit(order, str(place))[1] == ""
    (place / "b.txt").write_text("b\n")

    tree, commit = clone.commit(order, str(place))

    assert repository.tree_id(commit) == tree.full
    assert repository.branches("") == ("main",)
    clone.release(str(place))
    clone.prepare(order, str(tmp_path / "two"))
    assert not place.exists()


def test_the_next_attempt_gets_the_worktree_and_finds_nothing_of_the_last_one(
    tmp_path: Path,
) -> None:
    clone, order, _ = a_clone(tmp_path)
    first, second = tmp_path / "one", tmp_path / "two"
    clone.prepare(order, str(first))
    number = (first / "README.md").stat().st_ino
    names = {path.name for path in first.iterdir()}
    written(first / "node_modules/of.js", "left\n")
    written(first / ".gitignore", "node_modules/\n")
    (first / ".planning/ROADMAP.md").unlink()

    clone.release(str(first))
    clone.prepare(order, str(second))

    assert (second / "README.md").stat().st_ino == number
    assert {path.name for path in second.iterdir()} == names
    assert (second / ".planning/ROADMAP.md").exists()


def test_a_worker_does_not_start_without_the_repository_it_was_given(tmp_path: Path) -> None:
    shared = tmp_path / "shared.git"
    options = WorkerOptions(("verify",), 1, str(tmp_path / "worker"), ServerSettings(), str(shared))
    (fault,) = worker_faults(options)
    assert fault.startswith(f"--remote {shared}: ")

    git(tmp_path, "init", "--quiet", "--bare", str(shared))
    assert worker_faults(options) == ()
