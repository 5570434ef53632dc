"""What a phase is called in ROADMAP.md: its name without markup, links and how far it has come."""

import re

from fairlead.text.inline import plain_text

_BULLET_NAME = re.compile(r"(?:\*\*)?\s*(?:[:：—–]|\s-\s|-\s)\s*(?P<name>.*)\Z")
_LINK = re.compile(r"(?:\[(?P<text>[^\[\]]*))?\]\([^)]*\)")
_ENCLOSED = re.compile(r"\[([^\[\]]*)\]\Z")
_ENDING = re.compile(
    r"\s*\((?:completed|shipped|done|[0-9]+/[0-9]+ plans?)[^)]*\)\s*\Z|\s*[✅✓✔☑]+\s*\Z",
    re.IGNORECASE,
)
_LAST = (")", "✅", "✓", "✔", "☑")  # what an ending ends in
_PLACEHOLDER = re.compile(
    r"[*_(]*(?:no phases(?: yet)?|none(?: yet)?|tbd|to be planned)[.*_)]*", re.IGNORECASE
)


def is_placeholder(line: str) -> bool:
    """Whether a line says that there are no phases yet."""
    return bool(_PLACEHOLDER.fullmatch(line.strip()))


def bullet_name(rest: str) -> str | None:
    """The name after `Phase 3`: `: Name** - text`; None when it is a sentence about the phase."""
    match = _BULLET_NAME.match(rest)
    if not match:
        return "" if not rest.strip(" *~)]") else None
    name = match["name"]
    bold = name.find("**")
    return clean_name(name[:bold] if bold >= 0 else re.split(r"\s[-—–]\s", name, maxsplit=1)[0])


def clean_name(name: str) -> str:
    """A name as it was meant; brackets inside it are its own: `[WIP] Login`."""
    name = name.replace("~~", "").replace("**", "").strip()
    if "]" in name:
        name = _without_brackets(name)
    while name.rstrip().endswith(_LAST) and (shorter := _ENDING.sub("", name)) != name:
        name = shorter
    return plain_text(name.removesuffix("(INSERTED)").strip())


def _without_brackets(name: str) -> str:
    """Links by their text; a pair around the whole name goes, and one that opened before it."""
    name = _LINK.sub(lambda link: link["text"] or "", name).strip()
    if enclosed := _ENCLOSED.match(name):
        return enclosed[1].strip()
    return name[:-1].rstrip() if name.endswith("]") and name.count("]") > name.count("[") else name
