"""What came of a command that was run."""

from fairlead.values import dataclass


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a verify command."""

    exit_code: int  # negative: the signal that ended it
    seconds: float
    sha256: str
    tail: str
    is_timeout: bool = False
    is_stopped: bool = False  # it was not wanted any more: this says nothing of the work
    problem: str = ""  # it could not be run at all

    @property
    def told(self) -> str:
        """How it ended, in one line, with the last thing it said."""
        lines = self.tail.strip().splitlines()
        last = f": {lines[-1].strip()[:100]}" if lines else ""
        return f"exit {self.exit_code}, {self.seconds:.1f} s{last}"
