"""What the house looks like from inside, read from syntax trees.

Each check takes the folder of a package and returns its faults as sentences, so that the same
check can be run on the product and on a tree with a planted fault. Imports are not checked
here: import-linter holds them, with the contracts in `pyproject.toml`.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

MODULE_LINES = 400
WHOLE = {"errors.py": 1200}  # the tree of errors is drawn and read as one
FUNCTION_LINES = 60
NESTING = 3

NAMELESS = {"utils", "util", "helpers", "helper", "common", "base", "manager", "misc"}
PURE = ("model", "text", "records", "engine/decide.py", "engine/council_decide.py")
SHOWS = {"interfaces/cli/show.py"}
PEOPLE = {"print", "click.echo", "click.secho", "sys.stdout.write", "sys.stderr.write"}
CLOCK_AND_DISK = {
    "open",
    "input",
    "datetime.now",
    "datetime.utcnow",
    "datetime.today",
    "date.today",
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


def modules_over_the_limit(package: Path) -> list[str]:
    """Modules that have grown into two."""
    return [
        f"{name}: {len(lines)} lines, the limit is {limit}"
        for name, lines in ((name, text.splitlines()) for name, text in _texts(package))
        if len(lines) > (limit := WHOLE.get(name, MODULE_LINES))
    ]


def functions_over_the_limit(package: Path) -> list[str]:
    """Functions that nobody reads to the end."""
    return [
        f"{name}:{function.lineno}: {function.name} has {length} lines, the limit is {FUNCTION_LINES}"
        for name, function in _functions(package)
        if (length := (function.end_lineno or 0) - function.lineno + 1) > FUNCTION_LINES
    ]


def functions_too_deep(package: Path) -> list[str]:
    """Functions in which one has to count the indents."""
    return [
        f"{name}:{function.lineno}: {function.name} is nested {depth} deep, the limit is {NESTING}"
        for name, function in _functions(package)
        if (depth := _depth(function.body)) > NESTING
    ]


def modules_without_a_name(package: Path) -> list[str]:
    """A thing with no home has not been named yet."""
    return [name for name, _ in _texts(package) if NAMELESS & set(Path(name).with_suffix("").parts)]


def modules_without_a_docstring(package: Path) -> list[str]:
    """Every module says what it is; an empty `__init__` has nothing to say."""
    return [name for name, tree in _trees(package) if tree.body and not ast.get_docstring(tree)]


def words_to_people(package: Path) -> list[str]:
    """Prints and echoes anywhere but in the one module that shows things."""
    return [
        f"{name}:{line}: {called}"
        for name, line, called in _calls(package, PEOPLE)
        if name not in SHOWS
    ]


def clocks_and_disks_in_pure_rooms(package: Path) -> list[str]:
    """Builtins and classes that reach outside without an import that would tell."""
    return [
        f"{name}:{line}: {called}"
        for name, line, called in _calls(package, CLOCK_AND_DISK)
        if name.startswith(PURE)
    ]


def code_made_from_text(package: Path) -> list[str]:
    """Text is never run."""
    return [f"{name}:{line}: {called}" for name, line, called in _calls(package, CODE_FROM_TEXT)]


def deeds_on_import(package: Path) -> list[str]:
    """Calls at module level, and state that functions change through `global`."""
    calls = [
        f"{name}:{statement.lineno}: something happens on import"
        for name, tree in _trees(package)
        if name != "__main__.py"  # it is not imported but run
        for statement in tree.body
        if _is_a_deed(statement)
    ]
    state = [
        f"{name}:{node.lineno}: global {', '.join(node.names)}"
        for name, tree in _trees(package)
        for node in ast.walk(tree)
        if isinstance(node, ast.Global)
    ]
    return calls + state


def _is_a_deed(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.Expr):
        return not isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.For | ast.While | ast.With | ast.Delete)


def _depth(body: list[ast.stmt]) -> int:
    return max((_depth_of(statement) for statement in body), default=0)


def _depth_of(statement: ast.stmt) -> int:
    """How many blocks stand inside each other. An `elif` is a branch, not a level."""
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


def _calls(package: Path, wanted: set[str]) -> Iterator[tuple[str, int, str]]:
    for name, tree in _trees(package):
        origins = _origins(tree)
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            called = _dotted(node.func, origins)
            # `datetime.datetime.now` and `datetime.now` are the same thing said twice.
            if called in wanted or called.removeprefix("datetime.") in wanted:
                yield name, node.lineno, called


def _origins(tree: ast.Module) -> dict[str, str]:
    """What the names of `from module import name as other` stand for."""
    return {
        alias.asname or alias.name: f"{node.module}.{alias.name}"
        for node in ast.walk(tree)
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
    for name, tree in _trees(package):
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield name, node


def _trees(package: Path) -> Iterator[tuple[str, ast.Module]]:
    for name, text in _texts(package):
        yield name, ast.parse(text, name)


def _texts(package: Path) -> Iterator[tuple[str, str]]:
    for path in sorted(package.rglob("*.py")):
        yield path.relative_to(package).as_posix(), path.read_text("utf-8")
