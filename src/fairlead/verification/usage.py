"""Rules for unused work: files without importer, missing exports, missing links.

A connection counts in code, not in a comment. A file that is started from outside (an entry
point, a route by its path, a script) needs no importer. A test counts as a user, except for files
such as routes that only a running application can use.
"""

import ast
import re
from collections.abc import Iterable, Mapping

from fairlead.core.patterns import lazy_pattern
from fairlead.plans.model import Artifact, Link
from fairlead.verification.functions import name_of, parsed
from fairlead.verification.model import RuleFinding
from fairlead.verification.source_code import CODE, Code, language_of
from fairlead.verification.source_files import is_entry, is_test, is_test_file

_APP_PARTS = lazy_pattern(
    r"(?:^|/)(?:routes?|routers?|controllers?|handlers?|middlewares?|components?|views?|blueprints?|resolvers?)/"
)
_APPLICATION = lazy_pattern(
    r"\b(?:Flask|FastAPI|Starlette|express|Hono|fastify|createApp|createRoot|Application|gin\.Default|Router)\s*\("
)
_DYNAMIC = lazy_pattern(
    r"importlib|__import__|import_module|import\.meta\.glob|require\.context|glob\(|readdirSync|pkgutil|entry_points|autoload|Zeitwerk"
)
_IMPORT = lazy_pattern(
    r"^\s*(?:export\s+)?(?:pub\s+)?(?:from|import|require|use|mod|include|extend|prepend)\b|\brequire\w*\b|\bimport\s*\("
)
_SELF_STARTING = lazy_pattern(
    r"__name__\s*==\s*[\"']__main__[\"']|\A#!|^func main\(|\bfn main\("
    r"|static void main|process\.argv|require\.main === module",
    re.MULTILINE,
)
_PLAIN_GROUP = lazy_pattern(r"\((?:\?:)?[^()|*+?{}\\]*\)(?=[+*{])")
_UNBOUNDED = lazy_pattern(r"(?<!\\)(?:[+*]|\{\d*,\})")
# Characters of a line that are searched, by the number of unbounded repeats in the pattern: each
# of them multiplies the work by the length of the line.
_MAX_LINE = {0: 2000, 1: 2000, 2: 500, 3: 200}
_DEFINED = {
    "go": r"\b(?:func(?:\s*\([^)]*\))?|type|var|const)\s+{0}\b|^[ \t]+{0}\b[^(\n]*(?:=|$)",
    "rust": (
        r"\b(?:fn|struct|enum|trait|type|const|static|mod|use[^;]*\b"
        r"|macro_rules!)\s+{0}\b|\buse\b[^;]*\b{0}\b"
    ),
    "java": (
        r"\b(?:class|interface|enum|record|object|trait|struct|fun"
        r"|func|def|val|var|let|protocol)\s+{0}\b|\b{0}\s*\([^;]*\)\s*[\w\s,]*\{{"
        r"|\b{0}\s*="
    ),
    "ruby": (
        r"\b(?:def(?:\s+self\.)?|class|module)\s+(?:self\.)?{0}(?!\w)"
        r"|\b{0}\s*=|attr_\w+[^\n]*:{0}\b|define_method\(:{0}\b"
    ),
    "shell": r"(?:^|[ \t])(?:function[ \t]+)?{0}[ \t]*\(\)|^[ \t]*(?:export[ \t]+|alias[ \t]+)?{0}=",
    "css": r"[.#@-]{0}\b|\b{0}\b\s*[{{:,]",
}
_JS_EXPORT = (
    r"\bexport\s+(?:default\s+)?(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:function\s*\*?|class|const|let|var|interface|type|enum|namespace)\s+{0}\b"
    r"|\bexport\s*(?:type\s*)?\{{[^}}]{{0,1000}}\b{0}\b[^}}]{{0,1000}}\}}|\bexports\.{0}\b|\bmodule\.exports\s*=\s*(?:\{{[^}}]{{0,1000}}\b{0}\b|{0}\b|(?:async\s+)?(?:function|class)\s*{0}\b)"
    r"|\bexport\s+default\s+{0}\b|\bexport\s+const\s*\{{[^}}]{{0,1000}}\b{0}\b|\bexport\s+default\s+\w+\(\s*{0}\b"
)


class SourceIndex:
    """The source files of a project, with cached answers about names and users."""

    def __init__(self, texts: Mapping[str, str], commands: Iterable[str] = ()) -> None:
        self.texts = texts
        self._commands = "\n".join(commands)  # of the plans; a file that they run is used
        self._bare: dict[str, str] = {}
        self._words: dict[str, frozenset[str]] = {}
        self._users: dict[str, list[str]] = {}
        self._bases: frozenset[str] | None = None
        self._methods: dict[str, set[str]] | None = None

    def is_subclassed(self, name: str) -> bool:
        """Whether a class is the base of another class."""
        if self._bases is None:
            pattern = re.compile(
                r"\bclass\s+\w+\s*(?:\(([^)]*)\)|(?:<|extends|implements|:)\s*([\w., ]+))"
            )
            found = (m for text in self.texts.values() for m in pattern.finditer(text))
            self._bases = frozenset(
                w for m in found for w in re.findall(r"\w+", m[1] or m[2] or "")
            )
        return name in self._bases

    def has_sibling(self, name: str, path: str) -> bool:
        """Whether another file has a method of this name, as implementations of an interface do."""
        if self._methods is None:
            self._methods = {}
            pattern = re.compile(
                r"^[ \t]+(?:async )?def (\w+)\(|^func \([^)]*\) (\w+)\("
                r"|^[ \t]+(?:async )?(\w+)\([^)\n]*\)[^;{\n]*\{",
                re.MULTILINE,
            )
            for each, text in self.texts.items():
                for match in pattern.finditer(text) if not is_test(each) else ():
                    self._methods.setdefault(match[1] or match[2] or match[3], set()).add(each)
        return bool(self._methods.get(name, set()) - {path})

    def uncommented(self, path: str) -> str:
        """Return the text of a file without its comments."""
        if path not in self._bare:
            self._bare[path] = Code(path, self.texts.get(path, "")).uncommented
        return self._bare[path]

    def users_of(self, path: str) -> list[str]:
        """Return the other files that name a file: its module, its path or its name."""
        if path not in self._users:
            found = [each for each in self.texts if each != path and self.names(each, path)]
            called = ["a command"] if re.search(_naming(path), self._commands) else []
            self._users[path] = [*found, *called]
        return self._users[path]

    def _may_name(self, user: str, path: str) -> bool:
        """Whether a file contains the words of the other file's name; a fast first test."""
        if user not in self._words:
            self._words[user] = frozenset(re.findall(r"\w+", self.texts.get(user, "")))
        words = self._words[user]
        own, camel = _own_name(path)
        return (
            camel in words
            or set(re.findall(r"\w+", own)) <= words
            or own.replace("-", "_") in words
        )

    def names(self, user: str, path: str) -> int:
        """Return the line on which a file names another, in code only as import or string; 0: none."""
        if not self._may_name(user, path):
            return 0
        text = self.uncommented(user)
        naming = _naming(path)
        language = language_of(user)
        if language not in CODE or language in ("shell", "go", "java"):
            return _line(re.search(naming, text), text)
        for match in re.finditer(naming, text):
            start = max(text.rfind("\n", 0, match.start()) + 1, match.start() - 300)
            before, after = text[start : match.start()], text[match.end() : match.end() + 2]
            is_quoted = any(before.count(mark) % 2 for mark in "\"'`")
            if (
                is_quoted
                or after == "::"
                or _IMPORT.search(before)
                or _is_in_import(text, match.start())
            ):
                return _line(match, text)
        return 0


def unused(path: str, project: SourceIndex) -> RuleFinding | None:
    """Return a finding if nothing can ever run the file."""
    text = project.texts.get(path, "")
    language = language_of(path)
    if (
        language not in (*CODE, "css")
        or is_test(path)
        or is_test_file(path)
        or is_entry(path)
        or _SELF_STARTING.search(text)
    ):
        return None
    kinds = ("markup", "js") if language == "css" else (language,)
    others = [each for each in project.texts if each != path and language_of(each) in kinds]
    if language in ("go", "java") or (language == "shell") or not others:
        return None  # Go and Java: a folder is one package. Shell: people run scripts.
    users = project.users_of(path)
    if users and not (_APP_PARTS.search(path) and _has_application(project, language)):
        return None
    real = [
        each
        for each in users
        if not is_test(each) and each != "a command" and not each.endswith((".md", ".css"))
    ]
    if real or any(
        _DYNAMIC.search(project.uncommented(each)) for each in others if not is_test(each)
    ):
        return None
    if users:
        why = "only tests use it; the application never does"
        return RuleFinding(
            "not-registered", path, 1, why, "register it where the application is assembled"
        )
    why = "no file imports it, and no command, test or setting names it"
    return RuleFinding(
        "unused-file", path, 1, why, "import it where it is needed, or start it from somewhere"
    )


def missing_exports(artifact: Artifact, project: SourceIndex) -> list[str]:
    """Return the promised names that a file does not define or export."""
    path = artifact.path
    text = project.uncommented(path)
    return [
        name
        for each in artifact.exports
        if (name := _identifier(each)) and not _exports(path, text, name)
    ]


def contains(path: str, text: str, wanted: str) -> bool:
    """Whether a file contains a promised text, outside of comments if it is code."""
    plain = re.sub(r"\s+", " ", wanted).strip()
    if plain not in re.sub(r"\s+", " ", text):
        return bool(_searched(wanted, text)) if re.search(r"\.\*|\\[a-z(.]|\|", wanted) else False
    is_prose = bool(re.fullmatch(r"[\w\s,'’-]+", plain)) and " " in plain
    is_remark = plain.startswith(("#", "//", "/*", "*", "<!--", "--", "@", '"""'))
    bare = Code(path, text).uncommented
    return (
        is_prose or is_remark or language_of(path) not in CODE or plain in re.sub(r"\s+", " ", bare)
    )


def link_fault(link: Link, project: SourceIndex) -> tuple[str, str]:
    """Return (fault, place) of a link. Both are empty if it cannot be decided."""
    if link.from_ not in project.texts:
        is_named = re.fullmatch(r"[\w@./\[\]()-]+\.\w+", link.from_)
        return (f"{link.from_} does not exist" if is_named else "", "")
    if link.pattern:
        return _patterned(link, project)
    source = project.uncommented(link.from_)
    is_path = bool(re.fullmatch(r"[\w@./\[\]()-]+\.\w+", link.to))
    line = (
        project.names(link.from_, link.to)
        if is_path
        else _line(re.search(re.escape(link.to), source), source)
    )
    if line and link.to:
        return "", f"{link.from_}:{line}"
    if is_path or re.fullmatch(r"[\w.]+", link.to):
        return f"{link.from_} does not name {link.to}", ""
    return "", ""


def _patterned(link: Link, project: SourceIndex) -> tuple[str, str]:
    for path in (link.from_, link.to):
        line = _searched(link.pattern, project.uncommented(path)) if path in project.texts else 0
        if line:
            return "", f"{path}:{line}"
    if _searched(link.pattern, project.texts[link.from_]):
        return f"the pattern {link.pattern} is only in a comment of {link.from_}", ""
    return f"the pattern {link.pattern} is not found in {link.from_}", ""


def _searched(pattern: str, text: str) -> int:
    """Return the line that matches a pattern; 0: none. A pattern that could run for ever is literal."""
    unbounded = len(_UNBOUNDED.findall(pattern))
    is_nested = bool(re.search(r"\)[+*{]", _PLAIN_GROUP.sub("x", pattern)))
    is_literal = is_nested or unbounded not in _MAX_LINE or len(pattern) > 300
    try:
        wanted = re.compile(re.escape(pattern) if is_literal else pattern)
    except (re.error, OverflowError, RecursionError):
        wanted = re.compile(re.escape(pattern))
    longest = _MAX_LINE[0 if is_literal else unbounded]
    for at, line in enumerate(text.splitlines(), 1):
        if wanted.search(line[:longest]):
            return at
    whole = re.search(re.escape(pattern), text)
    return text.count("\n", 0, whole.start()) + 1 if whole else 0


def _exports(path: str, text: str, name: str) -> bool:
    language = language_of(path)
    if language == "python":
        return _python_exports(text, name)
    quoted = re.escape(name)
    if language == "js" or path.endswith((".vue", ".svelte")):
        if name == "default":
            return bool(
                re.search(r"\bexport\s+default\b|\bmodule\.exports\s*=|\bas\s+default\b", text)
            ) or path.endswith((".vue", ".svelte"))
        is_all = bool(
            re.search(
                r"\bexport\s*\*\s*from|\bmodule\.exports\s*=\s*(?:require|Object|\{\s*\.\.\.)", text
            )
        )
        return is_all or bool(re.search(_JS_EXPORT.format(quoted), text))
    pattern = _DEFINED.get(language)
    return bool(re.search(pattern.format(quoted), text, re.MULTILINE)) if pattern else name in text


def _python_exports(text: str, name: str) -> bool:
    tree = parsed(text)
    if isinstance(tree, SyntaxError):
        return False
    first, _, rest = name.partition(".")
    names: set[str] = set()
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                names.add(node.name)
            case ast.ImportFrom() | ast.Import():
                names |= {(each.asname or each.name).partition(".")[0] for each in node.names}
            case ast.Assign() | ast.AnnAssign() | ast.AugAssign() | ast.NamedExpr():
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                names |= {w for each in targets for w in re.findall(r"\w+", ast.unparse(each))}
            case _ if type(node).__name__ == "TypeAlias":  # newer than some interpreters
                names.add(name_of(getattr(node, "name")))  # noqa: B009
    is_open = "*" in names or "__getattr__" in names
    return is_open or (first in names and (not rest or rest.partition(".")[0] in names))


def _identifier(text: str) -> str:
    """Return the name in `def add(a, b)`, `class Foo`, `GET /users` or `add()`."""
    plain = re.sub(r"\(.*", "", text.strip()).strip("`\"' ")
    words = re.findall(r"[A-Za-z_$][\w$.]*", plain)
    if not words:
        return ""
    kinds = (
        "def",
        "class",
        "function",
        "const",
        "async",
        "type",
        "interface",
        "func",
        "fn",
        "struct",
        "enum",
        "export",
    )
    left = [word for word in words if word not in kinds]
    return left[0].strip(".") if left and (len(left) == 1 or left[0].isupper()) else ""


def _line(match: re.Match[str] | None, text: str) -> int:
    return text.count("\n", 0, match.start()) + 1 if match else 0


def _is_in_import(text: str, place: int) -> bool:
    """Whether a position is inside the parentheses of a multi-line import."""
    opened = text.rfind("(", max(0, place - 2000), place)
    is_open = opened > 0 and ")" not in text[opened:place]
    return is_open and bool(re.search(r"\bimport\s*$", text[max(0, opened - 40) : opened]))


def _parts(path: str) -> list[str]:
    """Return the parts of a path that name a file, without generic folders."""
    stem = re.sub(r"(?:\.d)?\.\w+$", "", path)
    parts = [
        part for part in stem.split("/") if part not in ("", ".", "src", "lib", "app", "pages")
    ]
    while len(parts) > 1 and parts[-1] in ("index", "__init__", "mod", "route", "page", "main"):
        parts.pop()
    return parts


def _own_name(path: str) -> tuple[str, str]:
    """Return the name of a file, plain and in camel case."""
    parts = _parts(path)
    last = parts[-1] if parts else path
    return last, "".join(word.capitalize() for word in re.split(r"[_-]", last))


def _naming(path: str) -> str:
    """Return a pattern for every way to name a file: import path, module, route, file name."""
    parts = _parts(path)
    if not parts:
        return re.escape(path)
    last, camel = _own_name(path)
    own = {re.escape(each) for each in (last, last.replace("-", "_"), camel)}
    routed = [re.escape("/".join(parts))] if len(parts) > 1 else []
    forms = [rf"(?<![\w$]){each}(?![\w$])" for each in sorted(own)]
    return "|".join([re.escape(path), *routed, *forms])


def _has_application(project: SourceIndex, language: str) -> bool:
    return any(
        _APPLICATION.search(project.uncommented(each))
        for each in project.texts
        if language_of(each) == language and not is_test(each) and not _APP_PARTS.search(each)
    )
