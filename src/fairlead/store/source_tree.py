"""The files of a project that are its own work: found, and read as far as they are text.

Folders of tools and of others' code are left out, links are named and never followed, and there
is a limit to everything. A file that a plan declares is looked at wherever it lies.
"""

from __future__ import annotations

from collections.abc import Iterable

from fairlead.errors import DocumentError, FairleadError
from fairlead.records.code_files import NOT_OURS
from fairlead.store.confine import Folder, Root, kind_of
from fairlead.store.listing import beginning_of, listing_of
from fairlead.text.code import language_of
from fairlead.values import dataclass, field

_FILE_BYTES = 400 * 1024
_ALL_BYTES = 48 * 1024 * 1024
_MOST_FILES = 20_000
_DEEPEST = 24
_NAMED = frozenset(
    "Makefile Dockerfile Procfile Gemfile Rakefile Justfile justfile Vagrantfile Jenkinsfile BUILD".split()
)


@dataclass(slots=True)
class SourceTree:
    """What was found."""

    texts: dict[str, str] = field(default_factory=dict)
    odd: dict[str, str] = field(default_factory=dict)  # links and special files, and what they are
    others: set[str] = field(default_factory=set)  # files that are no text, or too long
    is_cut: bool = False  # there was more than the limits allow

    def has(self, path: str) -> bool:
        """Whether there is a file or a folder of this name."""
        if path in self.texts or path in self.others or path in self.odd:
            return True
        lead = f"{path.rstrip('/')}/"
        return any(each.startswith(lead) for each in (*self.texts, *self.others))


def load_sources(folder: str, wanted: Iterable[str] = ()) -> SourceTree:
    """Every file of a project that rules may ask about."""
    tree = SourceTree()
    with Root(folder) as root:
        top = root.parent("any")
        if top is not None:
            with top:
                _walk(top, "", tree, [0])
        for path in wanted:
            if path not in tree.texts and path not in tree.odd:
                _look(root, path, tree)
    return tree


def _walk(inside: Folder, lead: str, tree: SourceTree, read: list[int]) -> None:
    listing = listing_of(inside)
    for name in listing.files:
        path = f"{lead}{name}"
        if len(tree.texts) + len(tree.others) >= _MOST_FILES or read[0] >= _ALL_BYTES:
            tree.is_cut = True
            return
        if name in listing.odd:
            found = inside.stat(name)
            tree.odd[path] = kind_of(found) if found else "a special file"
        elif language_of(name) or name in _NAMED:
            read[0] += _keep(tree, path, beginning_of(inside, name, _FILE_BYTES + 1))
        else:
            tree.others.add(path)
    for name in listing.folders:
        if name in NOT_OURS or lead.count("/") >= _DEEPEST:
            continue
        try:
            below = inside.folder(name)
        except DocumentError:
            continue
        if below is not None:
            with below:
                _walk(below, f"{lead}{name}/", tree, read)


def _look(root: Root, path: str, tree: SourceTree) -> None:
    """A declared file that lies where nobody looks, or whose name tells no language."""
    try:
        found = root.stat(path)
        kind = kind_of(found) if found else ""
        if kind == "a file":
            _keep(tree, path, root.read_start(path, _FILE_BYTES + 1))
        elif kind and kind != "a folder":
            tree.odd[path] = kind
    except DocumentError:
        tree.odd[path] = "behind a link"
    except FairleadError:
        tree.odd[path] = "no path of this project"


def _keep(tree: SourceTree, path: str, content: bytes | None) -> int:
    if content is None or len(content) > _FILE_BYTES or b"\0" in content:
        tree.others.add(path)
        return 0
    tree.others.discard(path)
    tree.texts[path] = content.decode("utf-8", "replace")
    return len(content)
