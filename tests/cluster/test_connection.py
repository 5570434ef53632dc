"""Requests to a server that ends in the middle of one are repeated; answers are not."""

import asyncio
from collections.abc import Sequence

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.converter import PayloadCodec
from temporalio.exceptions import ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from fairlead.cluster.connection import FailingCodec, repeated
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


class WithoutKey(PayloadCodec):
    """A codec that can encode, and has lost the key to decode."""

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        return list(payloads)

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        raise KeyError("no key")


def test_a_payload_that_its_codec_cannot_decode_is_no_reason_to_try_again() -> None:
    codec = FailingCodec(WithoutKey())
    payload = Payload(data=b"x")

    assert asyncio.run(codec.encode([payload])) == [payload]
    with pytest.raises(ApplicationError) as error:
        asyncio.run(codec.decode([payload]))

    assert error.value.non_retryable  # only such an error ends the workflow
