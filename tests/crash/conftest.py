"""The prepared folders of each command, and the results of undisturbed runs."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support import strace
from tests.support.subjects import planted_subject, product_subjects
from tests.support.sweep import Rig

MakeRig = Callable[[str], Rig]


@pytest.fixture(scope="session")
def rig_of(installed_command: Path, tmp_path_factory: pytest.TempPathFactory) -> MakeRig:
    """The rig of a command of the product, or of a planted writer: `planted-FAULT`.

    Rigs are shared; each use gets a new copy of the folders.
    """
    made: dict[str, Rig] = {}

    def make(name: str) -> Rig:
        why = strace.why_not()
        if why:
            pytest.skip(why)
        if name not in made:
            if name.startswith("planted-"):
                subject = planted_subject(name.removeprefix("planted-"))
            else:
                subject = product_subjects()[name]
            made[name] = Rig(subject, tmp_path_factory.mktemp(name), remembers=True)
        return made[name]

    return make
