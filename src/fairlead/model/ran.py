"""What came of a command that was run."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a verify command."""

    exit_code: int  # negative: the signal that ended it
    seconds: float
    sha256: str
    tail: str
    is_timeout: bool = False
    problem: str = ""  # it could not be run at all
