"""Maps existing code: languages, manifests, tests, entry points and dependencies.

Everything is counted from file names and manifests; no agent is asked.
"""

from __future__ import annotations

import json
import os
import re
from collections import Counter
from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from fairlead.core.errors import DocumentError
from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass
from fairlead.store.reader import Reader
from fairlead.workflows.paths import CODEBASE

_MAX_MANIFESTS = 30


def map_code(reader: Reader) -> CodeMap:
    """Map the code below a folder."""
    sources = sources_of(reader.folder)
    manifests = [path for path in sources.paths if _file_name(path) in MANIFESTS]
    texts = {path: _text(reader, path) for path in manifests[:_MAX_MANIFESTS]}
    return code_map(sources.paths, texts, is_cut=sources.is_cut)


def map_documents(code: CodeMap, now: datetime) -> dict[str, str]:
    """The map as documents of the project, by path."""
    documents = pages(code, f"{now:%Y-%m-%d}") if code.is_code else {}
    return {f"{CODEBASE}/{name}": text for name, text in documents.items()}


def _text(reader: Reader, path: str) -> str:
    try:
        loaded = reader.load_for_display(path)
    except DocumentError:
        return ""
    return loaded.text if loaded else ""


_IGNORED = frozenset(
    ("venv", "node_modules", "__pycache__", "dist", "build", "target", "vendor", "coverage")
)
_HIDDEN_BUT_READ = (".github", ".ci")
_MAX_FILES = 20_000


class SourceListing(NamedTuple):
    """The source files below a folder."""

    paths: tuple[str, ...]  # sorted
    is_cut: bool  # True if there are more


def sources_of(folder: str, limit: int = _MAX_FILES) -> SourceListing:
    """The files below a folder, without hidden and generated folders and without links."""
    paths: list[str] = []
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(filter(_is_source_folder, folders))
        relative = os.path.relpath(parent, folder)
        prefix = "" if relative == os.curdir else f"{relative}/"
        for name in sorted(names):
            path = os.path.join(parent, name)
            if os.path.islink(path) or not os.path.isfile(path):
                continue
            if len(paths) == limit:
                return SourceListing(tuple(sorted(paths)), is_cut=True)
            paths.append(prefix + name)
    return SourceListing(tuple(sorted(paths)), is_cut=False)


def _is_source_folder(name: str) -> bool:
    return name in _HIDDEN_BUT_READ or not (name.startswith(".") or name in _IGNORED)


_LANGUAGES = {
    "py": "Python", "js": "JavaScript", "jsx": "JavaScript", "mjs": "JavaScript", "ts": "TypeScript",
    "tsx": "TypeScript", "go": "Go", "rs": "Rust", "java": "Java", "kt": "Kotlin", "rb": "Ruby",
    "php": "PHP", "c": "C", "h": "C", "cc": "C++", "cpp": "C++", "hpp": "C++", "cs": "C#",
    "swift": "Swift", "scala": "Scala", "sh": "Shell", "lua": "Lua", "dart": "Dart", "ex": "Elixir",
    "exs": "Elixir", "html": "HTML", "css": "CSS", "scss": "CSS", "sql": "SQL", "vue": "Vue",
    "svelte": "Svelte", "zig": "Zig", "r": "R", "jl": "Julia", "pl": "Perl",
}  # fmt: skip
# Files that say how a project is built, and the command that usually runs its tests.
MANIFESTS = {
    "pyproject.toml": "python -m pytest", "setup.py": "python -m pytest", "requirements.txt": "",
    "package.json": "npm test", "Cargo.toml": "cargo test", "go.mod": "go test ./...",
    "pom.xml": "mvn test", "build.gradle": "gradle test", "Gemfile": "bundle exec rake test",
    "composer.json": "composer test", "Makefile": "make test", "CMakeLists.txt": "ctest",
    "mix.exs": "mix test", "Dockerfile": "",
}  # fmt: skip
_TEST = lazy_pattern(
    r"(?:^|/)(?:tests?|spec|__tests__)/|(?:^|/)test_[^/]*\.\w+$|(?:_test|\.test|\.spec|_spec)\.\w+$"
)
_ENTRIES = lazy_pattern(
    r"(?:^|/)(?:__main__\.py|main\.(?:py|go|rs|c|cpp|ts|js)|app\.(?:py|ts|js)|manage\.py|"
    r"cli\.(?:py|ts|js)|index\.(?:ts|js|html)|server\.(?:ts|js|py))$"
)
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class CodeMap:
    """The map of existing code."""

    files: int
    is_cut: bool  # True if there are more files
    languages: tuple[tuple[str, int], ...]  # name and number of files, most frequent first
    manifests: tuple[str, ...]
    tests: tuple[str, ...]
    test_command: str
    entries: tuple[str, ...]
    folders: tuple[tuple[str, int], ...]  # top-level folder and number of files below it
    packages: tuple[str, ...]  # dependencies in the manifests

    @property
    def is_code(self) -> bool:
        """Whether there is any code."""
        return bool(self.languages)


def code_map(
    paths: tuple[str, ...], manifests: Mapping[str, str], *, is_cut: bool = False
) -> CodeMap:
    """The map of a code base from its file names and the texts of its manifests."""
    suffixes = (_file_name(path).rpartition(".")[2].lower() for path in paths if "." in path)
    languages = Counter(_LANGUAGES[suffix] for suffix in suffixes if suffix in _LANGUAGES)
    tests = tuple(path for path in paths if _TEST.search(path) and _is_code(path))
    commands = [command for name, command in MANIFESTS.items() if name in paths and command]
    entries = [path for path in paths if _ENTRIES.search(path) and path not in tests]
    folders = Counter(path.partition("/")[0] for path in paths if "/" in path)
    return CodeMap(
        files=len(paths),
        is_cut=is_cut,
        languages=tuple(languages.most_common()),
        manifests=tuple(path for path in paths if _file_name(path) in MANIFESTS)[:_SHOWN],
        tests=tests,
        test_command=commands[0] if commands else "",
        entries=tuple(entries[:_SHOWN]),
        folders=tuple(folders.most_common(_SHOWN)),
        packages=tuple(
            sorted({name for path, text in manifests.items() for name in _packages(path, text)})
        ),
    )


def pages(code: CodeMap, date: str) -> dict[str, str]:
    """The map as documents, by name."""
    count = f"{code.files}{'+' if code.is_cut else ''} files"
    head = f"**Analysis Date:** {date}\n\nCounted from file names and manifests ({count}).\n"
    stack = _page(
        "Technology Stack",
        head,
        {
            "Languages": [f"{name}: {number} files" for name, number in code.languages],
            "Manifests": [f"`{each}`" for each in code.manifests],
            "Key Dependencies": [f"`{each}`" for each in code.packages[:60]],
        },
    )
    structure = _page(
        "Codebase Structure",
        head,
        {
            "Directory Layout": [f"`{name}/`: {number} files" for name, number in code.folders],
            "Entry Points": [f"`{each}`" for each in code.entries],
        },
    )
    shown = [f"`{each}`" for each in code.tests[:_SHOWN]]
    if len(code.tests) > _SHOWN:
        shown.append(f"and {len(code.tests) - _SHOWN} more")
    testing = _page(
        "Testing Patterns",
        head,
        {
            "Run Commands": [f"`{code.test_command}`"] if code.test_command and code.tests else [],
            "Test Files": shown,
        },
    )
    return {"STACK.md": stack, "STRUCTURE.md": structure, "TESTING.md": testing}


def summary_of(code: CodeMap) -> str:
    """The map in a few lines, for a prompt."""
    if not code.is_code:
        return "There is no code yet."
    languages = ", ".join(f"{name} ({number})" for name, number in code.languages[:6])
    parts = {
        "Files": str(code.files),
        "Languages": languages,
        "Manifests": ", ".join(code.manifests[:8]),
        "Depends on": ", ".join(code.packages[:30]),
        "Entry points": ", ".join(code.entries[:8]),
        "Folders": ", ".join(f"{name}/ ({number})" for name, number in code.folders[:12]),
        "Tests": f"{len(code.tests)} files, {code.test_command or 'no known command'}",
    }
    return "\n".join(f"{name}: {value}" for name, value in parts.items() if value)


def _page(title: str, head: str, sections: Mapping[str, list[str]]) -> str:
    parts = [f"# {title}\n", head]
    for name, lines in sections.items():
        parts.append(
            f"## {name}\n\n" + "\n".join(f"- {each}" for each in lines or ["None found."]) + "\n"
        )
    return "\n".join(parts)


def _file_name(path: str) -> str:
    return path.rpartition("/")[2]


def _is_code(path: str) -> bool:
    return path.rpartition(".")[2].lower() in _LANGUAGES


def _packages(path: str, text: str) -> list[str]:
    """The dependencies in a manifest; none if it cannot be read."""
    match _file_name(path):
        case "package.json":
            try:
                content = json.loads(text)
            except (ValueError, RecursionError):
                return []
            content = content if isinstance(content, dict) else {}
            groups = (content.get(key) for key in ("dependencies", "devDependencies"))
            return [str(name) for group in groups if isinstance(group, dict) for name in group]
        case "requirements.txt":
            return re.findall(r"^([A-Za-z][\w.-]*)", text, re.MULTILINE)
        case "pyproject.toml":
            lists = re.findall(r"^dependencies\s*=\s*\[(.*?)\]", text, re.MULTILINE | re.DOTALL)
            return [name for each in lists for name in re.findall(r"[\"']([A-Za-z][\w.-]*)", each)]
        case "Cargo.toml":
            tables = re.findall(
                r"^\[dependencies\]\n(.*?)(?=^\[|\Z)", text, re.MULTILINE | re.DOTALL
            )
            return [
                name for each in tables for name in re.findall(r"^([\w-]+)\s*=", each, re.MULTILINE)
            ]
        case "go.mod":
            return re.findall(r"^\s+(\S+\.\S+/\S+) v", text, re.MULTILINE)
    return []
