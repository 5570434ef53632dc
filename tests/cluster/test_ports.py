"""The test server finds other ports when another program takes the ones it wanted."""

import socket
from pathlib import Path

import pytest

from tests.support import cluster as support
from tests.support.cluster import Machine, local_cluster, why_no_server

pytestmark = [
    pytest.mark.walk,
    pytest.mark.skipif(bool(why := why_no_server()), reason=why),
]


def test_a_server_whose_port_is_taken_starts_on_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen = support.free_ports
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ports = [[taken.getsockname()[1], *chosen(1)], chosen(2)]
        monkeypatch.setattr(support, "free_ports", lambda _: ports.pop(0))
        with local_cluster(tmp_path) as cluster:
            server: Machine = cluster.machines[0]
            assert ports == []
            assert server.listens_on(cluster.port)
            assert cluster.port != taken.getsockname()[1]
