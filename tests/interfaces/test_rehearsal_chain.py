"""A rehearsal that is followed from an idea to a verified phase, one command after the other."""

import hashlib
import json
import shlex
from pathlib import Path

import pytest

from fairlead.app import App
from tests.conftest import Fairlead
from tests.support.repositories import a_repository, git, written

IDEA = "Ein Werkzeug für Nachbarn, die Bücher verleihen"
CHAIN = (
    ("phase", "discuss", "1"),
    ("phase", "plan", "1"),
    ("phase", "execute", "1", "--approve"),
    ("phase", "verify", "1", "--approve"),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A repository with one file and a name for commits, and no project yet."""
    place = a_repository(tmp_path / "shop", {"hello.txt": "hello\n"})
    git(place, "config", "user.name", "Ada")
    git(place, "config", "user.email", "ada@example.org")
    return place


def digest(folder: Path) -> str:
    """A digest of every file, those of git included."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        found.update(f"{path.relative_to(folder)}\0".encode())
        found.update(path.read_bytes() if path.is_file() else b"")
    return found.hexdigest()


def typed(fairlead: Fairlead, folder: Path, command: str) -> str:
    """Run a command as it was suggested, and return what it printed."""
    first, *words = shlex.split(command)
    assert first == "fairlead"
    done = fairlead(*words, cwd=folder)
    assert done.exit_code == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout


def following(shown: str) -> str:
    """The command after `next`, without its reason."""
    lines = [line.strip() for line in shown.splitlines()]
    [command] = [line.removeprefix("next").strip() for line in lines if line.startswith("next ")]
    return command.partition("   ")[0]


@pytest.mark.walk
def test_the_whole_way_can_be_walked_by_typing_what_each_command_suggests(
    fairlead: Fairlead, folder: Path
) -> None:
    before = digest(folder)
    shown = typed(fairlead, folder, f"fairlead new {shlex.quote(IDEA)} --rehearse")
    commands = []
    for _ in range(3):
        commands.append(following(shown))
        # What `rehearsal show` suggests is the same as what the command before it suggested.
        assert commands[-1] == following(typed(fairlead, folder, "fairlead rehearsal show"))
        shown = typed(fairlead, folder, commands[-1])
    assert "git has no user.name" not in shown
    commands.append(following(shown))
    shown = typed(fairlead, folder, commands[-1])
    assert [command.split()[2] for command in commands] == ["discuss", "plan", "execute", "verify"]
    assert all("--rehearse" in command and "--here" not in command for command in commands)

    shown = typed(fairlead, folder, "fairlead rehearsal show")
    assert IDEA in shown
    assert "verification passed" in shown
    assert following(shown) == "fairlead phase discuss 2 --rehearse"
    document = json.loads(typed(fairlead, folder, "fairlead rehearsal show --json"))
    copy = Path(document["folder"])
    assert following(typed(fairlead, copy, "fairlead status")) == document["next"]
    assert typed(fairlead, folder, "fairlead status --rehearsal") in shown
    jobs = json.loads(typed(fairlead, folder, "fairlead job list --rehearsal --json"))["jobs"]
    assert [job["kind"] for job in jobs] == ["new", "discuss", "plan", "execute", "verify"]
    assert git(copy, "log", "-1", "--format=%an").strip() == "Ada"
    # Nothing of it proves anything: the same files in a real project count nothing.
    assert all("rehearsed: true" in path.read_text() for path in copy.rglob("*-PLAN.md"))
    assert all("rehearsed: true" in path.read_text() for path in copy.rglob("*-SUMMARY.md"))

    assert digest(folder) == before
    assert fairlead("status", cwd=folder).exit_code == 2
    typed(fairlead, folder, "fairlead rehearsal discard")
    assert not copy.exists()
    assert fairlead("rehearsal", "show", cwd=folder).exit_code == 2
    assert digest(folder) == before


def test_a_rehearsal_in_the_project_is_taken_back_with_one_command(
    fairlead: Fairlead, folder: Path
) -> None:
    def state() -> tuple[str, str, str]:
        files = {
            str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and ".git" not in path.parts
        }
        refs = git(folder, "for-each-ref"), git(folder, "status", "--porcelain")
        return str(files), *refs

    before = state()
    options = ("--rehearse", "--here")
    for words in (("new", "A register for books"), *CHAIN[:3]):
        done = fairlead(*words, *options, cwd=folder)
        assert done.exit_code == 0, done.stdout + done.stderr
    # Whatever is suggested now works on rehearsed plans, and nothing of them counts.
    report = App(str(folder)).overview.status()
    assert report.progress.completed_plans == 0
    assert report.next.command == "fairlead phase plan 1 --replan"
    assert fairlead(*shlex.split(report.next.command)[1:], "--dry-run", cwd=folder).exit_code == 0
    for name in ("status", "next", "resume", "doctor"):
        assert "phase execute" not in fairlead(name, cwd=folder).stdout, name
    for words in (("verify", "1"), ("complete", "1"), ("execute", "1")):
        refused = fairlead("phase", *words, cwd=folder)
        assert refused.exit_code == 6
        assert "phase execute" not in refused.stderr, words
        assert "--replan" in refused.stderr or "fairlead next" in refused.stderr, words

    written(folder / "mine.txt", "mine\n")
    assert fairlead("rehearsal", "discard", cwd=folder).exit_code == 4, "not committed"
    git(folder, "add", "mine.txt")
    git(folder, "commit", "-qm", "my own work")
    refused = fairlead("rehearsal", "discard", "--json", cwd=folder)
    assert json.loads(refused.stdout)["error"]["code"] == "rehearsal-mixed"
    assert "my own work" in refused.stdout
    git(folder, "reset", "-q", "--hard", "HEAD~1")

    preview = json.loads(typed(fairlead, folder, "fairlead rehearsal discard --dry-run --json"))
    done = json.loads(typed(fairlead, folder, "fairlead rehearsal discard --json"))
    assert len(done["commits"]) == len(preview["commits"]) >= 6
    assert (Path(done["kept"]) / ".planning/ROADMAP.md").is_file()
    assert state() == before
    assert fairlead("rehearsal", "discard", cwd=folder).exit_code == 2


def test_a_rehearsal_begins_again_when_the_documents_have_changed(
    fairlead: Fairlead, folder: Path
) -> None:
    assert fairlead("init", "Shop", "--yes", cwd=folder).exit_code == 0
    assert fairlead("phase", "discuss", "1", "--rehearse", cwd=folder).exit_code == 0
    first = App(str(folder)).found_rehearsal()
    assert first is not None
    marked = Path(first.folder) / "marked"
    written(marked, "")
    again = fairlead("phase", "discuss", "1", "--again", "--rehearse", cwd=folder)
    assert (again.exit_code, "begins again" in again.stderr, marked.exists()) == (0, False, True)

    written(folder / ".planning/REQUIREMENTS.md", "# Requirements\n\nOther ones.\n")
    assert "have changed" in typed(fairlead, folder, "fairlead rehearsal show")
    again = fairlead("phase", "discuss", "1", "--rehearse", cwd=folder)
    assert (again.exit_code, "begins again" in again.stderr, marked.exists()) == (0, True, False)


def test_the_whole_way_takes_the_same_options(fairlead: Fairlead, folder: Path) -> None:
    for words in (("new", "A register"), *CHAIN):
        shown = fairlead(*words[:2], "--help", cwd=folder).stdout
        for option in ("--auto", "--approve", "--rehearse", "--here", "--agent", "--json"):
            assert option in shown, (words, option)
