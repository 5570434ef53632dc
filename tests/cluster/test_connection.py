"""Requests to a server that is away are repeated; an answer, also a refusal, is not."""

import asyncio
from collections.abc import Sequence

import pytest
from temporalio.api.common.v1 import Payload
from temporalio.client import WorkflowFailureError
from temporalio.converter import PayloadCodec
from temporalio.exceptions import ActivityError, ApplicationError
from temporalio.service import RPCError, RPCStatusCode

from fairlead.cluster.connection import (
    FailingCodec,
    Patience,
    ServerSettings,
    connected,
    failure_text,
    refusal,
    repeated,
)
from fairlead.cluster.errors import BadServerSettings, ServerGone, ServerRefused
from tests.support.cluster import free_ports


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

    with pytest.raises(ServerRefused, match="transport error"):
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


def test_a_refusal_in_the_text_of_an_error_is_recognised() -> None:
    text = 'call error after connection: Status { code: Unauthenticated, message: "no such key" }'
    assert refusal(RuntimeError(text)) == "no such key"
    assert refusal(RuntimeError(text.replace("Unauthenticated", "Unavailable"))) == ""
    assert refusal(RuntimeError("tcp connect error: connection refused")) == ""


def test_a_refusal_without_words_is_one() -> None:
    assert refusal(RPCError("", RPCStatusCode.PERMISSION_DENIED, b"")) == "PERMISSION_DENIED"


@pytest.mark.parametrize("address", ["crane", "crane:bar", "http://127.0.0.1:7233", "crane:99999"])
def test_an_address_that_is_not_host_and_port_is_refused_at_once(address: str) -> None:
    with pytest.raises(BadServerSettings, match="HOST:PORT") as error:
        asyncio.run(connected(ServerSettings(address)))
    assert error.value.exit_code == 2


def test_a_person_is_told_once_that_the_server_is_waited_for() -> None:
    (port,) = free_ports(1)
    said: list[str] = []
    settings = ServerSettings(f"127.0.0.1:{port}", patience=Patience(connect=0.6), note=said.append)

    with pytest.raises(ServerGone):
        asyncio.run(connected(settings))

    assert said == [f"waiting up to 1 s for the Temporal server at 127.0.0.1:{port}"]


def test_the_failure_of_a_call_is_the_error_of_its_worker() -> None:
    fault = ApplicationError("git fetch: fatal: no such repository", type="git")
    activity = ActivityError(
        "Activity task failed", scheduled_event_id=1, started_event_id=2, identity="",
        activity_type="", activity_id="", retry_state=None,
    )  # fmt: skip
    activity.__cause__ = fault

    text = failure_text(WorkflowFailureError(cause=activity))

    assert text == "git fetch: fatal: no such repository"
    assert failure_text(WorkflowFailureError(cause=fault)) == text
