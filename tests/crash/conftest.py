"""Rigs: a prepared world a command, with everything an undisturbed run does in it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import strace
from tests.support.subjects import planted_subject, product_subjects
from tests.support.sweep import Rig

MakeRig = Callable[[str], Rig]


@pytest.fixture
def rig_of(installed_command: Path, tmp_path: Path) -> MakeRig:
    """The rig of a command of the product, or of a planted writer: `planted-FAULT`."""

    def make(name: str) -> Rig:
        why = strace.why_not()
        if why:
            pytest.skip(why)
        folder = tmp_path / name
        folder.mkdir()
        if name.startswith("planted-"):
            subject = planted_subject(name.removeprefix("planted-"))
        else:
            subject = product_subjects()[name]
        return Rig(subject, folder, remembers=True)

    return make
