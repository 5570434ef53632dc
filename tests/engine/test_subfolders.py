"""A project in a subfolder of its repository: everything is named and done from the project's folder."""

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from fairlead.adapters.copies import Copies
from fairlead.adapters.git import Git
from fairlead.errors import TreeDirty
from fairlead.model.agent_orders import Order
from fairlead.model.job import JobStatus
from fairlead.store import layout
from fairlead.wiring import workspace_of
from tests.support.execution import PlanText, Told, Works, a_plan, a_project, does_it
from tests.support.repositories import git, written

SUMMARY = ".planning/phases/01-work/01-01-SUMMARY.md"


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")


def works(tmp_path: Path, *plans: PlanText) -> Works:
    """A project in `apps/one` of a repository that holds something else beside it."""
    top = tmp_path / "r"
    project = a_project(top / "apps" / "one", *plans, is_git=False)
    written(top / "lib" / "l.txt", "somebody else's\n")
    written(top / ".gitignore", "/apps/state/\n")  # where the tests keep their worktrees
    git(top, "init", "-q", "-b", "main")
    git(top, "config", "user.name", "Somebody")
    git(top, "config", "user.email", "somebody@example.org")
    git(top, "add", "--all")
    git(top, "commit", "-qm", "first")
    return Works(project)


def also(act: Callable[[Path], None]) -> Told:
    """An executor that does something beside its task, in the folder it was given."""

    def does_more(order: Order, call: int) -> Mapping[str, object]:
        answer = does_it(order, call)
        if not order.is_read_only:
            act(Path(order.folder))
        return answer

    return Told(does_more)


def landed(site: Works) -> list[str]:
    """The files of the repository, without those of any memory."""
    paths = git(site.project.parents[1], "ls-files").splitlines()
    return [each for each in paths if "/.planning/" not in each]


def test_work_lands_in_the_folder_of_the_project(tmp_path: Path) -> None:
    site = works(tmp_path, PlanText("01-01", [("src/a.txt", "test -f src/a.txt -a -f README.md")]))
    assert site.run().job.status is JobStatus.DONE
    assert landed(site) == [
        ".gitignore",
        "apps/one/README.md",
        "apps/one/src/a.txt",
        "lib/l.txt",
    ]
    folders = {order.folder.removeprefix(str(tmp_path)) for order in site.agent.orders}
    assert all(each.endswith("/worktrees/01-01-01-r1/apps/one") for each in folders)
    summary = (site.project / SUMMARY).read_text()
    assert "created: [src/a.txt]" in summary
    assert "is not among the files of the task" not in summary


def test_the_documents_of_the_project_are_committed_and_never_in_the_way(tmp_path: Path) -> None:
    site = works(tmp_path, a_plan("01-01", "a.txt"))
    state = site.project / ".planning/STATE.md"
    written(state, state.read_text() + "\nA line that is not committed.\n")
    assert site.run().job.status is JobStatus.DONE
    assert git(site.project, "status", "--porcelain") == ""
    assert f"apps/one/{SUMMARY}" in git(site.project, "ls-files", "--full-name")


def test_what_an_agent_writes_into_the_memory_is_not_taken_over(tmp_path: Path) -> None:
    site = works(tmp_path, a_plan("01-01", "a.txt"))
    site.agent = also(lambda place: written(place / ".planning/STATE.md", "believe me\n"))
    assert site.run().job.status is JobStatus.DONE
    assert "believe me" not in (site.project / ".planning/STATE.md").read_text()
    [kept] = git(site.project, "branch", "--list", "--format=%(refname)", "fairlead/*").splitlines()
    assert git(site.project, "show", f"{kept}:apps/one/.planning/STATE.md") == "believe me"


def test_work_elsewhere_in_the_repository_is_dirty_and_another_memory_as_well(
    tmp_path: Path,
) -> None:
    site = works(tmp_path, a_plan("01-01", "a.txt"))
    written(site.project.parents[1] / "lib/l.txt", "changed\n")
    written(site.project.parents[1] / ".planning/STATE.md", "of another project\n")
    with pytest.raises(TreeDirty) as refused:
        site.run()
    assert "../../.planning/" in str(refused.value)
    assert "../../lib/l.txt" in str(refused.value)


def test_an_undeclared_deletion_elsewhere_stops_the_merge(tmp_path: Path) -> None:
    site = works(tmp_path, a_plan("01-01", "a.txt"))
    site.agent = also(lambda place: (place / "../../lib/l.txt").unlink())
    report = site.run()
    assert report.job.status is JobStatus.BLOCKED
    assert report.questions[0].text == "01-01 deletes files it did not declare: ../../lib/l.txt"


def test_a_file_that_the_repository_ignores_is_refused_by_its_name_in_the_project(
    tmp_path: Path,
) -> None:
    site = works(tmp_path, a_plan("01-01", "dist/a.txt"))
    written(site.project.parents[1] / ".gitignore", "dist/\n")
    [problem] = site.execution.preview("1").problems
    assert ": dist/a.txt could not land: " in problem


@pytest.mark.parametrize("half", ["apps/one/a.txt", "lib/l.txt", "lib/new/n.txt"])
def test_a_landing_that_was_killed_half_way_is_completed_there_too(
    tmp_path: Path, half: str
) -> None:
    site = works(tmp_path)
    top, place = site.project.parents[1], tmp_path / "w/a1"
    written(top / ".gitattributes", "*.txt text eol=crlf\n")
    git(top, "add", "--all")
    git(top, "commit", "-qm", "line ends")
    workspace = Git(str(site.project))
    old = workspace.commit_of("HEAD")
    workspace.prepare(str(place), old, "fairlead/j/a1")
    for name in ("apps/one/a.txt", "lib/l.txt", "lib/new/n.txt"):
        written(place / name, "new\n")
    tree = workspace.tree_of(str(place), old, layout.PLANNING)
    new = workspace.merged(old, workspace.keep(tree, old, "fairlead/j/a1", "feat"), "merge").commit
    written(top / half, "new\r\n")
    (top / ".git/index.lock").touch()  # of a git that was killed
    workspace.land("main", old, new, layout.PLANNING)
    assert git(top, "rev-parse", "HEAD") == new
    assert git(top, "status", "--porcelain") == ""


def test_a_clash_names_its_file_from_the_project(tmp_path: Path) -> None:
    site = works(tmp_path)
    workspace, place = Git(str(site.project)), tmp_path / "w/a1"
    base = workspace.commit_of("HEAD")
    workspace.prepare(str(place), base, "fairlead/j/a1")
    written(place / "apps/one/README.md", "theirs\n")
    tree = workspace.tree_of(str(place), base, layout.PLANNING)
    commit = workspace.keep(tree, base, "fairlead/j/a1", "feat")
    written(site.project / "README.md", "ours\n")
    git(site.project, "commit", "-qam", "ours")
    [clash] = workspace.merged(workspace.commit_of("HEAD"), commit, "merge").clashes
    assert (clash.path, clash.ours, clash.theirs) == ("README.md", "ours\n", "theirs\n")


def test_a_private_copy_is_one_of_the_whole_repository_and_goes_as_one(tmp_path: Path) -> None:
    site = works(tmp_path, a_plan("01-01", "a.txt"))
    written(site.project / ".planning/STATE.md", "as it is now\n")
    above = tmp_path / "copies"
    copies = Copies(str(above), layout.PLANNING)
    place = Path(copies.new(str(site.project)))
    assert (place / "../../lib/l.txt").exists()
    assert (place / ".planning/STATE.md").read_text() == "as it is now\n"
    assert workspace_of(str(place)).dirty_paths(layout.PLANNING) == ()
    assert copies.old(0) == (str(place),)
    copies.remove(str(place), ())
    assert list(above.iterdir()) == []
