"""The modules that a program imports, reported by the interpreter itself."""

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path


def imported(
    words: Sequence[str], stdin: bytes, environment: Mapping[str, str], folder: Path | None = None
) -> set[str]:
    """The modules that an interpreter imports while it runs these arguments."""
    command = [words[0], "-X", "importtime", *words[1:]]
    done = subprocess.run(
        command, cwd=folder, env=dict(environment), input=stdin, capture_output=True, check=False
    )
    lines = done.stderr.decode().splitlines()
    assert done.returncode == 0, lines
    return {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")}
