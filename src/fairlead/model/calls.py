"""A call of a council: one question to a PM, a seat or the synthesiser, and the answer as it came.

The answer in raw memory is the only thing that later steps go by: plans, ballots and the record
are read from it.
"""

from fairlead.model.budget import Spent
from fairlead.values import dataclass


@dataclass(frozen=True, slots=True)
class Call:
    """One answer in raw memory, with who gave it and what it took."""

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
    tries: tuple[str, ...] = ()  # each that was made, one line
    reused_from: str = ""  # the job that it was first given to

    @property
    def is_ok(self) -> bool:
        """Whether anybody answered."""
        return self.status == "ok"

    @property
    def spent(self) -> Spent:
        """What it took, here: an answer that was given to another job is free."""
        if self.reused_from:
            return Spent()
        return Spent(self.tokens_in + self.tokens_out, self.cost_usd)
