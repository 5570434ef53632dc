"""Tells open pages that files have changed, at most twice a second.

Only the fact of a change is sent. A page then asks again for what it shows, with its own session.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable

QUIET_SECONDS = 0.5
_SIGN_OF_LIFE_SECONDS = 15.0


class ChangeFeed:
    """Counts the changes of one project, and wakes everybody who waits for the next."""

    def __init__(self) -> None:
        self.number = 0
        self._changed = asyncio.Condition()

    async def announce(self) -> None:
        """Say that something changed."""
        async with self._changed:
            self.number += 1
            self._changed.notify_all()

    async def follow(self) -> AsyncIterator[dict[str, str]]:
        """The events for one page: one now, then one for each group of changes."""
        seen = -1
        while True:
            if seen != self.number:
                seen = self.number
                yield {"event": "changed", "data": str(seen), "id": str(seen)}
                await asyncio.sleep(QUIET_SECONDS)
                continue
            try:
                async with asyncio.timeout(_SIGN_OF_LIFE_SECONDS), self._changed:
                    await self._changed.wait_for(lambda: self.number != seen)  # noqa: B023
            except TimeoutError:
                yield {"comment": "alive"}


async def watch(folders: Iterable[str], feed: ChangeFeed, stop: asyncio.Event) -> None:
    """Announce changes below some folders until the server stops."""
    from watchfiles import awatch

    async for _ in awatch(
        *folders, stop_event=stop, step=100, debounce=400, watch_filter=None, recursive=True
    ):
        await feed.announce()
