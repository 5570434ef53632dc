"""Private copies of a project, to rehearse in: the project itself stays as it is, byte for byte."""

from __future__ import annotations

import os
import shutil
import tempfile
from datetime import timedelta

from fairlead.adapters.process import Limits, program, run, surroundings
from fairlead.errors import GitFault

_PASSED_ON = ("PATH", "HOME", "TMPDIR", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_GLOBAL")


def copy_of(folder: str, above: str, planning: str) -> str:
    """A copy of the last commit with the project's memory as it is now; without git, of all files."""
    os.makedirs(above, mode=0o700, exist_ok=True)
    place = os.path.join(tempfile.mkdtemp(prefix="rehearsal-", dir=above), os.path.basename(folder))
    if os.path.exists(os.path.join(folder, ".git")):
        words = [
            program("git"),
            "-c",
            "core.hooksPath=/dev/null",
            "clone",
            "--quiet",
            "--no-hardlinks",
        ]
        done = run(
            [*words, "--", folder, place],
            folder=above,
            environment=surroundings(_PASSED_ON, GIT_TERMINAL_PROMPT="0"),
            limits=Limits(wall=timedelta(minutes=5)),
        )
        if done.code != 0:
            raise GitFault("clone", done.errors.decode("utf-8", "replace").strip())
        shutil.rmtree(os.path.join(place, planning), ignore_errors=True)
    else:
        shutil.copytree(folder, place, symlinks=True, ignore=shutil.ignore_patterns(planning))
    shutil.copytree(os.path.join(folder, planning), os.path.join(place, planning), symlinks=True)
    return place
