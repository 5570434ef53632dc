"""The functions of files in languages with braces, and of Ruby, found without a grammar.

A head is found by its form, its body by the bracket that closes it. What does not look like a
function is not taken for one: a body that is missed is never called a stub.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from fairlead.model.function import Deed, Function, Outline, is_empty_value, says_unimplemented
from fairlead.text.code import Code, closing

_NAME = r"(?P<name>[A-Za-z_$#][\w$]*)"
_HEADS = {
    "js": (
        rf"\bfunction\s*\*?\s*{_NAME}?\s*(?:<[^>(){{}}]*>)?\s*(?=\()",
        rf"\b(?:const|let|var)\s+{_NAME}\s*(?::[^=\n]+)?=\s*(?:async\s*)?(?:<[^>(]*>\s*)?(?=\()",
        r"\.(?P<route>get|post|put|patch|delete)\(\s*[\"'`][^\"'`]*[\"'`]\s*,\s*(?:async\s*)?(?=\()(?P<name>)",
        rf"(?m:^)[ \t]+(?:(?:public|private|protected|static|async|override|get|set)\s+)*{_NAME}\s*(?=\()",
    ),
    "go": (rf"(?m:^)func\s*(?:\((?P<owner>[^)]*)\)\s*)?{_NAME}\s*(?:\[[^\]]*\])?(?=\()",),
    "rust": (rf"\bfn\s+{_NAME}\s*(?:<[^>(]*>)?\s*(?=\()",),
    "java": (
        (
            rf"(?m:^)[ \t]*(?P<marks>(?:@\w+(?:\([^)\n]*\))?\s{{1,80}}){{0,6}})"
            rf"(?:[\w<>\[\],.?]+[ \t]+){{1,8}}{_NAME}[ \t]*(?=\()"
        ),
    ),
    "shell": (rf"(?m:^)[ \t]*(?:function\s+)?{_NAME}\s*(?=\(\s*\)\s*\{{)",),
}
_OWNERS = {
    "js": r"(?P<kind>\bclass|\binterface)\s+(?P<name>[\w$]*)(?P<rest>[^{};()]{0,500})\{",
    "java": (
        r"(?P<kind>\babstract\s+class|\bclass|\binterface|\benum|\btrait"
        r"|\bprotocol|\bobject|\brecord)\s+(?P<name>\w+)(?P<rest>[^{};]{0,500})\{"
    ),
    "rust": r"(?P<kind>\bimpl|\btrait)\b(?P<rest>[^{};]{0,500}?)(?P<name>\w{1,200})(?:<[^>{}]{0,200}>)?\s*\{",
}
_NOT_NAMES = frozenset(
    "if for while switch catch function return with super else do try new throw await typeof match "
    "loop unsafe synchronized lock using foreach until elsif describe it test expect".split()
)
_FOUND_OUT = re.compile(r"[(+*/%.<>?!&|-]|\bawait\b|\bnew\b")  # signs that a value was made
_ROUTE = re.compile(r"(?:GET|POST|PUT|PATCH|DELETE)\Z")
_STATEMENT = re.compile(
    r"(?:throw|panic!?|return|todo!|unimplemented!|raise|fatalError|TODO|reject)(?!\w)"
)
_SAID = re.compile(
    r"(?:console\.\w+|fmt\.Print\w*|log\.\w+|e?println!|print(?:ln)?|System\.out\.print\w*|logger\.\w+"
    r"|Log\.\w+|alert|puts|p|echo|NSLog)(?:\s*\(.*\)|\s.*)?\Z",
    re.DOTALL,
)
_ANSWER = re.compile(
    r"(?:return\s+)?\w+(?:\.status\(\s*\d+\s*\))?\.(?:json|send|end|text)\("
    r"(?:\{\s*\}|\[\s*\]|null|\"[^\"]*\"|'[^']*')?\)"
)
_QUIET = re.compile(
    r"(?:\w+\.(?:preventDefault|stopPropagation)\(\)|_ = \w+|void \w+|let _ = \w+)\Z"
)
_RUBY = re.compile(
    r"^(?P<indent>[ \t]*)def (?:self\.)?(?P<name>[\w?!=]+)(?P<params>\([^)\n]*\))?[ \t]*"
    r"(?:\n(?P<body>(?:(?!(?P=indent)end\b).*\n)*?)(?P=indent)end\b"
    r"|;[ \t]*end\b)",
    re.MULTILINE,
)
_RUBY_CLASS = re.compile(r"^[ \t]*class (?P<name>[\w:]+)(?P<base>[ \t]*<[^\n]*)?", re.MULTILINE)


class _Owner(NamedTuple):
    start: int
    end: int
    name: str
    kind: str
    has_base: bool


def outline_of(code: Code) -> Outline:
    """Every function with what it does."""
    found = tuple(_ruby(code) if code.language == "ruby" else _braced(code))
    return Outline(found, has_more=True)


def bodies_of(code: Code) -> Iterator[tuple[str, str]]:
    """The named functions of a file with their bodies, comments left out."""
    for head in _heads(code.bare, code.language):
        body = _body_after(code.bare, closing(code.bare, head.end()))
        if body is not None and head["name"]:
            yield head["name"], code.uncommented[body[0] : body[1]]


def _braced(code: Code) -> Iterator[Function]:
    # The empty interface of Go stands where a body could.
    bare = re.sub(
        r"\b(interface|struct)\s*\{\s*\}", lambda m: m[1] + " " * (len(m[0]) - len(m[1])), code.bare
    )
    owners = list(_owners(bare, code.language))
    ended = 0
    for head in _heads(bare, code.language):
        name = head["name"] or "default"
        is_unnamed = not (head["name"] or head.groupdict().get("route")) and not bare[
            : head.start()
        ].rstrip().endswith("default")
        is_type = re.search(r"\b(?:record|class|struct|enum|object|interface|new)\s", head[0])
        if name in _NOT_NAMES or is_unnamed or is_type:
            continue
        after = closing(bare, head.end())
        body = _body_after(bare, after)
        if body is None:
            continue
        start, end, is_value = body
        owner = next(
            (each for each in reversed(owners) if each.start < head.start() < each.end), None
        )
        is_nested, ended = head.start() < ended, max(ended, end)
        params = _params(bare[head.end() + 1 : after - 1], code.language)
        yield _function(
            code, head, (start, end), owner, params, is_nested=is_nested, is_value=is_value
        )


def _heads(bare: str, language: str) -> list[re.Match[str]]:
    found: dict[int, re.Match[str]] = {}
    for pattern in _HEADS.get(language, ()):
        for match in re.finditer(pattern, bare):
            found.setdefault(match.end(), match)
    return [found[place] for place in sorted(found)]


def _body_after(bare: str, after: int) -> tuple[int, int, bool] | None:
    """The inside of the body that follows a list of parameters, and whether it is a mere value."""
    head = re.compile(
        r"[^{};\n]{0,300}?(?P<arrow>=>)\s*(?P<opens>[({]?)|[^{};=]{0,300}?(?P<brace>\{)"
    ).match(bare, after)
    if not head:
        return None
    if head["arrow"] and head["opens"] != "{":
        if head["opens"]:
            return head.end(), closing(bare, head.end() - 1) - 1, True
        end = re.compile(r"[;\n]|\Z").search(bare, head.end())
        return head.end(), end.start() if end else len(bare), True
    return head.end(), closing(bare, head.end() - 1) - 1, False


def _function(
    code: Code,
    head: re.Match[str],
    span: tuple[int, int],
    owner: _Owner | None,
    params: tuple[str, ...],
    *,
    is_nested: bool,
    is_value: bool,
) -> Function:
    start, end = span
    body = code.uncommented[start:end].strip().rstrip(";").strip()
    groups = head.groupdict()
    route = groups.get("route") or ""
    deed, value = _deed_of(body, is_value=is_value, is_rust=code.language == "rust")
    if route and deed is Deed.REAL and _ANSWER.fullmatch(body):
        deed, value = Deed.CONSTANT, body
    receiver = (groups.get("owner") or "").replace("*", " ").split()
    marks = (
        groups.get("marks")
        or code.bare[max(0, head.start() - 200) : head.start()].rpartition("}")[2]
    )
    line_start = code.text.rfind("\n", 0, head.start("name") if head["name"] else head.start()) + 1
    has_base = (
        bool(receiver)
        or (owner.has_base if owner else False)
        or "@Override" in marks
        or " override " in head[0]
    )
    first = re.search(r"\S", head[0])
    return Function(
        name=f"route {route}" if route else head["name"] or "default",
        line=code.line_at(head.start() + (first.start() if first else 0)),
        deed=deed,
        params=params,
        uses_params=any(
            re.search(rf"(?<![\w$]){re.escape(each)}(?![\w$])", body) for each in params
        ),
        value=value,
        owner=receiver[-1] if receiver else owner.name if owner else "",
        is_override=has_base,
        is_abstract=bool(owner and owner.kind in ("interface", "trait", "protocol"))
        or bool(
            re.search(r"\b(?:abstract|declare|extern|native)\b", code.bare[line_start : head.end()])
        ),
        is_nested=is_nested,
        is_route=bool(route or _ROUTE.match(head["name"] or "")),
        note=_comments(code, start, end) if deed is not Deed.REAL else "",
    )


def _comments(code: Code, start: int, end: int) -> str:
    """What is said in a body and does not stand in its code."""
    pairs = zip(code.text[start:end], code.uncommented[start:end], strict=True)
    return "".join(said if said != kept else " " for said, kept in pairs)


def _deed_of(body: str, *, is_value: bool, is_rust: bool) -> tuple[Deed, str]:
    pieces = [piece.strip() for piece in re.split(r";|\n(?![ \t]*[.)\]}])", body) if piece.strip()]
    lines = [piece for piece in pieces if not _QUIET.match(piece)]
    if not lines or lines in (["{}"], ["return"], [":"]):
        return (Deed.CONSTANT, "{}") if is_value and lines else (Deed.EMPTY, "")
    said = " ".join(lines)
    if len(said) < 300 and said.count("{") < 3 and len(lines) < 3 and _STATEMENT.match(said):
        is_error = not said.startswith("return") or "rror" in said
        if says_unimplemented(said, is_error=is_error) or said.startswith(
            ("todo!", "unimplemented!", "TODO(")
        ):
            return Deed.UNIMPLEMENTED, ""
    value = said.removeprefix("return ").strip("() ") if len(lines) == 1 else ""
    is_returned = is_value or said.startswith("return ") or is_rust
    whole = said.removeprefix("return ").strip()
    if (
        len(lines) == 1
        and is_returned
        and (is_empty_value(whole) or (value and is_empty_value(value)))
    ):
        return Deed.CONSTANT, whole
    if len(lines) == 1 and is_returned and not _FOUND_OUT.search(whole):
        return Deed.FIXED, whole
    told = (
        lines[:-1]
        if len(lines) > 1 and is_empty_value(lines[-1].removeprefix("return "))
        else lines
    )
    return (Deed.LOG, " ".join(told)) if all(map(_SAID.match, told)) else (Deed.REAL, whole)


def _owners(bare: str, language: str) -> Iterator[_Owner]:
    pattern = _OWNERS.get(language)
    for match in re.finditer(pattern, bare) if pattern else ():
        kind = match["kind"].split()[0] if "abstract" in match["kind"] else match["kind"].strip()
        rest = match["rest"]
        has_base = (language == "rust" and " for " in f" {rest} ") or bool(
            re.search(r"\b(?:extends|implements)\b|:", rest) and language != "rust"
        )
        start = match.end() - 1
        yield _Owner(start, closing(bare, start), match["name"], kind, has_base)


def _params(text: str, language: str) -> tuple[str, ...]:
    names = []
    for part in re.split(r",(?![^<({\[]*[>)}\]])", text):
        words = re.findall(r"[A-Za-z_$][\w$]*", re.split(r"[:=]", part)[0])
        if language == "java" and words and ":" not in part:
            words = words[-1:]
        elif language == "go":
            words = words[:1]
        names += words if "{" in part else words[-1:]
    kept = (
        each for each in names if not each.startswith("_") and each not in ("self", "mut", "this")
    )
    return tuple(kept)


def _ruby(code: Code) -> Iterator[Function]:
    text = code.uncommented
    classes = [
        (match.start(), match["name"], bool(match["base"])) for match in _RUBY_CLASS.finditer(text)
    ]
    for match in _RUBY.finditer(text):
        owner = next(
            ((n, b) for start, n, b in reversed(classes) if start < match.start()), ("", False)
        )
        body = (match["body"] or "").strip()
        lines = [line.strip() for line in body.splitlines() if line.strip()]
        whole = " ".join(lines).removeprefix("return ")
        params = tuple(re.findall(r"[a-z]\w*", match["params"] or ""))
        deed = Deed.REAL
        if not lines:
            deed = Deed.EMPTY
        elif (
            len(lines) == 1
            and re.match(r"raise\b", whole)
            and (says_unimplemented(whole) or "NotImplemented" in whole)
        ):
            deed = Deed.UNIMPLEMENTED
        elif len(lines) == 1 and is_empty_value(whole):
            deed = Deed.CONSTANT
        elif all(map(_SAID.match, lines)):
            deed = Deed.LOG
        start, end = match.span()
        yield Function(
            match["name"], code.line_at(match.start("name")), deed, params,
            any(re.search(rf"\b{each}\b", body) for each in params), whole, owner[0], owner[1],
            note=_comments(code, start, end) if deed is not Deed.REAL else "",
        )  # fmt: skip
