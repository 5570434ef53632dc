"""Loads the source files of a project, and classifies files by their names.

Folders of tools and dependencies are skipped, links are recorded and never followed, and the
number and size of files are limited. A file that a plan declares is loaded from any folder.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from fairlead.core.errors import DocumentError, FairleadError
from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass, field
from fairlead.store.confined import ConfinedFolder, Root, kind_of
from fairlead.store.listing import beginning_of, listing_of
from fairlead.verification.source_code import language_of

_FILE_BYTES = 400 * 1024
_ALL_BYTES = 48 * 1024 * 1024
_MAX_FILES = 20_000
_MAX_DEPTH = 24
_SOURCE_NAMES = frozenset(
    "Makefile Dockerfile Procfile Gemfile Rakefile Justfile justfile Vagrantfile Jenkinsfile BUILD".split()
)
_TEST = lazy_pattern(
    r"(?:^|/)(?:tests?|__tests__|specs?|e2e|cypress|testdata)/|(?:^|/)(?:test_[^/]*|conftest)\.py$"
    r"|_test\.(?:py|go|rb|exs?)$|\.(?:test|spec|cy|e2e)\.\w+$|(?:Tests?|IT)\.(?:java|kt|cs)$|_spec\.rb$|\.bats$"
)
_TEST_FILE = lazy_pattern(
    r"(?:^|/)test_[^/]*\.py$|_test\.(?:py|go|rb)$|\.(?:test|spec|cy)\.[cm]?[jt]sx?$|(?:Tests?|IT)\.(?:java|kt)$"
    r"|_spec\.rb$|(?:^|/)test_[^/]*\.rb$|\.bats$"
)
_EXAMPLE = lazy_pattern(
    r"(?:^|/)(?:__mocks__|mocks?|fixtures?|fakes?|stubs?|stories|storybook|samples?|examples?|templates?"
    r"|demos?)/|\.stories\.\w+$|(?:^|[./_-])(?:example|sample|template|dist|mock)(?:[./_-]|$)",
    re.IGNORECASE,
)
_EMPTY = frozenset(
    ".gitkeep .keep .gitignore .npmignore .nojekyll .dockerignore py.typed __init__.py conftest.py "
    ".prettierignore .eslintignore __init__.pyi".split()
)
_ENTRY = lazy_pattern(
    r"(?:^|/)(?:main|index|cli|app|server|manage|wsgi|asgi|__main__|__init__|setup|conftest|mod|lib|build|"
    r"tasks|fabfile|noxfile|gulpfile|gruntfile|rakefile|urls|admin|apps|models|settings|worker|sw|"
    r"page|layout|route|loading|error|not-found|middleware|template|_app|_document)\.\w+$"
    r"|\.config\.\w+$|(?:^|/)(?:bin|scripts?|tools|migrations?|versions|cmd|public|static|"
    r"commands|benches|examples|plugins|functions|lambdas|db|seeds?)/|(?:^|/)(?:pages|app|api)/.*\.[jt]sx?$|\.d\.ts$|\.stories\.\w+$|rc\.[cm]?js$",
    re.IGNORECASE,
)
_GENERATED = lazy_pattern(
    r"(?:^|[./_-])(?:min|lock|generated|gen|pb|bundle)\.\w+$|_pb2(?:_grpc)?\.py$"
)
SKIPPED_FOLDERS = frozenset(
    "node_modules .git .hg .venv venv env dist build target __pycache__ vendor .next .nuxt coverage "
    ".tox .mypy_cache .pytest_cache .ruff_cache site-packages .planning .ultraplan bower_components".split()
)


@dataclass(slots=True)
class SourceFiles:
    """The files of a project."""

    texts: dict[str, str] = field(default_factory=dict)
    special_files: dict[str, str] = field(default_factory=dict)  # links, sockets, … with their kind
    others: set[str] = field(default_factory=set)  # binary or too large
    is_cut: bool = False  # the limits were reached

    def has(self, path: str) -> bool:
        """Whether a file or a folder with this path exists."""
        if path in self.texts or path in self.others or path in self.special_files:
            return True
        lead = f"{path.rstrip('/')}/"
        return any(each.startswith(lead) for each in (*self.texts, *self.others))


def load_sources(folder: str, declared: Iterable[str] = ()) -> SourceFiles:
    """Load every source file of a project, and the declared files."""
    tree = SourceFiles()
    with Root(folder) as root:
        top = root.parent("any")
        if top is not None:
            with top:
                _walk(top, "", tree, [0])
        for path in declared:
            if path not in tree.texts and path not in tree.special_files:
                _load_declared(root, path, tree)
    return tree


def _walk(inside: ConfinedFolder, lead: str, tree: SourceFiles, read: list[int]) -> None:
    listing = listing_of(inside)
    for name in listing.files:
        path = f"{lead}{name}"
        if len(tree.texts) + len(tree.others) >= _MAX_FILES or read[0] >= _ALL_BYTES:
            tree.is_cut = True
            return
        if name in listing.odd:
            status = inside.stat(name)
            tree.special_files[path] = kind_of(status) if status else "a special file"
        elif language_of(name) or name in _SOURCE_NAMES:
            read[0] += _keep(tree, path, beginning_of(inside, name, _FILE_BYTES + 1))
        else:
            tree.others.add(path)
    for name in listing.folders:
        if name in SKIPPED_FOLDERS or lead.count("/") >= _MAX_DEPTH:
            continue
        try:
            below = inside.folder(name)
        except DocumentError:
            continue
        if below is not None:
            with below:
                _walk(below, f"{lead}{name}/", tree, read)


def _load_declared(root: Root, path: str, tree: SourceFiles) -> None:
    """Load a declared file from a skipped folder, or with an unknown name extension."""
    try:
        status = root.stat(path)
        kind = kind_of(status) if status else ""
        if kind == "a file":
            _keep(tree, path, root.read_start(path, _FILE_BYTES + 1))
        elif kind and kind != "a folder":
            tree.special_files[path] = kind
    except DocumentError:
        tree.special_files[path] = "behind a link"
    except FairleadError:
        tree.special_files[path] = "not a path of this project"


def _keep(tree: SourceFiles, path: str, content: bytes | None) -> int:
    if content is None or len(content) > _FILE_BYTES or b"\0" in content:
        tree.others.add(path)
        return 0
    tree.others.discard(path)
    tree.texts[path] = content.decode("utf-8", "replace")
    return len(content)


def is_test(path: str) -> bool:
    """Whether a file belongs to the tests."""
    return bool(_TEST.search(path))


def is_test_file(path: str) -> bool:
    """Whether a test runner collects the file."""
    return bool(_TEST_FILE.search(path))


def is_example(path: str) -> bool:
    """Whether a file is an example, a fixture or a template, which may contain placeholders."""
    return bool(_EXAMPLE.search(path))


def may_be_empty(path: str) -> bool:
    """Whether a file with this name may be empty."""
    name = path.rpartition("/")[2]
    return name in _EMPTY or name.endswith((".keep", ".gitkeep", ".lock"))


def is_entry(path: str) -> bool:
    """Whether a file is started from outside, by its name or folder, and needs no importer."""
    return bool(_ENTRY.search(path))


def is_generated(path: str) -> bool:
    """Whether the file was generated."""
    return bool(_GENERATED.search(path))
