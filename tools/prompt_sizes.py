"""How long the prompts of each workflow are, beside those of the reference tool.

Ours are measured from the templates in the package. The reference tool's are the sizes of its
prompt files, taken from its npm package below .cache when that is there (`--measure`) and kept as
numbers beside its version, so that the page can be written and checked without it.
"""

import json
import sys
from pathlib import Path

from fairlead.model.budget import CHARACTERS_A_TOKEN
from fairlead.model.roles import Shape, role

ROOT = Path(__file__).resolve().parents[1]
PROMPTS = ROOT / "src" / "fairlead" / "engine" / "prompts"
PACKAGE = ROOT / ".cache" / "reference-tool" / "node_modules" / "@opengsd" / "gsd-core"
SIZES = ROOT / "tools" / "reference" / "prompt-sizes.json"

# Each workflow on its shortest way: the roles that are asked and how often, and what the
# reference tool loads for the same: the workflow's own file and the files of its agents.
WORKFLOWS: dict[str, tuple[dict[str, int], dict[str, int]]] = {
    "new project": (
        {
            "pm": 1,
            "project-researcher": 4,
            "research-synthesizer": 1,
            "pm-requirements": 1,
            "roadmapper": 1,
        },
        {
            "gsd-core/workflows/new-project.md": 1,
            "agents/gsd-project-researcher.md": 4,
            "agents/gsd-research-synthesizer.md": 1,
            "agents/gsd-roadmapper.md": 1,
        },
    ),
    "discuss a phase": (
        {"assumptions-analyzer": 1, "advisor-researcher": 1},
        {
            "gsd-core/workflows/discuss-phase.md": 1,
            "agents/gsd-assumptions-analyzer.md": 1,
            "agents/gsd-advisor-researcher.md": 1,
        },
    ),
    "plan a phase": (
        {"phase-researcher": 1, "pattern-mapper": 1, "planner": 1, "plan-checker": 1},
        {
            "gsd-core/workflows/plan-phase.md": 1,
            "agents/gsd-phase-researcher.md": 1,
            "agents/gsd-pattern-mapper.md": 1,
            "agents/gsd-planner.md": 1,
            "agents/gsd-plan-checker.md": 1,
        },
    ),
    "execute a plan of one task": (
        {"executor": 1, "architect": 1},
        {
            "gsd-core/workflows/execute-phase.md": 1,
            "agents/gsd-executor.md": 1,
            "gsd-core/workflows/execute-plan.md": 1,
        },
    ),
    "verify a phase": (
        {"verifier": 1},
        {"gsd-core/workflows/verify-work.md": 1, "agents/gsd-verifier.md": 1},
    ),
    "quick task": (
        {"quick-planner": 1, "executor": 1, "architect": 1},
        {
            "gsd-core/workflows/quick.md": 1,
            "agents/gsd-planner.md": 1,
            "agents/gsd-executor.md": 1,
        },
    ),
    "debug, one round": (
        {"debugger": 1},
        {
            "gsd-core/workflows/debug.md": 1,
            "agents/gsd-debug-session-manager.md": 1,
            "agents/gsd-debugger.md": 1,
        },
    ),
}
_OTHER = {"quick-planner": "planner", "pm-requirements": "pm"}  # a prompt of its own for a role
_ENDINGS = {"executor": ("result",), "architect": ("verdict",)}


def ours(name: str) -> int:
    """The characters of a role's prompt that are always the same."""
    asked = role(_OTHER.get(name, name))
    if name in _ENDINGS:
        parts = (name, *_ENDINGS[name])
    else:
        parts = (name, "rules", *(("documents",) if asked.shape is Shape.DOCUMENT else ()))
    return sum(len((PROMPTS / f"{each}.md").read_text("utf-8")) for each in parts)


def measured() -> dict[str, object]:
    """The sizes of the reference tool's files, in characters, with its version."""
    names = sorted({name for _, theirs in WORKFLOWS.values() for name in theirs})
    version = json.loads((PACKAGE / "package.json").read_text("utf-8"))["version"]
    return {
        "version": version,
        "characters": {name: len((PACKAGE / name).read_text("utf-8")) for name in names},
    }


def rows() -> list[tuple[str, str, str, str]]:
    """Workflow, calls, our tokens, the reference tool's."""
    sizes = json.loads(SIZES.read_text("utf-8"))["characters"]
    made = []
    for workflow, (roles, theirs) in WORKFLOWS.items():
        mine = sum(ours(name) * times for name, times in roles.items()) // CHARACTERS_A_TOKEN
        other = sum(sizes[name] * times for name, times in theirs.items()) // CHARACTERS_A_TOKEN
        told = ", ".join(
            f"{times} × {name}" if times > 1 else name for name, times in roles.items()
        )
        made.append((workflow, told, f"{mine:,}", f"{other:,}"))
    return made


def about() -> str:
    """How the figures came about."""
    version = json.loads(SIZES.read_text("utf-8"))["version"]
    return f"""\
Tokens of the instructions that each workflow sends on its shortest way, without the project's own
documents: {CHARACTERS_A_TOKEN} characters are counted as a token, for both. Ours are the prompt files
of the roles that are asked, with the rules and the form of the answer, as often as they are asked; there
is no orchestrating prompt, since the workflow is a program. For the reference tool ({version}) it is the
file of the workflow and the files of the agents it starts, as its npm package has them; what it
loads on demand beside them is not counted. A role's whole prompt, documents included, has a cap:
`prompt_tokens` of its row, at most 40,000, and what does not fit is cut and said."""


if __name__ == "__main__" and sys.argv[1:] == ["--measure"]:
    SIZES.write_text(json.dumps(measured(), indent=2) + "\n", "utf-8")
