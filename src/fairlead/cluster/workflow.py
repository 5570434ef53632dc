"""The workflow of a call: one activity, repeated by the server when its worker is lost.

It runs on the coordinator, so that a worker can neither change it nor speak for it. While no
coordinator runs, the server itself repeats lost attempts and keeps the result.
"""

from __future__ import annotations

from datetime import timedelta

from temporalio import workflow
from temporalio.common import RetryPolicy
from temporalio.exceptions import ApplicationError

WORKFLOW, ACTIVITY = "fairlead-call", "fairlead-perform"
MOST_ATTEMPTS = 5
LONGEST_PAUSE = timedelta(seconds=30)  # between two attempts; a worker may ask for a longer one
REFUSED = "refused"  # the type of a failure that another worker would repeat
_BESIDE_THE_CALL = timedelta(minutes=15)  # to fetch, set up, push and end processes


# Without the exception types, a payload of a worker that cannot be read would be read again for ever.
@workflow.defn(name=WORKFLOW, sandboxed=False, failure_exception_types=[Exception])
class CallWorkflow:
    """Runs one call on a worker."""

    @workflow.run
    async def run(self, order: str, queue: str, wall_seconds: float, heartbeat: float) -> str:
        """Return the report of the attempt that ended."""
        report: str = await workflow.execute_activity(
            ACTIVITY,
            order,
            task_queue=queue,
            result_type=str,
            start_to_close_timeout=timedelta(seconds=wall_seconds) + _BESIDE_THE_CALL,
            heartbeat_timeout=timedelta(seconds=heartbeat),
            cancellation_type=workflow.ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
            retry_policy=RetryPolicy(
                initial_interval=timedelta(seconds=1),
                maximum_interval=LONGEST_PAUSE,
                maximum_attempts=MOST_ATTEMPTS,
                non_retryable_error_types=[REFUSED],
            ),
        )
        if not isinstance(report, str):
            raise ApplicationError("its worker returned no text", type=REFUSED, non_retryable=True)
        return report
