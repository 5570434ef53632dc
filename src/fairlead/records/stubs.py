"""Rules for work that is not there: functions that do nothing, files without content, padding.

A rule speaks only where honest code would not: what a base class, a protocol or a framework
decides is left alone, and so are functions whose very name says that they do nothing.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator
from functools import partial
from typing import NamedTuple

from fairlead.model.function import Deed, Function, Outline, is_empty_value
from fairlead.model.verification import Finding
from fairlead.records import functions_braces, functions_python
from fairlead.records.code_files import is_generated, is_stand_in, is_test, may_be_empty
from fairlead.text.code import CODE, FILLER, Code

_NOTHING = re.compile(
    r"_*(?:noop|no_op|nop|nothing|ignore|discard|identity|pass|void|dummy|empty|never|always)"
    r"|.*(?:noop|no_op|[nN]ull)|__\w+__|constructor|initialize|_\w"
)
# Steps in a life that may be empty, as long as nobody gives them anything to work on.
_LIFE = re.compile(
    r"(?:async_?)?(?:init|close|flush|shutdown|dispose|cleanup|reset|destroy|release|finish|setUp|tearDown"
    r"|setup|teardown|deinit|down(?:grade)?|(?:before|after|pre|post)_?[a-zA-Z]+|(?:un)?(?:ref|subscribe|register)|start|stop)"
)
_NULL_OWNER = re.compile(
    r"_*(?:Null|Noop|NoOp|Nop|nop|noop|No(?=[A-Z])|Silent|Quiet|Discard|Blackhole|Void|Disabled|Empty|Default)"
)
_ABSTRACT_OWNER = re.compile(r"Base|Abstract|Interface|Mixin|Protocol")
_DEFAULT = re.compile(
    r"default|empty|null|none|initial|noop|blank|zero|nothing|unknown|never|always|dummy|fallback",
    re.IGNORECASE,
)
_READS = re.compile(
    r"_?(?:get|fetch|load|list|find|query|search|read|calculate|compute|count|sum|parse|send|save|store|delete|"
    r"remove|update|process|handle|validate|verify|check|authenticate|authorize|login|render|run|execute|sync|"
    r"import|export|convert|transform|encrypt|decrypt|hash|sort|filter|merge|upload|download|publish|notify)(?=[A-Z_]|$)"
)
_HANDLER = re.compile(r"(?:on|handle|submit|click)(?=[A-Z_]|$)|.*(?:Handler|_handler)$")
_COMPONENT = re.compile(r"[A-Z]\w*\Z")
_HOLLOW_MARKUP = re.compile(
    r"(?:null|<>\s*</>|<(\w+)[^<>]*/>|<(\w+)[^<>]*>\s*([\w .!…-]*)\s*</\2>)\Z"
)
_BUILT_IN_TAG = re.compile(r"<(?:div|span|p|section|main|article|h[1-6]|Fragment)\b")
_EMPTY_HANDLER = re.compile(
    r"\bon(?:Click|Submit|Press|Save|Delete)=\{\s*(?:async\s*)?\(?[\w\s,:.]*\)?\s*=>\s*(?:\{\s*\}|undefined|null"
    r"|\{?\s*(?:\w+\.preventDefault\(\);?\s*)?console\.log\([^()]*\);?\s*\}?)\s*\}"
)
_TODO_BODY = re.compile(r"\bfun\s+(?:<[^>]*>\s*)?(?:\w+\.)?(\w+)\s*\([^{}=]*=\s*TODO\(")
_TALK = re.compile(
    r"todo|not implemented|placeholder|stub|coming soon|complete|done\b|success|finished|starting|deployed",
    re.IGNORECASE,
)
_AMOUNT = re.compile(r"_?(?:get_?)?(?:calculate|compute|count|sum|total)", re.IGNORECASE)
_CURE = "write the body, or take the function out of the plan"


def findings_of(
    path: str,
    text: str,
    *,
    wanted: Collection[str] = (),
    is_subclassed: Callable[[str], bool] = lambda _: False,
    has_sibling: Callable[[str, str], bool] = lambda _name, _path: False,
) -> list[Finding]:
    """Every place of a file where work is missing. `wanted` are names that a plan promises.

    Whether a class is somebody's base, and whether a method of this name stands in another file
    as well, is for the caller to know.
    """
    code = Code(path, text)
    found = partial(Finding, path=path)
    if not text.strip():
        if may_be_empty(path):
            return []
        return [
            found(rule="empty-file", line=1, why="the file is empty", cure="write what it is for")
        ]
    if is_generated(path) or "\0" in text or path.endswith((".d.ts", ".d.mts", ".d.cts")):
        return []
    findings = list(_of_kind(code))
    if code.language in CODE and not is_test(path) and not is_stand_in(path):
        around = _Around(frozenset(wanted), is_subclassed, lambda name: has_sibling(name, path))
        findings += _of_functions(code, around)
    return findings


def _of_kind(code: Code) -> Iterator[Finding]:
    """What is wrong with a file as a whole."""
    bare = code.uncommented.strip()
    no_code = partial(Finding, "no-code", code.path, 1, cure="write what the file is for")
    match code.language:
        case (
            "python" | "js" | "go" | "rust" | "java" | "ruby" | "shell" | "sql" | "css" | "settings"
        ) if not bare:
            if not may_be_empty(code.path):
                yield no_code(why="there is nothing in it but comments")
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
            yield no_code(why="no line of it does anything")
        case "markup" if re.search(r"<body[^>]*>\s*</body>", bare) and "<script" not in bare:
            yield no_code(why="its body is empty")
        case "markdown" if not re.search(
            r"^(?![ \t]*#)(?![ \t]*(?:[-=~*_][ \t]*)+$)[ \t]*\S",
            re.sub(r"\A---\n.*?\n---", "", bare, flags=re.DOTALL),
            re.MULTILINE,
        ):
            yield no_code(why="it has headings and nothing below them")
        case "data":
            yield from _json(code)


def _json(code: Code) -> Iterator[Finding]:
    is_loose = re.search(
        r"(?:^|/)(?:tsconfig|jsconfig|\.eslintrc|\.babelrc|\.vscode/|devcontainer|angular)",
        code.path,
    )
    if is_loose or is_stand_in(code.path) or is_test(code.path):
        return
    try:
        json.loads(code.text.lstrip("\ufeff"))
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        why = f"it is not JSON: {str(error).partition(':')[0]}"
        yield Finding("unreadable", code.path, line, why, "write JSON that a reader takes")


def _has_commands(bare: str) -> bool:
    lines = [line.strip() for line in bare.splitlines() if line.strip()]
    idle = re.compile(r"(?:set\s+[-+].*|exit(?:\s+0)?|true|:|return(?:\s+0)?|#.*|shopt .*)\Z")
    said = re.compile(r"echo\s+[^$`|>&;]*\Z")
    left = [line for line in lines if not idle.match(line)]
    is_talk = all(map(said.match, left)) and bool(_TALK.search(" ".join(left)))
    return bool(left) and not is_talk


class _Around(NamedTuple):
    """What is known beside the file itself."""

    wanted: frozenset[str]
    is_subclassed: Callable[[str], bool]
    has_sibling: Callable[[str], bool]
    hollow: frozenset[str] = frozenset()  # classes that do nothing at all
    made: frozenset[str] = frozenset()  # names that are defined in earnest in this file as well


def _of_functions(code: Code, around: _Around) -> Iterator[Finding]:
    reader = functions_python if code.language == "python" else functions_braces
    outline = reader.outline_of(code)
    if outline.problem:
        why = f"it is not Python: {outline.problem}"
        yield Finding("unreadable", code.path, outline.line, why, "write code that can be read")
        return
    weak: list[tuple[Function, str]] = []
    real = (Deed.REAL, Deed.FIXED)
    made = frozenset(each.name for each in outline.functions if each.deed in real)
    around = around._replace(hollow=_hollow_owners(outline), made=made)
    for each in outline.functions:
        why, is_sure = _fault(each, code, around)
        if why and is_sure:
            yield Finding("stub-body", code.path, each.line, why, _CURE, each.name)
        elif why:
            weak.append((each, why))
    is_all = len(weak) == len(outline.functions) and not outline.empty_classes
    for each, why in weak:
        is_blocking = is_all and not (
            code.language == "python" and outline.has_more and len(weak) > 1
        )
        yield Finding("stub-body", code.path, each.line, why, _CURE, each.name, is_blocking)
    yield from _empty_classes(code, outline, around.wanted)
    yield from _handlers(code)


def _empty_classes(code: Code, outline: Outline, wanted: frozenset[str]) -> Iterator[Finding]:
    if code.language != "python":
        return
    is_only = not outline.functions and not outline.has_more
    for name, line in outline.empty_classes:
        is_blocking = name in wanted or is_only
        why = f"class {name} has no content"
        yield Finding("stub-body", code.path, line, why, "write the class", name, is_blocking)
    if (
        is_only
        and not outline.empty_classes
        and not may_be_empty(code.path)
        and code.uncommented.strip()
    ):
        why = "there is nothing in it but a docstring or imports"
        yield Finding("no-code", code.path, 1, why, "write what the file is for")


def _handlers(code: Code) -> Iterator[Finding]:
    for match in _TODO_BODY.finditer(code.bare) if code.path.endswith((".kt", ".kts")) else ():
        why = f"{match[1]} says itself that it is not implemented"
        yield Finding("stub-body", code.path, code.line_at(match.start()), why, _CURE, match[1])
    for match in _EMPTY_HANDLER.finditer(code.uncommented) if code.language == "js" else ():
        name = match[0].partition("=")[0]
        why = f"{name} does nothing, or only logs"
        yield Finding(
            "empty-handler", code.path, code.line_at(match.start()), why, "let it act", name
        )


def _hollow_owners(outline: Outline) -> frozenset[str]:
    """Classes of several methods none of which does anything: a base does not excuse that."""
    by_owner: dict[str, list[Function]] = {}
    for each in outline.functions:
        if (
            each.owner
            and not each.is_abstract
            and not re.match(r"__\w+__|constructor|initialize", each.name)
        ):
            by_owner.setdefault(each.owner, []).append(each)
    return frozenset(
        owner
        for owner, methods in by_owner.items()
        if len(methods) > 1
        and all(_is_hollow(each) for each in methods)
        and not _NULL_OWNER.match(owner)
    )


def _is_hollow(each: Function) -> bool:
    is_blind = each.deed is Deed.CONSTANT and bool(each.params) and not each.uses_params
    return is_blind or each.deed in (Deed.EMPTY, Deed.UNIMPLEMENTED)


def _fault(each: Function, code: Code, around: _Around) -> tuple[str, bool]:
    """Why a function is taken for a stub, and whether that is sure; nothing if it is none."""
    if each.is_abstract:
        return "", False
    component = _hollow_component(each, code)
    if component:
        return component, True
    if each.deed is Deed.REAL or (each.deed is Deed.FIXED and not (each.params and each.has_todo)):
        return "", False
    is_promised = each.name in around.wanted
    if each.deed is Deed.UNIMPLEMENTED:
        is_base = _is_base(each, code, around) and not is_promised
        return (
            ("", False)
            if is_base
            else (f"{each.name} says itself that it is not implemented", True)
        )
    if each.has_todo:
        return f"{each.name} does nothing, and its own words say that it is still to be made", True
    is_fallback = re.search(rf"\bgetattr\(.*\bself\.{re.escape(each.name)}\)", code.bare)
    if (_is_excused(each, around) or is_fallback) and not is_promised:
        return "", False
    match each.deed:
        case Deed.EMPTY:
            is_sure = each.value == "..." or not _is_idle(each, code)
            why = f"{each.name} does nothing"
        case Deed.CONSTANT:
            why, is_sure = _constant(each, around.wanted)
        case _:
            why, is_sure = _log(each)
    return why, is_sure and (is_promised or not (each.is_meant or around.has_sibling(each.name)))


def _is_base(each: Function, code: Code, around: _Around) -> bool:
    """Whether a class is there to be derived from, so that its methods are for others to write."""
    if not each.owner or code.language not in ("python", "ruby", "js", "java"):
        return bool(each.owner) and around.has_sibling(each.name) and code.language == "go"
    rest = code.bare.replace(f"class {each.owner}", "")
    return (
        around.is_subclassed(each.owner)
        or bool(_ABSTRACT_OWNER.search(each.owner))
        or (each.is_override and each.owner not in around.hollow)
        or re.search(rf"\bclass\s+\w+[^\n{{:]*\b{re.escape(each.owner)}\b", rest) is not None
    )


def _is_excused(each: Function, around: _Around) -> bool:
    return (
        bool(_NOTHING.fullmatch(each.name))
        or (not each.params and bool(_LIFE.fullmatch(each.name)))
        or bool(_NULL_OWNER.match(each.owner))
        or (each.is_override and each.owner not in around.hollow)
        or (each.is_nested and not (each.deed is Deed.LOG and _HANDLER.match(each.name)))
        or each.name in around.made
    )


def _is_idle(each: Function, code: Code) -> bool:
    """Whether doing nothing may be meant: a parameterless hook, or a Rust or Go function of none."""
    return not each.params and code.language in ("go", "rust", "java") and each.name != "main"


def _constant(each: Function, wanted: frozenset[str]) -> tuple[str, bool]:
    why = f"{each.name} gives {each.value or 'nothing'} whatever it is asked"
    is_bare = each.value in ("True", "False", "true", "false", "0", "-1")
    if _DEFAULT.search(each.name):
        return "", False
    if each.params and not each.uses_params:
        return why, True
    if each.is_route or each.name in wanted:
        return why, not is_bare and is_empty_value(each.value)
    if _AMOUNT.match(each.name) and each.value in ("0", "0.0", "None", "null"):
        return why, True
    is_read = bool(_READS.match(each.name)) and not is_bare and not each.params
    return (why, False) if is_read else ("", False)


def _log(each: Function) -> tuple[str, bool]:
    why = f"{each.name} only says something"
    is_told = bool(
        re.search(r"todo|not implemented|placeholder|stub|would ", each.value, re.IGNORECASE)
    )
    is_idle = bool(each.params) and not each.uses_params
    if is_told or is_idle or _HANDLER.match(each.name):
        return why, True
    return "", False


def _hollow_component(each: Function, code: Code) -> str:
    """A component that shows nothing, or nothing but its own name."""
    if (
        not code.path.endswith(("x", "js"))
        or not _COMPONENT.match(each.name)
        or each.name.isupper()
    ):
        return ""
    value = each.value.strip()
    value = value[1:-1].strip() if value.startswith("(") and value.endswith(")") else value
    match = (
        _HOLLOW_MARKUP.fullmatch(re.sub(r"\s+", " ", value))
        if value and FILLER not in value
        else None
    )
    if not match:
        return ""
    if value != "null" and not value.startswith("<>") and not _BUILT_IN_TAG.match(value):
        return ""
    said = re.sub(r"\W", "", match[3] or "").lower()
    is_name = said.removesuffix("page").removesuffix("component") in ("", *_names(each.name))
    return f"the component {each.name} shows nothing" if is_name or not said else ""


def _names(name: str) -> tuple[str, ...]:
    plain = name.lower()
    return (
        plain,
        plain.removesuffix("page"),
        plain.removesuffix("component"),
        "hello",
        "hellofrom" + plain,
    )


def padding_of(path: str, text: str, least: int) -> Finding | None:
    """Whether a file reaches its promised length by blank lines, comments or repetition."""
    lines = [line.strip() for line in Code(path, text).uncommented.splitlines()]
    said = [
        re.sub(r"\d+", "0", line) for line in lines if line and line not in ("{", "}", ");", "})")
    ]
    is_thin = len(said) < least / 2 and len(text.splitlines()) >= least
    is_repeated = len(said) > 8 and len(set(said)) * 4 <= len(said)
    if not (is_thin or is_repeated) or path.endswith((".json", ".csv", ".sql", ".md", ".svg")):
        return None
    why = f"{len(set(said))} different lines of content, {least} lines were promised"
    return Finding("padded", path, 1, why, "write the content that the length was meant to show")
