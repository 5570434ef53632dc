"""Planted weaknesses: each switches one defence off, so that the attacks it stops succeed.

They use the seams of the product: ports and arguments of the services. Only the filters of text
have no seam; they are replaced in the modules that call them.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fairlead.core.process import ProcessResult
from fairlead.core.values import replace
from fairlead.jobs.approvals import Answers
from fairlead.jobs.context import JobEnvironment
from fairlead.jobs.folder import JobFolder
from fairlead.jobs.model import JobRecord, Question
from fairlead.jobs.proofs import Proofs, ProvenText, proofs_of
from fairlead.vcs.copies import ScratchFolders
from fairlead.vcs.git import Git
from tests.attacks.arena import Arena, Weaken
from tests.attacks.by_reviewer import GUESSED

Prepare = Callable[[pytest.MonkeyPatch], object]


@dataclass(frozen=True, slots=True)
class Weakness:
    """One defence that is switched off, and attacks that succeed then."""

    what: str
    attacks: tuple[str, ...]
    shows: str  # how the success of an attack shows
    weaken: Weaken = lambda environment: environment
    prepare: Prepare = lambda _: None
    is_supervised: bool = True

    def arena(self, folder: Path, patch: pytest.MonkeyPatch) -> Arena:
        """An arena without the defence."""
        self.prepare(patch)
        return Arena(folder, patch, self.weaken, is_supervised=self.is_supervised)


def _with_workspace(kind: type[Git]) -> Weaken:
    def weaken(environment: JobEnvironment) -> JobEnvironment:
        workspace = kind(environment.files.folder)
        return replace(environment, workspace=workspace, scratch=ScratchFolders(workspace))

    return weaken


class _Unclean(Git):
    """Verify runs in the worktree as the agent left it."""

    def at_commit(self, place: str, commit: str, kept: Collection[str] = ()) -> None:
        """Change nothing."""

    def is_at(self, place: str, commit: str) -> bool:
        """Believe it."""
        return True


class _Unguarded(Git):
    """The tamper check sees neither refs nor the files of git."""

    def guard(self) -> Mapping[str, str]:
        """Nothing is guarded."""
        return {}


class _Unchecked(Git):
    """Git believes every object."""

    def require_intact(self) -> None:
        """Believe it."""


class _Trusting(_Unguarded):
    """Nothing is restored, and git uses the settings of the repository as they are now."""

    def _run(self, *words: str, **more: Any) -> ProcessResult:
        place = str(more.get("place", ""))
        if place:
            more["at"] = more.get("at") or place
        more["is_protected"] = False
        if words[0] in ("read-tree", "add", "write-tree", "clean", "diff", "ls-files"):
            # The index belongs to the worktree in which git runs.
            given = dict(more.get("more") or {})
            more["more"] = {**given, "GIT_WORK_TREE": place or self._top} if place else given
        return super()._run(*words, **more)


class _AnyAnswer(Answers):
    """Every answer in the repository counts as the person's."""

    def believed(self, job: JobRecord, questions: Iterable[Question]) -> tuple[Question, ...]:
        """Believe all of them."""
        return tuple(questions)


class _Credulous(JobEnvironment):
    """The answers of people count if they are in the repository."""

    @property
    def answers(self) -> Answers:
        return _AnyAnswer(self.state, self.files.folder)


class _FilesAreProofs(Proofs):
    """An answer counts as it lies in the folder of the job, if it lies there."""

    def __init__(self, folder: str, shown: str) -> None:
        super().__init__(folder)
        self._shown = shown

    def find(self, name: str) -> ProvenText | None:
        """The file in the repository, else the proof."""
        if not name.endswith(".md"):
            return super().find(name)
        try:
            with open(os.path.join(self._shown, name.replace("~", "/"))) as file:
                return ProvenText(file.read())
        except OSError:
            return super().find(name)

    def names(self) -> tuple[str, ...]:
        """The proofs, and the answers in the repository."""
        found = (path.relative_to(self._shown) for path in Path(self._shown).glob("raw/*/*.md"))
        return (*{*super().names(), *(str(path).replace("/", "~") for path in found)},)


class _Visible(JobEnvironment):
    """The proofs of a job are the files in its folder."""

    def proven_folder(self, job: str) -> JobFolder:
        place = f"{self.files.folder}/.planning/jobs/{job}"
        private = proofs_of(self.state.folder, self.files.folder, job)._folder
        return JobFolder(self.files.folder, job, proofs=_FilesAreProofs(private, place))


def _as(kind: type[JobEnvironment]) -> Weaken:
    return lambda old: kind(
        old.files, old.state, old.clock, old.workspace, old.scratch, old.new_token
    )


class _SharedScratch(ScratchFolders):
    """A scratch folder stays as the role before left it."""

    def make(self, place: str) -> None:
        """Use one folder for all."""
        shared = os.path.join(os.path.dirname(place), "shared")
        if not os.path.lexists(shared):
            super().make(shared)
        if not os.path.lexists(place):
            os.symlink(shared, place)

    def remove(self, place: str) -> None:
        """Keep it."""


def _shared(environment: JobEnvironment) -> JobEnvironment:
    workspace = environment.workspace
    assert isinstance(workspace, Git)
    return replace(environment, scratch=_SharedScratch(workspace))


def _unfiltered(patch: pytest.MonkeyPatch) -> None:
    switched_off = {
        "without_secrets": lambda text: (text, ()),
        "value_without_secrets": lambda value: value,
    }
    for module in [each for name, each in sys.modules.items() if name.startswith("fairlead.")]:
        for name, unfiltered in switched_off.items():
            if hasattr(module, name):
                patch.setattr(module, name, unfiltered)


WEAKNESSES = {
    "unclean-tree": Weakness(
        "verify runs in the worktree as the agent left it",
        ("skip-worktree", "ignored-build", "linked-script", "own-ignore-file"),
        "DONE",
        _with_workspace(_Unclean),
    ),
    "no-guard": Weakness(
        "the tamper check does not look at git",
        ("hook", "tag", "moved-branch", "alternates", "verify-time-hook", "path-program-changed"),
        "DONE",
        _with_workspace(_Unguarded),
    ),
    "unchecked-objects": Weakness(
        "git objects are accepted without checking their content",
        ("reviewer-forges-tree",),
        "DONE",
        _with_workspace(_Unchecked),
    ),
    "trusting-git": Weakness(
        "Fairlead runs git with the repository settings that an agent left",
        ("git-settings", "included-settings", "personal-git-settings"),
        "a planted program ran",
        _with_workspace(_Trusting),
    ),
    "no-supervisor": Weakness(
        "processes that an agent leaves behind keep running",
        ("late-writer", "late-summary"),
        "verdict is void|1 plans count as done|2 plans count as done|a process was left",
        is_supervised=False,
    ),
    "any-answer": Weakness(
        "answers count if they are in the repository",
        ("role-answers-for-person",),
        "the forged answer counted",
        _as(_Credulous),
    ),
    "files-are-proofs": Weakness(
        "a ballot counts if it is in the repository",
        ("ballot-of-another",),
        "no veto",
        _as(_Visible),
    ),
    "guessed-nonce": Weakness(
        "the nonce of a call can be guessed",
        ("verdict-in-the-work",),
        "the verdict counted",
        lambda environment: replace(environment, new_token=lambda: GUESSED),
    ),
    "shared-scratch": Weakness(
        "all seats of a council share one folder",
        ("seat-poisons-neighbours",),
        "read what another seat wrote",
        _shared,
    ),
    "unfiltered": Weakness(
        "secrets are not masked",
        ("secrets-in-result", "secrets-in-verify-output", "secrets-in-verdict"),
        "in a record",
        prepare=_unfiltered,
    ),
}
