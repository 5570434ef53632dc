"""The rules of docs/reference/compatibility.md, as predicates.

A rule says when a difference is one that is meant: it looks at the tree, not at its name, and
asks for the cause to be there. A difference that no rule explains is a fault, ours or a new one
of theirs.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from conformance.compared import Comparison, Tree, key_of, our_folders, our_roadmap
from fairlead.model.inventory import Folder, Phase, Plan, Proof
from fairlead.records.naming import folder_name, is_plan

_HEADING = re.compile(
    r"^#{2,4}\s*(?:\[[^\]]*\]\s*)?Phase\s+([\w][\w.-]*)(?:\s*\([^)\n]*\))?\s*:", re.MULTILINE
)
_FOLDER = re.compile(r"[0-9]{2,}[A-Z]?(?:\.[0-9]+)*-(?![0-9]{2}-)[^0-9]")
_THEIR_PLAN = re.compile(r"(^|-)PLAN(-\d+.*)?\.md$", re.IGNORECASE)
_NEVER = re.compile(r"-OUTLINE\.md$|\.pre-bounce\.md$|-PLAN-REVIEW\.md$|SUMMARY\.md$")
_COUNTS = ("plans", "plans completed", "plans percent", "phases", "phases completed", "percent")
_LISTS = ("roadmap", "folders", "current phase", "next phase")


@dataclass(frozen=True, slots=True)
class Rule:
    """One meant difference."""

    id: str
    explains: Callable[[Tree, Comparison], bool]


def rule_for(tree: Tree, difference: Comparison) -> str:
    """The first rule that explains a difference; empty if none does."""
    return next((rule.id for rule in RULES if rule.explains(tree, difference)), "")


# -- causes -----------------------------------------------------------------------------------


def _percent_withheld(_tree: Tree, each: Comparison) -> bool:
    return each.field in ("percent", "plans percent") and each.theirs is None


def _stored_numbers(tree: Tree, each: Comparison) -> bool:
    """Their percentage is not what their own counting commands give."""
    if each.field != "percent":
        return False
    plans = (tree.answer("progress", "total_summaries"), tree.answer("progress", "total_plans"))
    phases = (tree.answer("stats", "phases_completed"), tree.answer("stats", "phases_total"))
    parts = [done / total for done, total in (plans, phases) if total]
    own = int(100 * min(parts) + 0.5) if parts else 0
    return each.theirs != own


def _archived(tree: Tree, each: Comparison) -> bool:
    return tree.standing.scope.is_archived and each.field in (*_COUNTS, *_LISTS)


def _other_milestones(tree: Tree, each: Comparison) -> bool:
    """They count folders or phases that the roadmap gives to another milestone."""
    if each.field not in (*_COUNTS, *_LISTS):
        return False
    extra = (_their_folder_ids(tree) | _their_phases(tree)) - _our_phases(tree)
    return bool(extra & (_elsewhere(tree) - _retired_phases(tree)))


def _unlisted_shape(tree: Tree, each: Comparison) -> bool:
    """They see no phase that has no heading of its own."""
    shapeless = set(our_roadmap(tree)) - _with_heading(tree)
    if each.field.startswith("phase ") and each.field.endswith(" stage"):
        return each.theirs == "ok" and each.field.split()[1] in shapeless
    fields = ("roadmap", "current phase", "next phase", "phases", "percent")
    return each.field in fields and bool(shapeless)


def _collapsed(tree: Tree, each: Comparison) -> bool:
    """They do not look into a collapsed block."""
    missed = set(our_roadmap(tree)) - _their_phases(tree)
    fields = ("roadmap", "current phase", "next phase", "phases", "percent")
    return each.field in fields and bool(missed) and "<details" in tree.roadmap_text.lower()


def _retired(tree: Tree, each: Comparison) -> bool:
    """They still count the folder of a phase that the roadmap has struck out."""
    extra = (_their_folder_ids(tree) | _their_phases(tree)) - _our_phases(tree)
    return each.field in (*_COUNTS, *_LISTS) and bool(extra & _retired_phases(tree))


def _fenced(tree: Tree, each: Comparison) -> bool:
    """They count a phase that stands in a fence or a comment only."""
    extra = _their_phases(tree) - _our_phases(tree)
    known = {phase.id.short for phase in tree.inventory.roadmap.phases}
    fields = ("roadmap", "phases", "next phase", "current phase", "percent")
    return each.field in fields and bool(extra - known)


def _unlisted_folder(tree: Tree, each: Comparison) -> bool:
    """We count an active folder that no milestone claims."""
    extra = set(our_folders(tree)) - set(tree.answer("phases", "directories") or ())
    unlisted = {
        phase.folder.path.rpartition("/")[2]
        for phase in tree.standing.scope.phases
        if phase.folder and not phase.listed
    }
    return each.field in (*_COUNTS, "folders") and bool(extra & unlisted)


def _plan_names(tree: Tree, each: Comparison) -> bool:
    """A file that one of us takes for a plan and the other does not."""
    is_about_plans = _concerns_proof(each) or each.field in ("plans", "next phase")
    is_about_plans = is_about_plans or each.field.endswith(" plans")
    names = [
        path.name
        for phase in _phases(tree, each)
        if phase.folder
        for path in (tree.folder / phase.folder.path).iterdir()
    ]
    return is_about_plans and any(is_plan(name) != _their_plan(name) for name in names)


def _folder_names(tree: Tree, each: Comparison) -> bool:
    """A folder whose number one of us reads and the other does not."""
    names = {folder.path.rpartition("/")[2] for folder in tree.inventory.folders}
    names |= set(tree.answer("phases", "directories") or ())
    odd = [name for name in names if not _FOLDER.match(name)]
    is_about = each.field in (*_COUNTS, *_LISTS) or each.field.startswith("phase ")
    return is_about and bool(odd)


def _pairing(tree: Tree, each: Comparison) -> bool:
    """A summary proves a plan under a name that they do not pair."""
    found = [plan for plan in _plans(tree, each) if plan.is_complete and not _they_pair(plan)]
    return _concerns_proof(each) and bool(found)


def _proof(tree: Tree, each: Comparison) -> bool:
    """A summary that is empty, or says that it failed, proves nothing."""
    found = [plan for plan in _plans(tree, each) if plan.proof in (Proof.EMPTY, Proof.FAILED)]
    return _concerns_proof(each) and bool(found)


def _verification(tree: Tree, each: Comparison) -> bool:
    """Passed, but a plan is open or was finished later: by the files, not by their times."""
    fields = ("phases completed", "percent", "current phase")
    is_stage = each.field.endswith(" stage")
    stale = [
        phase
        for phase in _phases(tree, each)
        if phase.folder
        and phase.folder.verification
        and phase.folder.verification.status == "passed"
        and phase.folder.verification.is_stale
    ]
    return (each.field in fields or is_stage) and bool(stale)


def _superseded_only(tree: Tree, each: Comparison) -> bool:
    found = [
        phase
        for phase in _phases(tree, each)
        if phase.folder and phase.folder.plans and not phase.folder.live_plans
    ]
    fields = ("current phase", "next phase", "phases completed", "percent")
    return (each.field in fields or each.field.endswith(" stage")) and bool(found)


def _duplicate(tree: Tree, each: Comparison) -> bool:
    return bool(tree.standing.scope.duplicates) and (
        each.field in (*_COUNTS, "folders") or each.field.startswith("phase ")
    )


def _below_hundred(_tree: Tree, each: Comparison) -> bool:
    return each.field in ("percent", "plans percent") and (each.ours, each.theirs) == (99, 100)


def _nothing(tree: Tree, each: Comparison) -> bool:
    progress = tree.standing.progress
    is_nothing = not progress.total_plans or not progress.total_phases
    return each.field in ("percent", "plans percent") and is_nothing and each.ours == 0


def _order(tree: Tree, each: Comparison) -> bool:
    """The first phase is the one with the lowest number, wherever the roadmap lists it."""
    listed = [key_of(one.get("number")) for one in tree.answer("roadmap", "phases") or ()]
    is_sorted = [name for name in our_roadmap(tree) if name in listed] == listed
    return each.field in ("current phase", "next phase") and not is_sorted


def _scope_lost(tree: Tree, each: Comparison) -> bool:
    """They found no window for the milestone and counted every folder."""
    scopes = (tree.answer("phases", "phase_scope"), tree.answer("roadmap", "scope"))
    is_lost = any(scope not in (None, "complete") for scope in scopes)
    extra = _their_folder_ids(tree) - _our_phases(tree)
    return each.field in (*_COUNTS, *_LISTS) and is_lost and bool(extra)


def _blank_position(_tree: Tree, each: Comparison) -> bool:
    """A position in words of another form, which they do not read, or read as a phase."""
    return each.field == "position" and (each.ours is None or each.theirs is None)


RULES = (
    Rule("percent-withheld", _percent_withheld),
    Rule("archived-milestone", _archived),
    Rule("other-milestones", _other_milestones),
    Rule("milestone-scope-lost", _scope_lost),
    Rule("phase-without-heading", _unlisted_shape),
    Rule("retired-phase", _retired),
    Rule("example-in-a-fence", _fenced),
    Rule("collapsed-milestone", _collapsed),
    Rule("unlisted-folder", _unlisted_folder),
    Rule("number-twice", _duplicate),
    Rule("plan-names", _plan_names),
    Rule("summary-names", _pairing),
    Rule("summary-proves-nothing", _proof),
    Rule("verification-stale", _verification),
    Rule("superseded-only", _superseded_only),
    Rule("below-one-hundred", _below_hundred),
    Rule("nothing-of-nothing", _nothing),
    Rule("order-of-numbers", _order),
    Rule("folder-names", _folder_names),
    Rule("stored-numbers", _stored_numbers),
    Rule("position-words", _blank_position),
)


# -- facts ------------------------------------------------------------------------------------


def _our_phases(tree: Tree) -> set[str]:
    return {phase.id.short for phase in tree.standing.scope.phases}


def _their_phases(tree: Tree) -> set[str]:
    numbers = [key_of(one.get("number")) for one in tree.answer("roadmap", "phases") or ()]
    numbers += [key_of(one.get("number")) for one in tree.answer("stats", "phases") or ()]
    return {number for number in numbers if number}


def _their_folder_ids(tree: Tree) -> set[str]:
    names = [folder_name(name).id for name in tree.answer("phases", "directories") or ()]
    return {name.short for name in names if name}


def _elsewhere(tree: Tree) -> set[str]:
    """Numbers that are not in scope because they belong to another milestone, or to none."""
    listed = {phase.id.short for phase in tree.inventory.roadmap.phases}
    folders = {folder.id.short for folder in tree.inventory.folders if folder.id}
    return (listed | folders) - _our_phases(tree)


def _retired_phases(tree: Tree) -> set[str]:
    return {each.id.short for each in tree.inventory.roadmap.phases if each.is_retired}


def _with_heading(tree: Tree) -> set[str]:
    found = {key_of(number) for number in _HEADING.findall(tree.roadmap_text)}
    return {number for number in found if number}


def _phases(tree: Tree, each: Comparison) -> Iterator[Phase]:
    """The phase that a question is about, or all of them."""
    words = each.field.split()
    for phase in tree.standing.scope.phases:
        if words[0] != "phase" or phase.id.short == words[1]:
            yield phase


def _plans(tree: Tree, each: Comparison) -> list[Plan]:
    folders: list[Folder] = [phase.folder for phase in _phases(tree, each) if phase.folder]
    return [plan for folder in folders for plan in folder.live_plans]


def _concerns_proof(each: Comparison) -> bool:
    words = ("plans completed", "plans percent", "phases completed", "percent", "current phase")
    return each.field in words or each.field.endswith((" summaries", " stage"))


def _their_plan(name: str) -> bool:
    return bool(_THEIR_PLAN.search(name)) and not _NEVER.search(name)


def _they_pair(plan: Plan) -> bool:
    """Whether their rules find the same summary."""
    name, summary = plan.path.rpartition("/")[2], plan.summary.rpartition("/")[2]
    stem = name.removesuffix(".md")
    tried = {name.replace("PLAN", "SUMMARY", 1), f"{stem}-SUMMARY.md"}
    canonical = re.match(r"([0-9][\w.]*-[0-9]+)-", name)
    numbered = re.match(r"([0-9][\w.]*)-PLAN-([0-9]+)", name)
    tried |= {f"{canonical[1]}-SUMMARY.md"} if canonical else set()
    tried |= {f"{numbered[1]}-{numbered[2]}-SUMMARY.md"} if numbered else set()
    return summary in tried and summary.endswith("SUMMARY.md")
