"""Writes a page or picture to the file that a person named on the command line.

The path is the person's own and may lie outside the project. A file that Fairlead did not make is
replaced only with --force.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import click

from fairlead.interfaces.cli.errors import OutputExists
from fairlead.store.errors import DiskFault

MADE_BY = "made by fairlead"  # every page and picture contains this


def output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add --output and --force."""
    force = click.option("--force", is_flag=True, help="Replace a file that Fairlead did not make.")
    output = click.option(
        "--output",
        "-o",
        default="",
        metavar="FILE",
        help="Write to FILE [default: standard output].",
    )
    return output(force(command))


def write_output(folder: str, output: str, text: str, *, force: bool) -> str:
    """Write a file in one step and return its path."""
    path = os.path.join(folder, output)
    try:
        if not force and os.path.lexists(path) and not _is_ours(path):
            raise OutputExists(output)
        _replace(path, text)
    except OSError as error:
        raise DiskFault(output, error.strerror or str(error)) from error
    return path


def _is_ours(path: str) -> bool:
    if os.path.islink(path) or not os.path.isfile(path):
        return False
    with open(path, encoding="utf-8", errors="replace") as file:
        return MADE_BY in file.read(4096)


def _replace(path: str, text: str) -> None:
    fd, staged = tempfile.mkstemp(dir=os.path.dirname(path) or ".", prefix=".fairlead-")
    try:
        with open(fd, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(staged, 0o666 & ~umask)
        os.replace(staged, path)
    except OSError:
        with suppress(OSError):
            os.unlink(staged)
        raise
