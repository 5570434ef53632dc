"""The length of each workflow's prompts, compared with the reference tool.

Fairlead's prompts are measured from the templates in the package. The sizes of the reference
tool's prompt files come from its npm package below .cache (`--measure`). They are stored with the
version, so that the page can be generated and checked without the package.
"""

import json
import sys
from pathlib import Path

from fairlead.agents.budget import CHARACTERS_A_TOKEN
from fairlead.workflows.roles import Shape, role

ROOT = Path(__file__).resolve().parents[1]
PROMPTS = ROOT / "src" / "fairlead" / "jobs" / "prompt_templates"
PACKAGE = ROOT / ".cache" / "reference-tool" / "node_modules" / "@opengsd" / "gsd-core"
SIZES = ROOT / "tools" / "reference" / "prompt-sizes.json"

# The shortest run of each workflow: its roles with the number of calls, and the files that the
# reference tool loads for the same workflow: its own file and those of its agents.
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
_OTHER = {"quick-planner": "planner", "pm-requirements": "pm"}  # roles with a second prompt
_ENDINGS = {"executor": ("result",), "architect": ("verdict",)}


def ours(name: str) -> int:
    """The number of characters in the fixed part of a role's prompt."""
    asked = role(_OTHER.get(name, name))
    if name in _ENDINGS:
        parts = (name, *_ENDINGS[name])
    else:
        parts = (name, "rules", *(("documents",) if asked.shape is Shape.DOCUMENT else ()))
    return sum(len((PROMPTS / f"{part}.md").read_text("utf-8")) for part in parts)


def measured() -> dict[str, object]:
    """The version of the reference tool and the sizes of its files in characters."""
    names = sorted({name for _, theirs in WORKFLOWS.values() for name in theirs})
    version = json.loads((PACKAGE / "package.json").read_text("utf-8"))["version"]
    return {
        "version": version,
        "characters": {name: len((PACKAGE / name).read_text("utf-8")) for name in names},
    }


def rows() -> list[tuple[str, str, str, str]]:
    """The rows: workflow, roles, tokens, tokens in the reference tool."""
    sizes = json.loads(SIZES.read_text("utf-8"))["characters"]
    made = []
    for workflow, (roles, theirs) in WORKFLOWS.items():
        mine = sum(ours(name) * times for name, times in roles.items()) // CHARACTERS_A_TOKEN
        other = sum(sizes[name] * times for name, times in theirs.items()) // CHARACTERS_A_TOKEN
        listed = ", ".join(
            f"{times} × {name}" if times > 1 else name for name, times in roles.items()
        )
        made.append((workflow, listed, f"{mine:,}", f"{other:,}"))
    return made


def about() -> str:
    """How the figures are measured."""
    version = json.loads(SIZES.read_text("utf-8"))["version"]
    return f"""\
The table shows the tokens of the instructions that the shortest run of each workflow sends, without
the project's own documents. {CHARACTERS_A_TOKEN} characters count as one token. For Fairlead, this
is the prompt of each role with the rules and the form of the answer, multiplied by the number of
calls; there is no orchestrating prompt, because the workflow is a program. For the reference tool
({version}), it is the file of the workflow and the files of its agents in the npm package; files
that it loads on demand are not counted. The whole prompt of a role, documents included, has a limit
of at most 40,000 tokens. Longer prompts are cut, and the prompt says so."""


if __name__ == "__main__" and sys.argv[1:] == ["--measure"]:
    SIZES.write_text(json.dumps(measured(), indent=2) + "\n", "utf-8")
