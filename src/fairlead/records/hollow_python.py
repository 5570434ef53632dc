"""What the tests of a Python file prove, read from its syntax tree."""

import ast
import re
from collections.abc import Collection, Iterator

from fairlead.records.functions_python import Def, name_of, parsed, without_docstring
from fairlead.text.code import Code

_ASSERTING = re.compile(
    r"(?:self\.)?_?(?:assert|expect|check|verify|ensure|should|must|fail|raises|warns|deprecated_call|refute|require|compare|match_snapshot)"
    r"|.*\.(?:assert\w*|raises\w*|warns|fail|check\w*|verify|raise_for_status|match|should\w*|expect\w*|called_once\w*|run_test\w*|fnmatch_lines\w*)$",
    re.IGNORECASE,
)
_FIXTURES = re.compile(
    r"snapshot|regression|assert|check|verify|expect|approv|golden|benchmark|testdir|pytester"
)
_OURS = re.compile(
    r"(?:^|\.)(?:tests?|testing|conftest|helpers?|support|utils?|fixtures?|common|cases|harness)(?:\.|$)|^\.|test",
    re.IGNORECASE,
)
_SKIPS = re.compile(r"(?:.*\.)?(?:skip|skipTest|xfail)$")
_FOREIGN = re.compile(r"(?:unittest|pytest|hypothesis)\b")
_IMPORTED = "\0imported"
_COLLECTS = frozenset(("load_tests", "pytest_generate_tests", "main", "make_suite"))


def tests_of(code: Code) -> list[tuple[str, int, str]] | None:
    """Each test with its line and what is wrong with it; none if the file cannot be read."""
    tree = parsed(code.text)
    if isinstance(tree, SyntaxError):
        return None
    helpers = _helpers(tree)
    taken = {
        each.asname or each.name.partition(".")[0]
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for each in node.names
    }
    is_off = any(_is_mark(node) for node in tree.body)
    found = []
    for node, owner in _tests(tree):
        off = is_off or any(
            _SKIPS.match(name_of(each))
            for each in (*node.decorator_list, *(owner.decorator_list if owner else ()))
        )
        found.append(
            (node.name, node.lineno, "is switched off" if off else _fault(node, helpers, taken))
        )
    return found


def is_no_collection(code: Code) -> bool:
    """Whether a file without test functions of its own may still be one that runs tests."""
    tree = parsed(code.text)
    if isinstance(tree, SyntaxError):
        return True
    names = {each.name for each in tree.body if isinstance(each, Def)}
    has_base = any(isinstance(each, ast.ClassDef) and each.bases for each in tree.body)
    checks = any(isinstance(each, ast.Assert) for each in ast.walk(tree))
    makes = any(
        isinstance(each, ast.Call) and name_of(each) in ("globals", "setattr", "exec")
        for each in ast.walk(tree)
    )
    gives = any(
        isinstance(each, ast.ImportFrom) and _OURS.search(each.module or ".") for each in tree.body
    )
    return bool(names & _COLLECTS) or has_base or checks or makes or gives


def _tests(tree: ast.Module) -> Iterator[tuple[Def, ast.ClassDef | None]]:
    inside = [
        (each, node) for node in tree.body if isinstance(node, ast.ClassDef) for each in node.body
    ]
    for node, owner in (*((each, None) for each in tree.body), *inside):
        if isinstance(node, Def) and node.name.startswith("test"):
            yield node, owner


def _is_mark(node: ast.stmt) -> bool:
    """Whether a statement switches a whole file of tests off."""
    if isinstance(node, ast.Assign) and _names_of(node) == ["pytestmark"]:
        held = node.value.elts if isinstance(node.value, ast.List | ast.Tuple) else [node.value]
        return any(_SKIPS.match(name_of(each)) for each in held)
    return isinstance(node, ast.Expr) and name_of(node.value) == "pytest.skip"


def _names_of(node: ast.Assign) -> list[str]:
    return [each.id for each in node.targets if isinstance(each, ast.Name)]


def _helpers(tree: ast.Module) -> frozenset[str]:
    """Names that assert when they are called: found in this file, or of the tests' own modules."""
    own: dict[str, Def] = {}
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith(
            "test"
        ):
            own[node.name] = node
        elif isinstance(node, ast.ImportFrom) and _is_ours(node):
            names |= {each.asname or each.name for each in node.names}
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("Test"):
            if any(isinstance(each, ast.Assert | ast.Raise) for each in ast.walk(node)):
                names.add(node.name)
    for _ in range(3):  # helpers of helpers
        names |= {name for name, node in own.items() if _is_asserting(node, frozenset(names))}
    return frozenset(names)


def _is_ours(node: ast.ImportFrom) -> bool:
    module = node.module or ""
    return bool(node.level or _OURS.search(module)) and not _FOREIGN.match(module)


def _is_asserting(node: Def, helpers: frozenset[str]) -> bool:
    return not _fault(node, helpers)


def _fault(node: Def, helpers: frozenset[str], taken: Collection[str] = ()) -> str:
    body = without_docstring(node.body)
    if (
        body
        and isinstance(body[0], ast.Expr)
        and isinstance(body[0].value, ast.Call)
        and _SKIPS.match(name_of(body[0].value))
    ):
        return "is switched off"
    if ">>>" in (ast.get_docstring(node) or ""):
        return ""
    given = [each.arg for each in (*node.args.args, *node.args.kwonlyargs)]
    if any(_FIXTURES.search(each) for each in given):
        return ""
    # That a name was imported holds before any test begins.
    known = _assigned(node) | dict.fromkeys(taken, _IMPORTED)
    said = [_proof(each, known, helpers, given) for each in _walked(body)]
    if any(each is True for each in said):
        return ""
    return "asserts only what always holds" if False in said else "asserts nothing"


def _proof(
    node: ast.AST, known: dict[str, str], helpers: frozenset[str], given: list[str]
) -> bool | None:
    """Whether a node asserts something, or only what always holds; None: it asserts nothing."""
    if isinstance(node, ast.Assert):
        return not _is_always(node.test, known)
    if isinstance(node, ast.Raise):
        return True
    if not isinstance(node, ast.Call):
        return None
    name = name_of(node)
    if any(each.arg == "check" for each in node.keywords):  # a process that must succeed
        return True
    if _is_given(name, helpers, given):
        return True
    # `verify_token` is what the test is about, when it comes from the code and not from a helper.
    is_subject = known.get(name) == _IMPORTED and not re.match(r"assert|expect|raises|warns", name)
    if is_subject or not _ASSERTING.match(name):
        return None
    return not _is_always_call(node, name, known)


def _is_given(name: str, helpers: frozenset[str], given: list[str]) -> bool:
    """Whether a call goes to a helper, or to a method of a class or fixture of the tests."""
    first, _, rest = name.partition(".")
    last = name.rpartition(".")[2]
    return (
        last in helpers
        or (first in helpers and not rest)
        or (first in ("self", "cls") and last in helpers)
        or (first in given and _FIXTURES.search(first) is not None)
    )


def _walked(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Every node that counts: what is swallowed by `except: pass` does not."""
    for node in body:
        if isinstance(node, ast.Try) and any(map(_is_swallowing, node.handlers)):
            yield from _walked([*node.orelse, *node.finalbody])
            continue
        if isinstance(node, ast.If) and isinstance(node.test, ast.Constant) and not node.test.value:
            yield from _walked(node.orelse)
            continue
        yield node
        children = list(ast.iter_child_nodes(node))
        handled = [line for h in children if isinstance(h, ast.ExceptHandler) for line in h.body]
        yield from _walked([*(each for each in children if isinstance(each, ast.stmt)), *handled])
        rest = (each for each in children if not isinstance(each, ast.stmt | ast.ExceptHandler))
        yield from (inner for each in rest for inner in ast.walk(each))


def _is_swallowing(handler: ast.ExceptHandler) -> bool:
    return not without_docstring(handler.body) and _is_wide(handler)


def _is_wide(handler: ast.ExceptHandler) -> bool:
    kind = name_of(handler.type) if handler.type else ""
    return kind in ("", "Exception", "BaseException", "AssertionError")


def _assigned(node: Def) -> dict[str, str]:
    """Names that are given one value, by the text of that value."""
    found: dict[str, str] = {}
    for each in ast.walk(node):
        if (
            isinstance(each, ast.Assign)
            and len(each.targets) == 1
            and isinstance(each.targets[0], ast.Name)
        ):
            name = each.targets[0].id
            found[name] = "" if name in found else ast.unparse(each.value)
    return found


def _is_always(test: ast.expr, known: dict[str, str]) -> bool:
    """Whether an assertion cannot fail, whatever the code does."""
    if isinstance(test, ast.Constant):
        return bool(test.value)
    if _is_import(test, known):
        return True
    if isinstance(test, ast.Tuple | ast.List | ast.Dict | ast.JoinedStr):
        return bool(
            getattr(test, "elts", None)
            or getattr(test, "keys", None)
            or getattr(test, "values", None)
        )
    if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.Or):
        return any(_is_always(each, known) for each in test.values)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return isinstance(test.operand, ast.Constant) and not test.operand.value
    if not isinstance(test, ast.Compare) or len(test.ops) != 1:
        return False
    left, right = test.left, test.comparators[0]
    if isinstance(left, ast.Constant) and isinstance(right, ast.Constant):
        return True
    if not isinstance(test.ops[0], ast.Eq | ast.Is | ast.GtE | ast.LtE):
        return False
    return _meaning(left, known) == _meaning(right, known)


def _is_import(test: ast.expr, known: dict[str, str]) -> bool:
    """Whether only the presence of something imported is asserted."""
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot):
        test = test.left
    elif isinstance(test, ast.Call) and name_of(test) == "callable" and test.args:
        test = test.args[0]
    return isinstance(test, ast.Name) and known.get(test.id) == _IMPORTED


def _meaning(node: ast.expr, known: dict[str, str]) -> str:
    text = ast.unparse(node)
    held = known.get(text)
    return held if held and held != _IMPORTED else text


def _is_always_call(call: ast.Call, name: str, known: dict[str, str]) -> bool:
    last = name.rpartition(".")[2]
    first = call.args[0] if call.args else None
    if last in ("assertTrue", "assert_", "ok_") and isinstance(first, ast.Constant):
        return bool(first.value)
    if last in ("assertFalse", "assertIsNone") and isinstance(first, ast.Constant):
        return not first.value
    if last in ("assertEqual", "assertEquals", "assertIs", "assert_equal") and len(call.args) > 1:
        return _meaning(call.args[0], known) == _meaning(call.args[1], known)
    return last == "assertIsNotNone" and isinstance(first, ast.Constant)
