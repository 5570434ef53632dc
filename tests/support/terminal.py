"""Detects output that could control the terminal.

Two independent oracles: the characters themselves, and a terminal emulator that reports every event
beyond text, line ends and our own colours.
"""

import os
import pty
import re
import select
import subprocess
import termios
import time
import unicodedata
from collections.abc import Callable
from typing import cast

import pyte

from tests.support.programs import Command

OWN_COLOURS = re.compile(r"\x1b\[(?:[0-4]|2[1-4]|3[0-79]|9[0-7])?(?:;(?:[0-4]|3[0-79]|9[0-7]))*m")
_UNSAFE_KINDS = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})
_INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0")
_PLAIN_EVENTS = frozenset({"draw", "linefeed", "select_graphic_rendition"})


def faults_in(output: bytes, *, is_terminal: bool = False) -> list[str]:
    """The parts of an output that a terminal would obey, hide or misread."""
    try:
        text = output.decode("utf-8")
    except UnicodeDecodeError as error:
        return [f"byte 0x{output[error.start]:02x} is not UTF-8"]
    plain = OWN_COLOURS.sub("", text) if is_terminal else text
    raw = [f"U+{ord(mark):04X}" for mark in dict.fromkeys(plain) if is_unsafe(mark)]
    events = events_of(plain) if raw else events_of(text)
    return [f"raw {name}" for name in raw] + [f"terminal event {name}" for name in events]


def is_unsafe(mark: str) -> bool:
    """Whether a character is a control character, changes direction, or is invisible."""
    if mark == "\n":
        return False
    if 0xE0000 <= ord(mark) <= 0xE0FFF:  # tags and the like: invisible text
        return True
    return unicodedata.category(mark) in _UNSAFE_KINDS or mark in _INVISIBLE


def events_of(text: str) -> list[str]:
    """Terminal events beyond text, line ends and our colours; or a screen that shows other text."""
    recorder = _EventRecorder()
    pyte.Stream(cast("pyte.Screen", recorder)).feed(text)
    events = list(dict.fromkeys(recorder.events))
    if events or not text.isascii():
        return events
    lines = [line.rstrip() for line in OWN_COLOURS.sub("", text).split("\n")]
    screen = pyte.Screen(max(map(len, lines)) + 1, len(lines) + 1)
    screen.set_mode(pyte.modes.LNM)
    pyte.Stream(screen).feed(text)
    shown = [line.rstrip() for line in screen.display]
    return [] if shown[: len(lines)] == lines else ["shows other text than was printed"]


class _EventRecorder:
    """A stand-in for a screen that records every event beyond plain text."""

    def __init__(self) -> None:
        self.events: list[str] = []

    def __getattr__(self, event: str) -> Callable[..., None]:
        def note(*_: object, **__: object) -> None:
            if event not in _PLAIN_EVENTS:
                self.events.append(event)

        return note


def run_on_terminal(
    command: Command, *, patience: float = 30.0, typed: bytes = b""
) -> tuple[int, bytes]:
    """Run a command whose input, output and errors are a terminal; return its code and output."""
    master, slave = pty.openpty()
    attributes = termios.tcgetattr(slave)
    attributes[1] &= ~termios.OPOST  # keep line ends as printed
    termios.tcsetattr(slave, termios.TCSANOW, attributes)
    child = subprocess.Popen(
        command.words,
        cwd=command.folder,
        env=dict(command.environment),
        stdin=slave,
        stdout=slave,
        stderr=slave,
        start_new_session=True,
    )
    os.close(slave)
    os.write(master, typed)
    output = bytearray()
    limit = time.monotonic() + patience
    try:
        while time.monotonic() < limit:
            if not select.select([master], [], [], 0.2)[0]:
                continue
            try:
                piece = os.read(master, 65536)
            except OSError:  # the other side is closed: the command has ended
                break
            if not piece:
                break
            output += piece
    finally:
        os.close(master)
        code = child.wait(timeout=900)
    return code, bytes(output)
