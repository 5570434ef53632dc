"""Outlines of files in brace languages and Ruby, found with patterns instead of a grammar.

A pattern per language finds the head of a function, the closing bracket ends its body, and one
classification serves all languages. The reader is conservative: text that does not look like a
function is skipped, so that a body which is not recognised is never reported as a stub.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from fairlead.core.patterns import lazy_pattern
from fairlead.verification.functions import (
    BodyKind,
    Function,
    Outline,
    is_empty_value,
    says_unimplemented,
)
from fairlead.verification.source_code import Code, closing

_NAME = r"(?P<name>[A-Za-z_$#][\w$]*)"
_HEADS = {
    "js": (
        rf"\bfunction\s*\*?\s*{_NAME}?\s*(?:<[^>(){{}}]*>)?\s*(?=\()",
        rf"\b(?:const|let|var)\s+{_NAME}\s*(?::[^=\n]+)?=\s*(?:async\s*)?(?:<[^>(]*>\s*)?(?=\()",
        r"\.(?P<route>get|post|put|patch|delete)\(\s*[\"'`][^\"'`]*[\"'`]\s*,\s*(?:async\s*)?(?=\()(?P<name>)",
        rf"(?m:^)[ \t]+(?:(?:public|private|protected|static|async|override|get|set)\s+)*{_NAME}\s*(?=\()",
    ),
    "go": (rf"(?m:^)func\s*(?:\((?P<receiver>[^)]*)\)\s*)?{_NAME}\s*(?:\[[^\]]*\])?(?=\()",),
    "rust": (rf"\bfn\s+{_NAME}\s*(?:<[^>(]*>)?\s*(?=\()",),
    "java": (
        (
            rf"(?m:^)[ \t]*(?P<marks>(?:@\w+(?:\([^)\n]*\))?\s{{1,80}}){{0,6}})"
            rf"(?:[\w<>\[\],.?]+[ \t]+){{1,8}}{_NAME}[ \t]*(?=\()"
        ),
    ),
    "shell": (rf"(?m:^)[ \t]*(?:function\s+)?{_NAME}\s*(?=\(\s*\)\s*\{{)",),
}
_OWNER = lazy_pattern(
    r"\b(?P<kind>abstract\s+class|class|interface|trait|impl|enum|protocol|object|record)\b(?:<[^>{}]*>)?"
    r"\s+(?P<trait>[\w:<>, ]{1,200}\bfor\s+)?(?P<name>[\w$:]+)"
    r"(?P<rest>[^{};\n]{0,300}(?:\n\s*(?:extends|implements)\b[^{};]{0,300})?)"
)
_BASE = lazy_pattern(r"\b(?:extends|implements)\b|[:<]\s*\w")
_INTERFACES = ("interface", "trait", "protocol")
_NOT_NAMES = frozenset(
    "if for while switch catch function return with super else do try new throw await typeof match "
    "loop unsafe synchronized lock using foreach until elsif describe it test expect".split()
)
_TYPE_WORD = lazy_pattern(r"\b(?:record|class|struct|enum|object|interface|new)\s")
_COMPUTED = lazy_pattern(r"[(+*/%.<>?!&|-]|\bawait\b|\bnew\b")  # signs that a value was computed
_ROUTE_NAME = lazy_pattern(r"(?:GET|POST|PUT|PATCH|DELETE)\Z")
_STATEMENT = lazy_pattern(
    r"(?:throw|panic!?|return|todo!|unimplemented!|raise|fatalError|TODO|reject)(?!\w)"
)
_LOG = lazy_pattern(
    r"(?:console\.\w+|fmt\.Print\w*|log\.\w+|e?println!|print(?:ln)?|System\.out\.print\w*|logger\.\w+"
    r"|Log\.\w+|alert|puts|p|echo|NSLog)(?:\s*\(.*\)|\s.*)?\Z",
    re.DOTALL,
)
_NO_EFFECT = lazy_pattern(
    r"(?:\w+\.(?:preventDefault|stopPropagation)\(\)|_ = \w+|void \w+|let _ = \w+)\Z"
)
_BODY = lazy_pattern(
    r"[^{};\n]{0,300}?(?P<arrow>=>)\s*(?P<opens>[({]?)|[^{};=]{0,300}?(?P<brace>\{)"
)
_RUBY = lazy_pattern(
    r"^(?P<indent>[ \t]*)def (?:self\.)?(?P<name>[\w?!=]+)(?P<params>\([^)\n]*\))?[ \t]*"
    r"(?:\n(?P<body>(?:(?!(?P=indent)end\b).*\n)*?)(?P=indent)end\b|;[ \t]*end\b)",
    re.MULTILINE,
)


class _Head(NamedTuple):
    """A function that a pattern has found: its head, its parameters and the span of its body."""

    match: re.Match[str]
    params: tuple[str, ...]
    start: int
    end: int
    is_value: bool  # the body is an expression, not a block


def outline_of(code: Code) -> Outline:
    """Return the outline of a file."""
    owners = list(_OWNER.finditer(code.bare))
    functions = []
    ended = 0
    for head in _ruby_heads(code) if code.language == "ruby" else _brace_heads(code):
        start = head.match.start()
        # Only an indented function is a member: then its owner is the nearest class above.
        line_start = code.bare.rfind("\n", 0, start) + 1
        is_member = code.bare[line_start : line_start + 1].isspace()
        above = (owner for owner in reversed(owners) if is_member and owner.start() < start)
        functions.append(_function(code, head, next(above, None), is_nested=start < ended))
        ended = max(ended, head.end) if code.language != "ruby" else 0
    return Outline(tuple(functions), has_more=True)


def bodies_of(code: Code) -> Iterator[tuple[str, str]]:
    """Yield the named functions of a file with their bodies, without comments."""
    for match in _head_matches(code.bare, code.language):
        body = _body_after(code.bare, closing(code.bare, match.end()))
        if body is not None and match["name"]:
            yield match["name"], code.uncommented[body[0] : body[1]]


def _brace_heads(code: Code) -> Iterator[_Head]:
    # `interface{}` of Go looks like a body.
    bare = re.sub(
        r"\b(interface|struct)\s*\{\s*\}", lambda m: m[1] + " " * (len(m[0]) - len(m[1])), code.bare
    )
    for match in _head_matches(bare, code.language):
        is_named = bool(match["name"] or match.groupdict().get("route"))
        is_default = bare[: match.start()].rstrip().endswith("default")  # export default function
        if match["name"] in _NOT_NAMES or not (is_named or is_default):
            continue
        after = closing(bare, match.end())
        body = None if _TYPE_WORD.search(match[0]) else _body_after(bare, after)
        if body is not None:
            params = _params(bare[match.end() + 1 : after - 1], code.language)
            yield _Head(match, params, *body)


def _ruby_heads(code: Code) -> Iterator[_Head]:
    for match in _RUBY.finditer(code.uncommented):
        params = tuple(re.findall(r"[a-z]\w*", match["params"] or ""))
        start, end = match.span("body") if match["body"] else (match.end(), match.end())
        yield _Head(match, params, start, end, is_value=True)


def _head_matches(bare: str, language: str) -> list[re.Match[str]]:
    matches: dict[int, re.Match[str]] = {}
    for pattern in _HEADS.get(language, ()):
        for match in re.finditer(pattern, bare):
            matches.setdefault(match.end(), match)
    return [matches[end] for end in sorted(matches)]


def _body_after(bare: str, after: int) -> tuple[int, int, bool] | None:
    """Return the span of the body after a parameter list, and whether it is an expression."""
    head = _BODY.match(bare, after)
    if not head:
        return None
    if head["arrow"] and head["opens"] != "{":
        if head["opens"]:
            return head.end(), closing(bare, head.end() - 1) - 1, True
        end = re.compile(r"[;\n]|\Z").search(bare, head.end())
        return head.end(), end.start() if end else len(bare), True
    return head.end(), closing(bare, head.end() - 1) - 1, False


def _function(code: Code, head: _Head, owner: re.Match[str] | None, *, is_nested: bool) -> Function:
    match, groups = head.match, head.match.groupdict()
    body = code.uncommented[head.start : head.end].strip().rstrip(";").strip()
    kind, value = _body_kind(body, is_value=head.is_value or code.language == "rust")
    route = groups.get("route") or ""
    receiver = (groups.get("receiver") or "").replace("*", " ").split()
    line_start = code.text.rfind("\n", 0, match.start("name")) + 1
    marks = code.bare[line_start : match.end()] + (groups.get("marks") or "")
    above = code.bare[max(0, match.start() - 200) : match.start()].rpartition("}")[2]
    has_base = owner is not None and bool(owner["trait"] or _BASE.search(owner["rest"]))
    first = re.search(r"\S", match[0])
    return Function(
        name=f"route {route}" if route else match["name"] or "default",
        line=code.line_at(match.start() + (first.start() if first else 0)),
        body_kind=kind,
        params=head.params,
        uses_params=any(
            re.search(rf"(?<![\w$]){re.escape(name)}(?![\w$])", body) for name in head.params
        ),
        value=value,
        owner=receiver[-1] if receiver else owner["name"] if owner else "",
        is_override=bool(receiver)
        or has_base
        or "@Override" in marks + above
        or " override " in match[0],
        is_abstract=bool(owner and owner["kind"] in _INTERFACES)
        or bool(re.search(r"\b(?:abstract|declare|extern|native)\b", marks)),
        is_nested=is_nested,
        is_route=bool(route or _ROUTE_NAME.match(match["name"] or "")),
        note=_comments(code, head) if kind is not BodyKind.REAL else "",
    )


def _comments(code: Code, head: _Head) -> str:
    """Return the comments of a body."""
    span = slice(head.start, head.end)
    pairs = zip(code.text[span], code.uncommented[span], strict=True)
    return "".join(char if char != kept else " " for char, kept in pairs)


def _body_kind(body: str, *, is_value: bool) -> tuple[BodyKind, str]:
    pieces = [piece.strip() for piece in re.split(r";|\n(?![ \t]*[.)\]}])", body) if piece.strip()]
    lines = [piece for piece in pieces if not _NO_EFFECT.match(piece)]
    if not lines or lines in (["{}"], ["return"], [":"]):
        return (BodyKind.CONSTANT, "{}") if is_value and lines == ["{}"] else (BodyKind.EMPTY, "")
    text = " ".join(lines)
    if len(text) < 300 and text.count("{") < 3 and len(lines) < 3 and _STATEMENT.match(text):
        is_error = not text.startswith("return") or "rror" in text
        if says_unimplemented(text, is_error=is_error) or text.startswith(
            ("todo!", "unimplemented!", "TODO(")
        ):
            return BodyKind.UNIMPLEMENTED, ""
    value = text.removeprefix("return ").strip()
    if len(lines) == 1 and (is_value or text.startswith("return ")):
        bare = value.strip("() ")
        if is_empty_value(value) or (bare and is_empty_value(bare)):
            return BodyKind.CONSTANT, value
        if not _COMPUTED.search(value):
            return BodyKind.FIXED, value
    ends_empty = len(lines) > 1 and is_empty_value(lines[-1].removeprefix("return "))
    rest = lines[:-1] if ends_empty else lines
    return (BodyKind.LOG, " ".join(rest)) if all(map(_LOG.match, rest)) else (BodyKind.REAL, value)


def _params(text: str, language: str) -> tuple[str, ...]:
    names = []
    for part in re.split(r",(?![^<({\[]*[>)}\]])", text):
        words = re.findall(r"[A-Za-z_$][\w$]*", re.split(r"[:=]", part)[0])
        if language == "java" and words and ":" not in part:
            words = words[-1:]
        elif language == "go":
            words = words[:1]
        names += words if "{" in part else words[-1:]
    return tuple(
        name for name in names if not name.startswith("_") and name not in ("self", "mut", "this")
    )
