"""What the coordinator needs from the server that carries its calls, as a protocol."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from fairlead.cluster.model import CallEnd, CallOrder, QueueState


class CallServer(Protocol):
    """Keeps executions by their ids, and gives each to one worker after the other."""

    def start(self, order: CallOrder, text: str, /) -> bool:
        """Start an execution, or attach to the one with exactly this input; else `IdInUse`.

        Returns whether it was started now.
        """
        ...

    def wait(self, order: CallOrder, is_wanted: Callable[[], bool], /) -> CallEnd:
        """Wait for the end of an execution; cancel it once it is not wanted."""
        ...

    def digest(self, id_: str, /) -> str:
        """The digest of the input of an execution; empty if there is none."""
        ...

    def cancel(self, id_: str, /) -> CallEnd:
        """Cancel an execution, wait until its processes have ended, and count its attempts."""
        ...

    def open_calls(self) -> tuple[str, ...]:
        """The ids of the executions of this project that have not ended."""
        ...

    def cancel_all(self, ids: Iterable[str], /) -> None:
        """Cancel executions together, and wait until their processes have ended."""
        ...

    def queue_state(self, name: str, /) -> QueueState:
        """The workers that take calls from a queue, and how many calls wait in it."""
        ...

    def await_workers(self, name: str, /) -> int:
        """The slots of all workers of a queue; raises if none appears in time."""
        ...
