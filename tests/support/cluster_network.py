"""Network namespaces for machines of a cluster: each has one cable to this machine, and nothing else."""

import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress

_MOST = 63  # namespaces of one process


class Namespace:
    """A network namespace with one cable to this machine."""

    def __init__(self, number: int) -> None:
        self.name = f"fl{os.getpid()}-{number}"
        self._cable = f"fl{os.getpid() % 10_000}n{number}"
        third, first = os.getpid() % 250, number % _MOST * 4
        self.outside, self.inside = (f"10.199.{third}.{first + at}" for at in (1, 2))

    def prefix(self, port: int) -> tuple[str, ...]:
        """The beginning of a command line that runs in it, with its server at a relayed port."""
        address = f"TEMPORAL_ADDRESS={self.outside}:{port}"
        return ("ip", "netns", "exec", self.name, "env", address)

    def make(self) -> None:
        """Create it."""
        _ip("netns", "add", self.name)
        peer = f"{self._cable}p"
        _ip("link", "add", self._cable, "type", "veth", "peer", "name", peer)
        _ip("link", "set", peer, "netns", self.name)
        _ip("addr", "add", f"{self.outside}/30", "dev", self._cable)
        _ip("-n", self.name, "addr", "add", f"{self.inside}/30", "dev", peer)
        _ip("-n", self.name, "link", "set", "lo", "up")
        _ip("-n", self.name, "link", "set", peer, "up")
        self.heal()

    def relay(self, port: int) -> None:
        """Let the namespace reach a port of this machine's loopback."""
        threading.Thread(target=_relay, args=(self.outside, port), daemon=True).start()

    def cut(self) -> None:
        """Pull the cable."""
        _ip("link", "set", self._cable, "down")

    def heal(self) -> None:
        """Plug the cable in again."""
        _ip("link", "set", self._cable, "up")

    def remove(self) -> None:
        """Delete it with its cable."""
        subprocess.run(["ip", "link", "del", self._cable], check=False, capture_output=True)
        subprocess.run(["ip", "netns", "del", self.name], check=False, capture_output=True)


def _relay(ip: str, port: int) -> None:
    with socket.create_server((ip, port)) as server:
        while True:
            near, _ = server.accept()
            try:
                far = socket.create_connection(("127.0.0.1", port))
            except OSError:  # the server is being started again
                near.close()
                continue
            for each in (near, far):  # small messages go at once
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for source, target in ((near, far), (far, near)):
                threading.Thread(target=_copy, args=(source, target), daemon=True).start()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(1 << 16):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True)


def why_no_network_namespaces() -> str:
    """Why namespaces cannot be made here; empty if they can."""
    if os.geteuid() != 0 or shutil.which("ip") is None:
        return "network namespaces need root and the program ip"
    probe = Namespace(99)
    try:
        probe.make()
    except subprocess.CalledProcessError as error:
        return f"no network namespaces here: {error.stderr.decode('utf-8', 'replace').strip()}"
    finally:
        probe.remove()
    return ""


@contextmanager
def network_namespace(number: int = 1) -> Iterator[Namespace]:
    """A namespace that is deleted at the end."""
    namespace = Namespace(number)
    try:
        namespace.make()
        yield namespace
    finally:
        namespace.remove()


@contextmanager
def network_namespaces(count: int) -> Iterator[tuple[Namespace, ...]]:
    """So many namespaces."""
    assert count < _MOST, "the addresses are used up"
    with ExitStack() as stack:
        yield tuple(stack.enter_context(network_namespace(at)) for at in range(count))
