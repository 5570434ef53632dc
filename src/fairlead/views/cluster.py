"""The cluster as `fairlead cluster status --json` shows it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairlead.app import App
    from fairlead.cluster.service import ClusterPreview, ClusterStatus


def has_cluster(app: App) -> bool:
    """Whether the project names the repository that calls on other machines need."""
    return bool(str(app.values["fairlead.cluster.remote"]).strip())


def asked_cluster(app: App) -> dict[str, Any]:
    """What the server of the cluster says now."""
    from fairlead.cluster.service import cluster_status

    return cluster_view(cluster_status(app.values, app.custom_agents()))


def cluster_view(status: ClusterStatus) -> dict[str, Any]:
    """Workers, queues and running calls."""
    return {
        "address": status.address,
        "namespace": status.namespace,
        "queues": [
            {
                "name": queue.name,
                "waiting": queue.depth,
                "slots": sum(worker.slots for worker in queue.workers),
                "workers": [
                    {
                        "host": worker.host,
                        "process": worker.process,
                        "slots": worker.slots,
                        "version": worker.version,
                    }
                    for worker in queue.workers
                ],
            }
            for queue in status.queues
        ],
        "calls": [
            {
                "id": call.id,
                "queue": call.queue,
                "age_seconds": round(call.age.total_seconds(), 1),
                "attempt": call.attempt,
                "worker": call.worker,
                "link": call.link,
            }
            for call in status.calls
        ],
    }


def cluster_preview_view(found: ClusterPreview) -> dict[str, Any]:
    """Where the calls of a run would go."""
    return {
        "address": found.address,
        "namespace": found.namespace,
        "remote": found.remote,
        "slots": dict(found.slots),
        "missing": list(found.missing),
        "verify": "worker" if found.trusts_workers else "coordinator",
    }
