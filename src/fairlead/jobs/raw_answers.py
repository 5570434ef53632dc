"""Raw answers: the unchanged answer of a model, below a header that describes the call.

The header has one `key: value` per line between two rules, each value as JSON. Everything after
the second rule is the answer, and the header contains its hash. Later steps of a council read
plans, ballots and the record from stored answers only.
"""

import hashlib
import json

from fairlead.agents.budget import Cost
from fairlead.core.errors import MalformedRecord
from fairlead.core.serialization import plain, revived
from fairlead.core.values import dataclass, replace


@dataclass(frozen=True, slots=True)
class RawAnswer:
    """One stored answer, with the model that gave it and its cost."""

    key: str  # raw/r1/security
    role: str
    status: str  # ok or absent
    text: str
    at: str = ""
    model: str = ""
    family: str = ""
    nonce: str = ""
    sha256: str = ""  # of the text
    input_sha256: str = ""  # of what was asked, without its nonce
    characters: int = 0  # of what was asked
    tokens_in: int = 0
    tokens_out: int = 0
    cost_usd: float = 0.0
    ms: int = 0
    is_cut: bool = False
    tries: tuple[str, ...] = ()  # one line for each
    reused_from: str = ""  # the job that paid for it

    @property
    def is_ok(self) -> bool:
        """Whether a model answered."""
        return self.status == "ok"

    @property
    def spent(self) -> Cost:
        """Its cost for this job: an answer of another job is free."""
        if self.reused_from:
            return Cost()
        return Cost(self.tokens_in + self.tokens_out, self.cost_usd)


LONGEST = 900_000  # bytes of an answer: a document of a job may have no more
_RULE = "---\n"


def digest(text: str) -> str:
    """The SHA-256 of a text."""
    return hashlib.sha256(text.encode()).hexdigest()


def storable(text: str) -> tuple[str, bool]:
    """A text as it can be stored, and whether it had to be cut."""
    valid = text.encode("utf-8", "replace")
    return valid[:LONGEST].decode("utf-8", "ignore"), len(valid) > LONGEST


def answer_file(answer: RawAnswer) -> str:
    """The file of an answer."""
    fields = plain(replace(answer, sha256=digest(answer.text)))
    fields.pop("text")
    head = "".join(f"{key}: {json.dumps(value)}\n" for key, value in fields.items() if value != "")
    return f"{_RULE}{head}{_RULE}{answer.text}"


def read_answer(path: str, text: str) -> RawAnswer:
    """A stored answer; raises if it was changed since."""
    start, rule, rest = text.partition(_RULE)
    head, end, answer = rest.partition(f"\n{_RULE}")
    if start or not rule or not end:
        raise MalformedRecord(path, "a head between two rules", text[:40])
    fields: dict[str, object] = {"text": answer}
    for line in head.splitlines():
        key, _, value = line.partition(": ")
        try:
            fields[key] = json.loads(value)
        except (ValueError, RecursionError):
            raise MalformedRecord(path, f"a value of {key}", value[:40]) from None
    stored = revived(RawAnswer, fields, path)
    if stored.sha256 != digest(answer):
        raise MalformedRecord(path, "the text that was stored", "a changed one")
    return stored
