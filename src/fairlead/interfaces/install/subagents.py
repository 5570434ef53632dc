"""The roles as subagents of a host: what each is for, in one table.

The row of a role in `workflows.roles` says what it may use and read. Fairlead's own jobs give a
role its full prompt; a subagent gets this short form, for questions that come up in a session.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fairlead.core.values import dataclass
from fairlead.workflows.roles import ROLES, Role

PURPOSES: Mapping[str, str] = {
    "planner": "Draft the plans of a phase: tasks with files, verify commands and dependencies.",
    "plan-checker": "Check plans against roadmap, requirements and decisions before they run.",
    "phase-researcher": "Research what a phase needs: libraries, interfaces, pitfalls, with sources.",
    "pattern-mapper": "Find the existing code that new files of a phase should resemble.",
    "executor": "Carry out one task of a plan, and run its verify command.",
    "verifier": "Check with evidence whether a phase does what its plans promise.",
    "project-researcher": "Research the domain of a new project: stack, features, architecture.",
    "research-synthesizer": "Summarise the research documents of a project in one page.",
    "roadmapper": "Draft a roadmap: phases that deliver every requirement, in order.",
    "assumptions-analyzer": "List what a phase assumes and which decisions are open.",
    "advisor-researcher": "Compare the options for one open decision, with a recommendation.",
    "debugger": "Find the cause of a fault by hypotheses and evidence.",
    "architect": "Judge whether a plan fits the architecture of the code.",
    "critic": "Look for what is wrong, missing or unproven in a plan.",
    "pm": "Turn an idea into questions, a purpose and requirements.",
}


@dataclass(frozen=True, slots=True)
class Subagent:
    """One role as a subagent."""

    role: Role
    purpose: str

    @property
    def name(self) -> str:
        """The name of the role."""
        return self.role.name

    @property
    def writes(self) -> bool:
        """Whether it may change files of the project."""
        return "Edit" in self.role.tools

    @property
    def tools(self) -> tuple[str, ...]:
        """The tools of its role. Documents are returned as text, so only code is written."""
        unwanted = () if self.writes else ("Write",)
        return tuple(tool for tool in self.role.tools if tool not in unwanted)

    @property
    def instructions(self) -> str:
        """Its prompt."""
        role = self.role
        reads = ", ".join(role.reads)
        output = f"the text of {role.output}" if role.output else "your findings"
        return "\n".join(
            (
                f"You are the {role.title} of a project that Fairlead manages. {self.purpose}",
                "",
                f"- Read first what exists of: {reads} (below `.planning/`), then the code you need.",
                (
                    f"- Return {output} as your answer. Write nothing below `.planning/`: Fairlead's"
                    " commands do that, and only their result counts."
                ),
                "- Quote the file and line for every claim. Say what you could not check.",
                "- Do not approve, accept or complete anything. A person or a gate does.",
            )
        )


def subagents() -> Iterator[Subagent]:
    """Every role as a subagent."""
    for role in ROLES:
        yield Subagent(role, PURPOSES[role.name])
