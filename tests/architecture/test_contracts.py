"""The import contracts of pyproject.toml hold for the product and find planted imports."""

import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = [
    "agents", "agents/drivers", "cluster", "council", "core", "execution", "interfaces", "interfaces/cli",
    "jobs", "merge", "planphase", "plans", "project", "project/roadmap", "project/state", "store",
    "text", "vcs", "verification", "views", "workflows",
]  # fmt: skip

# The contract, the module that breaks it, and the import it does so with.
PLANTED = [
    ("layers", "core/values.py", "import fairlead.text.document"),
    ("layers", "store/files.py", "def f():\n    from fairlead import project"),
    ("layers", "jobs/service.py", "import fairlead.council.tally"),
    ("layers", "project/memory.py", "import fairlead.app"),
    ("layers", "vcs/git.py", "import fairlead.agents.ports"),
    ("layers", "app.py", "import fairlead.views.status"),
    ("layers", "views/status.py", "import fairlead.interfaces.cli.main"),
    ("cycles", "plans/model.py", "import fairlead.plans.waves"),
    ("pure", "text/document.py", "import logging"),
    ("pure", "council/tally.py", "import time"),
    ("pure", "project/state/fields.py", "from pathlib import Path"),
    ("pure", "project/roadmap/documents.py", "import random"),
    ("one-place", "plans/model.py", "from dataclasses import dataclass"),
    ("one-place", "plans/model.py", "import yaml"),
    ("one-place", "store/files.py", "import subprocess"),
    ("one-place", "jobs/service.py", "from concurrent.futures import ThreadPoolExecutor"),
    ("one-place", "vcs/git.py", "def f():\n    import openai"),
    ("one-place", "views/status.py", "import mcp"),
    ("one-place", "interfaces/cli/main.py", "import textual.app"),
    ("one-place", "execution/decide.py", "import temporalio.client"),
    ("one-place", "app.py", "def f():\n    from temporalio import workflow"),
    ("layers", "cluster/worker.py", "import fairlead.app"),
    ("clock", "project/memory.py", "import time"),
    ("clock", "store/files.py", "import uuid"),
    ("terminal", "jobs/service.py", "import click"),
    ("terminal", "store/files.py", "import rich.console"),
    ("terminal", "views/status.py", "import click"),
    ("interfaces", "interfaces/hooks.py", "import fairlead.interfaces.cli.main"),
]

# A small tree with the modules that the contracts name.
TREE = {
    "api.py": "",
    "app.py": "import fairlead.council.decide",
    "agents/ports.py": "",
    "agents/drivers/model_program.py": "import openai",
    "cluster/worker.py": "import temporalio.worker",
    "council/decide.py": "",
    "council/tally.py": "",
    "core/concurrency.py": "import threading",
    "core/errors.py": "",
    "core/process.py": "import subprocess",
    "core/values.py": "import dataclasses",
    "execution/decide.py": "",
    "execution/plan_index.py": "",
    "interfaces/hooks.py": "",
    "interfaces/cli/main.py": "import click\nimport fairlead.app\nimport fairlead.interfaces.hooks",
    "jobs/service.py": "import fairlead.plans.model",
    "merge/three_way.py": "",
    "plans/model.py": "",
    "plans/waves.py": "import fairlead.plans.model",
    "project/memory.py": "import fairlead.store.files",
    "project/roadmap/documents.py": "",
    "project/state/fields.py": "import fairlead.text.frontmatter",
    "store/files.py": "import time",
    "text/document.py": "",
    "text/frontmatter.py": "import yaml",
    "vcs/git.py": "",
    "views/status.py": "import fairlead.app",
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
        timeout=900,
    )


def a_tree(folder: Path) -> Path:
    package = folder / "fairlead"
    for name in [".", *PACKAGES]:
        (package / name).mkdir(parents=True, exist_ok=True)
        (package / name / "__init__.py").touch()
    for name, text in TREE.items():
        (package / name).write_text(text + "\n", "utf-8")
    return package


def test_the_product_keeps_every_contract():
    outcome = checked(ROOT / "src")

    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


def test_a_tree_in_order_keeps_every_contract(tmp_path: Path):
    a_tree(tmp_path)

    outcome = checked(tmp_path)

    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


@pytest.mark.parametrize("contract", sorted({contract for contract, _, _ in PLANTED}))
def test_every_planted_import_breaks_its_contract(contract: str, tmp_path: Path):
    package = a_tree(tmp_path)
    planted = [(module, text) for each, module, text in PLANTED if each == contract]
    for module, text in planted:
        with (package / module).open("a", encoding="utf-8") as file:
            file.write(text + "\n")

    outcome = checked(tmp_path, contract)

    assert outcome.returncode == 1, outcome.stdout + outcome.stderr
    assert f"{contracts()[contract]} BROKEN" in outcome.stdout
    for module, text in planted if len(planted) > 1 else ():
        importer = f"fairlead.{module.removesuffix('.py').replace('/', '.')}"
        assert f"{importer} -> {imported_by(text)} " in outcome.stdout, (module, text)


def imported_by(text: str) -> str:
    """The module of ours, or the package of others, that a planted import names."""
    words = text.split()
    at = words.index("from") if "from" in words else words.index("import")
    name = words[at + 1]
    if name == "fairlead":
        return f"{name}.{words[-1]}"
    return name if name.startswith("fairlead.") else name.partition(".")[0]


def test_a_package_that_no_layer_names_breaks_the_contract(tmp_path: Path):
    package = a_tree(tmp_path)
    (package / "unlisted.py").touch()

    outcome = checked(tmp_path, "layers")

    assert outcome.returncode == 1
    assert "unlisted" in outcome.stdout + outcome.stderr


def test_every_contract_is_shown_to_find_something():
    assert {contract for contract, _, _ in PLANTED} == set(contracts())
