"""The facts for the rules: how the other tool reads folders and headings, and our own count."""

import re
from functools import cached_property
from itertools import pairwise
from typing import Any

from conformance.compared import Tree, key_of, our_folders
from conformance.counted import Contents
from conformance.mentions import Mentions, plain, struck
from fairlead.project.derive.inventory import Phase


class Facts:
    """The facts about one project."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.scope = tree.position.scope
        self.phases = {phase.id.short: phase for phase in self.scope.phases}
        self.mentions = Mentions(tree.roadmap_text)
        self.known: dict[str, Any] = tree.answer("folders") or {}
        self.their_folders = set(tree.answer("phases", "directories") or ())
        self.our_folders = set(our_folders(tree))
        self._counted: dict[str, Contents] = {}

    @cached_property
    def window(self) -> str:
        """The part of the roadmap that the other tool takes for the current milestone."""
        return str(self.tree.answer("window", "text") or "")

    @cached_property
    def their_keys(self) -> set[str]:
        """The phases that the other tool counts."""
        return {str(key_of(row["number"])) for row in self.tree.answer("stats", "phases") or ()}

    def named_there(self, key: str) -> list[str]:
        """The folders in which the other tool reads a number."""
        return [name for name, facts in self.known.items() if key_of(facts["key"]) == key]

    def counted_twice_there(self) -> list[str]:
        """Phases that the other tool counts twice, under the roadmap's name and a folder's name."""
        rows = self.tree.answer("stats", "phases") or ()
        keys = sorted(str(key_of(row["number"])) for row in rows)
        return [key for key, following in pairwise(keys) if key == following]

    def has_zeros(self, key: str) -> bool:
        """Whether one of its folders has a number with needless leading zeros."""
        return any(re.match(r"0\d\d", self.known[name]["key"]) for name in self.named_there(key))

    def matched_there(self, key: str) -> str:
        """The folder that the other tool finds for a phase: by its heading, else by its number."""
        found = self.tree.answer("matched") or {}
        by_number = next((name for name in self.named_there(key)), "")
        return next((name for number, name in found.items() if key_of(number) == key), by_number)

    def contents(self, key: str) -> Contents | None:
        """A phase's folder, counted again."""
        phase = self.phases.get(key)
        if phase is None or phase.folder is None:
            return None
        path = phase.folder.path
        if path not in self._counted:
            self._counted[path] = Contents(self.tree.folder / path)
        return self._counted[path]

    def here(self, key: str, what: str) -> bool:
        """Whether one of our phases is complete, by summaries or by verification."""
        contents = self.contents(key)
        return bool(contents and getattr(contents, what))

    def stage_here(self, key: str) -> str:
        """The stage of one of our phases."""
        contents = self.contents(key)
        return contents.stage if contents else "no_directory"

    def our_plans(self) -> int:
        """The number of plans in our folders."""
        return sum(len(found.plans) for key in self.phases if (found := self.contents(key)))

    def our_done(self) -> int:
        """The number of proven plans in our folders."""
        return sum(
            sum(found.plans.values()) for key in self.phases if (found := self.contents(key))
        )

    def verified_here(self) -> int:
        """The number of our verified phases."""
        return sum(self.here(key, "is_verified") for key in self.phases)

    def their_plans(self) -> int:
        """The number of plans in the other tool's folders."""
        return sum(len(self.known[name]["plans"]) for name in self.their_folders)

    def their_done(self) -> int:
        """The number of plans for which the other tool finds a summary."""
        return sum(sum(self.known[name]["plans"].values()) for name in self.their_folders)

    def state_folders(self) -> list[str]:
        """The folders that its state counts: none of a struck phase, one per number."""
        found: dict[str, str] = {}
        for name in sorted(self.tree.answer("window", "folders") or ()):
            key = str(key_of(self.known[name]["key"]))
            if key not in struck(self.window):
                found.setdefault(key, name)
        return list(found.values())

    def verified_keys_there(self) -> set[str]:
        """The phases that its state takes for complete."""
        names = [name for name in self.state_folders() if self.known[name]["is_complete"]]
        return {str(key_of(self.known[name]["key"])) for name in names}

    def verified_there(self) -> int:
        """The number of phases that its state takes for complete."""
        return len(self.verified_keys_there())

    def state_numbers(self) -> tuple[int, int, int, int]:
        """Plans done and in all, phases completed and in all, as its state derives them."""
        names = self.state_folders()
        plans = [self.known[name]["plans"] for name in names]
        retired = struck(self.window)
        headings = [
            key
            for key in plain(self.window)
            if key not in retired and key.partition(".")[0] not in ("0", "999")
        ]
        counts_headings = self.tree.answer("window", "counts_headings")
        rows = self.tree.answer("window", "complete_rows") or 0
        return (
            sum(sum(each.values()) for each in plans),
            sum(len(each) for each in plans),
            max(self.verified_there(), rows),
            max(len(names), len(headings)) if counts_headings else len(names),
        )


def folder_of(phase: Phase | None) -> str:
    """The name of a phase's folder; empty if it has none."""
    return phase.folder.path.rpartition("/")[2] if phase and phase.folder else ""
