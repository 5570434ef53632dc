"""Fourteen jobs on one server, each with another loss: one outcome, nothing lost, nothing twice."""

import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fairlead.jobs.calls import LOST
from tests.support.cluster import (
    LocalCluster,
    ledger_entries,
    local_cluster,
    shared_refs,
    some_plans,
)
from tests.support.cluster_chaos import (
    LOSSES,
    Chaos,
    outcome_faults,
)
from tests.support.cluster_network import network_namespace, why_no_network_namespaces

pytestmark = pytest.mark.walk
_SHORT_SECONDS = 3.0  # less than the heartbeat timeout of 5 s
_LONG_SECONDS = 120.0  # after its heartbeat timeout of 5 s the attempt belongs to another worker


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalCluster]:
    with local_cluster(tmp_path_factory.mktemp("cluster")) as started:
        yield started


@pytest.mark.parametrize("seconds", [2.0, 5.0])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss.__name__)
def test_a_loss_changes_nothing_but_the_cost(
    cluster: LocalCluster, loss: Callable[[Chaos], None], seconds: float
) -> None:
    chaos = Chaos(cluster, f"{loss.__name__}-{seconds:g}".replace("_", "-"))
    time.sleep(seconds)

    loss(chaos)

    assert chaos.finish() == []


_CUT_OFF = pytest.mark.skipif(bool(why := why_no_network_namespaces()), reason=why)


@_CUT_OFF
def test_a_worker_that_is_cut_off_ends_its_call_and_changes_nothing(tmp_path: Path) -> None:
    with network_namespace() as namespace, local_cluster(tmp_path) as cluster:
        project = cluster.project("one", some_plans(1))
        namespace.relay(cluster.port)
        prefix = namespace.prefix(cluster.port)
        inside = cluster.worker("inside", thinks=_LONG_SECONDS, prefix=prefix)
        cluster.ready(inside)
        coordinator = cluster.coordinator(project)
        cluster.await_call(inside, coordinator)

        namespace.cut()
        cluster.worker("outside")

        assert coordinator.wait() == 0, coordinator.output
        cluster.await_idle(inside)  # it ends the attempt that it cannot report any more
        namespace.heal()
        assert outcome_faults(project, 1) == []
        entries = ledger_entries(project)
        assert [entry.verdict for entry in entries if entry.verdict == LOST] == [LOST]


@_CUT_OFF
def test_what_a_worker_pushes_while_it_is_cut_off_changes_nothing(tmp_path: Path) -> None:
    with network_namespace() as namespace, local_cluster(tmp_path) as cluster:
        project = cluster.project("one", some_plans(1))
        namespace.relay(cluster.port)
        prefix = namespace.prefix(cluster.port)
        inside = cluster.worker("inside", thinks=_SHORT_SECONDS, prefix=prefix)
        cluster.ready(inside)
        coordinator = cluster.coordinator(project)
        cluster.await_call(inside, coordinator)

        namespace.cut()  # the shared repository is a folder here, so it still reaches that
        cluster.until(lambda: any("/out/" in each for each in shared_refs(project)), inside)
        [pushed] = [each for each in shared_refs(project) if "/out/" in each]
        outside = cluster.worker("outside")

        assert coordinator.wait() == 0, coordinator.output
        namespace.heal()
        cluster.ready(outside)
        inside.send(signal.SIGTERM)
        assert inside.wait() == 0
        assert pushed.endswith("/1")  # the attempt that is lost
        assert outcome_faults(project, 1) == []
        entries = ledger_entries(project)
        assert [entry.verdict for entry in entries if entry.verdict == LOST] == [LOST]
