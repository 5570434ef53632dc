"""Facts: what the disk says about a plan, read in the least possible time and with no program run.

The requirements document, the files that criteria name, the commit that is checked out, and the
person's private record of allowed commands and their last results. What cannot be read counts as
missing, with the reason: a criterion without evidence is unmet. The stop hook reads by this.
Who writes down what it found there, or a hash of it, is `strict`: a fault of the disk is an error.
"""

import os

from fairlead.faults import FairleadError, JsonSyntax, StorageError
from fairlead.model.criteria import Facts, Result
from fairlead.model.planning import Plan
from fairlead.store import layout
from fairlead.store.confine import Root
from fairlead.text.quickjson import read_quick_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

_GIT_LIMIT = 1024 * 1024


def facts_of(folder: str, plan: Plan, state_folder: str, *, strict: bool = False) -> Facts:
    """Look at everything that the criteria of a plan ask for."""
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
    if any(criterion.command for criterion in plan.criteria):
        facts.head = head_of(folder)
        _recall(facts, folder, state_folder, strict=strict)
    return facts


def state_folder_of(environment: "Mapping[str, str]") -> str:
    """The person's own folder for what programs remember about their work."""
    base = environment.get("XDG_STATE_HOME", "")
    if not os.path.isabs(base):
        home = environment.get("HOME") or os.path.expanduser("~")
        base = os.path.join(home, ".local", "state")
    return os.path.join(base, "fairlead")


def head_of(folder: str) -> str:
    """What names the commit that is checked out, from git's own files; nothing without git.

    A newer form of repository keeps its refs in tables. These are not read, but whatever moves a
    ref leaves a new one, so that its name says as well whether anything was committed since.
    """
    git = _repository_of(folder)
    head = _line(os.path.join(git, "HEAD"))
    if not head.startswith("ref: "):
        return head
    name = head.removeprefix("ref: ")
    common = os.path.join(git, _line(os.path.join(git, "commondir")))
    tables = [
        _text(os.path.join(each, "reftable", "tables.list")).split() for each in (common, git)
    ]
    if any(tables):
        return " ".join(dict.fromkeys(each[-1] for each in tables if each))
    found = _line(os.path.join(common, name))
    return found or _packed(os.path.join(common, "packed-refs"), name)


def _repository_of(folder: str) -> str:
    """Git's own folder, of the nearest tree that holds this one."""
    above = folder
    while not os.path.lexists(git := os.path.join(above, ".git")):
        above, below = os.path.dirname(above), above
        if above == below:
            break
    pointer = _line(git)
    return os.path.join(above, pointer.removeprefix("gitdir: ")) if pointer else git


def _content(folder: str, path: str, *, strict: bool) -> "tuple[bytes | None, str]":
    """A file's content, or what is wrong with it."""
    try:
        with Root(folder) as root:
            content = root.read(path, layout.DOCUMENT_LIMIT)
    except FileNotFoundError:  # not even the folder
        content = None
    except (OSError, ValueError, FairleadError) as error:
        if strict and isinstance(error, OSError | StorageError):
            raise
        return None, str(getattr(error, "what", "") or error)
    return content, "does not exist" if content is None else ""


def _recall(facts: Facts, folder: str, state_folder: str, *, strict: bool) -> None:
    content, _ = _content(state_folder, layout.checks_name(folder), strict=strict)
    try:
        held = read_quick_json((content or b"{}").decode("utf-8", "replace"))
    except JsonSyntax:
        return
    if not isinstance(held, dict):
        return
    allowed, results = held.get("allowed"), held.get("results")
    if isinstance(allowed, dict):
        facts.allowed = {name: str(at) for name, at in allowed.items()}
    for name, each in results.items() if isinstance(results, dict) else ():
        code = each.get("code") if isinstance(each, dict) else None
        if isinstance(code, int) and not isinstance(code, bool):
            words = (str(each.get(key, "")) for key in ("at", "head", "plan"))
            facts.results[name] = Result(code, *words)


def _line(path: str) -> str:
    """The first line of a small file of git; nothing, when it is anything else."""
    text = _text(path)
    return text.partition("\n")[0].strip()


def _packed(path: str, name: str) -> str:
    for line in _text(path).splitlines():
        commit, _, held = line.partition(" ")
        if held == name:
            return commit
    return ""


def _text(path: str) -> str:
    try:
        with Root(os.path.dirname(path)) as root:
            content = root.read(os.path.basename(path), _GIT_LIMIT) or b""
    except (OSError, ValueError, FairleadError):
        return ""
    return content.decode("utf-8", "replace")
