"""Jobs on workers whose machines are killed or cut off at random."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from tempfile import mkdtemp

from prove.frame import Tally, Trial
from tests.support.cluster import local_cluster, why_no_server
from tests.support.cluster_chaos import random_losses
from tests.support.cluster_network import network_namespace, why_no_network_namespaces
from tests.support.figures import PRODUCT

JOBS = 200


@dataclass(frozen=True, slots=True)
class ClusterProof:
    """A claim about jobs on workers; a case is one job."""

    name: str = "cluster"
    claim: str = (
        "A job on workers has one outcome, whatever is killed or cut off: no commit is lost, no plan "
        "is merged twice, every started attempt is in the ledger once, and no process is left."
    )
    unit: str = "jobs"
    covers: tuple[str, ...] = PRODUCT
    workers: int = 5  # a job mostly waits

    def why_not(self) -> str:
        """Why it cannot run here; empty if it can."""
        return why_no_server()

    def cases(self, seed: int, scratch: Path) -> Sequence[str]:
        """One case per job."""
        del scratch
        return [f"{seed}:{number}" for number in range(JOBS)]

    @contextmanager
    def opened(self, scratch: Path) -> Iterator[Trial]:
        """One server for all cases of a process; each process has a folder of its own.

        One worker of each job is in a network namespace, where the machine allows it.
        """
        with ExitStack() as stack:
            cluster = stack.enter_context(local_cluster(Path(mkdtemp(dir=scratch))))
            namespace = None
            if not why_no_network_namespaces():
                namespace = stack.enter_context(network_namespace())
                namespace.relay(cluster.port)

            def trial(case: str) -> Tally:
                name = f"job{case.rpartition(':')[2]}"
                found = random_losses(cluster, name, Random(case), namespace)  # noqa: S311 - repeatable
                return Tally(1, tuple(f"{case}: {each}" for each in found))

            yield trial


CLUSTER = (ClusterProof(),)
