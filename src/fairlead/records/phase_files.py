"""Plans, summaries and verifications, as far as the derivation needs them.

Works on bytes and looks before it parses: of ten thousand files nearly all are settled by one
search for a word.
"""

import re
from typing import NamedTuple

from fairlead.model.inventory import Proof
from fairlead.text.quick import read_front

# A key at the margin with a plain word or date behind it: what a full reader would read, too.
_PLAIN_FIELD = re.compile(
    rb"^(status|completed|verified):[ \t]+([\w.:+-]+)[ \t]*\r?$", re.MULTILINE
)
_COMPLETED = re.compile(rb"\ncompleted:[ \t]+([\w.:+-]+)[ \t]*\r?\n")
_SUMMARIES = re.compile(rb"^summaries: \"?([0-9a-f]{32})\"?\r?$", re.MULTILINE)
_KEYS = (b"status", b"completed", b"verified")
_ANY_FIELD = re.compile(rb"^[ \t]*[\"']?(?:status|completed|verified)[\"']?[ \t]*:", re.MULTILINE)


class SummaryHead(NamedTuple):
    """What counts of a summary."""

    proof: Proof
    completed: str  # the date it gives; empty if none


def plan_head(content: bytes | None) -> tuple[bool, int, bool]:
    """Whether the plan is superseded, how many tasks it has, and whether it failed its check."""
    if not content:
        return False, 0, False
    is_superseded = (
        b"superseded" in content.lower() and _fields(content).get("status", "") == "superseded"
    )
    tasks = content.count(b"<task ") + content.count(b"<task>")
    return is_superseded, tasks, b"plan_check" in content and _failed_check(content)


def _failed_check(content: bytes) -> bool:
    value = read_front(content.decode("utf-8", "surrogateescape")).get("plan_check")
    return isinstance(value, str) and value.strip().casefold() == "failed"


def summary_head(content: bytes | None) -> SummaryHead:
    """What the summary proves; None is what cannot be read as one."""
    if content is None:
        return SummaryHead(Proof.NONE, "")
    if not content or content.isspace():
        return SummaryHead(Proof.EMPTY, "")
    fields = _fields(content)
    completed = fields.get("completed", "")
    if fields.get("status", "") == "blocked":
        return SummaryHead(Proof.BLOCKED, completed)
    if b"FAILED" in content and _self_check_failed(content):
        return SummaryHead(Proof.FAILED, completed)
    if b"\nrehearsed: true" in content and _is_rehearsed(content):
        return SummaryHead(Proof.REHEARSED, completed)
    return SummaryHead(Proof.COMPLETE, completed)


def verified_head(content: bytes) -> tuple[str, str, str]:
    """The status of a verification, when it was made, and the digest of the summaries it was made of."""
    fields = _fields(content)
    status = fields.get("status", "")
    if b"\nrehearsed: true" in content and _is_rehearsed(content):
        status = Proof.REHEARSED
    match = _SUMMARIES.search(content)
    return status, fields.get("verified", ""), match[1].decode() if match else ""


def summaries_digest(summaries: "dict[str, bytes]") -> str:
    """What a phase's summaries say, as one short word."""
    import hashlib  # takes longer to load than most phases take to read

    whole = hashlib.sha256()
    for name, content in sorted(summaries.items()):
        whole.update(f"{name}\0{len(content)}\0".encode("utf-8", "surrogateescape") + content)
    return whole.hexdigest()[:32]


def _is_rehearsed(content: bytes) -> bool:
    return read_front(content.decode("utf-8", "surrogateescape")).get("rehearsed") == "true"


def _self_check_failed(content: bytes) -> bool:
    for line in content.splitlines():
        words = line.strip(b"#* \t").lower().replace(b"*", b"")
        if line.lstrip().startswith((b"#", b"**")) and words.startswith(b"self-check"):
            return words.partition(b":")[2].strip().startswith(b"failed")
    return False


def _fields(content: bytes) -> dict[str, str]:
    """The fields of the frontmatter that count here; the status in lower case."""
    end = content.find(b"\n---", 3)
    if end <= 0 or not content.startswith((b"---", b"\xef\xbb\xbf---")):
        return {}
    head = content[: end + 5]
    # Words that stand nowhere else need not be looked for in other forms.
    mentions = sum(map(head.count, _KEYS))
    if mentions == 1 and (only := _COMPLETED.search(head)):
        return {"completed": only[1].decode()}
    plain = _PLAIN_FIELD.findall(head)
    found = {key.decode(): value.decode() for key, value in plain}
    if len(found) != len(plain) or mentions != len(plain) != len(_ANY_FIELD.findall(head)):
        front = read_front(head.decode("utf-8", "surrogateescape"))
        found = {key: value for key, value in front.items() if isinstance(value, str)}
    if "status" in found:
        found["status"] = found["status"].lower()
    return found
