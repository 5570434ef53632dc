"""VERIFICATION.md: written in the form that neighbours read, and read back from anybody.

The frontmatter is what programs go by: status, score, gaps, what a person has to look at, what a
person has accepted. The tables below it are for people, with the evidence of each check.
"""

from collections.abc import Iterable, Mapping

from fairlead.errors import Located
from fairlead.model.verification import (
    Check,
    Finding,
    HumanItem,
    Kind,
    Outcome,
    Override,
    State,
    Verified,
)
from fairlead.records.keys import text_of
from fairlead.text.document import Document
from fairlead.text.emit import Value, block_lines
from fairlead.text.inline import one_line
from fairlead.text.visible import visible
from fairlead.values import dataclass

_MARKS = {
    State.VERIFIED: "✓ VERIFIED",
    State.FAILED: "✗ FAILED",
    State.UNCERTAIN: "? UNCERTAIN",
    State.OVERRIDDEN: "PASSED (override)",
}
_TITLES = {
    Kind.ARTIFACT: "Required Artifacts",
    Kind.LINK: "Key Link Verification",
    Kind.COMMAND: "Behavioral Spot-Checks",
    Kind.REQUIREMENT: "Requirements Coverage",
}


@dataclass(frozen=True, slots=True)
class Gap:
    """One thing that is missing, with the name a patch plan gives it."""

    id: str
    truth: str
    reason: str
    path: str = ""
    line: int = 0
    cure: str = ""
    rule: str = ""
    plan: str = ""
    subject: str = ""


@dataclass(frozen=True, slots=True)
class Record:
    """What a verification on disk says."""

    status: str
    verified: str = ""
    score: str = ""
    gaps: tuple[Gap, ...] = ()
    human: tuple[HumanItem, ...] = ()
    overrides: tuple[Override, ...] = ()
    inputs: tuple[tuple[str, str], ...] = ()  # path and digest of what was looked at


@dataclass(frozen=True, slots=True)
class Sheet:
    """Everything a verification's document is made of."""

    phase: str  # 03-post-feed
    number: str
    name: str
    goal: str
    verified: Verified
    at: str
    before: Record | None = None
    summaries: str = ""  # digest of the summaries
    inputs: tuple[tuple[str, str], ...] = ()
    commit: str = ""
    agent: str = ""  # who else looked
    is_rehearsed: bool = False
    plans: tuple[str, ...] = ()  # patch plans that are written with it


def gaps_of(found: Verified, number: str) -> tuple[Gap, ...]:
    """What is missing, one entry a cause, named in their order."""
    truths: dict[str, list[str]] = {}
    for check in found.checks:
        if check.kind is Kind.TRUTH:
            truths.setdefault(check.plan, []).append(check.what)
    rows: list[Gap] = []
    told = set()
    for each in found.blocking:
        mine = truths.get(each.plan, [])
        truth = mine[0] if len(mine) == 1 else f"{each.path or each.subject}: {each.cure}"
        rows.append(
            Gap(
                "",
                truth,
                each.why,
                each.path,
                each.line,
                each.cure,
                each.rule,
                each.plan,
                each.subject,
            )
        )
        told |= {each.plan, each.path}
    for check in found.failed:
        is_cause = check.kind in (Kind.TRUTH, Kind.CRITERION)
        if not rows or (not is_cause and check.plan not in told and check.what not in told):
            rows.append(
                Gap("", check.what, check.detail or "it does not hold", check.path, plan=check.plan)
            )
    return tuple(
        Gap(
            f"G-{number}-{at}",
            gap.truth,
            gap.reason,
            gap.path,
            gap.line,
            gap.cure,
            gap.rule,
            gap.plan,
            gap.subject,
        )
        for at, gap in enumerate(rows, 1)
    )


def new_verification(sheet: Sheet) -> str:
    """The text of a verification."""
    found = sheet.verified
    done, total = found.score
    gaps = gaps_of(found, sheet.number)
    front: dict[str, Value] = {
        "phase": sheet.phase,
        "verified": sheet.at,
        "status": str(found.outcome),
        "score": f"{done}/{total} must-haves verified",
        "overrides_applied": sum(each.state is State.OVERRIDDEN for each in found.checks)
        + len(_accepted(found)),
    }
    lists: dict[str, list[Value]] = {
        "overrides": [
            {
                "must_have": _text(o.what),
                "reason": _text(o.reason),
                "accepted_by": _text(o.by),
                "accepted_at": o.at,
            }
            for o in found.overrides
        ],
        "gaps": [_gap_keys(each) for each in gaps],
        "human_verification": [
            {
                "test": _text(each.test),
                "expected": _text(each.expected),
                "why_human": _text(each.why),
            }
            for each in found.waiting
        ],
    }
    front |= {key: value for key, value in lists.items() if value}
    if sheet.before:
        front["re_verification"] = _re_verification(sheet.before, gaps)
    rare: dict[str, Value] = {
        "summaries": sheet.summaries,
        "commit": sheet.commit,
        "rehearsed": sheet.is_rehearsed,
        "checked": dict(sheet.inputs),
    }
    front |= {key: value for key, value in rare.items() if value}
    return "\n".join(("---", *block_lines(front, 0), "---", "", *_body(sheet, gaps), ""))


def read_verification(path: str, text: str) -> Record:
    """What a verification says, as far as it can be read: it may come from anybody."""
    with Located(path):
        front = Document(text).shown_front
    return Record(
        status=text_of(front, "status").casefold() or "",
        verified=text_of(front, "verified"),
        score=text_of(front, "score"),
        gaps=tuple(_read_gap(each) for each in _maps(front.get("gaps"))),
        human=tuple(
            HumanItem(text_of(each, "test"), text_of(each, "expected"), text_of(each, "why_human"))
            for each in _maps(front.get("human_verification"))
        ),
        overrides=tuple(
            Override(
                *(
                    text_of(each, key)
                    for key in ("must_have", "reason", "accepted_by", "accepted_at")
                )
            )
            for each in _maps(front.get("overrides"))
        ),
        inputs=tuple((key, str(value)) for key, value in held.items())
        if isinstance(held := front.get("checked"), dict)
        else (),
    )


def _text(text: str) -> str:
    """A value of the frontmatter: one line, and nothing unseen in it."""
    return visible(" ".join(text.split()))


def _gap_keys(gap: Gap) -> dict[str, Value]:
    issue = f"{gap.rule}: {gap.reason}" if gap.rule else gap.reason
    place = f"{gap.path}:{gap.line}" if gap.line else gap.path
    artifacts: list[Value] = [{"path": _text(place), "issue": _text(issue)}] if gap.path else []
    return {
        "id": gap.id,
        "truth": _text(gap.truth),
        "status": "failed",
        "reason": _text(gap.reason),
        "artifacts": artifacts,
        "missing": [_text(gap.cure)] if gap.cure else [],
    }


def _read_gap(held: Mapping[str, object]) -> Gap:
    return Gap(text_of(held, "id"), text_of(held, "truth"), text_of(held, "reason"))


def _maps(held: object) -> list[Mapping[str, object]]:
    return [each for each in held if isinstance(each, dict)] if isinstance(held, list) else []


def _re_verification(before: Record, gaps: tuple[Gap, ...]) -> Value:
    now = {(_text(gap.truth), _text(gap.reason)) for gap in gaps}
    was = {(gap.truth, gap.reason) for gap in before.gaps}
    return {
        "previous_status": before.status or "unknown",
        "previous_score": before.score or "none",
        "gaps_closed": [truth for truth, _ in sorted(was - now)],
        "gaps_remaining": [truth for truth, _ in sorted(was & now)],
        "regressions": [truth for truth, _ in sorted(now - was)]
        if before.status == Outcome.PASSED
        else [],
    }


def _accepted(found: Verified) -> list[Finding]:
    return [each for each in found.findings if each.is_blocking and each.key in found.accepted]


def _body(sheet: Sheet, gaps: tuple[Gap, ...]) -> Iterable[str]:
    found = sheet.verified
    done, total = found.score
    yield f"# Phase {sheet.number}: {_plain(sheet.name)} Verification Report"
    yield ""
    yield f"**Phase Goal:** {_plain(sheet.goal or sheet.name)}"
    yield f"**Verified:** {sheet.at}"
    yield f"**Status:** {found.outcome}"
    yield f"**Re-verification:** {'Yes' if sheet.before else 'No'}"
    yield from ("", "## Goal Achievement", "", "### Observable Truths", "")
    wanted = [each for each in found.checks if each.kind in (Kind.TRUTH, Kind.CRITERION)]
    yield from _table(
        ("#", "Truth", "Status", "Evidence"),
        ((str(at), *_row(each)) for at, each in enumerate(wanted, 1)),
    )
    yield from ("", f"**Score:** {done}/{total} truths verified")
    for kind, title in _TITLES.items():
        checked = [_row(each) for each in found.checks if each.kind is kind]
        if checked:
            yield from (
                "",
                f"### {title}",
                "",
                *_table((str(kind).capitalize(), "Status", "Evidence"), checked),
            )
    yield from _found(found)
    if found.waiting:
        yield from ("", "### Human Verification Required", "")
        for at, item in enumerate(found.waiting, 1):
            yield from (
                f"#### {at}. {_plain(item.test)[:120]}",
                "",
                f"**Expected:** {_plain(item.expected)}",
                f"**Why human:** {_plain(item.why)}",
                "",
            )
    if gaps:
        yield from (
            "",
            "### Gaps Summary",
            "",
            *(f"- **{gap.id}** {_plain(gap.truth)}: {_plain(gap.reason)}" for gap in gaps),
        )
    if sheet.plans:
        yield from ("", "### Recommended Fix Plans", "", *(f"- `{each}`" for each in sheet.plans))
    commit = f" at commit {sheet.commit[:12]}" if sheet.commit else ""
    agent = f"; {_plain(sheet.agent)} looked as well" if sheet.agent else ""
    yield from ("", "---", f"_Checked by rules and commands{commit}{agent}._")


def _found(found: Verified) -> Iterable[str]:
    """What the rules found, and what of it a person accepted."""
    notes = [each for each in found.findings if each.key not in {a.key for a in _accepted(found)}]
    if notes:
        rows = [
            (
                each.rule,
                each.place or "-",
                "Blocker" if each.is_blocking else "Warning",
                each.why,
                each.cure,
            )
            for each in notes
        ]
        yield from (
            "",
            "### Anti-Patterns Found",
            "",
            *_table(("Rule", "Place", "Severity", "Why", "What would satisfy it"), rows),
        )
    if _accepted(found) or found.overrides:
        words = [(each.what, each.reason, each.by, each.at) for each in found.overrides]
        yield from (
            "",
            "### Acknowledged Gaps",
            "",
            *_table(("What", "Reason", "Accepted by", "At"), words),
        )


def _row(check: Check) -> tuple[str, str, str]:
    shown = check.evidence if check.state is State.VERIFIED else check.detail or check.evidence
    more = (
        f" ({check.evidence})"
        if check.state is State.FAILED and check.evidence and check.detail
        else ""
    )
    return check.what, _MARKS[check.state], f"{shown}{more}"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterable[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(_cell(each) for each in row)} |"


def _cell(text: str) -> str:
    return _plain(text)[:300].replace("\\|", "|").replace("|", "\\|")


def _plain(text: str) -> str:
    """A text of anybody as one line that cannot become structure."""
    folded = visible(" ".join(text.split()))
    return one_line(folded) if folded else "-"
