"""A finished phase on disk, and a fake that runs its commands."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from fairlead.plans.documents import new_plan
from fairlead.plans.model import Artifact, CommandResult, Link, MustHaves, PlanDocument, Task
from fairlead.store.files import Files
from fairlead.vcs.git import Git
from fairlead.vcs.in_place import InPlace
from fairlead.verification.service import VerificationReport, Verifier, VerifyOptions
from tests.support.repositories import a_repository, git, written

ROADMAP = """\
# Roadmap

## Phases

- [ ] **Phase 1: Work**
- [ ] **Phase 2: More**

## Phase Details

### Phase 1: Work
**Goal**: It works
{criteria}
### Phase 2: More
**Goal**: More of it
"""
STATE = """\
---
gsd_state_version: '1.0'
status: executing
---

# State

## Current Position

Phase: 1 of 2 (Work)
Plan: 1 of 1 in current phase
Status: In progress
Last activity: 2026-06-01 — Plan 01-01 complete
"""
SUMMARY = """\
---
phase: 01-work
plan: 01
key-files:
  created: [{created}]
  modified: [{modified}]
completed: 2026-06-01
---

# Phase 1 Plan 1: Summary

**The work is done**

{body}
## Self-Check: PASSED
"""
HOME = ".planning/phases/01-work"


class FixedClock:
    """A fixed clock."""

    def now(self) -> datetime:
        return datetime(2026, 6, 1, 12, tzinfo=UTC)


@dataclass(slots=True)
class FakeCommands:
    """Returns given results and records the commands."""

    output: str = "1 passed in 0.01s"
    exit_code: int = 0
    act: Callable[[str], CommandResult] | None = None
    lines: list[str] = field(default_factory=list)

    def run(
        self,
        line: str,
        folder: str,
        limit: timedelta,
        is_wanted: Callable[[], bool] = lambda: True,
        source: object = None,
    ) -> CommandResult:
        self.lines.append(line)
        if self.act:
            return self.act(line)
        return CommandResult(self.exit_code, 0.1, "0" * 64, self.output)


@dataclass(frozen=True, slots=True)
class Done:
    """A finished phase with one plan."""

    files: Mapping[str, str] = field(default_factory=dict)  # of the project
    artifacts: Sequence[Artifact | str] = ()
    links: Sequence[Link] = ()
    truths: Sequence[str] = ("It works",)
    verify: str = "pytest -q"
    output: str = "1 passed in 0.01s"
    declared: Sequence[str] = ()  # beside the files
    modified: Sequence[str] = ()  # of the files, those that were there before
    summary: str = ""  # the body, or with frontmatter the complete text
    criteria: Sequence[str] = ()
    links_on_disk: Mapping[str, str] = field(default_factory=dict)  # symbolic links
    is_git: bool = False

    @property
    def plan(self) -> PlanDocument:
        """The plan."""
        files = (*self.files, *self.declared, *self.links_on_disk)
        arts = tuple(
            each if isinstance(each, Artifact) else Artifact(each) for each in self.artifacts
        )
        task = Task(
            1, "Task 1: Do the work", files=files, action="Do it.", verify=self.verify,
            is_automated=bool(self.verify), done="it works",
        )  # fmt: skip
        return PlanDocument(
            id="01-01", phase="01-work", number=1, wave=1, files=files, requirements=("WORK-01",),
            must_haves=MustHaves(tuple(self.truths), arts, tuple(self.links)),
            objective="Do the work.", tasks=(task,),
        )  # fmt: skip


def a_finished_phase(folder: Path, done: Done) -> Path:
    """Write the project to disk."""
    created = [path for path in done.files if path not in done.modified]
    text = SUMMARY.format(
        created=", ".join(created), modified=", ".join(done.modified), body=done.summary
    )
    criteria = "".join(f"  {at}. {each}\n" for at, each in enumerate(done.criteria, 1))
    head = f"**Success Criteria** (what must be TRUE):\n{criteria}" if criteria else ""
    documents = {
        ".planning/ROADMAP.md": ROADMAP.format(criteria=head),
        ".planning/STATE.md": STATE,
        f"{HOME}/01-01-PLAN.md": new_plan(done.plan),
        f"{HOME}/01-01-SUMMARY.md": done.summary if done.summary.startswith("---") else text,
    }
    if done.is_git:
        a_repository(folder, {"README.md": "a project\n"})
    for name, content in {**done.files, **documents}.items():
        written(folder / name, content)
    for name, target in done.links_on_disk.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).symlink_to(target)
    if done.is_git:
        git(folder, "add", "-A")
        git(folder, "commit", "-qm", "work")
    return folder


def verifier_in(folder: Path, commands: FakeCommands | None = None) -> Verifier:
    """A verifier for a project."""
    state = Files(str(folder.parent / f"{folder.name}-state"), staging=".staging")
    workspace = Git(str(folder)) if (folder / ".git").exists() else InPlace(str(folder))
    return Verifier(
        Files(str(folder)), state, FixedClock(), workspace, commands or FakeCommands(), lambda _: ""
    )


def verified(
    folder: Path, done: Done | None = None, options: VerifyOptions | None = None
) -> VerificationReport:
    """Verify phase 1 with approved commands."""
    if done is not None:
        a_finished_phase(folder, done)
    verifier = verifier_in(folder, FakeCommands(done.output) if done else None)
    verifier.approve(verifier.load("1"))
    return verifier.verify(verifier.load("1"), options or VerifyOptions())


def cases_of(name: str) -> dict[str, tuple[str, Done]]:
    """Read a file of labelled cases: by title, the expected rule and the phase."""
    text = (Path(__file__).parents[1] / "corpus" / name).read_text("utf-8")
    cases = {}
    for part in re.split(r"^## Case: ", text, flags=re.MULTILINE)[1:]:
        title, _, body = part.partition("\n")
        blocks = dict(re.findall(r"^~~~ (\S+)\n(.*?)^~~~$", body, re.MULTILINE | re.DOTALL))
        fields: dict[str, list[Any]] = {}
        for key, value in re.findall(r"^- (\w+): (.+)$", body.partition("~~~")[0], re.MULTILINE):
            fields.setdefault(key, []).append(json.loads(value))
        summary = blocks.pop("(summary)", "")
        rule = str(fields.get("rule", [""])[0])
        cases[title] = rule, Done(
            files=blocks,
            artifacts=[_artifact(each) for each in fields.get("artifact", ())],
            links=[Link(**each) for each in fields.get("link", ())],
            verify=fields.get("verify", ["pytest -q"])[0],
            output=fields.get("output", ["1 passed in 0.01s"])[0],
            declared=fields.get("declared", ()),
            summary=f"{summary}\n" if summary else "",
            links_on_disk={k: v for each in fields.get("symlink", ()) for k, v in each.items()},
            is_git="git" in fields,
        )  # fmt: skip
    return cases


def _artifact(keys: dict[str, Any]) -> Artifact:
    return Artifact(**{**keys, "exports": tuple(keys.get("exports", ()))})
