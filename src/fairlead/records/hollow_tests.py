"""Rules for tests that prove nothing: no assertion, one that always holds, or none that runs.

A test asserts when it compares, expects a failure, or hands its work to something that does: a
helper of the tests, a snapshot, a property. A call of the code under test alone shows that it
did not crash, and nothing more.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from fairlead.model.verification import Finding
from fairlead.records import functions_braces, hollow_python
from fairlead.records.code_files import is_test_file
from fairlead.text.code import Code, closing

_HEADS = {
    "js": re.compile(
        r"(?<![\w$.])(?P<off>x)?(?:it|test|specify)(?P<how>(?:\.\w+)*)\s*(?:\([^()]*\)|`[^`]*`)?\s*(?=\()"
    ),
    "go": re.compile(r"^func (?P<name>Test\w+)\(\s*\w+ \*testing\.T\s*\)\s*(?=\{)", re.MULTILINE),
    "rust": re.compile(
        r"#\[(?:\w+::)?test\b[^\]]*\](?P<how>(?:\s*#\[[^\]]*\])*)\s*(?:pub )?(?:async )?"
        r"fn (?P<name>\w+)\s*\(\s*\)[^{;]*(?=\{)"
    ),
    "java": re.compile(
        r"@(?:Parameterized)?Test\b(?P<how>(?:\([^)]*\))?(?:\s*@\w+(?:\([^)]*\))?)*)\s+(?:public "
        r"|suspend |static )*(?:void|fun|[\w<>]+) +(?P<name>\w+"
        r"|`[^`]+`)\s*\([^)]*\)[^{;]*(?=\{)"
    ),
    "shell": re.compile(r"^@test (?P<how>)[^\n{]*(?=\{)", re.MULTILINE),
}
_OFF = re.compile(r"\.(?:skip|todo|fails|failing)\b|#\[ignore|@Disabled|@Ignore|x?it\.skip")
_IS_THERE = r"\.(?:toBeDefined|toBeTruthy|not\.toBe(?:Null|Undefined)|to\.exist)(?:\(\))?"
_LONGEST_TEST = 20_000  # characters that are looked at, of one test
_ALL_TESTS = 2_000_000  # and of all tests of a file
_GROUP_OFF = re.compile(r"\b(?:(?:describe|context|suite)\.(?:skip|todo)|xdescribe|xcontext)\s*\(")
_EXPECTED = re.compile(r"should_panic|expected\s*=|fails|each|Test\(expect")
_ASSERTS = {
    "js": re.compile(
        r"\bexpect\w*\s*\([^;]*?\)\s*\.|\bassert\w*\s*[.(]|\.should\b|\bshould\(|\bt\.(?:is|not|true|false|truthy|falsy|deepEqual|like|throws\w*|"
        r"notThrows\w*|regex|snapshot|equals?|same|match|ok|strictSame|rejects|resolves|fail|plan|pass|error|notOk|deepEquals)\w*\(|"
        r"\.(?:rejects|resolves|toMatch\w*|toEqual|toBe\w*|calledWith|assert\w*)\b|\bfc\.assert|\bcy\.\w|\bverify\w*\(|\bcheck\w*\(|"
        r"\bexpect(?:TypeOf|Type)\b|\bsatisfies\b|\bassertType\b|\b(?:get|find)(?:All)?By\w+\(|\bsnapshot\w*\(|\bdone\(\s*err|\bthrow\b|\.expect\(|\bcheck[A-Z]\w*\("
    ),
    "go": re.compile(
        r"\bt\.(?:Error|Fatal|Fail)|\b(?:assert|require|is|qt|check|must|expect|cmp|quick|suite|testify|g|c|td)\.\w|\w\(\s*t\s*[,)]|\bt\.Run\(|golden|\.Assert|\.Expect|panic\("
    ),
    "rust": re.compile(
        r"\bassert\w*!|\bpanic!|\.unwrap\(|\.expect\(|\?\s*[;.)]|\bprop_assert"
        r"|\bensure!|insta::|\bmatches!|\b(?:assert|check|expect|verify)\w*\("
        r"|unwrap_err"),
    "java": re.compile(
        r"\bassert\w*|\bverify\w*\(|\bexpect\w*|\bfail\(|StepVerifier"
        r"|should\w*|\.andExpect|await\(|\bcheck\w*\("),
    "shell": re.compile(
        r"^\s*(?!(?:\{|true|:|skip\b.*|echo\b.*|run\b.*|#.*|\}|load\b.*)\s*$)\S", re.MULTILINE
    ),
}  # fmt: skip
_ALWAYS = re.compile(
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
_RUBY = re.compile(
    r"^(?P<indent>[ \t]*)(?:(?P<off>x)?(?:it|specify|test|example)\b(?P<title>[^\n]*?)(?P<do> do\b[^\n]*)?"
    r"|def (?P<name>test_\w+))\n(?P<body>(?:(?!(?P=indent)end\b).*\n)*)",
    re.MULTILINE,
)
_RUBY_ASSERTS = re.compile(
    r"\bexpect\b|\bshould\b|\bassert\w*|\brefute\w*|\bmust_\w+|\bwont_\w+|\braise\b|\bis_expected\b|\bverify\w*|\bcheck\w*|\bflunk"
)


class _Test(NamedTuple):
    name: str
    line: int
    fault: str  # empty if it proves something


def findings_of(path: str, text: str) -> list[Finding]:
    """What a file of tests does not prove."""
    is_inline = path.endswith(".rs") and "test]" in text  # tests of Rust stand beside the code
    if not (is_test_file(path) or is_inline) or not text.strip():
        return []
    code = Code(path, text)
    if code.language == "python":
        found = hollow_python.tests_of(code)
        if found is None:
            return []  # that it cannot be read is said elsewhere
        tests = [_Test(*each) for each in found]
    elif code.language == "ruby":
        tests = list(_ruby(code))
    elif code.language in _HEADS:
        tests = list(_braced(code))
    else:
        return []
    if not tests:
        if is_inline:
            return []
        if code.language == "python" and hollow_python.is_no_collection(code):
            return []
        return [
            Finding("no-tests", path, 1, "there is no test in it", "write a test that can fail")
        ]
    bad = [each for each in tests if each.fault]
    is_blocking = len(bad) * 2 >= len(tests)
    cure = "let it compare what the code gives with what it should give"
    return [
        Finding(
            "hollow-test",
            path,
            each.line,
            f"{each.name} {each.fault}",
            cure,
            each.name,
            is_blocking,
        )
        for each in bad
    ]


def _braced(code: Code) -> Iterator[_Test]:
    bare = code.bare
    helpers = _helpers(code)
    off = [(m.start(), closing(bare, m.end() - 1)) for m in _GROUP_OFF.finditer(bare)]
    heads = list(_HEADS[code.language].finditer(bare))
    longest = min(_LONGEST_TEST, _ALL_TESTS // max(1, len(heads)))
    for head in heads:
        end = min(closing(bare, head.end()), head.end() + longest)
        how = head.groupdict().get("how") or ""
        body = code.uncommented[head.end() : end]
        line = code.line_at(head.start())
        name = head.groupdict().get("name") or _title(body)
        before = code.bare[max(0, head.start() - 40) : head.start()]
        is_inside = any(start < head.start() < end_ for start, end_ in off)
        if (
            is_inside
            or head.groupdict().get("off")
            or _OFF.search(how)
            or re.search(r"@(?:Disabled|Ignore)\b[^\n{;]*\s*$", before)
        ):
            yield _Test(name, line, "is switched off")
        elif code.language == "js" and not re.search(
            r"=>|\bfunction\b|,\s*[\w.$]+\s*(?:,[^,]*)?\)\s*$", body
        ):
            yield _Test(name, line, "has no body")
        else:
            yield _Test(name, line, _fault(code, body, how, helpers))


def _title(body: str) -> str:
    found = re.match(r"\(\s*([\"'`])(.*?)\1", body, re.DOTALL)
    return found[2][:60] if found else "the test"


def _fault(code: Code, body: str, how: str, helpers: frozenset[str]) -> str:
    imported = _imported(code) if code.language == "js" else ()
    if _EXPECTED.search(how):
        return ""
    inner = re.sub(r"^\(\s*([\"'`]).*?\1", "(", body, flags=re.DOTALL)
    if code.language == "go" and re.search(r"^\{\s*t\.Skip", inner):
        return "is switched off"
    left = _ALWAYS.sub("", inner)
    for name in imported:  # that it was imported holds before any test begins
        left = re.sub(rf"\bexpect\(\s*{re.escape(name)}\s*\)\s*{_IS_THERE}", "", left)
    asserts = _ASSERTS[code.language]
    if asserts.search(left) or any(re.search(rf"\b{each}\s*\(", left) for each in helpers):
        return ""
    named = re.search(r",\s*([\w.$]+)\s*\)\s*$", inner)
    if code.language == "js" and named and "=>" not in inner and "function" not in inner:
        return ""  # its body stands elsewhere
    return "asserts only what always holds" if left != inner else "asserts nothing"


def _imported(code: Code) -> list[str]:
    found = re.findall(r"\bimport\s+([\w$]+)?\s*,?\s*(?:\{([^}]{0,600})\})?\s*from\b", code.bare)
    found += re.findall(r"\bconst\s+([\w$]*)(?:\{([^}]{0,600})\})?\s*=\s*require\(", code.bare)
    return [word for pair in found for text in pair for word in re.findall(r"[\w$]+", text)]


def _helpers(code: Code) -> frozenset[str]:
    """Functions of the same file that assert, and what is imported from the tests' own modules."""
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


def _ruby(code: Code) -> Iterator[_Test]:
    text = code.uncommented
    for match in _RUBY.finditer(text):
        name = match["name"] or (match["title"] or "").strip(" '\"()") or "the test"
        line = code.line_at(match.start())
        body = match["body"]
        if match["off"] or re.search(r"^\s*(?:skip|pending)\b", body):
            yield _Test(name, line, "is switched off")
        elif not match["name"] and not match["do"] and "{" not in (match["title"] or ""):
            yield _Test(name, line, "has no body")
        else:
            left = _ALWAYS.sub("", f"{match['title'] or ''}\n{body}")
            yield _Test(
                name,
                line,
                "" if _RUBY_ASSERTS.search(left) else "asserts nothing, or what always holds",
            )
