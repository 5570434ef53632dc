"""Stub detection: functions that do nothing, files without content, padding.

The rules avoid false alarms in honest code: methods that a base class or a framework requires are
skipped, and so are functions whose name says that they do nothing.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import NamedTuple

from fairlead.core.patterns import lazy_pattern
from fairlead.verification import functions_braces
from fairlead.verification.functions import (
    BodyKind,
    Function,
    Outline,
    is_empty_value,
    python_outline,
)
from fairlead.verification.model import RuleFinding
from fairlead.verification.source_code import CODE, FILLER, Code
from fairlead.verification.source_files import is_example, is_generated, is_test, may_be_empty

_IDLE_NAME = lazy_pattern(
    r"_*(?:noop|no_op|nop|nothing|ignore|discard|identity|pass|void|dummy|empty|never|always)"
    r"|.*(?:noop|no_op|[nN]ull)|__\w+__|constructor|initialize|_\w"
)
# Lifecycle methods may be empty if they take no arguments.
_LIFECYCLE = lazy_pattern(
    r"(?:async_?)?(?:init|close|flush|shutdown|dispose|cleanup|reset|destroy|release|finish|setUp|tearDown"
    r"|setup|teardown|deinit|down(?:grade)?|(?:before|after|pre|post)_?[a-zA-Z]+|(?:un)?(?:ref|subscribe|register)|start|stop)"
)
_NULL_OWNER = lazy_pattern(
    r"_*(?:Null|Noop|NoOp|Nop|nop|noop|No(?=[A-Z])|Silent|Quiet|Discard|Blackhole|Void|Disabled|Empty|Default)"
)
_ABSTRACT_OWNER = lazy_pattern(r"Base|Abstract|Interface|Mixin|Protocol")
_DEFAULT_NAME = lazy_pattern(
    r"default|empty|null|none|initial|noop|blank|zero|nothing|unknown|never|always|dummy|fallback",
    re.IGNORECASE,
)
_ACTION_NAME = lazy_pattern(
    r"_?(?:get|fetch|load|list|find|query|search|read|calculate|compute|count|sum|parse|send|save|store|delete|"
    r"remove|update|process|handle|validate|verify|check|authenticate|authorize|login|render|run|execute|sync|"
    r"import|export|convert|transform|encrypt|decrypt|hash|sort|filter|merge|upload|download|publish|notify)(?=[A-Z_]|$)"
)
_HANDLER = lazy_pattern(r"(?:on|handle|submit|click)(?=[A-Z_]|$)|.*(?:Handler|_handler)$")
_COMPONENT = lazy_pattern(r"[A-Z]\w*\Z")
_EMPTY_MARKUP = lazy_pattern(
    r"(?:null|<>\s*</>|<(\w+)[^<>]*/>|<(\w+)[^<>]*>\s*([\w .!…-]*)\s*</\2>)\Z"
)
_BUILT_IN_TAG = lazy_pattern(r"<(?:div|span|p|section|main|article|h[1-6]|Fragment)\b")
_EMPTY_HANDLER = lazy_pattern(
    r"\bon(?:Click|Submit|Press|Save|Delete)=\{\s*(?:async\s*)?\(?[\w\s,:.]*\)?\s*=>\s*(?:\{\s*\}|undefined|null"
    r"|\{?\s*(?:\w+\.preventDefault\(\);?\s*)?console\.log\([^()]*\);?\s*\}?)\s*\}"
)
_TODO_BODY = lazy_pattern(r"\bfun\s+(?:<[^>]*>\s*)?(?:\w+\.)?(\w+)\s*\([^{}=]*=\s*TODO\(")
_EMPTY_MESSAGE = lazy_pattern(
    r"todo|not implemented|placeholder|stub|coming soon|complete|done\b|success|finished|starting|deployed",
    re.IGNORECASE,
)
_AMOUNT_NAME = lazy_pattern(r"_?(?:get_?)?(?:calculate|compute|count|sum|total)", re.IGNORECASE)
_CURE = "implement it, or remove it from the plan"


def findings_of(
    path: str,
    text: str,
    *,
    wanted: Collection[str] = (),
    is_subclassed: Callable[[str], bool] = lambda _: False,
    has_sibling: Callable[[str, str], bool] = lambda _name, _path: False,
) -> list[RuleFinding]:
    """Return every place of a file where work is missing. `wanted` are names that a plan promises.

    The caller knows whether a class is the base of another class, and whether another file has a
    method of the same name.
    """
    code = Code(path, text)
    if not text.strip():
        empty = RuleFinding("empty-file", path, 1, "the file is empty", "write what it is for")
        return [] if may_be_empty(path) else [empty]
    if is_generated(path) or "\0" in text or path.endswith((".d.ts", ".d.mts", ".d.cts")):
        return []
    findings = list(_file_findings(code))
    if code.language in CODE and not is_test(path) and not is_example(path):
        context = _FileContext(
            frozenset(wanted), is_subclassed, lambda name: has_sibling(name, path)
        )
        findings += _function_findings(code, context)
    return findings


def _file_findings(code: Code) -> Iterator[RuleFinding]:
    """Yield what is wrong with a file as a whole."""
    bare = code.uncommented.strip()
    no_code = partial(RuleFinding, "no-code", code.path, 1, cure="write what the file is for")
    match code.language:
        case (
            "python" | "js" | "go" | "rust" | "java" | "ruby" | "shell" | "sql" | "css" | "settings"
        ) if not bare:
            if not may_be_empty(code.path):
                yield no_code(why="it contains only comments")
        case "js" if re.fullmatch(
            r"(?:[\"']use \w+[\"'];?\s*)?(?:import\b[^;\n]*;?\s*)*(?:export\s*\{\s*\}"
            r"|module\.exports\s*=\s*\{\s*\}|export default (?:null"
            r"|undefined|\{\s*\}))?;?\s*",
            bare,
        ):
            if "export" in bare:
                yield no_code(why="it exports nothing")
            elif not re.search(r"import\s*[\"']", bare):
                yield no_code(why="it only imports")
        case "css" if "{" in bare and re.fullmatch(r"(?:[^{}]*\{\s*\}\s*)+", bare):
            yield no_code(why="every rule in it is empty")
        case "shell" if not _has_commands(bare):
            yield no_code(why="none of its lines does anything")
        case "markup" if re.search(r"<body[^>]*>\s*</body>", bare) and "<script" not in bare:
            yield no_code(why="its body is empty")
        case "markdown" if not re.search(
            r"^(?![ \t]*#)(?![ \t]*(?:[-=~*_][ \t]*)+$)[ \t]*\S",
            re.sub(r"\A---\n.*?\n---", "", bare, flags=re.DOTALL),
            re.MULTILINE,
        ):
            yield no_code(why="it has headings without text")
        case "data":
            yield from _json(code)


def _json(code: Code) -> Iterator[RuleFinding]:
    is_loose = re.search(
        r"(?:^|/)(?:tsconfig|jsconfig|\.eslintrc|\.babelrc|\.vscode/|devcontainer|angular)",
        code.path,
    )
    if is_loose or is_example(code.path) or is_test(code.path):
        return
    try:
        json.loads(code.text.lstrip("\ufeff"))
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        why = f"it is not JSON: {str(error).partition(':')[0]}"
        yield RuleFinding("unreadable", code.path, line, why, "write valid JSON")


def _has_commands(bare: str) -> bool:
    lines = [line.strip() for line in bare.splitlines() if line.strip()]
    idle = re.compile(r"(?:set\s+[-+].*|exit(?:\s+0)?|true|:|return(?:\s+0)?|#.*|shopt .*)\Z")
    echo = re.compile(r"echo\s+[^$`|>&;]*\Z")
    left = [line for line in lines if not idle.match(line)]
    only_prints = all(map(echo.match, left)) and bool(_EMPTY_MESSAGE.search(" ".join(left)))
    return bool(left) and not only_prints


class _FileContext(NamedTuple):
    """Facts from outside the function that is judged."""

    wanted: frozenset[str]
    is_subclassed: Callable[[str], bool]
    has_sibling: Callable[[str], bool]
    empty_classes: frozenset[str] = frozenset()  # no method of theirs does anything
    implemented: frozenset[str] = frozenset()  # names with a real definition in this file


def _function_findings(code: Code, context: _FileContext) -> Iterator[RuleFinding]:
    is_python = code.language == "python"
    outline = python_outline(code) if is_python else functions_braces.outline_of(code)
    if outline.problem:
        why = f"it is not Python: {outline.problem}"
        yield RuleFinding("unreadable", code.path, outline.line, why, "write valid Python")
        return
    weak: list[tuple[Function, str]] = []
    real = (BodyKind.REAL, BodyKind.FIXED)
    implemented = frozenset(
        function.name for function in outline.functions if function.body_kind in real
    )
    context = context._replace(empty_classes=_empty_owners(outline), implemented=implemented)
    for function in outline.functions:
        why, is_certain = _fault(function, code, context)
        if why and is_certain:
            yield RuleFinding("stub-body", code.path, function.line, why, _CURE, function.name)
        elif why:
            weak.append((function, why))
    # Weak findings block only if the file contains nothing else.
    is_all = len(weak) == len(outline.functions) and not outline.empty_classes
    is_blocking = is_all and not (is_python and outline.has_more and len(weak) > 1)
    for function, why in weak:
        yield RuleFinding(
            "stub-body", code.path, function.line, why, _CURE, function.name, is_blocking
        )
    if is_python:
        yield from _empty_classes(code, outline, context.wanted)
    yield from _handlers(code)


def _empty_classes(code: Code, outline: Outline, wanted: frozenset[str]) -> Iterator[RuleFinding]:
    is_only = not outline.functions and not outline.has_more
    for name, line in outline.empty_classes:
        is_blocking = name in wanted or is_only
        why = f"class {name} has no content"
        yield RuleFinding("stub-body", code.path, line, why, "write the class", name, is_blocking)
    is_empty = is_only and not outline.empty_classes and bool(code.uncommented.strip())
    if is_empty and not may_be_empty(code.path):
        why = "it contains only a docstring or imports"
        yield RuleFinding("no-code", code.path, 1, why, "write what the file is for")


def _handlers(code: Code) -> Iterator[RuleFinding]:
    for match in _TODO_BODY.finditer(code.bare) if code.path.endswith((".kt", ".kts")) else ():
        why = f"{match[1]} says that it is not implemented"
        yield RuleFinding("stub-body", code.path, code.line_at(match.start()), why, _CURE, match[1])
    for match in _EMPTY_HANDLER.finditer(code.uncommented) if code.language == "js" else ():
        name = match[0].partition("=")[0]
        why = f"{name} does nothing, or only logs"
        line = code.line_at(match.start())
        yield RuleFinding("empty-handler", code.path, line, why, "implement the handler", name)


def _empty_owners(outline: Outline) -> frozenset[str]:
    """Return classes with several methods that all do nothing; a base class is no excuse then."""
    by_owner: dict[str, list[Function]] = {}
    for function in outline.functions:
        is_constructor = re.match(r"__\w+__|constructor|initialize", function.name)
        if function.owner and not function.is_abstract and not is_constructor:
            by_owner.setdefault(function.owner, []).append(function)
    return frozenset(
        owner
        for owner, methods in by_owner.items()
        if len(methods) > 1 and all(map(_does_nothing, methods)) and not _NULL_OWNER.match(owner)
    )


def _does_nothing(function: Function) -> bool:
    is_blind = (
        function.body_kind is BodyKind.CONSTANT
        and bool(function.params)
        and not function.uses_params
    )
    return is_blind or function.body_kind in (BodyKind.EMPTY, BodyKind.UNIMPLEMENTED)


def _fault(function: Function, code: Code, context: _FileContext) -> tuple[str, bool]:
    """Return why a function is a stub, and whether that is certain; empty if it is none."""
    if function.is_abstract:
        return "", False
    if component := _empty_component(function, code):
        return component, True
    is_fixed_stub = function.body_kind is BodyKind.FIXED and function.params and function.has_todo
    if function.body_kind in (BodyKind.REAL, BodyKind.FIXED) and not is_fixed_stub:
        return "", False
    is_promised = function.name in context.wanted
    if function.body_kind is BodyKind.UNIMPLEMENTED:
        is_base = _is_base(function, code, context) and not is_promised
        return (
            ("", False) if is_base else (f"{function.name} says that it is not implemented", True)
        )
    if function.has_todo:
        return f"{function.name} does nothing, and its comment says that it is unfinished", True
    is_fallback = re.search(rf"\bgetattr\(.*\bself\.{re.escape(function.name)}\)", code.bare)
    if (_is_excused(function, context) or is_fallback) and not is_promised:
        return "", False
    match function.body_kind:
        case BodyKind.EMPTY:
            is_certain = function.value == "..." or not _is_idle(function, code)
            why = f"{function.name} does nothing"
        case BodyKind.CONSTANT:
            why, is_certain = _constant(function, context.wanted)
        case _:
            why, is_certain = _log(function)
    return why, is_certain and (
        is_promised or not (function.is_intentional or context.has_sibling(function.name))
    )


def _is_base(function: Function, code: Code, context: _FileContext) -> bool:
    """Whether a class is meant to be subclassed, so that subclasses implement its methods."""
    if not function.owner or code.language not in ("python", "ruby", "js", "java"):
        return bool(function.owner) and context.has_sibling(function.name) and code.language == "go"
    rest = code.bare.replace(f"class {function.owner}", "")
    return (
        context.is_subclassed(function.owner)
        or bool(_ABSTRACT_OWNER.search(function.owner))
        or (function.is_override and function.owner not in context.empty_classes)
        or re.search(rf"\bclass\s+\w+[^\n{{:]*\b{re.escape(function.owner)}\b", rest) is not None
    )


def _is_excused(function: Function, context: _FileContext) -> bool:
    return (
        bool(_IDLE_NAME.fullmatch(function.name))
        or (not function.params and bool(_LIFECYCLE.fullmatch(function.name)))
        or bool(_NULL_OWNER.match(function.owner))
        or (function.is_override and function.owner not in context.empty_classes)
        or (
            function.is_nested
            and not (function.body_kind is BodyKind.LOG and _HANDLER.match(function.name))
        )
        or function.name in context.implemented
    )


def _is_idle(function: Function, code: Code) -> bool:
    """Whether an empty function without parameters may be intended, as in Go, Rust and Java."""
    return (
        not function.params and code.language in ("go", "rust", "java") and function.name != "main"
    )


def _constant(function: Function, wanted: frozenset[str]) -> tuple[str, bool]:
    why = f"{function.name} always returns {function.value or 'nothing'}"
    is_bare = function.value in ("True", "False", "true", "false", "0", "-1")
    if _DEFAULT_NAME.search(function.name):
        return "", False
    if function.params and not function.uses_params:
        return why, True
    if function.is_route or function.name in wanted:
        return why, not is_bare and is_empty_value(function.value)
    if _AMOUNT_NAME.match(function.name) and function.value in ("0", "0.0", "None", "null"):
        return why, True
    is_read = bool(_ACTION_NAME.match(function.name)) and not is_bare and not function.params
    return (why, False) if is_read else ("", False)


def _log(function: Function) -> tuple[str, bool]:
    why = f"{function.name} only prints or logs"
    is_stub_message = bool(
        re.search(r"todo|not implemented|placeholder|stub|would ", function.value, re.IGNORECASE)
    )
    is_idle = bool(function.params) and not function.uses_params
    if is_stub_message or is_idle or _HANDLER.match(function.name):
        return why, True
    return "", False


def _empty_component(function: Function, code: Code) -> str:
    """Return a fault if a component renders nothing, or only its own name."""
    is_component = _COMPONENT.match(function.name) and not function.name.isupper()
    if not code.path.endswith(("x", "js")) or not is_component or FILLER in function.value:
        return ""
    value = function.value.strip()
    value = value[1:-1].strip() if value.startswith("(") and value.endswith(")") else value
    match = _EMPTY_MARKUP.fullmatch(" ".join(value.split()))
    if not match:
        return ""
    if value != "null" and not value.startswith("<>") and not _BUILT_IN_TAG.match(value):
        return ""
    content = re.sub(r"\W", "", match[3] or "").lower()
    name = function.name.lower()
    names = (name, name.removesuffix("page"), name.removesuffix("component"), "hello")
    is_name = content.removesuffix("page").removesuffix("component") in ("", *names)
    is_empty = is_name or content == "hellofrom" + name
    return f"the component {function.name} renders nothing" if is_empty else ""


def padding_of(path: str, text: str, least: int) -> RuleFinding | None:
    """Return a finding if a file reaches its promised length by blank lines or repetition."""
    lines = [line.strip() for line in Code(path, text).uncommented.splitlines()]
    brackets = ("", "{", "}", ");", "})")
    content = [re.sub(r"\d+", "0", line) for line in lines if line not in brackets]
    is_thin = len(content) < least / 2 and len(text.splitlines()) >= least
    is_repeated = len(content) > 8 and len(set(content)) * 4 <= len(content)
    if not (is_thin or is_repeated) or path.endswith((".json", ".csv", ".sql", ".md", ".svg")):
        return None
    why = f"{len(set(content))} different lines of content, {least} lines were promised"
    return RuleFinding("padded", path, 1, why, "write real content")
