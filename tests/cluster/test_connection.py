"""Requests to a server that ends in the middle of one are repeated; answers are not."""

import asyncio

import pytest
from temporalio.service import RPCError, RPCStatusCode

from fairlead.cluster.connection import repeated
from fairlead.cluster.errors import ServerRefused


class Failing:
    """A request that fails so many times."""

    def __init__(self, status: RPCStatusCode, times: int) -> None:
        self.status = status
        self.left = times

    async def __call__(self) -> str:
        if self.left:
            self.left -= 1
            raise RPCError("transport error", self.status, b"")
        return "answer"


@pytest.mark.parametrize(
    "status",
    [
        RPCStatusCode.UNAVAILABLE,
        RPCStatusCode.UNKNOWN,
        RPCStatusCode.INTERNAL,
        RPCStatusCode.RESOURCE_EXHAUSTED,
    ],
)
def test_a_request_is_repeated_while_the_server_is_away(status: RPCStatusCode) -> None:
    request = Failing(status, 2)

    assert asyncio.run(repeated(request, 60.0, "x:1", tick=0.0)) == "answer"


def test_a_request_that_the_server_refuses_is_not_repeated() -> None:
    request = Failing(RPCStatusCode.PERMISSION_DENIED, 2)

    with pytest.raises(ServerRefused):
        asyncio.run(repeated(request, 60.0, "x:1", tick=0.0))
    assert request.left == 1
