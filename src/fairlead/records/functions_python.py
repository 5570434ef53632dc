"""The functions of a Python file, read from its syntax tree; the file is never run."""

import ast
import re
import warnings
from collections.abc import Iterator

from fairlead.model.function import Deed, Function, Outline, is_empty_value, says_unimplemented
from fairlead.text.code import Code

_ABSTRACT = frozenset(
    "abstractmethod abstractproperty overload group callback hookspec fixture singledispatch "
    "singledispatchmethod final_stub".split()
)
_ROUTES = frozenset("route get post put patch delete websocket api_view".split())
_PLAIN = frozenset(("object", "Generic"))
_INTERFACES = frozenset(("Protocol", "TypedDict", "NamedTuple", "Enum", "IntEnum", "StrEnum"))
_LOGS = re.compile(
    r"(?:print|pprint|(?:\w+\.)?sleep|(?:logging|logger|log|_log|_logger|LOG|console)\b.*)\Z"
)
Def = ast.FunctionDef | ast.AsyncFunctionDef
# What a value is made of that nobody had to find out.
_WRITTEN_DOWN = (ast.Constant, ast.Dict, ast.List, ast.Tuple, ast.Set, ast.Name, ast.expr_context)


def parsed(text: str) -> ast.Module | SyntaxError:
    """The tree of a Python text, or why there is none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(text.lstrip("\ufeff"))
    except SyntaxError as error:
        return error
    except (ValueError, RecursionError, MemoryError) as error:
        return SyntaxError(str(error))


def outline_of(code: Code) -> Outline:
    """Every function with what it does."""
    tree = parsed(code.text)
    if isinstance(tree, SyntaxError):
        return Outline(problem=tree.msg or "it cannot be read", line=tree.lineno or 1)
    reader = _Reader(code)
    functions = tuple(reader.functions(tree))
    classes = [
        (node.name, node.lineno)
        for node in tree.body
        if isinstance(node, ast.ClassDef) and not node.bases and not node.decorator_list
        if not node.keywords and not without_docstring(node.body)
    ]
    return Outline(functions, tuple(classes), has_more=any(map(_is_deed, tree.body)))


def name_of(node: ast.expr) -> str:
    """The dotted name of an expression; of a call that of what is called."""
    if isinstance(node, ast.Call | ast.Subscript):
        return name_of(node.func if isinstance(node, ast.Call) else node.value)
    if isinstance(node, ast.Attribute):
        return f"{name_of(node.value)}.{node.attr}".lstrip(".")
    return node.id if isinstance(node, ast.Name) else ""


def without_docstring(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements that do something: no docstring, `pass`, `...`, and nothing that only silences."""
    return [each for each in body if not _is_nothing(each)]


def _is_nothing(node: ast.stmt) -> bool:
    if isinstance(node, ast.Pass):
        return True
    if isinstance(node, ast.Delete):
        return all(isinstance(each, ast.Name) for each in node.targets)
    if isinstance(node, ast.Assign):  # `_ = value` keeps a checker quiet, and that is all
        return all(isinstance(each, ast.Name) and each.id == "_" for each in node.targets)
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_deed(node: ast.stmt) -> bool:
    if isinstance(node, ast.ClassDef):
        return bool(node.bases or node.decorator_list or without_docstring(node.body))
    is_definition = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Import)
    return not (is_definition or _is_nothing(node))  # importing names is giving them on


class _Reader:
    def __init__(self, code: Code) -> None:
        self._lines = code.text.splitlines()

    def functions(
        self, node: ast.AST, owner: ast.ClassDef | None = None, *, is_nested: bool = False
    ) -> Iterator[Function]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                yield self._function(child, owner, is_nested=is_nested)
                yield from self.functions(child, None, is_nested=True)
            elif isinstance(child, ast.Assign) and isinstance(child.value, ast.Lambda):
                yield from self._lambda(child, child.value)
            elif isinstance(child, ast.ClassDef):
                yield from self.functions(child, child, is_nested=is_nested)
            elif isinstance(child, ast.If | ast.Try | ast.ExceptHandler):  # one of several choices
                yield from self.functions(child, owner, is_nested=True)

    def _lambda(self, node: ast.Assign, made: ast.Lambda) -> Iterator[Function]:
        params = tuple(each.arg for each in made.args.args if not each.arg.startswith("_"))
        value = _text(made.body)
        if params and is_empty_value(value):
            name = _text(node.targets[0])
            yield Function(name, node.lineno, Deed.CONSTANT, params, value=value)

    def _function(self, node: Def, owner: ast.ClassDef | None, *, is_nested: bool) -> Function:
        given = node.args
        names = [each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
        params = tuple(
            each for each in names if each not in ("self", "cls") and not each.startswith("_")
        )
        body = without_docstring(node.body)
        deed, value = _deed_of(node.body, body)
        used = {each.id for line in body for each in ast.walk(line) if isinstance(each, ast.Name)}
        decorators = {name_of(each).rpartition(".")[2] for each in node.decorator_list}
        bases = {name_of(each).rpartition(".")[2] for each in owner.bases} if owner else set()
        return Function(
            name=node.name,
            line=node.lineno,
            deed=deed,
            params=params,
            uses_params=not used.isdisjoint(params),
            value=value,
            owner=owner.name if owner else "",
            is_override=bool(bases - _PLAIN),
            is_abstract=bool(decorators & _ABSTRACT or bases & _INTERFACES),
            is_nested=is_nested,
            is_route=any(map(_is_route, node.decorator_list)),
            note=self._note(node) if deed is not Deed.REAL else "",
        )

    def _note(self, node: Def) -> str:
        """Its words for people, with the comments right below it."""
        lines = self._lines[node.lineno - 1 : (node.end_lineno or node.lineno) + 2]
        below = (line[line.find("#") :] for line in lines if "#" in line)
        return "\n".join((ast.get_docstring(node) or "", *below))


def _is_route(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call) or name_of(node).rpartition(".")[2] not in _ROUTES:
        return False
    first = node.args[0] if node.args else None
    return isinstance(first, ast.Constant | ast.List)


def _deed_of(whole: list[ast.stmt], body: list[ast.stmt]) -> tuple[Deed, str]:
    if not body:
        has_dots = any(
            isinstance(each, ast.Expr)
            and isinstance(each.value, ast.Constant)
            and each.value.value is ...
            for each in whole
        )
        return Deed.EMPTY, "..." if has_dots else ""
    first = body[0]
    if isinstance(first, ast.Raise) and first.exc is not None and len(body) == 1:
        return _raised(first.exc), ""
    if len(body) == 1 and isinstance(first, ast.Assert) and says_unimplemented(_text(first.msg)):
        return Deed.UNIMPLEMENTED, ""
    if len(body) == 1 and isinstance(first, ast.Return):
        value = _text(first.value) if first.value else "None"
        is_empty = is_empty_value(value)
        return (Deed.CONSTANT, value) if is_empty else (_returned(first.value), value)
    last = body[-1]
    tail = _text(last.value) if isinstance(last, ast.Return) and last.value else "None"
    told = body[:-1] if isinstance(last, ast.Return) and is_empty_value(tail) else body
    is_log = told and all(isinstance(each, ast.Expr) and _is_log(each.value) for each in told)
    return (Deed.LOG, " ".join(map(_text, told))) if is_log else (Deed.REAL, "")


def _returned(value: ast.expr | None) -> Deed:
    """An answer such as `{"error": "not implemented"}`, that is made of nothing else."""
    parts = list(ast.walk(value)) if value else []
    said = (each.value for each in parts if isinstance(each, ast.Constant))
    is_said = len(parts) < 30 and any(
        isinstance(each, str)
        and says_unimplemented(each.replace("NotImplemented", ""), is_error=False)
        for each in said
    )
    if is_said:
        return Deed.UNIMPLEMENTED
    is_fixed = bool(parts) and all(isinstance(each, _WRITTEN_DOWN) for each in parts)
    return Deed.FIXED if is_fixed else Deed.REAL


def _raised(error: ast.expr) -> Deed:
    is_said = name_of(error) == "NotImplementedError" or says_unimplemented(_text(error))
    return Deed.UNIMPLEMENTED if is_said else Deed.REAL


def _is_log(node: ast.expr) -> bool:
    node = node.value if isinstance(node, ast.Await) else node
    return isinstance(node, ast.Call) and bool(_LOGS.match(name_of(node)))


def _text(node: ast.AST | None) -> str:
    return ast.unparse(node) if node is not None else ""
