"""The names under which Fairlead appears in a host agent: commands, subagents, tools, memory.

`interfaces/install` writes them into the settings of hosts. The drivers in `agents/drivers` hide
them from the agents that Fairlead starts itself, so both must use the same names.
"""

PRODUCT = "fairlead"  # name of the plugin and of the MCP server
PREFIX = "fairlead-"  # of every installed command, skill and subagent

# The roles that are installed as subagents.
SUBAGENTS = (
    "planner",
    "plan-checker",
    "phase-researcher",
    "pattern-mapper",
    "executor",
    "verifier",
    "project-researcher",
    "research-synthesizer",
    "roadmapper",
    "assumptions-analyzer",
    "advisor-researcher",
    "debugger",
    "architect",
    "critic",
    "pm",
)

# The text for Claude Code's memory. A file of its own, because a whole file can be left out.
CLAUDE_MEMORY = "fairlead-memory.md"


def installed_name(name: str) -> str:
    """The name of a command, skill or subagent that `fairlead install` writes."""
    return PREFIX + name


def plugin_name(name: str) -> str:
    """The same in a Claude Code plugin."""
    return f"{PRODUCT}:{name}"
