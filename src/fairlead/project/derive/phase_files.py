"""The few facts that are read from plans, summaries and verifications to derive progress.

Works on bytes and searches before it parses: in a project with ten thousand files, one search for
a word settles nearly all of them.
"""

import re
import string
from typing import NamedTuple

from fairlead.core.patterns import lazy_pattern
from fairlead.project.derive.inventory import Proof
from fairlead.text.fast_frontmatter import read_front
from fairlead.text.outline import lines_of

_FIELDS = tuple(
    (key, key.encode(), f"\n{key}:".encode()) for key in ("status", "completed", "verified")
)
_PLAIN = (string.ascii_letters + string.digits + "_.:+-").encode()
_SUMMARIES = lazy_pattern(rb"^summaries: \"?([0-9a-f]{32})\"?\r?$", re.MULTILINE)
_RESULT = lazy_pattern(r"[^\w]*(pass|fail)")
_FENCE = (b"---", b"\xef\xbb\xbf---")
_OTHER_KEY = b"\nrequirements-completed:"
_ANY_FIELD = lazy_pattern(rb"^[ \t]*[\"']?(?:status|completed|verified)[\"']?[ \t]*:", re.MULTILINE)


class SummaryHead(NamedTuple):
    """The facts of a summary that matter."""

    proof: Proof
    completed: str  # the date it gives; empty if none


def plan_head(content: bytes | None) -> tuple[bool, int, bool, bool]:
    """Whether a plan is superseded, its tasks, whether it failed its check, or was rehearsed."""
    plan = content or b""
    tasks = plan.count(b"<task ") + plan.count(b"<task>")
    # Most plans have none of these words, so most cost no call.
    is_superseded = (b"upersede" in plan or b"UPERSEDE" in plan) and _is_superseded(plan)
    has_failed = b"plan_check" in plan and _failed_check(plan)
    is_rehearsed = b"\nrehearsed: true" in plan and _is_rehearsed(plan)
    return is_superseded, tasks, has_failed, is_rehearsed


def _is_superseded(content: bytes) -> bool:
    return _fields(content).get("status") == "superseded"


def _failed_check(content: bytes) -> bool:
    value = read_front(content.decode("utf-8", "surrogateescape")).get("plan_check")
    return isinstance(value, str) and value.strip().casefold() == "failed"


def summary_head(content: bytes | None) -> SummaryHead:
    """What a summary proves; `None` stands for a file that cannot be read."""
    if content is None:
        return SummaryHead(Proof.NONE, "")
    if not content or content.isspace():
        return SummaryHead(Proof.EMPTY, "")
    fields = _fields(content)
    completed = fields.get("completed", "")
    if fields.get("status", "") == "blocked":
        return SummaryHead(Proof.BLOCKED, completed)
    if (b"ailed" in content or b"AILED" in content) and _self_check_failed(content):
        return SummaryHead(Proof.FAILED, completed)
    if b"\nrehearsed: true" in content and _is_rehearsed(content):
        return SummaryHead(Proof.REHEARSED, completed)
    return SummaryHead(Proof.COMPLETE, completed)


def verified_head(content: bytes) -> tuple[str, str, str]:
    """The status of a verification, its date, and the digest of the summaries it examined."""
    fields = _fields(content)
    status = fields.get("status", "")
    if b"\nrehearsed: true" in content and _is_rehearsed(content):
        status = Proof.REHEARSED
    match = _SUMMARIES.search(content)
    return status, fields.get("verified", ""), match[1].decode() if match else ""


def summaries_digest(summaries: "dict[str, bytes]") -> str:
    """A digest of the summaries of a phase."""
    import hashlib  # importing it takes longer than reading most phases

    digest = hashlib.sha256()
    for name, content in sorted(summaries.items()):
        digest.update(f"{name}\0{len(content)}\0".encode("utf-8", "surrogateescape") + content)
    return digest.hexdigest()[:32]


def _is_rehearsed(content: bytes) -> bool:
    return read_front(content.decode("utf-8", "surrogateescape")).get("rehearsed") == "true"


def _self_check_failed(content: bytes) -> bool:
    """Whether the last self-check failed; its result is on its line or on the next one."""
    is_failed = is_open = False
    for line in lines_of(content.decode("utf-8", "surrogateescape")):
        words = line.text.strip().lower()
        if not line.is_prose or not words:
            continue
        result = words if is_open else ""
        is_open = False
        bare = words.replace("*", "").strip("# \t")
        if words.startswith(("#", "**")) and bare.startswith("self-check"):
            result = bare.removeprefix("self-check").strip(" :\t")
            is_open = not result
        if match := _RESULT.match(result):
            is_failed = match[1] == "fail"
    return is_failed


def _fields(content: bytes) -> dict[str, str]:
    """The relevant frontmatter fields, with the status in lower case."""
    end = content.find(b"\n---", 3)
    if end <= 0 or not content.startswith(_FENCE):
        return {}
    head = content[: end + 5]
    # If every occurrence of these words is a plain field, no other form needs to be parsed.
    occurrences = -head.count(_OTHER_KEY)  # every summary has it, and it is a key of its own
    fields: dict[str, str] = {}
    for key, word, begin in _FIELDS:
        count = head.count(word)
        if count:
            occurrences += count
            value = _plain_value(head, begin)
            if value:
                fields[key] = value
    if occurrences != len(fields) != len(_ANY_FIELD.findall(head)):
        front = read_front(head.decode("utf-8", "surrogateescape"))
        fields = {key: value for key, value in front.items() if isinstance(value, str)}
    if "status" in fields:
        fields["status"] = fields["status"].lower()
    return fields


def _plain_value(head: bytes, begin: bytes) -> str:
    """The plain word or date of a field, which the YAML reader reads as well; else empty."""
    at = head.find(begin)
    if at < 0:
        return ""
    at += len(begin)
    line = head[at : head.find(b"\n", at)].removesuffix(b"\r").rstrip(b" \t")
    value = line.lstrip(b" \t")
    is_apart = value != line
    if value[:1] == value[-1:] == b'"':
        value = value[1:-1]
    return value.decode() if is_apart and not value.translate(None, _PLAIN) else ""
