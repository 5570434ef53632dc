"""`fairlead cluster` and `fairlead worker`: calls on other machines, through Temporal."""

from __future__ import annotations

import json
import os
import shlex
import sys
from typing import TYPE_CHECKING

import click

from fairlead.app import App
from fairlead.core.user_folders import cache_folder
from fairlead.interfaces.cli.lazy_group import LazyGroup
from fairlead.interfaces.cli.options import dry_run_option, json_option, with_app
from fairlead.interfaces.cli.output import (
    Line,
    OutputStream,
    Styled,
    counted,
    first_line,
    report,
    table_lines,
    warn,
)
from fairlead.views.document import document

if TYPE_CHECKING:
    from fairlead.cluster.model import WorkerIdentity
    from fairlead.cluster.service import CallStatus, ClusterStatus
    from fairlead.cluster.worker import WorkerEvent

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

    status = status_of(app.values, app.custom_agents(), address, note=warn)
    report(cluster_view(status), status_lines(status), as_json=as_json)


def status_lines(status: ClusterStatus) -> list[Line]:
    """Workers, queues and running calls, for people."""
    lines: list[Line] = [(f"Temporal at {status.address}, namespace {status.namespace}",)]
    if not status.queues:
        lines.append(("no worker; start one: fairlead worker --queue claude --queue verify",))
    rows = []
    for queue in status.queues:
        slots = sum(worker.slots for worker in queue.workers)
        served = counted(slots, "slot") if queue.workers else "no worker"
        rows.append((f"  {queue.name}", served, f"{queue.depth} waiting"))
        for each in queue.workers:
            rows.append(
                (f"    {each.place}", counted(each.slots, "slot"), f"version {each.version}")
            )
    lines += table_lines(rows)
    if missing := [f"--queue {queue.name}" for queue in status.queues if not queue.workers]:
        lines.append((f"start a worker: fairlead worker {' '.join(missing)}",))
    for call in status.calls:
        name = call.id.partition("/")[2].replace("/", "  ")  # without the id of the project
        lines += [
            (f"  {name}",),
            (f"    {_where(call)}, {round(call.age.total_seconds())} s old",),
            (Styled(f"    {call.link}", "dim"),),
        ]
    return lines


def _where(call: CallStatus) -> str:
    """Where a call is, for people."""
    if not call.attempt:
        return "waits for its coordinator: `fairlead status` in the project names the command"
    again = f", attempt {call.attempt}" if call.attempt > 1 else ""
    place = f"on {call.worker}" if call.worker else "waits for a worker"
    return f"{call.queue}, {place}{again}"


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
    from fairlead.cluster.dev_server import dev_words, reserve

    folder = os.path.join(app.state.folder, "cluster", "dev")
    words = dev_words(folder, port, ui_port)
    address, ui = f"127.0.0.1:{port}", f"http://127.0.0.1:{ui_port}"
    commands = _next_commands(app, address, ui)
    if not dry_run:
        reserve(folder, port, ui_port)
    start = "would start " if dry_run else ""
    lines: list[Line] = [
        (Styled("✓ ", "green"), f"{start}Temporal on {address}, web UI on {ui}"),
        ("Continue in other terminals, the last command in your project:",),
        *((f"  {command}",) for command in commands),
    ]
    content = {"address": address, "command": words, "continue": list(commands)}
    report(content, lines, as_json=as_json)
    if not dry_run:
        sys.stdout.flush()
        os.execv(words[0], words)


def _next_commands(app: App, address: str, ui: str) -> tuple[str, ...]:
    """The commands that try a development server."""
    shared = shlex.quote(os.path.join(app.state.folder, "cluster", "shared.git"))
    setting = "fairlead config set --user fairlead.cluster"
    return (
        f"git init --quiet --bare {shared} && {setting}.remote {shared}",
        *(() if ui == app.values["fairlead.cluster.ui"] else (f"{setting}.ui {ui}",)),
        f"fairlead worker --address {address} --queue scripted --queue verify --slots 2",
        f"TEMPORAL_ADDRESS={address} fairlead phase execute 1 --rehearse --approve --cluster",
    )


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
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line per event.")
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

    def show(event: WorkerEvent, identity: WorkerIdentity) -> None:
        stream = OutputStream(sys.stdout)
        if as_json:
            call = {
                "call": event.call,
                "attempt": event.attempt,
                "seconds": round(event.seconds, 1),
                "fault": event.fault,
            }
            content = {"event": event.name, "worker": identity.place, "queues": list(queues)}
            stream.raw(json.dumps(document(content | (call if event.call else {}))) + "\n")
        else:
            stream.line(f"{identity.place} {event_text(event, queues)}")
        sys.stdout.flush()

    request = WorkerRequest(address, tuple(dict.fromkeys(queues)), slots, remote)
    serve(request, app.values, app.custom_agents(), worker_folder(cache_folder()), show, warn)


def event_text(event: WorkerEvent, queues: tuple[str, ...]) -> str:
    """What a worker does, for people."""
    if not event.call:
        return f"{_EVENTS[event.name]} ({', '.join(queues)})"
    name = event.call.partition("/")[2]  # without the id of the project
    after = f"{name} after {event.seconds:.1f} s"
    return {
        "began": f"began {name}" + (f", attempt {event.attempt}" if event.attempt > 1 else ""),
        "finished": f"finished {after}",
        "failed": f"did not finish {after}: {first_line(event.fault)}",
    }[event.name]
