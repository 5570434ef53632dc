"""An exchange with the shared repository is repeated while it is away, and only then."""

from pathlib import Path

import pytest

from fairlead.cluster.errors import RemoteUnreachable
from fairlead.cluster.outage import OutagePatience, exchanged
from fairlead.vcs.errors import GitFault
from fairlead.vcs.remote import RemoteRepository
from tests.support.repositories import a_repository, git


class Outage:
    """A shared repository that returns after so many pauses."""

    def __init__(self, folder: Path, pauses: int = 1) -> None:
        project = a_repository(folder / "project", {"a.txt": "a\n"})
        self.shared, self.hidden = folder / "shared.git", folder / "hidden.git"
        git(folder, "clone", "-q", "--bare", str(project), str(self.shared))
        objects = str(project / ".git/objects")
        self.remote = RemoteRepository(str(self.shared), str(folder / "private"), objects)
        self.left, self.tries = pauses, 0
        self.notes: list[str] = []
        self.shared.rename(self.hidden)

    def pause(self, _: float) -> None:
        """Let some time pass."""
        self.left -= 1
        if not self.left:
            self.hidden.rename(self.shared)

    def fetch(self, name: str = "refs/heads/main") -> str:
        """An exchange."""
        self.tries += 1
        self.remote.fetch(name)
        return self.remote.object_of(name)

    def patience(self, seconds: float) -> OutagePatience:
        """Patience with it."""
        return OutagePatience(seconds, self.pause, self.notes.append)


def test_an_exchange_is_repeated_until_the_repository_is_back(tmp_path: Path) -> None:
    outage = Outage(tmp_path, pauses=3)

    assert exchanged(outage.remote, outage.fetch, outage.patience(60.0))
    assert outage.tries == 4
    (note,) = outage.notes  # once, however long it takes
    assert note.startswith("waiting up to 60 s for the shared repository")


@pytest.mark.parametrize(("seconds", "is_wanted"), [(0.0, True), (60.0, False)])
def test_an_outage_that_is_too_long_or_not_waited_for_is_named(
    tmp_path: Path, seconds: float, is_wanted: bool
) -> None:
    outage = Outage(tmp_path)

    with pytest.raises(RemoteUnreachable, match=r"shared\.git"):
        exchanged(outage.remote, outage.fetch, outage.patience(seconds), lambda: is_wanted)
    assert outage.tries == 1


def test_a_fault_of_a_repository_that_answers_is_raised(tmp_path: Path) -> None:
    outage = Outage(tmp_path)
    outage.pause(0.0)

    with pytest.raises(GitFault):
        exchanged(outage.remote, lambda: outage.fetch("refs/heads/none"), outage.patience(60.0))
    assert outage.tries == 2  # it might have come back after the first one
    assert outage.notes == []
