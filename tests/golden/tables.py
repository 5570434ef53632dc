"""Golden files of error codes, settings and public names.

Error classes and settings are found by walking the package, since their modules may move.
"""

import importlib
import json
import pkgutil
import tomllib
from collections.abc import Iterator, Mapping
from types import ModuleType
from typing import Any

from tests.golden.pages import ROOT, Page, normal
from tests.golden.samples import Samples

FAMILIES = {
    1: "fault",
    2: "usage",
    3: "document",
    4: "conflict",
    5: "agent",
    6: "blocked",
    7: "storage",
}
# Paths that hosts and installed settings name; they stay where they are.
ENTRY_FILES = {
    "fairlead/__main__.py": "",
    "fairlead/interfaces/cli/main.py": "main",
    "fairlead/interfaces/hooks/start.py": "main",
    "fairlead/interfaces/statusline/__main__.py": "",
}
# What a row of the settings table may call these facts.
CHOICES = ("allowed", "choices")
LEAST = ("least", "minimum", "min")
MOST = ("most", "maximum", "max")

VALID = {"fairlead.provider_slots": "claude=1"}  # a value where the default cannot be set


def modules() -> list[ModuleType]:
    """Every module of the package that can be imported without starting a program."""
    package = importlib.import_module("fairlead")
    names = (each.name for each in pkgutil.walk_packages(package.__path__, "fairlead."))
    return [
        package,
        *(importlib.import_module(name) for name in names if not name.endswith("__main__")),
    ]


def _objects(found: list[ModuleType]) -> Iterator[object]:
    """What modules define: their values, and the elements of their tables."""
    for module in found:
        for value in list(vars(module).values()):
            yield value
            if isinstance(value, Mapping):
                yield from value.values()
            elif isinstance(value, list | tuple | set | frozenset):
                yield from value


def error_codes(found_modules: list[ModuleType]) -> str:
    """Each error code with its exit code and family, one a line."""
    found: set[tuple[int, str]] = set()
    classes: set[Any] = set()
    for value in _objects(found_modules):
        family = getattr(value, "family", value)  # a row may leave its exit code to its family
        code = getattr(value, "code", None)
        exit_code = getattr(value, "exit_code", getattr(family, "exit_code", None))
        if isinstance(code, str) and isinstance(exit_code, int) and _is_ours(value):
            found.add((exit_code, code))
            if isinstance(value, type):
                classes |= {value, *_subclasses(value)}
    for kind in filter(_is_ours, classes):  # also those that no module has as a value
        found.add((kind.exit_code, kind.code))
    return "".join(
        f"{code}  exit {number}  {FAMILIES.get(number, 'other')}\n"
        for number, code in sorted(found)
    )


def _is_ours(value: object) -> bool:
    kind = value if isinstance(value, type) else type(value)
    return kind.__module__.split(".")[0] == "fairlead"


def _subclasses(kind: type) -> Iterator[type]:
    each: type
    for each in kind.__subclasses__():
        yield each
        yield from _subclasses(each)


def settings(samples: Samples) -> list[Page]:
    """Every setting: what the command line says, and the limits in the table of settings."""
    rows: dict[str, object] = {}
    for value in _objects(modules()):
        key = getattr(value, "key", None)
        if isinstance(key, str) and hasattr(value, "default") and _is_ours(value):
            rows[key] = value
    world = samples.copy("project")
    empty = samples.copy("empty")
    listed = json.loads(samples.run(empty, ["config", "list", "--json"]).stdout)["settings"]
    found = []
    for each in listed:
        key, default = each["key"], each["value"]
        choices = _first(rows.get(key), CHOICES) or ()
        word = VALID.get(key) or (choices[0] if choices else json.dumps(default))
        argv = ["config", "set", key, word, "--dry-run", "--json"]
        scopes = {"project": argv, "user": [*argv, "--user"]}
        is_number = isinstance(default, int | float) and not isinstance(default, bool)
        found.append(
            {
                "key": key,
                "type": type(default).__name__,
                "default": default,
                "origin": each["origin"],
                "choices": list(choices),
                "range": [_first(rows.get(key), names) for names in (LEAST, MOST)]
                if is_number
                else None,
                "scopes": [
                    name
                    for name, words in scopes.items()
                    if samples.run(world, words).exit_code == 0
                ],
            }
        )
    samples.drop(world)
    samples.drop(empty)
    return found


def _first(row: object, names: tuple[str, ...]) -> Any:
    return next((getattr(row, name) for name in names if hasattr(row, name)), None)


def public_names(samples: Samples) -> str:
    """The names that other programs import, start or find by path."""
    package = importlib.import_module("fairlead")
    lines = []
    for name in sorted(package.__all__):
        value = getattr(package, name)
        lines.append(f"fairlead.{name}")
        if isinstance(value, type):
            own = {
                each
                for kind in value.__mro__
                if kind.__module__ != "builtins"
                for each in vars(kind)
            }
            lines += sorted(f"fairlead.{name}.{each}" for each in own if not each.startswith("_"))
    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["scripts"]
    lines += [f"script {name} = {target}" for name, target in sorted(scripts.items())]
    for path, function in ENTRY_FILES.items():
        file = ROOT / "src" / path
        has_it = file.is_file() and (f"def {function}(" in file.read_text("utf-8") or not function)
        lines.append(f"file {path} {function}".rstrip() + ("" if has_it else "  MISSING"))
    for words in (["hook", "stop"], ["statusline"]):
        world = samples.copy("empty")
        done = samples.run(world, [*words, "--print-command"])
        argv = json.dumps(json.loads(done.stdout)["argv"])
        lines.append(f"host command of {' '.join(words)}: {normal(argv, world)}")
        samples.drop(world)
    return "".join(f"{line}\n" for line in lines)
