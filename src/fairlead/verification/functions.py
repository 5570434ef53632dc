"""Outlines of source files: every function with a classification of its body.

The values are the same for all languages. Python is read here, from its syntax tree and without
running the file; `functions_braces` reads the languages that have no parser in the standard
library.
"""

import ast
import re
import warnings
from collections.abc import Iterator
from enum import StrEnum

from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass
from fairlead.verification.source_code import Code

_EMPTY_VALUE = lazy_pattern(
    r"None|null|nil|undefined|\{\s*\}|\[\s*\]|\(\s*\)|\"\"|''|``|0(?:\.0)?|-1|False|false|True|true|Ok\(\(\)\)"
    r"|(?:list|dict|set|tuple)\(\)|iter\((?:\[\]|\(\))\)|(?:Vec|String|HashMap)::new\(\)|vec!\[\]|Default::default\(\)|Promise\.resolve\(\)"
    r"|new (?:Array|Hash)\w*(?:<[^>]*>)?\(\)|(?:List|Map|Set)\.of\(\)|Optional\.empty\(\)"
    r"|Collections\.empty\w+\(\)|(?:\w+\.)*(?:json|send|end)\((?:\{\s*\}|\[\s*\]|null)?\)"
)
_UNFINISHED = lazy_pattern(
    r"not[\s_-]*(?:yet[\s_-]*)?implemented|\bunimplemented\b|implement me|to be implemented",
    re.IGNORECASE,
)
_TODO_WORD = lazy_pattern(r"\b(?:todo|fixme)\b", re.IGNORECASE)
_TODO_COMMENT = lazy_pattern(
    r"[#/*<!-]\s*(?:todo|fixme|xxx|tbd|stub|placeholder|implement)\b"
    r"|not (?:yet )?implemented|to be implemented"
    r"|\bfor now\b|\bimplement (?:this|me|later)|your code here|real implementation|\btodo:",
    re.IGNORECASE,
)
_FOR_SUBCLASSES = lazy_pattern(
    r"overrid|\bhook\b|subclass|by default|default implementation|inherit", re.IGNORECASE
)
_INTENTIONAL = lazy_pattern(
    rf"{_FOR_SUBCLASSES.pattern}|\bcalled\b|no-?op|nothing|intentional|on purpose"
    r"|\bempty\b|not (?:needed|supported|necessary|used)|un(?:supported"
    r"|used)|ignored?\b|always|never|no effect",
    re.IGNORECASE,
)
_ABSTRACT = frozenset(
    "abstractmethod abstractproperty overload group callback hookspec fixture singledispatch "
    "singledispatchmethod final_stub".split()
)
_ROUTE_DECORATORS = frozenset("route get post put patch delete websocket api_view".split())
_NEUTRAL_BASES = frozenset(("object", "Generic"))
_INTERFACES = frozenset(("Protocol", "TypedDict", "NamedTuple", "Enum", "IntEnum", "StrEnum"))
_LOG_CALL = lazy_pattern(
    r"(?:print|pprint|(?:\w+\.)?sleep|(?:logging|logger|log|_log|_logger|LOG|console)\b.*)\Z"
)
Def = ast.FunctionDef | ast.AsyncFunctionDef
# An expression of these nodes only was written down, not computed.
_LITERAL = (ast.Constant, ast.Dict, ast.List, ast.Tuple, ast.Set, ast.Name, ast.expr_context)


class BodyKind(StrEnum):
    """What the body of a function does."""

    REAL = "real"
    EMPTY = "empty"
    CONSTANT = "constant"  # returns an empty value or a bare truth value
    FIXED = "fixed"  # returns a literal
    UNIMPLEMENTED = "unimplemented"  # says that it is not implemented
    LOG = "log"  # only prints or logs


@dataclass(frozen=True, slots=True)
class Function:
    """One function with a body."""

    name: str
    line: int
    body_kind: BodyKind
    params: tuple[str, ...] = ()  # without self and `_unused`
    uses_params: bool = False
    value: str = ""  # that a constant function returns
    owner: str = ""  # its class, type or trait
    is_override: bool = False  # its class has a base that may require the method
    is_abstract: bool = False  # declared abstract, or a member of an interface
    is_nested: bool = False
    is_route: bool = False
    note: str = ""  # its docstring and comments, unless the body is real

    @property
    def has_todo(self) -> bool:
        """Whether its comments say that it is not finished."""
        return bool(_TODO_COMMENT.search(self.note))

    @property
    def is_intentional(self) -> bool:
        """Whether its comments say that doing nothing is intended."""
        pattern = _FOR_SUBCLASSES if self.body_kind is BodyKind.CONSTANT else _INTENTIONAL
        return bool(pattern.search(self.note)) and not self.has_todo


@dataclass(frozen=True, slots=True)
class Outline:
    """The functions and the empty classes of a file."""

    functions: tuple[Function, ...] = ()
    empty_classes: tuple[tuple[str, int], ...] = ()  # name and line; only classes without base
    has_more: bool = False  # other statements that do something
    problem: str = ""  # why the file cannot be parsed
    line: int = 0  # of the problem


def is_empty_value(value: str) -> bool:
    """Whether an expression is one or several empty values, or a bare truth value."""
    value = re.sub(r"\s+as\s+[\w<>\[\], |.]+$", "", value)
    parts = [part.strip() for part in value.split(",")] if "(" not in value else [value.strip()]
    return all(_EMPTY_VALUE.fullmatch(part) for part in parts)


def says_unimplemented(text: str, *, is_error: bool = True) -> bool:
    """Whether a text says that something is not implemented.

    The word `todo` counts only in an error; as a returned value it may be an ordinary status.
    """
    return bool(_UNFINISHED.search(text)) or (is_error and bool(_TODO_WORD.search(text)))


# --- Python ------------------------------------------------------------------------------


def parsed(text: str) -> ast.Module | SyntaxError:
    """Parse a Python text, or return the error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text.lstrip("\ufeff"))
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError) as error:
        return SyntaxError(str(error))


def python_outline(code: Code) -> Outline:
    """Return the outline of a Python file."""
    tree = parsed(code.text)
    if isinstance(tree, SyntaxError):
        return Outline(problem=tree.msg or "it cannot be parsed", line=tree.lineno or 1)
    functions = tuple(_PythonFunctions(code).below(tree))
    classes = [
        (node.name, node.lineno)
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not node.bases and not node.decorator_list
        if not node.keywords and not without_docstring(node.body)
    ]
    return Outline(functions, tuple(classes), has_more=any(map(_has_effect, tree.body)))


def name_of(node: ast.expr) -> str:
    """Return the dotted name of an expression, or of the function that it calls."""
    if isinstance(node, ast.Call | ast.Subscript):
        return name_of(node.func if isinstance(node, ast.Call) else node.value)
    if isinstance(node, ast.Attribute):
        return f"{name_of(node.value)}.{node.attr}".lstrip(".")
    return node.id if isinstance(node, ast.Name) else ""


def without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    """Return the statements that do something: no docstring, `pass`, `...`, `del x` or `_ = x`."""
    return [statement for statement in body if not _is_idle(statement)]


def _is_idle(node: ast.stmt) -> bool:
    if isinstance(node, ast.Pass):
        return True
    if isinstance(node, ast.Delete):
        return all(isinstance(target, ast.Name) for target in node.targets)
    if isinstance(node, ast.Assign):  # `_ = value` only silences a linter
        return all(isinstance(target, ast.Name) and target.id == "_" for target in node.targets)
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _has_effect(node: ast.stmt) -> bool:
    if isinstance(node, ast.ClassDef):
        return bool(node.bases or node.decorator_list or without_docstring(node.body))
    # `from x import y` counts: a module may exist to re-export names.
    is_definition = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Import)
    return not (is_definition or _is_idle(node))


class _PythonFunctions:
    def __init__(self, code: Code) -> None:
        self._lines = code.text.splitlines()

    def below(
        self, node: ast.AST, owner: ast.ClassDef | None = None, *, is_nested: bool = False
    ) -> Iterator[Function]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                yield self._function(child, owner, is_nested=is_nested)
                yield from self.below(child, None, is_nested=True)
            elif isinstance(child, ast.Assign) and isinstance(child.value, ast.Lambda):
                yield from self._lambda(child, child.value)
            elif isinstance(child, ast.ClassDef):
                yield from self.below(child, child, is_nested=is_nested)
            elif isinstance(child, ast.If | ast.Try | ast.ExceptHandler):
                # One of several alternative definitions: treated like a nested function.
                yield from self.below(child, owner, is_nested=True)

    def _lambda(self, node: ast.Assign, made: ast.Lambda) -> Iterator[Function]:
        params = tuple(arg.arg for arg in made.args.args if not arg.arg.startswith("_"))
        value = _source(made.body)
        if params and is_empty_value(value):
            name = _source(node.targets[0])
            yield Function(name, node.lineno, BodyKind.CONSTANT, params, value=value)

    def _function(self, node: Def, owner: ast.ClassDef | None, *, is_nested: bool) -> Function:
        arguments = (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)
        params = tuple(
            arg.arg
            for arg in arguments
            if arg.arg not in ("self", "cls") and not arg.arg.startswith("_")
        )
        body = without_docstring(node.body)
        kind, value = _body_kind(node.body, body)
        used = {name.id for line in body for name in ast.walk(line) if isinstance(name, ast.Name)}
        decorators = {name_of(each).rpartition(".")[2] for each in node.decorator_list}
        bases = {name_of(base).rpartition(".")[2] for base in owner.bases} if owner else set()
        return Function(
            name=node.name,
            line=node.lineno,
            body_kind=kind,
            params=params,
            uses_params=not used.isdisjoint(params),
            value=value,
            owner=owner.name if owner else "",
            is_override=bool(bases - _NEUTRAL_BASES),
            is_abstract=bool(decorators & _ABSTRACT or bases & _INTERFACES),
            is_nested=is_nested,
            is_route=any(map(_is_route, node.decorator_list)),
            note=self._note(node) if kind is not BodyKind.REAL else "",
        )

    def _note(self, node: Def) -> str:
        """Return its docstring and its comments, including those right below it."""
        lines = self._lines[node.lineno - 1 : (node.end_lineno or node.lineno) + 2]
        comments = (line[line.find("#") :] for line in lines if "#" in line)
        return "\n".join((ast.get_docstring(node) or "", *comments))


def _is_route(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call) or name_of(node).rpartition(".")[2] not in _ROUTE_DECORATORS:
        return False
    first = node.args[0] if node.args else None
    return isinstance(first, ast.Constant | ast.List)


def _body_kind(statements: list[ast.stmt], body: list[ast.stmt]) -> tuple[BodyKind, str]:
    if not body:
        has_dots = any(
            isinstance(statement, ast.Expr)
            and isinstance(statement.value, ast.Constant)
            and statement.value.value is ...
            for statement in statements
        )
        return BodyKind.EMPTY, "..." if has_dots else ""
    only = body[0] if len(body) == 1 else None
    if isinstance(only, ast.Raise) and only.exc is not None:
        is_named = name_of(only.exc) == "NotImplementedError"
        is_unimplemented = is_named or says_unimplemented(_source(only.exc))
        return (BodyKind.UNIMPLEMENTED if is_unimplemented else BodyKind.REAL), ""
    if isinstance(only, ast.Assert) and says_unimplemented(_source(only.msg)):
        return BodyKind.UNIMPLEMENTED, ""
    if isinstance(only, ast.Return):
        value = _source(only.value) if only.value else "None"
        is_empty = is_empty_value(value)
        return (BodyKind.CONSTANT if is_empty else _returned_kind(only.value)), value
    last = body[-1]
    tail = _source(last.value) if isinstance(last, ast.Return) and last.value else "None"
    rest = body[:-1] if isinstance(last, ast.Return) and is_empty_value(tail) else body
    is_log = rest and all(isinstance(line, ast.Expr) and _is_log(line.value) for line in rest)
    return (BodyKind.LOG, " ".join(map(_source, rest))) if is_log else (BodyKind.REAL, "")


def _returned_kind(value: ast.expr | None) -> BodyKind:
    """Classify a returned expression; `{"error": "not implemented"}` is no implementation."""
    nodes = list(ast.walk(value)) if value else []
    is_unimplemented = len(nodes) < 30 and any(
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and says_unimplemented(node.value.replace("NotImplemented", ""), is_error=False)
        for node in nodes
    )
    if is_unimplemented:
        return BodyKind.UNIMPLEMENTED
    is_literal = bool(nodes) and all(isinstance(node, _LITERAL) for node in nodes)
    return BodyKind.FIXED if is_literal else BodyKind.REAL


def _is_log(node: ast.expr) -> bool:
    node = node.value if isinstance(node, ast.Await) else node
    return isinstance(node, ast.Call) and bool(_LOG_CALL.match(name_of(node)))


def _source(node: ast.AST | None) -> str:
    return ast.unparse(node) if node is not None else ""
