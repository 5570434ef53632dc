"""How an execution ended: DONE or FAILED, from the summaries, the exit code and the clock.

An exit code is evidence, never proof: a program that ends well without its summaries has failed.
With the policy `reconcile` an abnormal end counts as done when everything else proves it.
"""

from fairlead.model.council import Failed, Guard
from fairlead.values import dataclass


@dataclass(frozen=True, slots=True)
class Ended:
    """What is known about an execution that is over."""

    plans: int
    summaries: int  # of these plans: newer than the start, and sound
    exit_code: int | None  # None: nobody saw the end
    timed_out: bool = False
    is_error: bool = False  # the program says so itself, or did nothing at all
    committed: int = 0  # plans with a commit since the start
    is_clean: bool = False  # nothing lies uncommitted in the tree


def classified(ended: Ended, policy: str = "strict") -> tuple[str, str]:
    """The guard of the edge that the job takes, and a warning for a doubtful success."""
    is_all = ended.plans > 0 and ended.summaries >= ended.plans
    is_well = ended.exit_code == 0 and not ended.is_error and not ended.timed_out
    if is_all and is_well:
        return Guard.SUMMARIES_PROVE, ""
    if is_all and policy == "reconcile" and ended.committed >= ended.plans and ended.is_clean:
        return Guard.SUMMARIES_PROVE, "abnormal_end"
    if ended.timed_out:
        return Failed.TIMEOUT, ""
    if is_all:
        return Failed.EXIT_NONZERO, ""
    if ended.summaries:
        return Failed.PARTIAL, ""
    return (Failed.NO_SUMMARY if is_well else Failed.EXEC_FAILED), ""
