"""The mutations of a function, and how a mutant is identified in two versions of a tree.

A mutation is one small fault in a syntax tree. Two versions of a tree name things differently, so
functions and statements are compared by their shape: the syntax tree without names and prose.
`tools/mutants.py` chooses mutants with this module and runs the tests against them.
"""

import ast
import builtins
import functools
import hashlib
import itertools
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from pathlib import Path
from types import CodeType
from typing import TypedDict

FLIPPED: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
NEGATING = (ast.Eq, ast.NotEq, ast.Is, ast.IsNot, ast.In, ast.NotIn)  # flipping negates the whole
SIMILARITY = 0.6  # the share of equal mutations from which two functions count as the same
BUILTINS = frozenset(dir(builtins))
NOT_IN_SHAPE = {"ctx", "annotation", "returns", "decorator_list", "type_comment", "type_params"}

AnyFunction = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Mutation:
    """One possible fault in a function; `apply` changes the syntax tree in place."""

    operator: str
    statement: ast.stmt
    line: int
    apply: Callable[[], None]


class Place(TypedDict):
    """Where a mutant is in one tree."""

    file: str  # relative to the tree
    line: int
    function: str
    index: int  # among the mutations of the function
    source: str  # digest of the function, so that a stale list is noticed


class Mutant(TypedDict):
    """One chosen mutant with its place on each side."""

    id: str
    package: str
    operator: str
    statement: str
    places: dict[str, Place]


@dataclass(frozen=True)
class SourceFunction:
    """A function outside any other function, with its possible mutations."""

    file: str
    module: str  # below the root package, after the module map
    name: str
    node: AnyFunction
    shape: str
    mutations: tuple[Mutation, ...]

    def identities(self) -> list[tuple[str, str, int, int]]:
        """For each mutation: operator, shape of the statement, number and how many are equal."""
        plain = [(each.operator, _header_shape(each.statement)) for each in self.mutations]
        return [
            (*key, plain[:position].count(key), plain.count(key))
            for position, key in enumerate(plain)
        ]

    def place(self, index: int) -> Place:
        """The place of one mutation."""
        line = self.mutations[index].line
        source = _digest(ast.dump(self.node))
        return Place(file=self.file, line=line, function=self.name, index=index, source=source)


def mutations_of(function: AnyFunction) -> Iterator[Mutation]:
    """Every mutation of a function and of the functions inside it, in a fixed order."""
    for statement, body, in_loop, returns in _statements(function):
        yield from _statement_mutations(statement, body, in_loop, returns)
        for parent, expression in _expressions(statement):
            yield from (
                Mutation(operator, statement, expression.lineno, apply)
                for operator, apply in _expression_mutations(parent, expression)
            )


def _statements(
    function: AnyFunction,
) -> Iterator[tuple[ast.stmt, list[ast.stmt], bool, ast.expr | None]]:
    """Each statement with the block it is in, whether that is a loop body, and the return type."""

    def within(
        node: ast.AST, returns: ast.expr | None
    ) -> Iterator[tuple[ast.stmt, list[ast.stmt], bool, ast.expr | None]]:
        for _, value in ast.iter_fields(node):
            if not isinstance(value, list):
                continue
            for child in list(value):
                if isinstance(child, ast.stmt):
                    yield child, value, isinstance(node, ast.For), returns
                if isinstance(child, AnyFunction):
                    yield from within(child, child.returns)
                elif isinstance(child, ast.stmt | ast.ExceptHandler | ast.match_case):
                    yield from within(child, returns)

    return within(function, function.returns)


def _statement_mutations(
    statement: ast.stmt, body: list[ast.stmt], in_loop: bool, returns: ast.expr | None
) -> Iterator[Mutation]:
    line = statement.lineno
    droppable = ast.Assign | ast.AugAssign | ast.Continue | ast.Break | ast.Delete
    is_call = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call | ast.Await)
    if is_call or (in_loop and isinstance(statement, droppable)):
        nothing = ast.copy_location(ast.Pass(), statement)
        yield Mutation("drop", statement, line, lambda: _replace(body, statement, nothing))
    if isinstance(statement, ast.If | ast.While) and not _negates_by_itself(statement.test):
        test = statement.test
        yield Mutation("negate condition", statement, line, lambda: _negate(statement, test))
    if isinstance(statement, ast.Return) and statement.value is not None and returns is not None:
        for value in _substitutes(ast.unparse(returns), statement.value):
            name = f"return {ast.unparse(value) if not isinstance(value, ast.UnaryOp) else 'not'}"
            yield Mutation(
                name, statement, line, functools.partial(_set_field, statement, "value", value)
            )


def _substitutes(returns: str, value: ast.expr) -> Iterator[ast.expr]:
    """Values to return instead, by the declared type."""
    empty = {"str": "''", "tuple[": "()", "list[": "[]", "dict[": "{}"}
    texts = [text for start, text in empty.items() if returns.startswith(start)]
    if returns.endswith("| None"):
        texts.append("None")
    for text in texts:
        if ast.unparse(value) != text:
            yield _located(ast.parse(text, mode="eval").body, value)
    if returns == "bool" and isinstance(value, ast.Call | ast.Name | ast.Attribute):
        yield _located(ast.UnaryOp(ast.Not(), value), value)


def _expressions(statement: ast.stmt) -> Iterator[tuple[ast.AST, ast.expr]]:
    """The expressions of a statement with their parents, without those of nested statements."""
    # Assertions narrow types, and errors and f-strings are mostly wording.
    skipped = ast.Raise | ast.Assert | ast.Import | ast.ImportFrom | ast.ClassDef | AnyFunction

    def within(node: ast.AST) -> Iterator[tuple[ast.AST, ast.expr]]:
        for name, value in ast.iter_fields(node):
            if name in NOT_IN_SHAPE or name == "pattern":
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.JoinedStr | ast.stmt) or not isinstance(child, ast.AST):
                    continue
                if isinstance(child, ast.expr):
                    yield node, child
                if not isinstance(child, ast.ExceptHandler):
                    yield from within(child)

    if not isinstance(statement, skipped) and not _is_docstring(statement):
        yield from within(statement)


def _expression_mutations(
    parent: ast.AST, node: ast.expr
) -> Iterator[tuple[str, Callable[[], None]]]:
    match node:
        case ast.Compare(ops=operators):
            for position, operator in enumerate(operators):
                other = FLIPPED[type(operator)]
                yield (
                    f"{type(operator).__name__} to {other.__name__}",
                    functools.partial(operators.__setitem__, position, other()),
                )
        case ast.BoolOp(op=operator):
            swapped = ast.Or() if isinstance(operator, ast.And) else ast.And()
            name = f"{type(operator).__name__} to {type(swapped).__name__}"
            yield name, functools.partial(_set_field, node, "op", swapped)
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "remove not", lambda: _replace(parent, node, operand)
        case ast.Constant(value=bool(value)):
            yield f"{value} to {not value}", functools.partial(_set_field, node, "value", not value)
        case ast.Constant(value=int(value)):
            yield "add 1", functools.partial(_set_field, node, "value", value + 1)
            yield "subtract 1", functools.partial(_set_field, node, "value", value - 1)
        case ast.IfExp(test=test) if not _negates_by_itself(test):
            yield "negate condition", lambda: _negate(node, test)
    if isinstance(parent, ast.comprehension) and node in parent.ifs:
        if not _negates_by_itself(node):
            yield "negate condition", lambda: _negate(parent, node)


def _negates_by_itself(test: ast.expr) -> bool:
    """Whether another mutation of the condition already has the same effect."""
    if isinstance(test, ast.Compare):
        return len(test.ops) == 1 and isinstance(test.ops[0], NEGATING)
    if isinstance(test, ast.UnaryOp):
        return isinstance(test.op, ast.Not)
    return isinstance(test, ast.Constant)


def _negate(parent: ast.AST, test: ast.expr) -> None:
    _replace(parent, test, _located(ast.UnaryOp(ast.Not(), test), test))


def _replace(parent: ast.AST | list[ast.stmt], old: ast.AST, new: ast.AST) -> None:
    fields: list[object] = [parent] if isinstance(parent, list) else list(vars(parent).values())
    for value in fields:
        if isinstance(value, list) and old in value:
            value[value.index(old)] = new
    for name, value in [] if isinstance(parent, list) else list(vars(parent).items()):
        if value is old:
            setattr(parent, name, new)


def _set_field(node: ast.AST, name: str, value: object) -> None:
    setattr(node, name, value)


def _located(node: ast.expr, place: ast.expr) -> ast.expr:
    return ast.fix_missing_locations(ast.copy_location(node, place))


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


# Identifying a mutant in two trees


def shape(node: object) -> str:
    """A syntax tree as text without names, annotations, docstrings, imports and prose.

    Dotted names count as one name, because a call changes from `module.name` to `name` when two
    modules are merged. Builtins, numbers and strings without a space are kept.
    """
    match node:
        case ast.Name(id=name):
            return name if name in BUILTINS else "_"
        case ast.Attribute(value=value):
            inner = shape(value)
            return inner if inner == "_" else f"({inner}._)"
        case ast.Constant(value=str(text)):
            return "text" if " " in text else repr(text)
        case ast.JoinedStr():
            return "text"
        case ast.Raise():
            return "raise"
        case ast.AnnAssign(target=target, value=value):
            return f"Assign({shape([target])},{shape(value)})"
        case ast.AST():
            fields = [value for name, value in ast.iter_fields(node) if name not in NOT_IN_SHAPE]
            return f"{type(node).__name__}({','.join(map(shape, fields))})"
        case list():
            return f"[{','.join(shape(each) for each in node if _has_shape(each))}]"
        case str():
            return "_"  # the name of a function, argument, keyword or exception
    return repr(node)


def _has_shape(node: object) -> bool:
    if isinstance(node, ast.Import | ast.ImportFrom):
        return False
    return not (isinstance(node, ast.stmt) and _is_docstring(node))


def _header_shape(statement: ast.stmt) -> str:
    """The shape of a statement without the statements nested in it."""
    if isinstance(statement, ast.AnnAssign):
        return shape(statement)
    fields = [
        value
        for name, value in ast.iter_fields(statement)
        if name not in NOT_IN_SHAPE | {"body", "orelse", "finalbody", "handlers", "cases"}
    ]
    return f"{type(statement).__name__}({','.join(map(shape, fields))})"


def functions_of(tree: Path, package: str, modules: Mapping[str, str]) -> list[SourceFunction]:
    """The functions of a package; `modules` maps old module names to new ones."""
    root = source_root(tree)
    functions = []
    for path in sorted(root.rglob("*.py")):
        dotted = ".".join(path.relative_to(root).with_suffix("").parts)
        module = modules.get(dotted, dotted)
        if f"{module}.".startswith(f"{package.replace('/', '.')}."):
            file = path.relative_to(tree).as_posix()
            functions += [
                SourceFunction(file, module, name, node, shape(node), tuple(mutations_of(node)))
                for name, node in outer_functions(ast.parse(path.read_bytes()))
            ]
    return functions


def source_root(tree: Path) -> Path:
    """The folder of the one package below `src`."""
    (initial,) = (tree / "src").glob("*/__init__.py")
    return initial.parent


def outer_functions(node: ast.AST, prefix: str = "") -> Iterator[tuple[str, AnyFunction]]:
    """Functions and methods with their names; a second one of the same name gets a number."""
    seen: dict[str, int] = defaultdict(int)
    for child in ast.iter_child_nodes(node):
        if isinstance(child, AnyFunction):
            seen[child.name] += 1
            number = f"#{seen[child.name]}" if seen[child.name] > 1 else ""
            yield f"{prefix}{child.name}{number}", child
        elif isinstance(child, ast.ClassDef):
            yield from outer_functions(child, f"{prefix}{child.name}.")


def pairs_of(
    old: Sequence[SourceFunction], new: Sequence[SourceFunction]
) -> Iterator[tuple[SourceFunction, SourceFunction]]:
    """Functions that are the same in both trees.

    Equal shapes are paired first. A function whose shape changed is paired by its name or else
    with the most similar function, so that its unchanged statements can be compared.
    """
    left, right = list(old), list(new)
    keys: list[Callable[[SourceFunction], tuple[str, ...]]] = [
        lambda each: (each.shape, each.module, each.name),
        lambda each: (each.shape, each.name.rpartition(".")[2]),
        lambda each: (each.shape, each.module),
        lambda each: (each.shape,),
        lambda each: (each.module, each.name),
        lambda each: (each.name.rpartition(".")[2],),
    ]
    for key in keys:
        candidates = _grouped(right, key)
        paired = [
            pair
            for name, group in _grouped(left, key).items()
            if len(group) == len(candidates.get(name, ()))
            for pair in zip(group, candidates[name], strict=True)
        ]
        yield from paired
        done = {id(function) for pair in paired for function in pair}
        left = [each for each in left if id(each) not in done]
        right = [each for each in right if id(each) not in done]
    yield from _similar_pairs(left, right)


def _similar_pairs(
    old: Sequence[SourceFunction], new: Sequence[SourceFunction]
) -> Iterator[tuple[SourceFunction, SourceFunction]]:
    """Pairs of functions that share most of their mutations, the most similar first."""
    counts = {id(each): Counter(key[:2] for key in each.identities()) for each in [*old, *new]}
    scores = []
    for left, right in itertools.product(range(len(old)), range(len(new))):
        first, second = counts[id(old[left])], counts[id(new[right])]
        size = first.total() + second.total()
        if size and (score := 2 * (first & second).total() / size) >= SIMILARITY:
            scores.append((-score, left, right))
    done: set[tuple[str, int]] = set()
    for _, left, right in sorted(scores):
        if done.isdisjoint({("old", left), ("new", right)}):
            done |= {("old", left), ("new", right)}
            yield old[left], new[right]


def _grouped(
    functions: Iterable[SourceFunction], key: Callable[[SourceFunction], tuple[str, ...]]
) -> dict[tuple[str, ...], list[SourceFunction]]:
    groups: dict[tuple[str, ...], list[SourceFunction]] = defaultdict(list)
    for function in functions:
        groups[key(function)].append(function)
    return groups


def choose(
    package: str,
    pairs: Iterable[tuple[SourceFunction, SourceFunction]],
    count: int,
    seed: int,
) -> list[Mutant]:
    """The first mutants in the order of a seeded hash.

    The hash depends on the first tree alone: when the second tree changes, only the mutants that
    it no longer has are replaced.
    """
    mutants = []
    for old, new in pairs:
        counterparts = {key: index for index, key in enumerate(new.identities())}
        for index, key in enumerate(old.identities()):
            if key not in counterparts:
                continue
            mutation = old.mutations[index]
            mutants.append(
                Mutant(
                    id=_digest(f"{seed} {old.module} {old.name} {old.shape} {key}"),
                    package=package,
                    operator=mutation.operator,
                    statement=_first_line(mutation.statement),
                    places={"old": old.place(index), "new": new.place(counterparts[key])},
                )
            )
    return sorted(mutants, key=lambda mutant: mutant["id"])[:count]


def _first_line(statement: ast.stmt) -> str:
    return ast.unparse(statement).partition("\n")[0]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def mutated_codes(path: Path, place: Place) -> dict[tuple[str, int], CodeType]:
    """The code of the mutated function and of those inside it, by name and first line."""
    module = ast.parse(path.read_bytes())
    function = dict(outer_functions(module))[place["function"]]
    if _digest(ast.dump(function)) != place["source"]:
        sys.exit(f"{place['file']}: {place['function']} changed; run `list` again")
    list(mutations_of(function))[place["index"]].apply()
    ast.fix_missing_locations(module)
    lines = lines_of(function)
    codes: dict[tuple[str, int], CodeType] = {}
    for code in _codes_in(SourceFileLoader("", str(path)).source_to_code(module, str(path))):
        if code.co_firstlineno in lines:
            codes[code.co_qualname, code.co_firstlineno] = code
    return codes


def lines_of(function: AnyFunction) -> range:
    """The lines of a function with its decorators."""
    first = min([function.lineno, *(each.lineno for each in function.decorator_list)])
    return range(first, (function.end_lineno or first) + 1)


def _codes_in(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes_in(constant)
