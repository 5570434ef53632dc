"""A code base as its file names and manifests tell it: languages, tests, entry points, folders.

Everything here was counted or read, nothing guessed by a model; whoever wants more asks a mapper.
The pages have the names that other tools read in `.planning/codebase/`.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping

from fairlead.values import dataclass

_LANGUAGES = {
    "py": "Python", "js": "JavaScript", "jsx": "JavaScript", "mjs": "JavaScript", "ts": "TypeScript",
    "tsx": "TypeScript", "go": "Go", "rs": "Rust", "java": "Java", "kt": "Kotlin", "rb": "Ruby",
    "php": "PHP", "c": "C", "h": "C", "cc": "C++", "cpp": "C++", "hpp": "C++", "cs": "C#",
    "swift": "Swift", "scala": "Scala", "sh": "Shell", "lua": "Lua", "dart": "Dart", "ex": "Elixir",
    "exs": "Elixir", "html": "HTML", "css": "CSS", "scss": "CSS", "sql": "SQL", "vue": "Vue",
    "svelte": "Svelte", "zig": "Zig", "r": "R", "jl": "Julia", "pl": "Perl",
}  # fmt: skip
# What says how a project is built, and the command that usually runs its tests.
MANIFESTS = {
    "pyproject.toml": "python -m pytest", "setup.py": "python -m pytest", "requirements.txt": "",
    "package.json": "npm test", "Cargo.toml": "cargo test", "go.mod": "go test ./...",
    "pom.xml": "mvn test", "build.gradle": "gradle test", "Gemfile": "bundle exec rake test",
    "composer.json": "composer test", "Makefile": "make test", "CMakeLists.txt": "ctest",
    "mix.exs": "mix test", "Dockerfile": "",
}  # fmt: skip
_TEST = re.compile(
    r"(?:^|/)(?:tests?|spec|__tests__)/|(?:^|/)test_[^/]*\.\w+$|(?:_test|\.test|\.spec|_spec)\.\w+$"
)
_ENTRIES = re.compile(
    r"(?:^|/)(?:__main__\.py|main\.(?:py|go|rs|c|cpp|ts|js)|app\.(?:py|ts|js)|manage\.py|"
    r"cli\.(?:py|ts|js)|index\.(?:ts|js|html)|server\.(?:ts|js|py))$"
)
_SHOWN = 20


@dataclass(frozen=True, slots=True)
class CodeMap:
    """What was found in a code base."""

    files: int
    is_cut: bool  # more files than were looked at
    languages: tuple[tuple[str, int], ...]  # and how many files of each, the most first
    manifests: tuple[str, ...]
    tests: tuple[str, ...]
    test_command: str
    entries: tuple[str, ...]
    folders: tuple[tuple[str, int], ...]  # at the top, and how many files below each
    packages: tuple[str, ...]  # what the manifests depend on

    @property
    def is_code(self) -> bool:
        """Whether there is a program here already."""
        return bool(self.languages)


def code_map(
    paths: tuple[str, ...], manifests: Mapping[str, str], *, is_cut: bool = False
) -> CodeMap:
    """The map of a code base from its file names and the texts of its manifests."""
    kinds = (each.rpartition("/")[2].rpartition(".")[2].lower() for each in paths if "." in each)
    languages = Counter(_LANGUAGES[each] for each in kinds if each in _LANGUAGES)
    found = tuple(each for each in paths if each.rpartition("/")[2] in MANIFESTS)
    at_top = [each for each in MANIFESTS if each in paths]
    tests = tuple(each for each in paths if _TEST.search(each) and _is_code(each))
    return CodeMap(
        files=len(paths),
        is_cut=is_cut,
        languages=tuple(languages.most_common()),
        manifests=found[:_SHOWN],
        tests=tests,
        test_command=next((MANIFESTS[each] for each in at_top if MANIFESTS[each]), ""),
        entries=tuple(each for each in paths if _ENTRIES.search(each) and each not in tests)[
            :_SHOWN
        ],
        folders=tuple(
            Counter(each.partition("/")[0] for each in paths if "/" in each).most_common(_SHOWN)
        ),
        packages=tuple(
            sorted({name for path, text in manifests.items() for name in _packages(path, text)})
        ),
    )


def pages(found: CodeMap, date: str) -> dict[str, str]:
    """The map as documents, by their names."""
    count = f"{found.files}{'+' if found.is_cut else ''} files"
    head = f"**Analysis Date:** {date}\n\nCounted from file names and manifests ({count}).\n"
    stack = _page(
        "Technology Stack",
        head,
        {
            "Languages": [f"{name}: {number} files" for name, number in found.languages],
            "Manifests": [f"`{each}`" for each in found.manifests],
            "Key Dependencies": [f"`{each}`" for each in found.packages[:60]],
        },
    )
    structure = _page(
        "Codebase Structure",
        head,
        {
            "Directory Layout": [f"`{name}/`: {number} files" for name, number in found.folders],
            "Entry Points": [f"`{each}`" for each in found.entries],
        },
    )
    shown = [f"`{each}`" for each in found.tests[:_SHOWN]]
    if len(found.tests) > _SHOWN:
        shown.append(f"and {len(found.tests) - _SHOWN} more")
    testing = _page(
        "Testing Patterns",
        head,
        {
            "Run Commands": [f"`{found.test_command}`"]
            if found.test_command and found.tests
            else [],
            "Test Files": shown,
        },
    )
    return {"STACK.md": stack, "STRUCTURE.md": structure, "TESTING.md": testing}


def told(found: CodeMap) -> str:
    """The map in a few lines, for a prompt."""
    if not found.is_code:
        return "There is no code yet."
    languages = ", ".join(f"{name} ({number})" for name, number in found.languages[:6])
    parts = {
        "Files": str(found.files),
        "Languages": languages,
        "Manifests": ", ".join(found.manifests[:8]),
        "Depends on": ", ".join(found.packages[:30]),
        "Entry points": ", ".join(found.entries[:8]),
        "Folders": ", ".join(f"{name}/ ({number})" for name, number in found.folders[:12]),
        "Tests": f"{len(found.tests)} files, {found.test_command or 'no known command'}",
    }
    return "\n".join(f"{name}: {value}" for name, value in parts.items() if value)


def _page(title: str, head: str, sections: Mapping[str, list[str]]) -> str:
    parts = [f"# {title}\n", head]
    for name, lines in sections.items():
        parts.append(
            f"## {name}\n\n" + "\n".join(f"- {each}" for each in lines or ["None found."]) + "\n"
        )
    return "\n".join(parts)


def _is_code(path: str) -> bool:
    return path.rpartition(".")[2].lower() in _LANGUAGES


def _packages(path: str, text: str) -> list[str]:
    """The names that a manifest depends on; a manifest that cannot be read names none."""
    match path.rpartition("/")[2]:
        case "package.json":
            try:
                held = json.loads(text)
            except (ValueError, RecursionError):
                return []
            groups = (
                [held.get(key) for key in ("dependencies", "devDependencies")]
                if isinstance(held, dict)
                else []
            )
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
