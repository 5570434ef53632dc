"""`fairlead cluster` and `fairlead worker`: calls on other machines, through Temporal."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import click

from fairlead.app import App
from fairlead.core.user_folders import cache_folder
from fairlead.interfaces.cli.lazy_group import LazyGroup
from fairlead.interfaces.cli.options import dry_run_option, json_option, with_app
from fairlead.interfaces.cli.output import Line, Styled, counted, report, table_lines

if TYPE_CHECKING:
    from fairlead.cluster.model import WorkerIdentity
    from fairlead.cluster.service import ClusterStatus

_ADDRESS = "Temporal server [default: TEMPORAL_ADDRESS, or 127.0.0.1:7233]."
_EVENTS = {
    "ready": "takes calls; Ctrl-C finishes the running ones and ends",
    "draining": "takes no more calls; Ctrl-C again ends the running ones",
    "stopping": "ends the running calls; another worker repeats them",
    "ended": "has ended",
}


@click.group(cls=LazyGroup, epilog="Example: fairlead cluster status")
def cluster() -> None:
    """Show the workers, or start a development server.

    A worker runs agents and verify commands on another machine: `fairlead worker` starts one, and
    `phase execute --cluster` and `run --cluster` use it.
    """


@cluster.command("status", epilog="Example: fairlead cluster status --json")
@click.option("--address", default="", metavar="HOST:PORT", help=_ADDRESS)
@json_option
@with_app
def cluster_status(app: App, *, address: str, as_json: bool) -> None:
    """Show workers, queues and running calls. Links lead to Temporal's user interface."""
    from fairlead.cluster.service import cluster_status as status_of
    from fairlead.views.cluster import cluster_view

    status = status_of(app.values, app.custom_agents(), address)
    report(cluster_view(status), _status_lines(status), as_json=as_json)


def _status_lines(status: ClusterStatus) -> list[Line]:
    lines: list[Line] = [(f"Temporal at {status.address}, namespace {status.namespace}",)]
    if not status.queues:
        lines.append(("no worker; start one: fairlead worker --queue claude --queue verify",))
    rows = []
    for queue in status.queues:
        slots = sum(worker.slots for worker in queue.workers)
        rows.append((f"  {queue.name}", counted(slots, "slot"), f"{queue.depth} waiting"))
        for each in queue.workers:
            rows.append(
                (f"    {each.place}", counted(each.slots, "slot"), f"version {each.version}")
            )
    lines += table_lines(rows)
    for call in status.calls:
        age = round(call.age.total_seconds())
        lines += [(f"  {call.id}  {call.queue}, {age} s",), (Styled(f"    {call.link}", "dim"),)]
    return lines


@cluster.command("dev", epilog="Example: fairlead cluster dev --port 7233")
@click.option("--port", type=click.IntRange(1, 65535), default=7233, help="Port of the server.")
@click.option("--ui-port", type=click.IntRange(1, 65535), default=8233, help="Port of its web UI.")
@dry_run_option
@json_option
@with_app
def cluster_dev(app: App, *, port: int, ui_port: int, dry_run: bool, as_json: bool) -> None:
    """Start Temporal's development server on this machine.

    Ctrl-C ends it. It keeps its database in a file and accepts connections from this machine only.
    Needs the program `temporal`, for example from: pip install 'fairlead[cluster-dev]'.
    """
    from fairlead.cluster.dev_server import dev_words

    folder = os.path.join(app.state.folder, "cluster", "dev")
    words = dev_words(folder, port, ui_port)
    shared = os.path.join(app.state.folder, "cluster", "shared.git")
    address = f"127.0.0.1:{port}"
    commands = (
        f"git init --bare {shared}; fairlead config set fairlead.cluster.remote {shared}",
        f"fairlead worker --address {address} --queue scripted --queue verify --slots 2",
        f"TEMPORAL_ADDRESS={address} fairlead phase execute 1 --rehearse --approve --cluster",
    )
    lines: list[Line] = [
        (Styled("✓ ", "green"), f"Temporal on {address}, web UI on http://127.0.0.1:{ui_port}"),
        ("Continue in other terminals:",),
        *((f"  {command}",) for command in commands),
    ]
    content = {"address": address, "command": words, "continue": list(commands)}
    report(content, lines, as_json=as_json)
    if not dry_run:
        sys.stdout.flush()
        os.execv(words[0], words)


@click.command(epilog="Example: fairlead worker --queue claude --queue verify --slots 2")
@click.option("--address", default="", metavar="HOST:PORT", help=_ADDRESS)
@click.option(
    "--queue",
    "queues",
    multiple=True,
    required=True,
    metavar="NAME",
    help="Agent to run, or `verify` for verify commands; repeatable.",
)
@click.option(
    "--slots",
    type=click.IntRange(1, 1000),
    default=1,
    help="Calls at a time per queue [default: 1].",
)
@click.option(
    "--remote", default="", metavar="URL", help="Shared repository, as seen from this machine."
)
@json_option
@with_app
def worker(
    app: App, *, address: str, queues: tuple[str, ...], slots: int, remote: str, as_json: bool
) -> None:
    """Run agents and verify commands for other machines.

    The calls come from `phase execute --cluster` and `run --cluster`. Keys and logins of the agents stay
    on this machine. TLS, namespace and API key of the server come from Temporal's own environment
    variables or profile file. The first Ctrl-C finishes the running calls and takes no more; the
    second ends them.
    """
    from fairlead.cluster.service import WorkerRequest, serve, worker_folder

    def show(event: str, identity: WorkerIdentity) -> None:
        content = {"event": event, "worker": identity.place, "queues": list(queues)}
        names = ", ".join(queues)
        lines: list[Line] = [(f"{identity.place} {_EVENTS[event]} ({names})",)]
        report(content, lines, as_json=as_json)
        sys.stdout.flush()

    request = WorkerRequest(address, tuple(dict.fromkeys(queues)), slots, remote)
    serve(request, app.values, app.custom_agents(), worker_folder(cache_folder()), show)
