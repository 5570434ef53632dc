"""Checks of the source tree, read from syntax trees: sizes, names, output, purity.

Each check takes the folder of a package and returns its faults as sentences, so that the same
check runs on the product and on a tree with a planted fault. Imports are not checked here:
import-linter does that, with the contracts in `pyproject.toml`.
"""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

FUNCTION_LINES = 60
NESTING = 3

VAGUE = {"utils", "util", "helpers", "helper", "common", "base", "manager", "misc", "info"}
PURE = ("text", "project/state", "project/roadmap", "execution/decide.py", "council/decide.py")
OUTPUT_MODULES = {"interfaces/cli/output.py"}

# Retired vocabulary. A word of the first list may not be part of a name that we define; a name of
# the second list may not be defined at all. Stored keys and library names are exempt.
RETIRED_WORDS = {
    "house", "room", "rooms", "floor", "floors", "door", "doors", "desk", "purse", "keeper",
    "keepers", "errand", "errands", "wish", "wishes", "crew", "undertaking", "sighting",
    "guarding", "glance",
}  # fmt: skip
RETIRED_NAMES = {
    "told", "held", "roll", "Roll", "Nearby", "Company", "Cast", "Hands", "Terms", "CouncilTerms",
    "Site", "CouncilSite", "RoleSite", "Watcher", "CouncilWatcher", "Happening", "Manner",
    "Verbs", "Ran", "second_look", "SecondLook", "mend", "weave", "Weaver", "Witness", "survey",
    "quiet", "wait_told", "plan_sheet", "PlanSheet",
}  # fmt: skip
_RETIRED = re.compile("|".join(sorted(RETIRED_WORDS | RETIRED_NAMES)), re.IGNORECASE)
JSON_KEYS = {("workflows/pause.py", "told")}  # a key of `resume --json`
PROSE = re.compile(r"\b(house|rooms?|doors?|desk|purse|keepers?|errand)\b", re.IGNORECASE)
OUTPUT_CALLS = {"print", "click.echo", "click.secho", "sys.stdout.write", "sys.stderr.write"}
CLOCK_AND_DISK = {
    "open",
    "input",
    "datetime.now",
    "datetime.utcnow",
    "datetime.today",
    "date.today",
}
RUN_ALONE = ("agents/scripted/",)  # a program of its own, which imports nothing from the package
COMPILING = {
    f"re.{name}" for name in ("compile", "match", "fullmatch", "search", "sub", "split", "findall")
}
CODE_FROM_TEXT = {"eval", "exec", "compile", "__import__"}

BLOCKS = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.With,
    ast.AsyncWith,
    ast.Try,
    ast.TryStar,
    ast.Match,
)
Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions_over_the_limit(package: Path) -> list[str]:
    """Functions that are too long."""
    return [
        f"{name}:{function.lineno}: {function.name} has {length} lines, the limit is {FUNCTION_LINES}"
        for name, function in _functions(package)
        if (length := (function.end_lineno or 0) - function.lineno + 1) > FUNCTION_LINES
    ]


def functions_too_deep(package: Path) -> list[str]:
    """Functions with too many nested blocks."""
    return [
        f"{name}:{function.lineno}: {function.name} is nested {depth} deep, the limit is {NESTING}"
        for name, function in _functions(package)
        if (depth := _depth(function.body)) > NESTING
    ]


def modules_with_a_vague_name(package: Path) -> list[str]:
    """Modules whose name says nothing about what they contain."""
    return [name for name, _ in _texts(package) if VAGUE & set(Path(name).with_suffix("").parts)]


def class_names_with_two_meanings(package: Path) -> list[str]:
    """Class names that two modules define."""
    places: dict[str, list[str]] = {}
    for name, nodes in _nodes(package):
        for node in nodes:
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(name)
    return [
        f"{found[0]}: {name} is also in {found[1:]}"
        for name, found in sorted(places.items())
        if len(found) > 1
    ]


def retired_names(package: Path) -> list[str]:
    """Names of our own that use retired vocabulary."""
    modules = [(name, 1, Path(name).stem) for name, _ in _texts(package)]
    # Most modules contain none of the words and need not be parsed.
    suspects = [name for name, text in _texts(package) if _RETIRED.search(text)]
    defined = [
        (name, *found) for name in suspects for found in _defined_names(_nodes_in(package / name))
    ]
    return [
        f"{name}:{line}: {word}"
        for name, line, word in modules + defined
        if (word in RETIRED_NAMES or RETIRED_WORDS & set(_parts(word)))
        and (name, word) not in JSON_KEYS
    ]


def retired_prose(folder: Path) -> list[str]:
    """Lines of documents, docstrings and comments that use a retired metaphor."""
    return [
        f"{path.relative_to(folder).as_posix()}:{number}: {line.strip()}"
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".py", ".md")
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        if PROSE.search(line)
    ]


def _defined_names(nodes: Iterable[ast.AST]) -> Iterator[tuple[int, str]]:
    for node in nodes:
        match node:
            case ast.ClassDef() | ast.FunctionDef() | ast.AsyncFunctionDef():
                yield node.lineno, node.name
            case ast.arg():
                yield node.lineno, node.arg
            case ast.Name(ctx=ast.Store()):
                yield node.lineno, node.id
            case ast.Attribute(ctx=ast.Store()):
                yield node.lineno, node.attr


def _parts(name: str) -> list[str]:
    """The words of a name: `PlanDesk`, `plan_desk` and `PLAN_DESK` have the same two."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)]


def modules_without_a_docstring(package: Path) -> list[str]:
    """Modules without a docstring; an empty `__init__` needs none."""
    return [name for name, tree in _trees(package) if tree.body and not ast.get_docstring(tree)]


def output_elsewhere(package: Path) -> list[str]:
    """Prints and echoes anywhere but in the one module that writes to the terminal."""
    return [
        f"{name}:{line}: {called}"
        for name, line, called in _calls(package, OUTPUT_CALLS)
        if name not in OUTPUT_MODULES
    ]


def clocks_and_disks_in_pure_modules(package: Path) -> list[str]:
    """Builtins and classes that reach outside without an import."""
    return [
        f"{name}:{line}: {called}"
        for name, line, called in _calls(package, CLOCK_AND_DISK)
        if name.startswith(PURE)
    ]


def code_made_from_text(package: Path) -> list[str]:
    """Calls that run text as code."""
    return [f"{name}:{line}: {called}" for name, line, called in _calls(package, CODE_FROM_TEXT)]


def effects_on_import(package: Path) -> list[str]:
    """Calls at module level, and state that functions change through `global`."""
    calls = [
        f"{name}:{statement.lineno}: a statement with an effect"
        for name, tree in _trees(package)
        if name != "__main__.py"  # it is run, not imported
        for statement in tree.body
        if _has_an_effect(statement)
    ]
    state = [
        f"{name}:{node.lineno}: global {', '.join(node.names)}"
        for name, nodes in _nodes(package)
        for node in nodes
        if isinstance(node, ast.Global)
    ]
    return calls + state


def patterns_compiled_on_import(package: Path) -> list[str]:
    """Calls of `re` outside functions; `lazy_pattern` compiles on first use instead."""
    return [
        f"{name}:{node.lineno}: {ast.unparse(node.func)}"
        for name, tree in _trees(package)
        for node in _run_on_import(tree)
        if isinstance(node, ast.Call)
        if ast.unparse(node.func) in COMPILING and not name.startswith(RUN_ALONE)
    ]


def _run_on_import(parent: ast.AST) -> Iterator[ast.AST]:
    """The nodes that are evaluated while a module is imported."""
    for node in ast.iter_child_nodes(parent):
        if isinstance(node, ast.Lambda):
            continue
        if isinstance(node, Function):
            defaults = (*node.args.defaults, *filter(None, node.args.kw_defaults))
            for part in (*node.decorator_list, *defaults):
                yield from (part, *_run_on_import(part))
            continue
        yield from (node, *_run_on_import(node))


def _has_an_effect(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr):
        return not isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.For | ast.While | ast.With | ast.Delete)


def _depth(body: list[ast.stmt]) -> int:
    return max((_depth_of(statement) for statement in body), default=0)


def _depth_of(statement: ast.stmt) -> int:
    """The nesting depth of blocks. An `elif` is a branch, not a level."""
    if not isinstance(statement, BLOCKS):
        return 0
    deepest = 0
    for branch in _branches(statement):
        is_elif = isinstance(statement, ast.If) and branch is statement.orelse and len(branch) == 1
        if is_elif and isinstance(branch[0], ast.If):
            deepest = max(deepest, _depth_of(branch[0]) - 1)
        else:
            deepest = max(deepest, _depth(branch))
    return deepest + 1


def _branches(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for field in ("body", "orelse", "finalbody"):
        yield getattr(statement, field, [])
    for field in ("handlers", "cases"):
        for branch in getattr(statement, field, []):
            yield branch.body


def _calls(package: Path, names: set[str]) -> Iterator[tuple[str, int, str]]:
    for name, nodes in _nodes(package):
        origins = _origins(nodes)
        for node in nodes:
            if not isinstance(node, ast.Call):
                continue
            called = _dotted(node.func, origins)
            # `datetime.datetime.now` and `datetime.now` are the same call.
            if called in names or called.removeprefix("datetime.") in names:
                yield name, node.lineno, called


def _origins(nodes: Iterable[ast.AST]) -> dict[str, str]:
    """The origin of each name that `from module import name as other` defines."""
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }


def _dotted(node: ast.expr, origins: dict[str, str]) -> str:
    if isinstance(node, ast.Name):
        return origins.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        return f"{_dotted(node.value, origins)}.{node.attr}"
    return ""


def _functions(package: Path) -> Iterator[tuple[str, Function]]:
    for name, nodes in _nodes(package):
        for node in nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield name, node


def forget_trees() -> None:
    """Release the syntax trees; they are large."""
    _tree_in.cache_clear()
    _nodes_in.cache_clear()


def _nodes(package: Path) -> Iterator[tuple[str, tuple[ast.AST, ...]]]:
    for path in sorted(package.rglob("*.py")):
        yield path.relative_to(package).as_posix(), _nodes_in(path)


def _trees(package: Path) -> Iterator[tuple[str, ast.Module]]:
    for path in sorted(package.rglob("*.py")):
        yield path.relative_to(package).as_posix(), _tree_in(path)


@cache  # a dozen checks look at the same modules
def _nodes_in(path: Path) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(_tree_in(path)))


@cache
def _tree_in(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"), path.name)


def _texts(package: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(package.rglob("*.py")):
        yield path.relative_to(package).as_posix(), path.read_text("utf-8")
