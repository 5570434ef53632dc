"""The floors: the contracts of pyproject.toml hold on the product and find planted imports."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ["adapters", "engine", "interfaces", "interfaces/cli", "model", "records", "store", "text"]

# The contract, the module that breaks it, and the import it does so with.
PLANTED = [
    ("floors", "model/plan.py", "import fairlead.text.span"),
    ("floors", "errors.py", "import fairlead.model"),
    ("floors", "store/files.py", "def f():\n    from fairlead import engine"),
    ("floors", "engine/memory.py", "import fairlead.wiring"),
    ("only-wiring-meets-adapters", "interfaces/cli/main.py", "import fairlead.adapters"),
    ("adapters-see-ports-and-values", "adapters/git.py", "import fairlead.store"),
    ("adapters-see-ports-and-values", "adapters/git.py", "import fairlead.engine.memory"),
    ("cycles", "model/plan.py", "import fairlead.model.job"),
    ("clients", "adapters/git.py", "def f():\n    import openai"),
    ("pure", "model/plan.py", "import time"),
    ("pure", "text/span.py", "import logging"),
    ("pure", "records/state.py", "from pathlib import Path"),
    ("pure", "records/state.py", "import random"),
    ("values", "model/plan.py", "from dataclasses import dataclass"),
    ("yaml", "records/state.py", "import yaml"),
    ("child-processes", "store/files.py", "import subprocess"),
    ("threads", "engine/memory.py", "from concurrent.futures import ThreadPoolExecutor"),
    ("people", "engine/memory.py", "import click"),
    ("people", "store/files.py", "import rich.console"),
    ("clock-and-chance", "engine/memory.py", "import time"),
    ("clock-and-chance", "store/files.py", "import uuid"),
    ("doors", "interfaces/hooks.py", "import fairlead.interfaces.cli.main"),
]

# What a house of this kind is made of, so that contracts about modules have them to speak of.
HOUSE = {
    "errors.py": "",
    "faults.py": "",
    "values.py": "import dataclasses",
    "wiring.py": "import fairlead.adapters",
    "model/plan.py": "",
    "model/job.py": "import fairlead.model.plan",
    "text/span.py": "",
    "text/front.py": "import yaml",
    "records/state.py": "import fairlead.text.front",
    "store/files.py": "import time\nimport fairlead.records.state",
    "engine/ports.py": "import fairlead.model.plan",
    "engine/memory.py": "import fairlead.store.files",
    "engine/fanout.py": "import threading",
    "adapters/git.py": "import fairlead.engine.ports",
    "adapters/process.py": "import subprocess",
    "interfaces/hooks.py": "",
    "interfaces/cli/main.py": "import click\nimport fairlead.wiring\nimport fairlead.interfaces.hooks",
}


def contracts() -> dict[str, str]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    return {
        contract["id"]: contract["name"]
        for contract in settings["tool"]["importlinter"]["contracts"]
    }


def checked(sources: Path, *only: str) -> subprocess.CompletedProcess[str]:
    chosen = [word for contract in only for word in ("--contract", contract)]
    return subprocess.run(
        [
            Path(sys.executable).parent / "lint-imports",
            "--no-cache",
            "--no-logo",
            "--config",
            ROOT / "pyproject.toml",
            *chosen,
        ],
        cwd=sources,
        env={**os.environ, "PYTHONPATH": str(sources), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=60,
    )


def a_house(folder: Path) -> Path:
    package = folder / "fairlead"
    for room in [".", *ROOMS]:
        (package / room).mkdir(parents=True, exist_ok=True)
        (package / room / "__init__.py").touch()
    for name, text in HOUSE.items():
        (package / name).write_text(text + "\n", "utf-8")
    return package


def test_the_product_keeps_every_contract():
    outcome = checked(ROOT / "src")

    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


def test_a_house_in_order_keeps_every_contract(tmp_path: Path):
    a_house(tmp_path)

    outcome = checked(tmp_path)

    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


@pytest.mark.parametrize(("contract", "module", "planted"), PLANTED)
def test_a_planted_import_breaks_its_contract(contract, module, planted, tmp_path: Path):
    package = a_house(tmp_path)
    with (package / module).open("a", encoding="utf-8") as file:
        file.write(planted + "\n")

    outcome = checked(tmp_path, contract)

    assert outcome.returncode == 1, outcome.stdout + outcome.stderr
    assert f"{contracts()[contract]} BROKEN" in outcome.stdout


def test_a_package_that_stands_on_no_floor_breaks_the_contract(tmp_path: Path):
    package = a_house(tmp_path)
    (package / "cellar.py").touch()

    outcome = checked(tmp_path, "floors")

    assert outcome.returncode == 1
    assert "cellar" in outcome.stdout + outcome.stderr


def test_every_contract_is_shown_to_find_something():
    assert {contract for contract, _, _ in PLANTED} == set(contracts())
