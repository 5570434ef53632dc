"""Writes and reads VERIFICATION.md, and reads UAT.md.

Programs use the frontmatter: status, score, gaps, questions for a person, overrides. The tables
in the body show the evidence of each check to people. Other tools read and write the same format.
"""

from collections.abc import Iterable, Mapping

from fairlead.core.errors import Located
from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass
from fairlead.text.document import Document
from fairlead.text.frontmatter_values import text_of
from fairlead.text.inline import one_line
from fairlead.text.printable import visible
from fairlead.text.yaml_emit import Value, block_lines
from fairlead.verification.gaps import Gap, gaps_of
from fairlead.verification.model import (
    CheckKind,
    CheckState,
    HumanItem,
    Override,
    RuleFinding,
    VerificationCheck,
    VerificationResult,
    VerificationStatus,
)

_STATES = {
    CheckState.VERIFIED: "✓ VERIFIED",
    CheckState.FAILED: "✗ FAILED",
    CheckState.UNCERTAIN: "? UNCERTAIN",
    CheckState.OVERRIDDEN: "PASSED (override)",
}
_TITLES = {
    CheckKind.ARTIFACT: "Required Artifacts",
    CheckKind.LINK: "Key Link Verification",
    CheckKind.COMMAND: "Behavioral Spot-Checks",
    CheckKind.REQUIREMENT: "Requirements Coverage",
}
_UAT_TEST = lazy_pattern(r"###\s+(\d{1,4})[.)]?\s+(.+)")
_UAT_FIELD = lazy_pattern(r"(expected|result|reported|reason|severity):\s*(.*)")


@dataclass(frozen=True, slots=True)
class SavedVerification:
    """The contents of an existing VERIFICATION.md."""

    status: str
    verified: str = ""
    score: str = ""
    gaps: tuple[Gap, ...] = ()
    human: tuple[HumanItem, ...] = ()
    overrides: tuple[Override, ...] = ()
    inputs: tuple[tuple[str, str], ...] = ()  # path and digest of each file that was checked


@dataclass(frozen=True, slots=True)
class VerificationDocument:
    """Everything that is written to VERIFICATION.md."""

    phase: str  # 03-post-feed
    number: str
    name: str
    goal: str
    result: VerificationResult
    at: str
    previous: SavedVerification | None = None
    summaries: str = ""  # digest of the summaries
    inputs: tuple[tuple[str, str], ...] = ()
    commit: str = ""
    agent: str = ""  # that reviewed the phase in addition to the rules
    is_rehearsed: bool = False
    plans: tuple[str, ...] = ()  # patch plans that are written with it


@dataclass(frozen=True, slots=True)
class UatTest:
    """One user acceptance test."""

    number: int
    name: str
    expected: str = ""
    result: str = "pending"  # pass, issue, skipped, blocked
    reported: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Uat:
    """The contents of a UAT.md: one session of user acceptance tests."""

    status: str
    tests: tuple[UatTest, ...]


def new_verification(document: VerificationDocument) -> str:
    """Return the text of VERIFICATION.md."""
    result = document.result
    done, total = result.score
    gaps = gaps_of(result, document.number)
    overridden = sum(check.state is CheckState.OVERRIDDEN for check in result.checks)
    front: dict[str, Value] = {
        "phase": document.phase,
        "verified": document.at,
        "status": str(result.outcome),
        "score": f"{done}/{total} must-haves verified",
        "overrides_applied": overridden + len(_accepted(result)),
    }
    optional: dict[str, Value] = {
        "overrides": [
            {
                "must_have": _text(override.what),
                "reason": _text(override.reason),
                "accepted_by": _text(override.by),
                "accepted_at": override.at,
            }
            for override in result.overrides
        ],
        "gaps": [_gap_keys(gap) for gap in gaps],
        "human_verification": [
            {
                "test": _text(item.test),
                "expected": _text(item.expected),
                "why_human": _text(item.why),
            }
            for item in result.waiting
        ],
        "re_verification": _re_verification(document.previous, gaps) if document.previous else "",
        "summaries": document.summaries,
        "commit": document.commit,
        "rehearsed": document.is_rehearsed,
        "checked": dict(document.inputs),
    }
    front |= {key: value for key, value in optional.items() if value}
    return "\n".join(("---", *block_lines(front, 0), "---", "", *_body(document, gaps), ""))


def read_verification(path: str, text: str) -> SavedVerification:
    """Read VERIFICATION.md. Fields that cannot be read are empty: any tool may have written it."""
    with Located(path):
        front = Document(text).shown_front
    checked = front.get("checked")
    return SavedVerification(
        status=text_of(front, "status").casefold(),
        verified=text_of(front, "verified"),
        score=text_of(front, "score"),
        gaps=tuple(
            Gap(text_of(gap, "id"), text_of(gap, "truth"), text_of(gap, "reason"))
            for gap in _maps(front.get("gaps"))
        ),
        human=tuple(
            HumanItem(text_of(item, "test"), text_of(item, "expected"), text_of(item, "why_human"))
            for item in _maps(front.get("human_verification"))
        ),
        overrides=tuple(
            Override(
                text_of(item, "must_have"),
                text_of(item, "reason"),
                text_of(item, "accepted_by"),
                text_of(item, "accepted_at"),
            )
            for item in _maps(front.get("overrides"))
        ),
        inputs=tuple((key, str(value)) for key, value in checked.items())
        if isinstance(checked, dict)
        else (),
    )


def read_uat(path: str, text: str) -> Uat:
    """Read UAT.md; text that is not understood is skipped."""
    with Located(path):
        document = Document(text)
        status = text_of(document.shown_front, "status").casefold()
    rows: list[tuple[int, str, int, dict[str, str]]] = []
    last = ""
    for at, line in enumerate(document.lines, 1):
        words = line.text
        if match := _UAT_TEST.match(words):
            rows.append((int(match[1]), match[2].strip(), at, {}))
            last = ""
        elif words.startswith("#"):
            last = "#"
        elif rows and last != "#":
            if match := _UAT_FIELD.match(words):
                last = match[1]
                rows[-1][3].setdefault(last, match[2].strip().strip("|"))
            elif last == "expected" and words.startswith(" "):
                rows[-1][3][last] = f"{rows[-1][3][last]} {words.strip()}".strip()
    return Uat(status, tuple(_uat_test(*row) for row in rows))


def _uat_test(number: int, name: str, line: int, fields: dict[str, str]) -> UatTest:
    words = fields.get("result", "").strip("[]\"' ").casefold().split()
    result = words[0].strip(".,:;*") if words else "pending"
    return UatTest(
        number, name, fields.get("expected", ""), {"passed": "pass"}.get(result, result),
        fields.get("reported", "").strip("\"'"), line,
    )  # fmt: skip


def _text(text: str) -> str:
    """Return a text as one line with visible characters only."""
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


def _maps(value: object) -> list[Mapping[str, object]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []


def _re_verification(previous: SavedVerification, gaps: tuple[Gap, ...]) -> Value:
    now = {(_text(gap.truth), _text(gap.reason)) for gap in gaps}
    before = {(gap.truth, gap.reason) for gap in previous.gaps}
    was_passed = previous.status == VerificationStatus.PASSED
    return {
        "previous_status": previous.status or "unknown",
        "previous_score": previous.score or "none",
        "gaps_closed": [truth for truth, _ in sorted(before - now)],
        "gaps_remaining": [truth for truth, _ in sorted(before & now)],
        "regressions": [truth for truth, _ in sorted(now - before)] if was_passed else [],
    }


def _accepted(result: VerificationResult) -> list[RuleFinding]:
    return [each for each in result.findings if each.is_blocking and each.key in result.accepted]


def _body(document: VerificationDocument, gaps: tuple[Gap, ...]) -> Iterable[str]:
    result = document.result
    done, total = result.score
    yield f"# Phase {document.number}: {_plain(document.name)} Verification Report"
    yield ""
    yield f"**Phase Goal:** {_plain(document.goal or document.name)}"
    yield f"**Verified:** {document.at}"
    yield f"**Status:** {result.outcome}"
    yield f"**Re-verification:** {'Yes' if document.previous else 'No'}"
    yield from ("", "## Goal Achievement", "", "### Observable Truths", "")
    goals = [c for c in result.checks if c.kind in (CheckKind.TRUTH, CheckKind.CRITERION)]
    rows = ((str(at), *_row(check)) for at, check in enumerate(goals, 1))
    yield from _table(("#", "Truth", "Status", "Evidence"), rows)
    yield from ("", f"**Score:** {done}/{total} truths verified")
    for kind, title in _TITLES.items():
        checks = [_row(check) for check in result.checks if check.kind is kind]
        if checks:
            yield from ("", f"### {title}", "")
            yield from _table((str(kind).capitalize(), "Status", "Evidence"), checks)
    yield from _findings(result)
    if result.waiting:
        yield from ("", "### Human Verification Required", "")
        for at, item in enumerate(result.waiting, 1):
            yield from (f"#### {at}. {_plain(item.test)[:120]}", "")
            yield f"**Expected:** {_plain(item.expected)}"
            yield from (f"**Why human:** {_plain(item.why)}", "")
    if gaps:
        yield from ("", "### Gaps Summary", "")
        for gap in gaps:
            yield f"- **{gap.id}** {_plain(gap.truth)}: {_plain(gap.reason)}"
    if document.plans:
        yield from ("", "### Recommended Fix Plans", "")
        yield from (f"- `{plan}`" for plan in document.plans)
    commit = f" at commit {document.commit[:12]}" if document.commit else ""
    agent = f"; reviewed by {_plain(document.agent)}" if document.agent else ""
    yield from ("", "---", f"_Checked by rules and commands{commit}{agent}._")


def _findings(result: VerificationResult) -> Iterable[str]:
    """Yield the tables of open findings and of accepted ones."""
    accepted = {finding.key for finding in _accepted(result)}
    rows = [
        (
            finding.rule,
            finding.place or "-",
            "Blocker" if finding.is_blocking else "Warning",
            finding.why,
            finding.cure,
        )
        for finding in result.findings
        if finding.key not in accepted
    ]
    if rows:
        yield from ("", "### Anti-Patterns Found", "")
        yield from _table(("Rule", "Place", "Severity", "Why", "What would satisfy it"), rows)
    if accepted or result.overrides:
        overrides = [(each.what, each.reason, each.by, each.at) for each in result.overrides]
        yield from ("", "### Acknowledged Gaps", "")
        yield from _table(("What", "Reason", "Accepted by", "At"), overrides)


def _row(check: VerificationCheck) -> tuple[str, str, str]:
    if check.state is CheckState.VERIFIED or not check.detail:
        return check.what, _STATES[check.state], check.evidence
    is_failed = check.state is CheckState.FAILED
    more = f" ({check.evidence})" if is_failed and check.evidence else ""
    return check.what, _STATES[check.state], f"{check.detail}{more}"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterable[str]:
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rows:
        yield f"| {' | '.join(_cell(text) for text in row)} |"


def _cell(text: str) -> str:
    return _plain(text)[:300].replace("\\|", "|").replace("|", "\\|")


def _plain(text: str) -> str:
    """Return a text as one line that Markdown cannot read as structure."""
    folded = _text(text)
    return one_line(folded) if folded else "-"
