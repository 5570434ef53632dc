"""The rules of docs/reference/compatibility.md, as predictions.

A difference is intended only if both answers come out as a rule says: the reference tool's from its
own reading of each folder and heading, ours from `counted`. Every folder, phase and plan that makes
a difference needs its own cause; one without a cause is a fault of ours or a new one of the other
tool.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from conformance.compared import (
    Comparison,
    key_of,
    our_roadmap,
    percent_of,
    plans_percent,
    summarised_there,
)
from conformance.counted import is_damaged, key_of_folder
from conformance.facts import Facts, folder_of
from conformance.lines import PLAINLY, line_rule
from conformance.mentions import plain, theirs
from fairlead.core.ids import PhaseId

RULES = (
    "percent-withheld",
    "archived-milestone",
    "other-milestones",
    "phase-without-heading",
    "retired-phase",
    "example-in-a-fence",
    "unlisted-folder",
    "number-twice",
    "plan-names",
    "summary-names",
    "summary-proves-nothing",
    "verification-stale",
    "superseded-only",
    "nothing-of-nothing",
    "order-of-numbers",
    "folder-names",
    "stored-numbers",
    "damaged-frontmatter",
    *PLAINLY,
)
_PROGRESS = re.compile(r"^progress:(.*(?:\n[ \t]+.*)*)", re.MULTILINE)
_STORED = re.compile(
    r"(?:^ +|[{,] *)(completed_phases|completed_plans|percent):\s*[\"']?(\d+)", re.MULTILINE
)
_CURRENT_PHASE = re.compile(r"^current_phase:\s*[\"']?([\w.]+)", re.MULTILINE)
_PHASE_LINE = re.compile(r"^Phase:\s*(\d+[A-Z]?(?:\.\d+)*)\b", re.MULTILINE)
_BAR = re.compile(r"^\s*\**Progress:\**.*?(\d+)%", re.MULTILINE)


class Causes(Facts):
    """Why the answers about one project differ."""

    def of(self, each: Comparison) -> str:
        """The rule that predicts a difference; empty if none does."""
        words = each.field.split()
        if words[0] == "phase":
            return self._of_phase(words[1], words[2], each)
        question: Callable[[Comparison], str] = getattr(self, f"_{'_'.join(words)}")
        return question(each)

    # -- numbers -------------------------------------------------------------------------

    def _plans(self, each: Comparison) -> str:
        if (each.ours, each.theirs) != (self.our_plans(), self.their_plans()):
            return ""
        return _first([*self._folder_causes(), *self._file_causes("plans")])

    def _plans_completed(self, each: Comparison) -> str:
        if (each.ours, each.theirs) != (self.our_done(), self.their_done()):
            return ""
        return _first([*self._folder_causes(), *self._file_causes("done")])

    def _plans_percent(self, each: Comparison) -> str:
        if each.ours != plans_percent(self.our_done(), self.our_plans()):
            return ""
        if each.theirs is None:
            return (
                "percent-withheld"
                if self.tree.answer("progress", "phase_scope") != "complete"
                else ""
            )
        if each.theirs != plans_percent(self.their_done(), self.their_plans()):
            return ""
        return _first(
            [*self._folder_causes(), *self._file_causes("plans"), *self._file_causes("done")]
        )

    def _phases(self, each: Comparison) -> str:
        counted_twice = self.counted_twice_there()
        if (each.ours, each.theirs) != (
            len(self.phases),
            len(self.their_keys) + len(counted_twice),
        ):
            return ""
        twice = ["folder-names" if self.has_zeros(key) else "" for key in counted_twice]
        return _first([*map(self._cause_of_key, self.their_keys ^ set(self.phases)), *twice])

    def _phases_completed(self, each: Comparison) -> str:
        rows = self.tree.answer("stats", "phases") or ()
        there = {str(key_of(row["number"])) for row in rows if row["status"] == "Complete"}
        here = {key for key in self.phases if self.here(key, "is_verified")}
        return self._complete(each, here, there)

    def _phases_summarised(self, each: Comparison) -> str:
        here = {key for key in self.phases if self.here(key, "has_all_summaries")}
        return self._complete(each, here, summarised_there(self.tree))

    def _complete(self, each: Comparison, here: set[str], there: set[str]) -> str:
        if (each.ours, each.theirs) != (len(here), len(there)):
            return ""
        return _first(map(self._completion_cause, here ^ there))

    def _percent(self, each: Comparison) -> str:
        here = (self.our_done(), self.our_plans(), self.verified_here(), len(self.phases))
        if each.ours != percent_of(here, is_strict=True):
            return ""
        if each.theirs is None and self._is_withheld():
            return "percent-withheld"
        there = self.state_numbers()
        if not (self.tree.folder / ".planning" / "phases").is_dir():
            return self._bar_cause(each)
        front = self.tree.state_text.partition("\n---")[0]
        progress = "".join(_PROGRESS.findall(front)[-1:])
        stored = (
            {}
            if is_damaged(front)
            else {key: int(value) for key, value in _STORED.findall(progress)}
        )
        if any(
            stored.get(key, 0) > there[at]
            for key, at in (("completed_plans", 0), ("completed_phases", 2))
        ):
            return "stored-numbers" if each.theirs == stored.get("percent") else ""
        if not there[1] and not there[3]:
            return self._bar_cause(each)
        if each.theirs != percent_of(there):
            return ""
        return self._percent_cause(here, there)

    def _bar_cause(self, each: Comparison) -> str:
        bar = _BAR.search(self.tree.state_text)
        return "stored-numbers" if bar and each.theirs == int(bar[1]) else ""

    def _percent_cause(self, here: tuple[int, ...], there: tuple[int, ...]) -> str:
        """The first of the other tool's numbers that, corrected, changes its percentage."""
        was, numbers = percent_of(there), list(there)
        if there[2] > self.verified_there():
            numbers[2] = self.verified_there()
            if percent_of(numbers) != was:
                return "stored-numbers"
        numbers[3] = here[3]
        if percent_of(numbers) != was:
            return self._total_cause()
        numbers[2] = here[2]
        if percent_of(numbers) != was:
            keys = {
                key for key in self.phases if self.here(key, "is_verified")
            } ^ self.verified_keys_there()
            return _first(map(self._completion_cause, keys))
        numbers[:2] = here[:2]
        if percent_of(numbers) != was:
            return _first(
                [*self._folder_causes(), *self._file_causes("plans"), *self._file_causes("done")]
            )
        return "nothing-of-nothing" if not here[1] or not here[3] else ""

    def _is_withheld(self) -> bool:
        return (
            self.tree.answer("window", "scope") != "complete"
            or not self.tree.answer("window", "is_bounded")
            or not self.tree.state_text
            or not (self.their_plans() or self.their_keys)
        )

    # -- lists ---------------------------------------------------------------------------

    def _folders(self, each: Comparison) -> str:
        if each.ours != tuple(sorted(self.our_folders)) or each.theirs != tuple(
            sorted(self.their_folders)
        ):
            return ""
        return _first(self._folder_causes())

    def _roadmap(self, each: Comparison) -> str:
        assert isinstance(each.ours, tuple) and isinstance(each.theirs, tuple)  # noqa: PT018
        if each.ours != our_roadmap(self.tree):
            return ""
        differing = set(each.ours) ^ set(each.theirs)
        doubles = {key for key in each.theirs if each.theirs.count(key) > 1}
        causes = [self._listing_cause(key) for key in differing]
        return _first(
            causes + ["example-in-a-fence" for key in doubles if theirs(self.window).count(key) > 1]
        )

    def _current_phase(self, each: Comparison) -> str:
        return self._first_phase(each, ("planned", "partial"))

    def _next_phase(self, each: Comparison) -> str:
        return self._first_phase(each, ("empty", "no_directory", "discussed", "researched"))

    def _first_phase(self, each: Comparison, stages: tuple[str, ...]) -> str:
        here = next((key for key in our_roadmap(self.tree) if self.stage_here(key) in stages), None)
        rows = {
            str(key_of(row["number"])): row["disk_status"]
            for row in reversed(self.tree.answer("roadmap", "phases") or ())
        }
        if each.ours != here:
            return ""
        causes = []
        for key in (each.ours, each.theirs):
            if not isinstance(key, str):
                continue
            if (key in rows) != (key in our_roadmap(self.tree)):
                causes.append(self._listing_cause(key))
            elif rows[key] != self.stage_here(key):
                causes.append(self._stage_cause(key, rows[key]))
        common = [key for key in our_roadmap(self.tree) if key in rows]
        is_sorted = [key for key in reversed(rows) if key in common] == common
        return _first(causes) or ("" if causes or is_sorted else "order-of-numbers")

    def _position(self, each: Comparison) -> str:
        """The other tool reads only the body if the frontmatter is invalid YAML."""
        front, _, body = self.tree.state_text.partition("\n---")
        here, there = _CURRENT_PHASE.search(front), _PHASE_LINE.search(body)
        answers = tuple(key_of(found[1]) if found else None for found in (here, there))
        is_predicted = is_damaged(front) and bool(here) and (each.ours, each.theirs) == answers
        return "damaged-frontmatter" if is_predicted else ""

    def _line(self, each: Comparison) -> str:
        state = self.tree.folder / ".planning" / "STATE.md"
        return line_rule(state, str(each.ours), self.tree.ask_line)

    # -- one phase -----------------------------------------------------------------------

    def _of_phase(self, key: str, what: str, each: Comparison) -> str:
        contents = self.contents(key)
        here = {
            "plans": len(contents.plans) if contents else 0,
            "summaries": sum(contents.plans.values()) if contents else 0,
            "stage": self.stage_here(key),
        }
        if each.ours != here[what]:
            return ""
        if what == "stage":
            return self._stage_cause(key, str(each.theirs))
        plans = self.known.get(self.matched_there(key), {"plans": {}})["plans"]
        if each.theirs != (len(plans) if what == "plans" else sum(plans.values())):
            return ""
        return self._place_cause(key) or _first(
            self._causes_in(key, "plans" if what == "plans" else "done")
        )

    def _stage_cause(self, key: str, theirs: str) -> str:
        if theirs == "ok":
            return "phase-without-heading" if key not in self.mentions.headings else ""
        name = self.matched_there(key)
        predicted = _their_stage(self.known[name]) if name else "no_directory"
        is_early = theirs in ("empty", "discussed", "researched")
        if theirs != predicted and not (is_early and not predicted):
            return ""
        return self._place_cause(key) or self._completion_cause(key)

    def _completion_cause(self, key: str) -> str:
        """Why a phase of both tools is complete for only one of them."""
        if key not in self.phases or key not in self.their_keys:
            return self._cause_of_key(key)
        place = self._place_cause(key)
        contents = self.contents(key)
        if place or not contents:
            return place
        files = [*self._causes_in(key, "plans"), *self._causes_in(key, "done")]
        if files:
            return _first(files)
        facts = self.known.get(folder_of(self.phases[key]))
        if facts and str(key_of(facts["key"])) != key:
            return "folder-names"
        if self.has_zeros(key):
            return "folder-names"
        if contents.is_verified and is_damaged(contents.verification):
            return "damaged-frontmatter"
        if contents.passed and not contents.is_verified:
            return "verification-stale"
        return "superseded-only" if contents.pairs and not contents.plans else ""

    def _place_cause(self, key: str) -> str:
        """Why the other tool looks for a phase in another folder."""
        folder, there = folder_of(self.phases.get(key)), self.matched_there(key)
        if self.scope.is_archived:
            return "archived-milestone"
        if len(self.named_there(key)) > 1:
            return "number-twice"
        return "folder-names" if folder != there and (folder or there) else ""

    # -- causes --------------------------------------------------------------------------

    def _folder_causes(self) -> list[str]:
        found = [self._folder_cause(name) for name in sorted(self.their_folders ^ self.our_folders)]
        return [*found, "archived-milestone"] if self.scope.is_archived else found

    def _folder_cause(self, name: str) -> str:
        key = key_of_folder(name)
        if self.scope.is_archived:
            return "archived-milestone"
        if name in self.our_folders:
            return self._missed_folder(name, key)
        if not key:
            return "folder-names"
        if key in self.mentions.struck:
            return "retired-phase"
        if any(key_of_folder(other) == key for other in self.our_folders):
            return "number-twice"
        return "other-milestones" if self._is_elsewhere(key) else ""

    def _missed_folder(self, name: str, key: str) -> str:
        if key not in self.mentions.versions:
            return "unlisted-folder"
        if str(key_of(self.known[name]["key"])) != key:
            return "folder-names"
        return "other-milestones" if key not in theirs(self.window) else ""

    def _cause_of_key(self, key: str) -> str:
        """Why only one tool counts a phase."""
        folder = folder_of(self.phases.get(key))
        if folder and folder in self.our_folders - self.their_folders:
            return self._folder_cause(folder)
        there = [name for name in self.named_there(key) if name in self.their_folders]
        if key not in self.phases and there:
            return _first(map(self._folder_cause, there))
        return self._listing_cause(key)

    def _listing_cause(self, key: str) -> str:
        """Why only one tool finds a phase in the roadmap."""
        if self.scope.is_archived:
            return "archived-milestone"
        if key in our_roadmap(self.tree):
            if key not in self.mentions.headings:
                return "phase-without-heading" if key in self.mentions.versions else ""
            return "other-milestones" if key not in theirs(self.window) else ""
        if key in self.mentions.examples:
            return "example-in-a-fence"
        if key in self.mentions.struck:
            return "retired-phase"
        return "other-milestones" if self._is_elsewhere(key) else ""

    def _is_elsewhere(self, key: str) -> bool:
        """Whether the roadmap lists the number under other milestones, or before the current one."""
        if key in self.mentions.versions:
            return self.scope.milestone not in self.mentions.versions[key]
        first = next((phase.id for phase in self.scope.phases if phase.listed), None)
        return bool(self.scope.milestone) and first is not None and PhaseId.parse(key) < first

    def _total_cause(self) -> str:
        differing = [self._cause_of_key(key) for key in self.their_keys ^ set(self.phases)]
        if differing:
            return _first(differing)
        headings = plain(self.window)
        if len(headings) > len(set(headings)) or self.mentions.examples & set(headings):
            return "example-in-a-fence"
        without = set(our_roadmap(self.tree)) - set(headings)
        return "phase-without-heading" if without else ""

    def _file_causes(self, what: str) -> Iterator[str]:
        for key, phase in self.phases.items():
            if folder_of(phase) in self.their_folders:
                yield from self._causes_in(key, what)

    def _causes_in(self, key: str, what: str) -> Iterator[str]:
        """Why the tools read the plans of one folder differently, plan by plan."""
        contents, folder = self.contents(key), folder_of(self.phases.get(key))
        if contents is None or folder not in self.known:
            return
        there: dict[str, bool] = self.known[folder]["plans"]
        for plan in sorted(contents.plans.keys() | there):
            if plan not in contents.plans or plan not in there:
                yield "plan-names"
            elif what == "done" and contents.plans[plan] != there[plan]:
                yield "summary-names" if contents.plans[plan] else "summary-proves-nothing"


def _first(causes: Iterable[str]) -> str:
    """The first cause in the order of the rules; none if one element has no cause."""
    found = set(causes)
    return "" if "" in found else next((rule for rule in RULES if rule in found), "")


def _their_stage(facts: dict[str, Any]) -> str:
    if facts["is_complete"]:
        return "complete"
    if any(facts["plans"].values()):
        return "partial"
    return "planned" if facts["plans"] else ""
