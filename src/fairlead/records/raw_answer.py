"""Raw memory: what a model said, to the letter, below a small head that tells who said it.

The head is one `key: value` a line between two rules, each value as JSON writes it. Everything
after the second rule is the answer, unchanged: its hash stands in the head.
"""

import hashlib
import json

from fairlead.errors import MalformedRecord
from fairlead.model.calls import Call
from fairlead.model.plain import plain, revived
from fairlead.values import replace

LONGEST = 48_000  # characters, above any limit of tokens: six of them fit the record of a job
_RULE = "---\n"


def digest(text: str) -> str:
    """The hash that stands for a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def storable(text: str) -> tuple[str, bool]:
    """A text as a file can hold it, and whether it had to be cut for that."""
    whole = text.encode("utf-8", "replace").decode()
    return whole[:LONGEST], len(whole) > LONGEST


def written(call: Call) -> str:
    """The file of an answer."""
    held = plain(replace(call, sha256=digest(call.text)))
    held.pop("text")
    head = "".join(f"{key}: {json.dumps(value)}\n" for key, value in held.items() if value != "")
    return f"{_RULE}{head}{_RULE}{call.text}"


def read_answer(path: str, text: str) -> Call:
    """An answer as it was stored; one that was changed since is refused."""
    start, rule, rest = text.partition(_RULE)
    head, end, said = rest.partition(f"\n{_RULE}")
    if start or not rule or not end:
        raise MalformedRecord(path, "a head between two rules", text[:40])
    held: dict[str, object] = {"text": said}
    for line in head.splitlines():
        key, _, value = line.partition(": ")
        try:
            held[key] = json.loads(value)
        except (ValueError, RecursionError):
            raise MalformedRecord(path, f"a value of {key}", value[:40]) from None
    call = revived(Call, held, path)
    if call.sha256 != digest(said):
        raise MalformedRecord(path, "the text that was stored", "a changed one")
    return call
