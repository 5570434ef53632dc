"""Collects the evidence for exit criteria from the disk, fast and without running a program.

Evidence is the requirements document, the files that criteria name, the commit that is checked
out, and the person's private record of allowed commands and their last results. A file that
cannot be read counts as missing, with the reason, because a criterion without evidence is unmet.
A caller that writes the evidence or its hash down passes `strict`: then a disk error is raised.
The stop hook loads this module.
"""

import os

from fairlead.core.errors import DocumentError, FairleadError, StorageError
from fairlead.planphase.criteria import CheckResult, Facts
from fairlead.planphase.model import PlanFile
from fairlead.planphase.paths import checks_name
from fairlead.store import layout
from fairlead.store.confined import Root
from fairlead.text.fast_json import read_fast_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_GIT_LIMIT = 1024 * 1024


def facts_of(folder: str, plan: PlanFile, state_folder: str, *, strict: bool = False) -> Facts:
    """Collect the evidence that the criteria of a plan need."""
    facts = Facts()
    content, fault = _content(folder, plan.requirements_file, strict=strict)
    facts.faults[plan.requirements_file] = fault
    if content is not None:
        facts.requirements = content.decode("utf-8", "replace")
    for criterion in plan.criteria:
        if criterion.file:
            content, fault = _content(folder, criterion.file, strict=strict)
            empty = "" if content is None or content.strip() else "is empty"
            facts.faults[criterion.file] = fault or empty
    has_commands = any(criterion.command for criterion in plan.criteria)
    if has_commands:
        facts.head = head_of(folder)
    if has_commands or plan.has_statements:
        _add_person_record(facts, folder, state_folder, strict=strict)
    return facts


def state_folder_of(environment: "Mapping[str, str]") -> str:
    """Return the folder of Fairlead in the person's XDG state folder."""
    base = environment.get("XDG_STATE_HOME", "")
    if not os.path.isabs(base):
        home = environment.get("HOME") or os.path.expanduser("~")
        base = os.path.join(home, ".local", "state")
    return os.path.join(base, "fairlead")


def head_of(folder: str) -> str:
    """Identify the commit that is checked out, from git's files; empty without git.

    A repository with reftables keeps its refs in binary tables. Moving a ref writes a new table,
    so the name of the newest table identifies the state just as well as a commit.
    """
    git = _repository_of(folder)
    head = _line(os.path.join(git, "HEAD"))
    if not head.startswith("ref: "):
        return head
    name = head.removeprefix("ref: ")
    common = os.path.join(git, _line(os.path.join(git, "commondir")))
    tables = [
        _text(os.path.join(refs, "reftable", "tables.list")).split() for refs in (common, git)
    ]
    if any(tables):
        return " ".join(dict.fromkeys(names[-1] for names in tables if names))
    loose = _line(os.path.join(common, name))
    return loose or _packed(os.path.join(common, "packed-refs"), name)


def _repository_of(folder: str) -> str:
    """Return the `.git` folder of the nearest enclosing work tree."""
    above = folder
    while not os.path.lexists(git := os.path.join(above, ".git")):
        above, below = os.path.dirname(above), above
        if above == below:
            break
    pointer = _line(git)
    return os.path.join(above, pointer.removeprefix("gitdir: ")) if pointer else git


def _content(folder: str, path: str, *, strict: bool) -> "tuple[bytes | None, str]":
    """Return the content of a file, and what is wrong with it."""
    try:
        with Root(folder) as root:
            content = root.read(path, layout.DOCUMENT_LIMIT)
    except FileNotFoundError:  # the folder is missing, too
        content = None
    except (OSError, ValueError, FairleadError) as error:
        if strict and isinstance(error, OSError | StorageError):
            raise
        return None, str(getattr(error, "what", "") or error)
    return content, "does not exist" if content is None else ""


def _add_person_record(facts: Facts, folder: str, state_folder: str, *, strict: bool) -> None:
    content, _ = _content(state_folder, checks_name(folder), strict=strict)
    try:
        record = read_fast_json((content or b"{}").decode("utf-8", "replace"))
    except DocumentError:
        return
    if not isinstance(record, dict):
        return
    for key in ("allowed", "approved", "confirmed", "released", "waived"):
        entries = record.get(key)
        if isinstance(entries, dict):
            setattr(facts, key, {name: str(at) for name, at in entries.items()})
    results = record.get("results")
    for name, result in results.items() if isinstance(results, dict) else ():
        code = result.get("code") if isinstance(result, dict) else None
        if isinstance(code, int) and not isinstance(code, bool):
            texts = (str(result.get(key, "")) for key in ("at", "head", "plan"))
            facts.results[name] = CheckResult(code, *texts)


def _line(path: str) -> str:
    """Return the first line of a small git file; empty if it cannot be read."""
    text = _text(path)
    return text.partition("\n")[0].strip()


def _packed(path: str, name: str) -> str:
    for line in _text(path).splitlines():
        commit, _, ref = line.partition(" ")
        if ref == name:
            return commit
    return ""


def _text(path: str) -> str:
    try:
        with Root(os.path.dirname(path)) as root:
            content = root.read(os.path.basename(path), _GIT_LIMIT) or b""
    except (OSError, ValueError, FairleadError):
        return ""
    return content.decode("utf-8", "replace")
