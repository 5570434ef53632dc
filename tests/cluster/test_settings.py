"""Temporal's own settings: what cannot be used is named, and TLS and a codec reach the server."""

import asyncio
from pathlib import Path

import pytest
from temporalio.client import Client

from fairlead.cluster.connection import Connection, Patience, ServerSettings, configured_address
from fairlead.cluster.errors import BadServerSettings, ServerGone, ServerRefused
from tests.support.cluster import LocalCluster, local_cluster, some_plans, why_no_server
from tests.support.cluster_chaos import outcome_faults
from tests.support.tls_relay import certificates

_CODEC = """\
from temporalio.api.common.v1 import Payload
from temporalio.converter import PayloadCodec

class Xor(PayloadCodec):
    async def encode(self, payloads):
        sealed = [bytes(byte ^ 85 for byte in each.SerializeToString()) for each in payloads]
        return [Payload(metadata={"encoding": b"xor"}, data=each) for each in sealed]

    async def decode(self, payloads):
        return [Payload.FromString(bytes(byte ^ 85 for byte in each.data)) for each in payloads]
"""


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        ({"TEMPORAL_PROFILE": "none"}, "Profile 'none' not found"),
        ({"TEMPORAL_CONFIG_FILE": "broken.toml"}, "TOML parse error at line 1"),
        ({"TEMPORAL_TLS_SERVER_CA_CERT_PATH": "no.pem"}, "no.pem"),
        ({"TEMPORAL_TLS_CLIENT_KEY_PATH": "no.key"}, "no.key"),
    ],
)
def test_settings_that_cannot_be_used_are_named(
    variables: dict[str, str], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.toml").write_text("[profile = 1\n")
    for name, value in variables.items():
        monkeypatch.setenv(name, value)

    with pytest.raises(BadServerSettings, match=reason) as error:
        configured_address("")
    assert error.value.exit_code == 2
    assert "\n" not in str(error.value)


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory):
    with local_cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


_SERVER = pytest.mark.skipif(bool(why := why_no_server()), reason=why)


@_SERVER
@pytest.mark.walk
def test_a_namespace_that_does_not_exist_is_named(
    cluster: LocalCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEMPORAL_NAMESPACE", "nowhere")

    with pytest.raises(ServerRefused, match="nowhere is not found"):
        Connection(ServerSettings(cluster.address), "p").__enter__()


@_SERVER
@pytest.mark.walk
def test_a_job_runs_through_mutual_tls_and_a_codec(cluster: LocalCluster, tmp_path: Path) -> None:
    certificates(tmp_path)
    (tmp_path / "xor_codec.py").write_text(_CODEC)
    package = tmp_path / "xor_codec-1.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Metadata-Version: 2.1\nName: xor-codec\nVersion: 1\n")
    (package / "entry_points.txt").write_text("[fairlead.cluster.codecs]\nxor = xor_codec:Xor\n")
    codec = {"codec": "xor"}
    project = cluster.project("sealed", some_plans(1), **codec)

    address = f"127.0.0.1:{cluster.tls(tmp_path)}"
    prefix = (
        "env",
        f"PYTHONPATH={tmp_path}",
        f"TEMPORAL_ADDRESS={address}",
        f"TEMPORAL_TLS_SERVER_CA_CERT_PATH={tmp_path}/authority.pem",
        f"TEMPORAL_TLS_CLIENT_CERT_PATH={tmp_path}/client.pem",
        f"TEMPORAL_TLS_CLIENT_KEY_PATH={tmp_path}/client.key",
    )
    cluster.ready(cluster.worker("sealed-worker", prefix=prefix, more=codec))
    coordinator = cluster.coordinator(project, prefix=prefix)
    assert coordinator.wait() == 0, coordinator.output
    unknown = ServerSettings(address, patience=Patience(connect=0.5))
    with pytest.raises(ServerGone, match="no connection"), Connection(unknown):
        pass

    assert outcome_faults(project, 1) == []
    histories = asyncio.run(_histories(cluster))
    assert len(histories) == 3  # execute, verify and review
    assert all(b"fairlead-call" in each and b"f2.txt" not in each for each in histories)


async def _histories(cluster: LocalCluster) -> list[bytes]:
    """Everything that the server keeps of each call."""
    client = await Client.connect(cluster.address)
    found = []
    async for each in client.list_workflows():
        history = await client.get_workflow_handle(each.id).fetch_history()
        inputs = [event.SerializeToString() for event in history.events]
        found.append(b"".join(inputs))
    return found
