"""Rules for text that stands where content should: fillers, promises, marks of unfinished work.

In code the words of comments count, and those strings that are nothing but a placeholder; in
what people read (markup, documents) text that is a whole line, cell or element. A word about
placeholders is not one.
"""

import re
from collections.abc import Iterator
from functools import partial

from fairlead.model.verification import Finding
from fairlead.records.code_files import is_generated, is_stand_in, is_test
from fairlead.text.code import CODE, Code

_LOREM = re.compile(r"lorem ipsum dolor|^\W*lorem ipsum", re.IGNORECASE)
_MARK = re.compile(
    r"(?:#+|//+!?|/\*+|\*+|<!--|--|;+|\"\"\"|''')?\s*(?:@)?(FIXME|XXX|TBD)\b(?=[:\s(!.,-]|$)"
)
_TODO = re.compile(r"(?:#+|//+!?|/\*+|\*+|<!--|--|;+)?\s*(?:@)?(?:TODO|HACK)\b", re.IGNORECASE)
_ISSUE = re.compile(
    r"#\d+|\b[A-Z][A-Z0-9]+-\d+\b|https?://|\bissues?/\d+|\bgh-\d+|\bbpo-\d+", re.IGNORECASE
)
_PROMISE = re.compile(
    r"\b(?:placeholder (?:implementation|content|text|value|for (?:the )?(?:real|actual|now))"
    r"|this is (?:just |only )?a (?:placeholder|stub|mock)(?=\W*$|[.,;!])|not (?:yet )?implemented yet"
    r"|(?:will|to) be implemented (?:later|soon|in (?:a|the) (?:future"
    r"|next|later|real))|implement (?:this|me) later"
    r"|(?:your|rest of(?: the)?) (?:code|implementation)(?: goes)? here"
    r"|in a real (?:app|application|implementation|system|world)\b"
    r"|(?:hard-?coded|mock(?:ed)?|fake|dummy|stub(?:bed)?)(?: \w+)? for now"
    r"|for now,? (?:just |we |simply )?(?:return|mock|fake|hard-?code"
    r"|stub)"
    r"|simulat(?:e|ed|ing) (?:the )?(?:api|response|success|database"
    r"|call)|replace (?:this )?with (?:the )?(?:real|actual)"
    r"|stub implementation|mock data\b|dummy data\b|actual implementation (?:goes|would|will|later)"
    r"|\.\.\. ?(?:existing|rest of|other) (?:the )?code)",
    re.IGNORECASE,
)
_WHOLE = re.compile(
    r"\W*(?:(?:this |the )?(?:[\w-]+ ){0,3}?(?:is )?coming soon"
    r"|lorem ipsum.*|tbd|tba|todo|fixme|to be (?:determined|defined"
    r"|done|written|added)"
    r"|under construction|work in progress|placeholder(?: (?:text"
    r"|content))?|(?:not (?:yet )?implemented)(?: yet)?"
    r"|(?:insert|add|your) (?:text|content|description) here|fill (?:this )?in(?: later)?"
    r"|(?:[\w-]+ ){1,5}(?:goes|will go|comes) here|wip)\W*",
    re.IGNORECASE,
)
_SECRET = re.compile(
    r"(?<![=!<>])[=:]\s*[\"']?(?:change[-_]?me|replace[-_]?me|your[-_](?:api[-_]?)?(?:key|token|secret|password)(?:[-_]here)?|xxx+)[\"']?\s*(?:[,;}#\n]|$)",
    re.IGNORECASE,
)
_LOOKED_FOR = re.compile(
    r"==|!=|\bin\b|\bre\.|RegExp|match|test\(|search|startswith"
    r"|includes|\bcase\b|replace|compile|log|Error|raise|throw"
    r"|, ['\"]"
)
_OPEN = re.compile(r"(?:TODO|TBD|FIXME)\b\s*[:—-]")
_ELEMENT = re.compile(r">([^<>{}]{2,160})<")
_STRUCTURE = re.compile(
    r"\A---\n.*?\n---\n|^(?P<fence>```++|~~~++)[^\n]*\n.*?^(?P=fence)[^\n]*$|`[^`\n]*`",
    re.DOTALL | re.MULTILINE,
)
_CURE = "put the real thing in its place"


def findings_of(path: str, text: str) -> list[Finding]:
    """Every placeholder of a file."""
    if is_test(path) or is_stand_in(path) or is_generated(path) or "\0" in text:
        return []
    code = Code(path, text)
    found = partial(Finding, "placeholder", path, cure=_CURE)
    findings: list[Finding] = []
    if code.language == "markdown":
        findings += _document(code)
    elif code.language in CODE or code.language in ("css", "sql", "python-types"):
        findings += _comments(code)
        findings += [
            found(line=each.line, why=f"the text {each.text[:60]}", subject=each.text[:40])
            for each in code.strings
            if len(each.text) < 400 and _WHOLE.fullmatch(each.text[1:-1].strip("\"'"))
            if _is_shown(code, each.line, is_word=" " not in each.text.strip())
        ]
    if code.language == "markup" or path.endswith(("jsx", "tsx")):
        findings += _shown(code)
    if code.language in ("settings", "data"):
        matches = _SECRET.finditer(code.uncommented)
        findings += [
            found(line=code.line_at(m.start()), why=f"the value {m[0].strip(' =:,')[:40]}")
            for m in matches
        ]
        findings += _comments(code)
    return findings


def _comments(code: Code) -> Iterator[Finding]:
    found = partial(Finding, "placeholder", code.path, cure=_CURE)
    for piece in code.comments:
        for at, line in enumerate(piece.text.splitlines()):
            said = line.strip()
            shown = said[:80]
            if (match := _MARK.match(said)) and not _ISSUE.search(said):
                why = f"{match[1]} without an issue: {shown}"
                yield Finding(
                    "unfinished",
                    code.path,
                    piece.line + at,
                    why,
                    "finish it, or name its issue",
                    shown[:40],
                )
            elif _PROMISE.search(said):
                yield found(
                    line=piece.line + at,
                    why=f"a comment promises the work: {shown}",
                    subject=shown[:40],
                )
            elif _TODO.match(said) and not _ISSUE.search(said):
                cure = "finish it, or name its issue"
                yield Finding(
                    "todo",
                    code.path,
                    piece.line + at,
                    f"still to do: {shown}",
                    cure,
                    shown[:40],
                    is_blocking=False,
                )


def _is_shown(code: Code, line: int, *, is_word: bool) -> bool:
    """Whether a string is a value of its own: not compared, looked for or listed among patterns.

    One word alone says little (`todo` is a status in many programs), unless it is what is given back.
    """
    text = code.text.splitlines()[line - 1]
    if is_word:
        return bool(re.search(r"\breturn\s+f?[\"'`]", text)) and not re.search(
            r"[a-z]", text.partition("return")[2].strip("\"'`; ")
        )
    return not _LOOKED_FOR.search(text)


def _shown(code: Code) -> Iterator[Finding]:
    for match in _ELEMENT.finditer(code.uncommented):
        said = match[1].strip()
        if said and (_WHOLE.fullmatch(said) or _LOREM.search(said) or _OPEN.match(said)):
            yield Finding(
                "placeholder",
                code.path,
                code.line_at(match.start(1)),
                f"people would read {said[:60]!r}",
                _CURE,
                said[:40],
            )


def _document(code: Code) -> Iterator[Finding]:
    """Lines, list items and cells that are nothing but a placeholder."""
    blanked = _STRUCTURE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), code.uncommented)
    for at, line in enumerate(blanked.splitlines(), 1):
        said = re.sub(r"^[\s>*+-]*(?:\d+[.)]\s+)?(?:\[[ x]\]\s*)?", "", line).strip()
        cells = (
            [cell.strip() for cell in said.strip("|").split("|")]
            if said.startswith("|") or line.lstrip().startswith("|")
            else [said]
        )
        is_heading = said.startswith("#")
        if (
            _LOREM.search(said)
            or (_OPEN.match(line) and not line.startswith(("-", "*")))
            or (not is_heading and any(len(cell) > 2 and _WHOLE.fullmatch(cell) for cell in cells))
        ):
            is_row = len(cells) > 1
            yield Finding(
                "placeholder", code.path, at, f"it says {said[:60]!r}", _CURE, said[:40], not is_row
            )
