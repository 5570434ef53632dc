"""Compares what the commands say and do with the truth of a generated project.

Every law returns the fault it found, or an empty string. `try_tree` makes one tree and applies all
laws; `repair_fault` applies the laws of a repair to any project, also to a real one.
"""

import io
import json
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

from fairlead.interfaces.cli.main import run
from tests.support.known_trees.make import KnownTree, make_tree
from tests.support.known_trees.model import Counts, Spoiling
from tests.support.trees import documents, read_tree

Report = dict[str, Any]
LinePlace = tuple[str, int]

KEYS = ("completed_phases", "total_phases", "completed_plans", "total_plans")
# Evidence that the documents lost. The files are all there.
WEAKENED = (
    Spoiling.RANGES,
    Spoiling.MARKS,
    Spoiling.SECTIONS,
    Spoiling.FRESHNESS,
    Spoiling.STATE,
    Spoiling.ROADMAP,
)
# A repair notes when it wrote, and keeps what it replaced.
_STAMPS = ("last_updated:", "last_activity:")
_KEPT = ".planning/STATE-ARCHIVE.md"
_UNPROVEN = "claim-unproven"
# True of a document that was removed, and of a flat list of phases whose numbers restart.
_STRUCTURAL = ("document-missing", "phase-number-twice")
_ABOUT_PHASE = re.compile(
    r"\W*(?:Plan|Status|Current focus|Current Plan|Total Plans in Phase|Current Phase Name"
    r"|status|current_phase\w*|current_plan|active_phase|next_\w+)\W*:"
)
_BLOCKS = ("document-malformed", "section-twice", "field-twice")  # findings about several lines


def try_tree(seed: int, number: int) -> str:
    """Make one tree and apply every law; return the first fault."""
    with scratch_project() as folder:
        tree = make_tree(folder, seed, number)
        fault = answer_fault(tree) or finding_fault(tree) or known_repair_fault(tree)
        return f"{describe(tree)}: {fault}" if fault else ""


def try_real(project: Path) -> str:
    """Apply the laws of a repair to a copy of a real project; return the first fault."""
    with scratch_project() as folder:
        shutil.copytree(project / ".planning", folder / ".planning", symlinks=True)
        for path in folder.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
        return repair_fault(folder)


def describe(tree: KnownTree) -> str:
    """The tree in a few words."""
    words = [tree.current.name, tree.current.state, f"without {tree.spoiling}"]
    words += ["restarts"] * tree.project.restarts
    words += [f"workstream {tree.project.workstream}"] * bool(tree.project.workstream)
    return ", ".join(words)


@contextmanager
def scratch_project() -> Iterator[Path]:
    """An empty project folder that is the current one, with a home of its own."""
    with tempfile.TemporaryDirectory(prefix="known-") as scratch:
        home, folder = Path(scratch, "home"), Path(scratch, "project")
        homes = {"HOME": home, "XDG_CONFIG_HOME": home / "config", "XDG_STATE_HOME": home / "state"}
        for each in (*homes.values(), folder):
            each.mkdir()
        with patch.dict(os.environ, {key: str(path) for key, path in homes.items()}), chdir(folder):
            yield folder


def answer(*words: str) -> Report:
    """The JSON answer of a command."""
    output, errors = io.StringIO(), io.StringIO()
    with redirect_stdout(output), redirect_stderr(errors):
        code = run([*words, "--json"])
    try:
        report: Report = json.loads(output.getvalue())
    except ValueError:
        return {"ok": False, "error": errors.getvalue() or f"exit {code}"}
    return report


# -- what status says ----------------------------------------------------------------------


def answer_fault(tree: KnownTree) -> str:
    """The fault in the numbers of `status`."""
    status = answer("status")
    scope, progress = status.get("scope"), status.get("progress")
    if not isinstance(scope, dict) or not isinstance(progress, dict):
        return f"status has no scope: {status.get('error')}"
    certainty = scope["certainty"]
    numbers = tuple(progress[key] for key in KEYS)
    if certainty not in _permitted(tree):
        return f"the answer is {certainty} ({numbers}, {scope['milestone']})"
    if progress["is_verifiable"] is (certainty == "unverifiable"):
        return f"is_verifiable is {progress['is_verifiable']} and the scope {certainty}"
    if certainty == "certain":
        return (
            _certain_fault(tree, status) or position_fault(tree, status) or next_fault(tree, status)
        )
    if certainty == "uncertain":
        return _uncertain_fault(tree, progress, scope)
    return _unverifiable_fault(tree, numbers)


def _permitted(tree: KnownTree) -> tuple[str, ...]:
    if tree.spoiling in (Spoiling.NOTHING, Spoiling.SUMMARIES):
        return ("certain",)
    if tree.spoiling is Spoiling.FOLDERS:
        return ("unverifiable",)
    # With less evidence the right number may still be certain, and no other may.
    return ("certain", "uncertain", "unverifiable")


def _certain_fault(tree: KnownTree, status: Report) -> str:
    names = {tree.current.name, tree.current.name.removeprefix("v")}
    if not tree.project.is_listed or tree.spoiling is Spoiling.ROADMAP:
        names |= {"", "v1.0"}  # nothing but STATE.md names the milestone, or it has the default
    if status["milestone"] not in names:
        return f"the milestone is {tree.current.name}, not {status['milestone']!r}"
    progress = status["progress"]
    numbers = {key: progress[key] for key in KEYS}
    wanted = _numbers(tree.counts)
    if numbers != wanted:
        return f"certain of {_short(numbers)}; the truth is {_short(wanted)}"
    if progress["percent"] != tree.counts.percent:
        return f"certain of {progress['percent']} %; the truth is {tree.counts.percent} %"
    return ""


def _uncertain_fault(tree: KnownTree, progress: Report, scope: Report) -> str:
    readings = [{key: each[key] for key in KEYS} for each in scope["readings"]]
    if {key: progress[key] for key in KEYS} not in readings:
        return f"{_short(progress)} is none of the readings"
    if len(readings) < 2:
        return "uncertain with a single reading"
    if not all(each["sources"] for each in scope["readings"]):
        return "a reading without a source"
    # Without any evidence of which milestone a phase belongs to, no reading can be the truth.
    is_derivable = tree.spoiling in WEAKENED and tree.spoiling is not Spoiling.SECTIONS
    # STATE.md may count a finished phase once it is verified.
    right = [_numbers(each) for each in (tree.counts, tree.claimed) if each]
    if is_derivable and not any(each in readings for each in right):
        said = "; ".join(_short(each) for each in readings)
        return f"the truth {_short(_numbers(tree.counts))} is none of the readings: {said}"
    return ""


def _unverifiable_fault(tree: KnownTree, numbers: tuple[object, ...]) -> str:
    claimed = _numbers(tree.claimed or tree.current.counts)
    true = _numbers(tree.current.counts)
    # Without counters the boxes of ROADMAP.md count, and a phase may be ticked when it is verified.
    verified = sum(each.is_complete and each.is_verified for each in tree.current.phases)
    ticked = range(verified, true["completed_phases"]) if tree.claimed is None else ()
    for key, number in zip(KEYS, numbers, strict=True):
        if key == "completed_phases" and number in ticked:
            continue
        if number not in (None, claimed[key], true[key]):
            return f"{key} is {number}; the documents claim {claimed[key]}"
    return ""


def position_fault(tree: KnownTree, status: Report) -> str:
    """The current phase is the first open one, or one that waits for its verification."""
    if tree.spoiling is Spoiling.SUMMARIES:
        return ""  # the removed summary may have opened an earlier phase
    phases = tree.current.phases
    waiting = {each.number for each in phases if each.is_complete and not each.is_verified}
    if tree.project.is_between or tree.current.current is None:
        right = {"", phases[-1].number, *waiting}
    else:
        right = {tree.current.current.number, *waiting}
    phase = status["phase"]
    return "" if phase in right else f"the phase is {phase!r}, not one of {sorted(right)}"


def next_fault(tree: KnownTree, status: Report) -> str:
    """The next step is about the current milestone, or a new one."""
    step = status["next"] or {}
    action, phase = step.get("action") or "", str(step.get("phase") or "")
    if tree.project.is_between and tree.spoiling is not Spoiling.MARKS:
        is_right = action == "new-milestone"
    else:
        is_right = not phase or phase in {each.number for each in tree.current.phases}
    return "" if is_right else f"next is {action} {phase}".rstrip()


def _numbers(counts: Counts) -> dict[str, int]:
    return {key: getattr(counts, key) for key in KEYS}


def _short(numbers: Report) -> str:
    done, phases, plans, total = (numbers[key] for key in KEYS)
    return f"{done}/{phases} phases, {plans}/{total} plans"


# -- what check says -----------------------------------------------------------------------


def finding_fault(tree: KnownTree) -> str:
    """A false line that is not reported, or a true line that is."""
    check = answer("check")
    if "findings" not in check:
        return f"check failed: {check.get('error')}"
    drift = {_place(each): each for each in check["findings"] if each["is_drift"]}
    if tree.spoiling is Spoiling.SUMMARIES:
        codes = {each["code"] for each in drift.values()}
        return "" if _UNPROVEN in codes else f"no claim is reported, only {sorted(codes)}"
    missed = sorted(tree.planted - drift.keys())
    if missed:
        return f"not reported: {_line(tree, missed[0])}"
    structural = {place for place, each in drift.items() if each["code"] in _STRUCTURAL}
    alarms = sorted(drift.keys() - tree.planted - tree.neutral - structural)
    if alarms:
        finding = drift[alarms[0]]
        return f"a false alarm: {_line(tree, alarms[0])}: {finding['message']}"
    refuted = [each for each in drift.values() if each["verdict"] == "unverifiable"]
    return f"drift that is unverifiable: {refuted[0]['message']}" if refuted else ""


def _place(finding: Report) -> LinePlace:
    return finding["path"], finding.get("line") or 0


def _line(tree: KnownTree, place: LinePlace) -> str:
    path, line = place
    file = tree.folder / path
    texts = file.read_text("utf-8").split("\n") if line and file.is_file() else []
    return f"{path}:{line} {texts[line - 1] if line <= len(texts) and line else ''}"


# -- what doctor does ----------------------------------------------------------------------


def known_repair_fault(tree: KnownTree) -> str:
    """A repair changes planted lines and nothing else."""
    before = documents(read_tree(tree.folder))
    fault = repair_fault(tree.folder, undone=False)
    if fault:
        return fault
    after = documents(read_tree(tree.folder))
    if after != before and not tree.planted | tree.neutral:
        changed = sorted(name for name in after if after[name] != before.get(name))
        return f"the repair changed {changed}, and nothing there is false"
    for name, content in before.items():
        free = {line for path, line in tree.planted | tree.neutral if path == name}
        lost = _lost(name, content, after.get(name, b""), free)
        if lost:
            return f"the repair changed {lost}"
    return undo_fault(tree.folder, before) if after != before else ""


def _lost(name: str, old: bytes, new: bytes, free: set[int]) -> str:
    """The first line that is gone and was not free to change."""
    if old == new:
        return ""
    present = set(new.decode("utf-8", "replace").split("\n"))
    for index, text in enumerate(old.decode("utf-8", "replace").split("\n"), 1):
        if index not in free and text not in present and not text.startswith(_STAMPS):
            return f"{name}:{index} {text}"
    return ""


def repair_fault(folder: Path, *, undone: bool = True) -> str:
    """The laws of a repair that hold in every project, whatever its truth is."""
    before = documents(read_tree(folder))
    checked = answer("check")
    first = answer("doctor", "--fix", "--yes")
    after = documents(read_tree(folder))
    if not first.get("ok"):
        return "" if after == before else f"a refused repair changed files: {first.get('error')}"
    invented = sorted(after.keys() - before.keys() - {_KEPT})
    if [each for each in invented if each.endswith(".md")]:
        return f"the repair invented {invented}"
    fault = _untouched_fault(checked, before, after)
    if fault:
        return fault
    left = {_place(each["finding"]) for each in first["left"]}
    rechecked = answer("check")
    beyond = [each for each in _drift(rechecked) if _place(each) not in left]
    if beyond:
        return f"check reports what the repair did not name: {beyond[0]['message']}"
    fault = verdict_fault(checked, rechecked)
    if fault:
        return fault
    second = answer("doctor", "--fix", "--yes")
    if second.get("changed") or documents(read_tree(folder)) != after:
        return f"a second repair changed {second.get('changed')}"
    return undo_fault(folder, before) if undone and after != before else ""


def verdict_fault(before: Report, after: Report) -> str:
    """A statement that is refuted after a repair was refuted before it.

    Everything else that was compared was confirmed, or could not be checked.
    """
    known = {_statement(each) for each in _drift(before)}
    new = [each for each in _drift(after) if _statement(each) not in known]
    return f"the repair made a statement false: {new[0]['message']}" if new else ""


def _drift(check: Report) -> list[Report]:
    return [each for each in check.get("findings", []) if each["is_drift"]]


def _statement(finding: Report) -> tuple[str, str, str]:
    return finding["path"], finding["what"], finding["said"]


def _untouched_fault(check: Report, before: dict[str, bytes], after: dict[str, bytes]) -> str:
    """Lines without a finding stay, except in a block that is one finding as a whole."""
    drift = _drift(check)
    whole = {each["path"] for each in drift if not each["line"] or each["code"] in _BLOCKS}
    places = {_place(each) for each in drift}
    moved = {each["path"] for each in drift if each["what"] in ("Phase", "Current Phase")}
    for name, content in before.items():
        free = {line for path, line in places if path == name}
        # Lines about the phase that a false line names follow it.
        lines = content.decode("utf-8", "replace").split("\n") if name in moved else []
        free |= {at for at, text in enumerate(lines, 1) if _ABOUT_PHASE.match(text)}
        lost = "" if name in whole else _lost(name, content, after.get(name, b""), free)
        if lost:
            return f"the repair changed {lost}, where check found nothing"
    return ""


def undo_fault(folder: Path, before: dict[str, bytes]) -> str:
    """One `undo` restores every byte."""
    report = answer("undo")
    now = documents(read_tree(folder))
    differing = sorted(
        name for name in now.keys() | before.keys() if now.get(name) != before.get(name)
    )
    return f"undo left {differing} different: {report.get('error', '')}" if differing else ""
