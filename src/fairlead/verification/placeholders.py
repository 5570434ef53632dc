"""Rules for placeholders: filler text, promises in comments, marks of unfinished work.

In code, comments count and strings that are nothing but a placeholder; in markup and documents,
text that fills a whole line, cell or element. A sentence about placeholders is not one.
"""

import re
from collections.abc import Iterator

from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import replace
from fairlead.verification.model import RuleFinding
from fairlead.verification.source_code import CODE, Code
from fairlead.verification.source_files import is_example, is_generated, is_test

_LOREM = lazy_pattern(r"lorem ipsum dolor|^\W*lorem ipsum", re.IGNORECASE)
_MARK = lazy_pattern(
    r"(?:#+|//+!?|/\*+|\*+|<!--|--|;+|\"\"\"|''')?\s*(?:@)?(FIXME|XXX|TBD)\b(?=[:\s(!.,-]|$)"
)
_TODO = lazy_pattern(r"(?:#+|//+!?|/\*+|\*+|<!--|--|;+)?\s*(?:@)?(?:TODO|HACK)\b", re.IGNORECASE)
_ISSUE = lazy_pattern(
    r"#\d+|\b[A-Z][A-Z0-9]+-\d+\b|https?://|\bissues?/\d+|\bgh-\d+|\bbpo-\d+", re.IGNORECASE
)
_PROMISE = lazy_pattern(
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
_FILLER_TEXT = lazy_pattern(
    r"\W*(?:(?:this |the )?(?:[\w-]+ ){0,3}?(?:is )?coming soon"
    r"|lorem ipsum.*|tbd|tba|todo|fixme|to be (?:determined|defined"
    r"|done|written|added)"
    r"|under construction|work in progress|placeholder(?: (?:text"
    r"|content))?|(?:not (?:yet )?implemented)(?: yet)?"
    r"|(?:insert|add|your) (?:text|content|description) here|fill (?:this )?in(?: later)?"
    r"|(?:[\w-]+ ){1,5}(?:goes|will go|comes) here|wip)\W*",
    re.IGNORECASE,
)
_SECRET = lazy_pattern(
    r"(?<![=!<>])[=:]\s*[\"']?(?:change[-_]?me|replace[-_]?me|your[-_](?:api[-_]?)?(?:key|token|secret|password)(?:[-_]here)?|xxx+)[\"']?\s*(?:[,;}#\n]|$)",
    re.IGNORECASE,
)
_COMPARED = lazy_pattern(
    r"==|!=|\bin\b|\bre\.|RegExp|match|test\(|search|startswith"
    r"|includes|\bcase\b|replace|compile|log|Error|raise|throw"
    r"|, ['\"]"
)
_OPEN_POINT = lazy_pattern(r"(?:TODO|TBD|FIXME)\b\s*[:—-]")
_ELEMENT = lazy_pattern(r">([^<>{}]{2,160})<")
_STRUCTURE = lazy_pattern(
    r"\A---\n.*?\n---\n|^(?P<fence>```++|~~~++)[^\n]*\n.*?^(?P=fence)[^\n]*$|`[^`\n]*`",
    re.DOTALL | re.MULTILINE,
)
_CURE = "replace it with the real content"


def findings_of(path: str, text: str) -> list[RuleFinding]:
    """Return every placeholder of a file."""
    if is_test(path) or is_example(path) or is_generated(path) or "\0" in text:
        return []
    code = Code(path, text)
    findings: list[RuleFinding] = []
    if code.language == "markdown":
        findings += _document(code)
    elif code.language in CODE or code.language in ("css", "sql", "python-types"):
        findings += _comments(code)
        findings += _strings(code)
    if code.language == "markup" or path.endswith(("jsx", "tsx")):
        findings += _elements(code)
    if code.language in ("settings", "data"):
        for match in _SECRET.finditer(code.uncommented):
            why = f"the value {match[0].strip(' =:,')[:40]}"
            findings.append(_placeholder(code, code.line_at(match.start()), why, ""))
        findings += _comments(code)
    return findings


def _placeholder(code: Code, line: int, why: str, subject: str) -> RuleFinding:
    return RuleFinding("placeholder", code.path, line, why, _CURE, subject[:40])


def _comments(code: Code) -> Iterator[RuleFinding]:
    cure = "finish it, or name its issue"
    for comment in code.comments:
        for line, raw in enumerate(comment.text.splitlines(), comment.line):
            text = raw.strip()
            shown, subject = text[:80], text[:40]
            has_issue = bool(_ISSUE.search(text))
            if (match := _MARK.match(text)) and not has_issue:
                why = f"{match[1]} without an issue: {shown}"
                yield RuleFinding("unfinished", code.path, line, why, cure, subject)
            elif _PROMISE.search(text):
                yield _placeholder(code, line, f"a comment postpones the work: {shown}", text)
            elif _TODO.match(text) and not has_issue:
                why = f"unfinished: {shown}"
                yield RuleFinding("todo", code.path, line, why, cure, subject, is_blocking=False)


def _strings(code: Code) -> Iterator[RuleFinding]:
    for string in code.strings:
        text = string.text
        if len(text) < 400 and _FILLER_TEXT.fullmatch(text[1:-1].strip("\"'")):
            if _is_shown(code, string.line, is_word=" " not in text.strip()):
                yield _placeholder(code, string.line, f"the text {text[:60]}", text)


def _is_shown(code: Code, line: int, *, is_word: bool) -> bool:
    """Whether a string is used as a value, not compared or searched for.

    One word counts only if it is returned: `todo` is an ordinary status in many programs.
    """
    text = code.text.splitlines()[line - 1]
    if is_word:
        return bool(re.search(r"\breturn\s+f?[\"'`]", text)) and not re.search(
            r"[a-z]", text.partition("return")[2].strip("\"'`; ")
        )
    return not _COMPARED.search(text)


def _elements(code: Code) -> Iterator[RuleFinding]:
    for match in _ELEMENT.finditer(code.uncommented):
        text = match[1].strip()
        if _FILLER_TEXT.fullmatch(text) or _LOREM.search(text) or _OPEN_POINT.match(text):
            line = code.line_at(match.start(1))
            yield _placeholder(code, line, f"users would read {text[:60]!r}", text)


def _document(code: Code) -> Iterator[RuleFinding]:
    """Yield the lines, list items and cells that are nothing but a placeholder."""
    blanked = _STRUCTURE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), code.uncommented)
    for at, line in enumerate(blanked.splitlines(), 1):
        text = re.sub(r"^[\s>*+-]*(?:\d+[.)]\s+)?(?:\[[ x]\]\s*)?", "", line).strip()
        is_row = text.startswith("|") or line.lstrip().startswith("|")
        cells = [cell.strip() for cell in text.strip("|").split("|")] if is_row else [text]
        is_filler = not text.startswith("#") and any(
            len(cell) > 2 and _FILLER_TEXT.fullmatch(cell) for cell in cells
        )
        is_open_point = _OPEN_POINT.match(line) and not line.startswith(("-", "*"))
        if is_filler or is_open_point or _LOREM.search(text):
            finding = _placeholder(code, at, f"it says {text[:60]!r}", text)
            yield replace(finding, is_blocking=len(cells) == 1)
