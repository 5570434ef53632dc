"""Plans, summaries and verifications, as far as the derivation needs them.

Works on bytes and looks before it parses: of ten thousand files nearly all are settled by one
search for a word.
"""

import re
from collections.abc import Iterable
from typing import NamedTuple

from fairlead.model.inventory import Proof
from fairlead.text.outline import lines_of
from fairlead.text.quick import read_front

# A key at the margin with a plain word or date behind it: what a full reader would read, too.
_PLAIN_FIELD = re.compile(
    rb"^(status|completed|verified):[ \t]+([\w.:+-]+)[ \t]*\r?$", re.MULTILINE
)
_COMPLETED = re.compile(rb"\ncompleted:[ \t]+([\w.:+-]+)[ \t]*\r?\n")
_SUMMARIES = re.compile(rb"^summaries: \"?([0-9a-f]{32})\"?\r?$", re.MULTILINE)
_ENDED = re.compile(r"[^\w]*(pass|fail)")
_FENCE = (b"---", b"\xef\xbb\xbf---")
_ANY_FIELD = re.compile(rb"^[ \t]*[\"']?(?:status|completed|verified)[\"']?[ \t]*:", re.MULTILINE)


class SummaryHead(NamedTuple):
    """What counts of a summary."""

    proof: Proof
    completed: str  # the date it gives; empty if none


def plan_heads(contents: Iterable[bytes | None]) -> list[tuple[bool, int, bool]]:
    """Of each plan whether it is superseded, how many tasks it has, and whether it failed its check."""
    held = [content or b"" for content in contents]
    tasks = [content.count(b"<task ") + content.count(b"<task>") for content in held]
    together = b"\n".join(held).lower()
    if b"superseded" not in together and b"plan_check" not in together:  # in none, as nearly always
        return [(False, count, False) for count in tasks]
    return [
        (_is_superseded(content), count, _failed_check(content))
        for content, count in zip(held, tasks, strict=True)
    ]


def _is_superseded(content: bytes) -> bool:
    return b"superseded" in content.lower() and _fields(content).get("status") == "superseded"


def _failed_check(content: bytes) -> bool:
    if b"plan_check" not in content:
        return False
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
    if (b"ailed" in content or b"AILED" in content) and _self_check_failed(content):
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
    """What the last self-check came to: on its own line, or on the first one below it."""
    is_failed = is_open = False
    for line in lines_of(content.decode("utf-8", "surrogateescape")):
        words = line.text.strip().lower()
        if not line.is_prose or not words:
            continue
        said = words if is_open else ""
        is_open = False
        bare = words.replace("*", "").strip("# \t")
        if words.startswith(("#", "**")) and bare.startswith("self-check"):
            said = bare.removeprefix("self-check").strip(" :\t")
            is_open = not said
        if found := _ENDED.match(said):
            is_failed = found[1] == "fail"
    return is_failed


def _fields(content: bytes) -> dict[str, str]:
    """The fields of the frontmatter that count here; the status in lower case."""
    end = content.find(b"\n---", 3)
    if end <= 0 or not content.startswith(_FENCE):
        return {}
    head = content[: end + 5]
    # Words that stand nowhere else need not be looked for in other forms.
    mentions = head.count(b"status") + head.count(b"completed") + head.count(b"verified")
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
