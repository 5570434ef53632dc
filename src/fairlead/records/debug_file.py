"""A debug session as its file: what is looked for, what was tried, what was found.

The words that began it never change, evidence and what was ruled out are only added to, and the
focus is what the next round begins with. Files of other tools are read and gone on with.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from fairlead.records.entries import below, last_held
from fairlead.records.state import moment
from fairlead.text.document import Document
from fairlead.text.emit import block_lines
from fairlead.text.inline import one_line
from fairlead.text.outline import Section
from fairlead.values import dataclass

OPEN = ("gathering", "investigating", "fixing", "verifying", "awaiting_human_verify")
SYMPTOMS = ("expected", "actual", "errors", "reproduction", "started")
FOCUS = ("hypothesis", "test", "expecting", "next_action")
RESOLUTION = ("root_cause", "fix", "verification", "files_changed")
NOT_TOLD = "not told"
_FIELD = re.compile(r"([a-z_]+):[ \t]*(.*)\Z")


@dataclass(frozen=True, slots=True)
class Finding:
    """What one hypothesis came to."""

    hypothesis: str
    test: str
    result: str  # confirmed, refuted or open
    evidence: str


@dataclass(frozen=True, slots=True)
class Round:
    """What one call of the debugger came to."""

    status: str  # root_cause, fixed, inconclusive
    findings: tuple[Finding, ...] = ()
    root_cause: str = ""
    fix: str = ""
    files: tuple[str, ...] = ()
    verify: str = ""
    next_action: str = ""

    @property
    def is_solved(self) -> bool:
        """Whether the cause is known."""
        return self.status in ("root_cause", "fixed") and bool(self.root_cause)


@dataclass(frozen=True, slots=True)
class DebugFile:
    """A session as its file tells it."""

    path: str
    slug: str
    status: str
    trigger: str
    updated: str
    next_action: str
    root_cause: str
    rounds: str  # `job/2`: the last round that stands in it

    @property
    def is_open(self) -> bool:
        """Whether there is something left to do."""
        return self.status in OPEN


def new_session(trigger: str, symptoms: Mapping[str, str], now: datetime) -> str:
    """The file of a new session."""
    front = {
        "status": "investigating",
        "trigger": " ".join(trigger.split()),
        "created": moment(now),
        "updated": moment(now),
    }
    told = {key: _line(symptoms.get(key, "")) or NOT_TOLD for key in SYMPTOMS}
    lines = ["---", *block_lines(front, 0, quotes={"trigger": '"'}), "---", ""]
    focus = ("none yet", "reproduce it", "the fault as described", "reproduce the fault")
    lines += ["## Current Focus", "", *map(": ".join, zip(FOCUS, focus, strict=True)), ""]
    lines += ["## Symptoms", "", *(f"{key}: {value}" for key, value in told.items()), ""]
    lines += ["## Eliminated", "", "## Evidence", "", "## Resolution", ""]
    lines += [f"{key}:" for key in RESOLUTION]
    return "\n".join((*lines, ""))


def read_session(path: str, text: str) -> DebugFile:
    """Read a session of anybody."""
    document = Document(text)
    front = document.shown_front
    return DebugFile(
        path=path,
        slug=path.rpartition("/")[2].removesuffix(".md"),
        status=str(front.get("status") or "unknown"),
        trigger=str(front.get("trigger") or ""),
        updated=str(front.get("updated") or ""),
        next_action=_value(document, "Current Focus", "next_action"),
        root_cause=_value(document, "Resolution", "root_cause"),
        rounds=str(front.get("fairlead_round") or ""),
    )


def read_round(answer: Mapping[str, Any]) -> Round:
    """What a debugger answered; what is missing is empty."""
    held = answer.get("hypotheses")
    found = [each for each in held if isinstance(each, dict)] if isinstance(held, list) else []
    files = answer.get("files")
    return Round(
        status=_line(answer.get("status")).lower(),
        findings=tuple(
            Finding(*(_line(each.get(key)) for key in ("hypothesis", "test", "result", "evidence")))
            for each in found
        ),
        root_cause=_line(answer.get("root_cause")),
        fix=_line(answer.get("fix")),
        files=tuple(map(str, files)) if isinstance(files, list) else (),
        verify=str(answer.get("verify") or "").strip(),
        next_action=_line(answer.get("next_action")),
    )


def with_round(document: Document, round_: Round, mark: str, now: datetime) -> Document:
    """The session after one more round; the same round is not written twice."""
    document.require_writable()
    if str(document.value("fairlead_round")) == mark:
        return document
    at = moment(now)
    for each in round_.findings:
        told = f"- timestamp: {at}\n  checked: {each.test or '-'}\n  found: {each.evidence or '-'}"
        document = _added(
            document,
            "Evidence",
            f"{told}\n  implication: {each.hypothesis} is {each.result or 'open'}",
        )
        if each.result == "refuted":
            gone = f"- hypothesis: {each.hypothesis}\n  evidence: {each.evidence or '-'}"
            document = _added(document, "Eliminated", f"{gone}\n  timestamp: {at}")
    last = round_.findings[-1] if round_.findings else Finding("", "", "", "")
    focus = {"hypothesis": last.hypothesis, "test": last.test, "next_action": round_.next_action}
    if round_.is_solved:
        focus["next_action"] = "fix it"
        document = with_resolution(document, root_cause=round_.root_cause, fix=round_.fix)
    document = _with_fields(document, "Current Focus", focus)
    return _marked(document, {"fairlead_round": mark, "updated": at})


def with_status(document: Document, status: str, now: datetime) -> Document:
    """The session with another status."""
    if document.value("status") == status:
        return document
    return _marked(document, {"status": status, "updated": moment(now)})


def with_resolution(document: Document, **values: str) -> Document:
    """The session with what was found and done."""
    return _with_fields(document, "Resolution", values)


def knowledge_entry(text: str, session: DebugFile, files: tuple[str, ...], now: datetime) -> str:
    """The knowledge base with a resolved fault more; one that is there is not added again."""
    heading = f"## {session.slug}"
    if heading in text.splitlines():
        return text
    lines = (
        heading,
        f"- **Date:** {now:%Y-%m-%d}",
        f"- **Error patterns:** {_line(session.trigger)}",
        f"- **Root cause:** {session.root_cause or '-'}",
        f"- **Files changed:** {', '.join(files) or '-'}",
        "",
    )
    return (text or "# Knowledge base of faults\n") + "\n" + "\n".join(lines)


def _line(value: object) -> str:
    told = " ".join(str(value or "").split())
    return one_line("".join(mark for mark in told if mark.isprintable())) if told else ""


def _section(document: Document, title: str) -> Section | None:
    return document.section(title)


def _value(document: Document, title: str, name: str) -> str:
    section = _section(document, title)
    for line in document.section_lines(section, own=True) if section else ():
        match = _FIELD.match(line.text.strip())
        if match and match[1] == name:
            return match[2].strip()
    return ""


def _with_fields(document: Document, title: str, values: Mapping[str, str]) -> Document:
    """Lines `name: value` of a section; one that is missing is added at its end."""
    for name, value in values.items():
        section = _section(document, title)
        if section is None or not value:
            continue
        lines = document.section_lines(section, own=True)
        found = [each for each in lines if (m := _FIELD.match(each.text.strip())) and m[1] == name]
        text = document.text
        if found:
            document = document.replaced(
                text[: found[0].start] + f"{name}: {value}" + text[found[0].end :]
            )
        else:
            document = document.replaced(
                below(document, last_held(document, section), f"{name}: {value}")
            )
    return document


def _added(document: Document, title: str, entry: str) -> Document:
    section = _section(document, title)
    if section is None:
        return document
    told = entry.replace("\n", document.ending)
    return document.replaced(below(document, last_held(document, section), told))


def _marked(document: Document, values: Mapping[str, str]) -> Document:
    for key, value in values.items():
        document = document.set_front((key,), value)
    return document
