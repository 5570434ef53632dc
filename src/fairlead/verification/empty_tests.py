"""Rules for empty tests: without assertion, with assertions that cannot fail, or disabled.

A test asserts if it compares, expects an error, or calls something that does: a test helper, a
snapshot, a property. Calling the code under test only proves that it did not crash. Python tests
are read from the syntax tree, tests in other languages with patterns.
"""

import ast
import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from fairlead.core.patterns import lazy_pattern
from fairlead.verification import functions_braces
from fairlead.verification.functions import Def, name_of, parsed, without_docstring
from fairlead.verification.model import RuleFinding
from fairlead.verification.source_code import Code, closing
from fairlead.verification.source_files import is_test_file

_HEADS = {
    "js": lazy_pattern(
        r"(?<![\w$.])(?P<off>x)?(?:it|test|specify)(?P<how>(?:\.\w+)*)\s*(?:\([^()]*\)|`[^`]*`)?\s*(?=\()"
    ),
    "go": lazy_pattern(r"^func (?P<name>Test\w+)\(\s*\w+ \*testing\.T\s*\)\s*(?=\{)", re.MULTILINE),
    "rust": lazy_pattern(
        r"#\[(?:\w+::)?test\b[^\]]*\](?P<how>(?:\s*#\[[^\]]*\])*)\s*(?:pub )?(?:async )?"
        r"fn (?P<name>\w+)\s*\(\s*\)[^{;]*(?=\{)"
    ),
    "java": lazy_pattern(
        r"@(?:Parameterized)?Test\b(?P<how>(?:\([^)]*\))?(?:\s*@\w+(?:\([^)]*\))?)*)\s+(?:public "
        r"|suspend |static )*(?:void|fun|[\w<>]+) +(?P<name>\w+"
        r"|`[^`]+`)\s*\([^)]*\)[^{;]*(?=\{)"
    ),
    "shell": lazy_pattern(r"^@test (?P<how>)[^\n{]*(?=\{)", re.MULTILINE),
}
_DISABLED = lazy_pattern(r"\.(?:skip|todo|fails|failing)\b|#\[ignore|@Disabled|@Ignore|x?it\.skip")
_IS_DEFINED = r"\.(?:toBeDefined|toBeTruthy|not\.toBe(?:Null|Undefined)|to\.exist)(?:\(\))?"
_MAX_TEST = 20_000  # characters of one test that are searched
_MAX_TESTS = 2_000_000  # and of all tests of a file
_DISABLED_GROUP = lazy_pattern(
    r"\b(?:(?:describe|context|suite)\.(?:skip|todo)|xdescribe|xcontext)\s*\("
)
_EXPECTS_FAILURE = lazy_pattern(r"should_panic|expected\s*=|fails|each|Test\(expect")
_ASSERTS = {
    "js": lazy_pattern(
        r"\bexpect\w*\s*\([^;]*?\)\s*\.|\bassert\w*\s*[.(]|\.should\b|\bshould\(|\bt\.(?:is|not|true|false|truthy|falsy|deepEqual|like|throws\w*|"
        r"notThrows\w*|regex|snapshot|equals?|same|match|ok|strictSame|rejects|resolves|fail|plan|pass|error|notOk|deepEquals)\w*\(|"
        r"\.(?:rejects|resolves|toMatch\w*|toEqual|toBe\w*|calledWith|assert\w*)\b|\bfc\.assert|\bcy\.\w|\bverify\w*\(|\bcheck\w*\(|"
        r"\bexpect(?:TypeOf|Type)\b|\bsatisfies\b|\bassertType\b|\b(?:get|find)(?:All)?By\w+\(|\bsnapshot\w*\(|\bdone\(\s*err|\bthrow\b|\.expect\(|\bcheck[A-Z]\w*\("
    ),
    "go": lazy_pattern(
        r"\bt\.(?:Error|Fatal|Fail)|\b(?:assert|require|is|qt|check|must|expect|cmp|quick|suite|testify|g|c|td)\.\w|\w\(\s*t\s*[,)]|\bt\.Run\(|golden|\.Assert|\.Expect|panic\("
    ),
    "rust": lazy_pattern(
        r"\bassert\w*!|\bpanic!|\.unwrap\(|\.expect\(|\?\s*[;.)]|\bprop_assert"
        r"|\bensure!|insta::|\bmatches!|\b(?:assert|check|expect|verify)\w*\("
        r"|unwrap_err"),
    "java": lazy_pattern(
        r"\bassert\w*|\bverify\w*\(|\bexpect\w*|\bfail\(|StepVerifier"
        r"|should\w*|\.andExpect|await\(|\bcheck\w*\("),
    "shell": lazy_pattern(
        r"^\s*(?!(?:\{|true|:|skip\b.*|echo\b.*|run\b.*|#.*|\}|load\b.*)\s*$)\S", re.MULTILINE
    ),
}  # fmt: skip
_ALWAYS_TRUE = lazy_pattern(
    r"\bexpect\(\s*(true|false|null|undefined|-?\d+|\"[^\"]*\"|'[^']*')\s*\)\s*\.(?:toBe|toEqual|toStrictEqual)\(\s*\1\s*\)"
    r"|\bexpect\(\s*(?:true|1|\"[^\"]+\"|'[^']+')\s*\)\s*\.(?:toBeTruthy|toBeDefined|to\.be\.true|to\.be\.ok|not\.toBeNull|to\.equal\(true\))(?:\(\))?"
    r"|\bexpect\(\s*([\w.]+)\s*\)\s*\.(?:toBe|toEqual)\(\s*\2\s*\)"
    r"|\bassert(?:\.ok|\.isTrue|\.isOk)?\(\s*(?:true|1)\s*(?:,[^)]*)?\)|\bassert\.(?:strictE|deepE|e)qual\(\s*([\w\"']+)\s*,\s*\3\s*\)"
    r"|\bassert(?:True|That)?\(\s*true\s*\)(?:\.isTrue\(\))?|\bassertEquals\(\s*([\w\"']+)\s*,\s*\4\s*\)|\bassertFalse\(\s*false\s*\)"
    r"|\bassert!\(\s*true\s*(?:,[^)]*)?\)|\bassert_eq!\(\s*([\w\"]+)\s*,\s*\5\s*\)"
    r"|\bassert(?:_equal)?[ (]+(?:true|1, 1|true, true)\)?"
    r"|\b(?:assert|require)\.True\(\s*t\s*,\s*true\s*\)|\bexpect\.assertions\(0\)"
    r"|\bexpect\(true\)\.to (?:be|eq)[ (]true\)?|\bt\.pass\([^)]*\)"
)
_RUBY = lazy_pattern(
    r"^(?P<indent>[ \t]*)(?:(?P<off>x)?(?:it|specify|test|example)\b(?P<title>[^\n]*?)(?P<do> do\b[^\n]*)?"
    r"|def (?P<name>test_\w+))\n(?P<body>(?:(?!(?P=indent)end\b).*\n)*)",
    re.MULTILINE,
)
_RUBY_ASSERTS = lazy_pattern(
    r"\bexpect\b|\bshould\b|\bassert\w*|\brefute\w*|\bmust_\w+|\bwont_\w+|\braise\b|\bis_expected\b|\bverify\w*|\bcheck\w*|\bflunk"
)


class _TestCase(NamedTuple):
    name: str
    line: int
    fault: str  # empty if the test asserts something


def findings_of(path: str, text: str) -> list[RuleFinding]:
    """Return the empty tests of a test file; they block if they are half of the file or more."""
    is_inline = path.endswith(".rs") and "test]" in text  # Rust tests are in the file of the code
    if not (is_test_file(path) or is_inline) or not text.strip():
        return []
    code = Code(path, text)
    if code.language == "python":
        tree = parsed(text)
        if isinstance(tree, SyntaxError):
            return []  # `stubs` reports that it cannot be parsed
        tests = list(_python_tests(tree))
        if not tests and _may_collect_tests(tree):
            return []
    elif code.language == "ruby":
        tests = list(_ruby(code))
    elif code.language in _HEADS:
        tests = list(_braced(code))
    else:
        return []
    if not tests:
        cure = "write a test that can fail"
        finding = RuleFinding("no-tests", path, 1, "it contains no test", cure)
        return [] if is_inline else [finding]
    empty = [test for test in tests if test.fault]
    is_blocking = len(empty) * 2 >= len(tests)
    cure = "compare the result of the code with the expected value"
    return [
        RuleFinding("hollow-test", path, line, f"{name} {fault}", cure, name, is_blocking)
        for name, line, fault in empty
    ]


def _braced(code: Code) -> Iterator[_TestCase]:
    bare = code.bare
    helpers = _helpers(code)
    disabled = [(m.start(), closing(bare, m.end() - 1)) for m in _DISABLED_GROUP.finditer(bare)]
    heads = list(_HEADS[code.language].finditer(bare))
    longest = min(_MAX_TEST, _MAX_TESTS // max(1, len(heads)))
    for head in heads:
        end = min(closing(bare, head.end()), head.end() + longest)
        how = head.groupdict().get("how") or ""
        body = code.uncommented[head.end() : end]
        line = code.line_at(head.start())
        name = head.groupdict().get("name") or _title(body)
        before = code.bare[max(0, head.start() - 40) : head.start()]
        is_disabled = (
            head.groupdict().get("off")
            or _DISABLED.search(how)
            or re.search(r"@(?:Disabled|Ignore)\b[^\n{;]*\s*$", before)
            or any(start < head.start() < end_ for start, end_ in disabled)
        )
        has_body = re.search(r"=>|\bfunction\b|,\s*[\w.$]+\s*(?:,[^,]*)?\)\s*$", body)
        if is_disabled:
            yield _TestCase(name, line, "is disabled")
        elif code.language == "js" and not has_body:
            yield _TestCase(name, line, "has no body")
        else:
            yield _TestCase(name, line, _fault(code, body, how, helpers))


def _title(body: str) -> str:
    title = re.match(r"\(\s*([\"'`])(.*?)\1", body, re.DOTALL)
    return title[2][:60] if title else "the test"


def _fault(code: Code, body: str, how: str, helpers: frozenset[str]) -> str:
    imported = _imported(code) if code.language == "js" else ()
    if _EXPECTS_FAILURE.search(how):
        return ""
    inner = re.sub(r"^\(\s*([\"'`]).*?\1", "(", body, flags=re.DOTALL)
    if code.language == "go" and re.search(r"^\{\s*t\.Skip", inner):
        return "is disabled"
    left = _ALWAYS_TRUE.sub("", inner)
    for name in imported:  # an import succeeds before any test begins
        left = re.sub(rf"\bexpect\(\s*{re.escape(name)}\s*\)\s*{_IS_DEFINED}", "", left)
    asserts = _ASSERTS[code.language]
    if asserts.search(left) or any(re.search(rf"\b{each}\s*\(", left) for each in helpers):
        return ""
    named = re.search(r",\s*([\w.$]+)\s*\)\s*$", inner)
    if code.language == "js" and named and "=>" not in inner and "function" not in inner:
        return ""  # its body is a named function
    return "has only assertions that cannot fail" if left != inner else "asserts nothing"


def _imported(code: Code) -> list[str]:
    found = re.findall(r"\bimport\s+([\w$]+)?\s*,?\s*(?:\{([^}]{0,600})\})?\s*from\b", code.bare)
    found += re.findall(r"\bconst\s+([\w$]*)(?:\{([^}]{0,600})\})?\s*=\s*require\(", code.bare)
    return [word for pair in found for text in pair for word in re.findall(r"[\w$]+", text)]


def _helpers(code: Code) -> frozenset[str]:
    """Return the functions of the file that assert, and imports from other test modules."""
    asserts = _ASSERTS[code.language]
    found = set()
    for name, body in functions_braces.bodies_of(code):
        if asserts.search(body) and not re.match(r"Test|main$|it$|test$|describe$", name):
            found.add(name)
    for match in re.finditer(
        r"import\s*\{([^}]*)\}\s*from\s*[\"'][^\"']*(?:test|spec|helper|support|fixture|util)[^\"']*[\"']",
        code.uncommented,
    ):
        found |= set(re.findall(r"\w+", match[1]))
    return frozenset(found)


def _ruby(code: Code) -> Iterator[_TestCase]:
    text = code.uncommented
    for match in _RUBY.finditer(text):
        name = match["name"] or (match["title"] or "").strip(" '\"()") or "the test"
        line = code.line_at(match.start())
        body = match["body"]
        if match["off"] or re.search(r"^\s*(?:skip|pending)\b", body):
            yield _TestCase(name, line, "is disabled")
        elif not match["name"] and not match["do"] and "{" not in (match["title"] or ""):
            yield _TestCase(name, line, "has no body")
        else:
            left = _ALWAYS_TRUE.sub("", f"{match['title'] or ''}\n{body}")
            fault = "" if _RUBY_ASSERTS.search(left) else "asserts nothing that can fail"
            yield _TestCase(name, line, fault)


# --- Python ------------------------------------------------------------------------------

_ASSERTING = lazy_pattern(
    r"(?:self\.)?_?(?:assert|expect|check|verify|ensure|should|must|fail|raises|warns|deprecated_call|refute|require|compare|match_snapshot)"
    r"|.*\.(?:assert\w*|raises\w*|warns|fail|check\w*|verify|raise_for_status|match|should\w*|expect\w*|called_once\w*|run_test\w*|fnmatch_lines\w*)$",
    re.IGNORECASE,
)
_FIXTURES = lazy_pattern(
    r"snapshot|regression|assert|check|verify|expect|approv|golden|benchmark|testdir|pytester"
)
_TEST_MODULE = lazy_pattern(
    r"(?:^|\.)(?:tests?|testing|conftest|helpers?|support|utils?|fixtures?|common|cases|harness)(?:\.|$)|^\.|test",
    re.IGNORECASE,
)
_SKIPS = lazy_pattern(r"(?:.*\.)?(?:skip|skipTest|xfail)$")
_FRAMEWORK = lazy_pattern(r"(?:unittest|pytest|hypothesis)\b")
_IMPORTED = "\0imported"
_COLLECTS = frozenset(("load_tests", "pytest_generate_tests", "main", "make_suite"))


def _python_tests(tree: ast.Module) -> Iterator[_TestCase]:
    helpers = _python_helpers(tree)
    imported = {
        alias.asname or alias.name.partition(".")[0]
        for node in tree.body
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
    }
    is_file_disabled = any(map(_disables_file, tree.body))
    for node, owner in _tests(tree):
        decorators = (*node.decorator_list, *(owner.decorator_list if owner else ()))
        is_disabled = is_file_disabled or any(_SKIPS.match(name_of(each)) for each in decorators)
        fault = "is disabled" if is_disabled else _python_fault(node, helpers, imported)
        yield _TestCase(node.name, node.lineno, fault)


def _may_collect_tests(tree: ast.Module) -> bool:
    """Whether a file without test functions may still run tests, by inheritance or generation."""
    for node in tree.body:
        is_collector = isinstance(node, Def) and node.name in _COLLECTS
        inherits = isinstance(node, ast.ClassDef) and bool(node.bases)
        is_reexport = isinstance(node, ast.ImportFrom) and _TEST_MODULE.search(node.module or ".")
        if is_collector or inherits or is_reexport:
            return True
    generators = ("globals", "setattr", "exec")
    return any(
        isinstance(node, ast.Assert) or (isinstance(node, ast.Call) and name_of(node) in generators)
        for node in ast.walk(tree)
    )


def _tests(tree: ast.Module) -> Iterator[tuple[Def, ast.ClassDef | None]]:
    inside = [
        (each, node) for node in tree.body if isinstance(node, ast.ClassDef) for each in node.body
    ]
    for node, owner in (*((each, None) for each in tree.body), *inside):
        if isinstance(node, Def) and node.name.startswith("test"):
            yield node, owner


def _disables_file(node: ast.stmt) -> bool:
    """Whether a statement disables all tests of a file."""
    if isinstance(node, ast.Assign) and _names_of(node) == ["pytestmark"]:
        value = node.value
        marks = value.elts if isinstance(value, ast.List | ast.Tuple) else [value]
        return any(_SKIPS.match(name_of(mark)) for mark in marks)
    return isinstance(node, ast.Expr) and name_of(node.value) == "pytest.skip"


def _names_of(node: ast.Assign) -> list[str]:
    return [each.id for each in node.targets if isinstance(each, ast.Name)]


def _python_helpers(tree: ast.Module) -> frozenset[str]:
    """Return names that assert when called: helpers of this file and of other test modules."""
    own: dict[str, Def] = {}
    names: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not node.name.startswith(
            "test"
        ):
            own[node.name] = node
        elif isinstance(node, ast.ImportFrom) and _is_test_module(node):
            names |= {each.asname or each.name for each in node.names}
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("Test"):
            if any(isinstance(each, ast.Assert | ast.Raise) for each in ast.walk(node)):
                names.add(node.name)
    for _ in range(3):  # helpers of helpers
        names |= {name for name, node in own.items() if _is_asserting(node, frozenset(names))}
    return frozenset(names)


def _is_test_module(node: ast.ImportFrom) -> bool:
    module = node.module or ""
    return bool(node.level or _TEST_MODULE.search(module)) and not _FRAMEWORK.match(module)


def _is_asserting(node: Def, helpers: frozenset[str]) -> bool:
    return not _python_fault(node, helpers)


def _python_fault(node: Def, helpers: frozenset[str], taken: Collection[str] = ()) -> str:
    body = without_docstring(node.body)
    if (
        body
        and isinstance(body[0], ast.Expr)
        and isinstance(body[0].value, ast.Call)
        and _SKIPS.match(name_of(body[0].value))
    ):
        return "is disabled"
    if ">>>" in (ast.get_docstring(node) or ""):
        return ""
    given = [each.arg for each in (*node.args.args, *node.args.kwonlyargs)]
    if any(_FIXTURES.search(each) for each in given):
        return ""
    # An assertion that a name was imported cannot fail.
    known = _assigned(node) | dict.fromkeys(taken, _IMPORTED)
    proofs = [_proof(each, known, helpers, given) for each in _walked(body)]
    if True in proofs:
        return ""
    return "has only assertions that cannot fail" if False in proofs else "asserts nothing"


def _proof(
    node: ast.AST, known: dict[str, str], helpers: frozenset[str], given: list[str]
) -> bool | None:
    """True: it can fail. False: it is an assertion that cannot fail. None: no assertion."""
    if isinstance(node, ast.Assert):
        return not _cannot_fail(node.test, known)
    if isinstance(node, ast.Raise):
        return True
    if not isinstance(node, ast.Call):
        return None
    name = name_of(node)
    if any(each.arg == "check" for each in node.keywords):  # a process that must succeed
        return True
    if _is_helper_call(name, helpers, given):
        return True
    # An imported `verify_token` is the code under test, not an assertion helper.
    is_subject = known.get(name) == _IMPORTED and not re.match(r"assert|expect|raises|warns", name)
    if is_subject or not _ASSERTING.match(name):
        return None
    return not _call_cannot_fail(node, name, known)


def _is_helper_call(name: str, helpers: frozenset[str], given: list[str]) -> bool:
    """Whether a call goes to a test helper, or to a method of a helper class or fixture."""
    first, _, rest = name.partition(".")
    last = name.rpartition(".")[2]
    return (
        last in helpers
        or (first in helpers and not rest)
        or (first in ("self", "cls") and last in helpers)
        or (first in given and _FIXTURES.search(first) is not None)
    )


def _walked(body: list[ast.stmt]) -> Iterator[ast.AST]:
    """Yield every node that counts: not below `if False`, nor inside `except: pass`."""
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
    return not without_docstring(handler.body) and _catches_all(handler)


def _catches_all(handler: ast.ExceptHandler) -> bool:
    kind = name_of(handler.type) if handler.type else ""
    return kind in ("", "Exception", "BaseException", "AssertionError")


def _assigned(node: Def) -> dict[str, str]:
    """Return the names that are assigned once, with the text of the value."""
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


def _cannot_fail(test: ast.expr, known: dict[str, str]) -> bool:
    """Whether an assertion cannot fail."""
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
        return any(_cannot_fail(each, known) for each in test.values)
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
    """Whether an assertion only says that an imported name exists."""
    if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.IsNot):
        test = test.left
    elif isinstance(test, ast.Call) and name_of(test) == "callable" and test.args:
        test = test.args[0]
    return isinstance(test, ast.Name) and known.get(test.id) == _IMPORTED


def _meaning(node: ast.expr, known: dict[str, str]) -> str:
    text = ast.unparse(node)
    value = known.get(text)
    return value if value and value != _IMPORTED else text


def _call_cannot_fail(call: ast.Call, name: str, known: dict[str, str]) -> bool:
    last = name.rpartition(".")[2]
    first = call.args[0] if call.args else None
    if last in ("assertTrue", "assert_", "ok_") and isinstance(first, ast.Constant):
        return bool(first.value)
    if last in ("assertFalse", "assertIsNone") and isinstance(first, ast.Constant):
        return not first.value
    if last in ("assertEqual", "assertEquals", "assertIs", "assert_equal") and len(call.args) > 1:
        return _meaning(call.args[0], known) == _meaning(call.args[1], known)
    return last == "assertIsNotNone" and isinstance(first, ast.Constant)
