"""The workflows that a person starts from the chat of a host: one table for all hosts.

A row says which commands the agent runs and what it does with their output. `{fairlead}` stands
for the command, `{arguments}` for what the person typed after the name. `hosts` and `plugins`
write the rows in the form of each host.
"""

from __future__ import annotations

from fairlead.core.values import dataclass


@dataclass(frozen=True, slots=True)
class HostWorkflow:
    """One workflow: its name after `fairlead-`, and what the agent does."""

    name: str
    summary: str  # one sentence: what it does
    when: str  # one sentence: when an agent may choose it by itself
    argument: str  # hint for the person; empty: none
    steps: tuple[str, ...]
    starts_job: bool = False  # costs money, so only a person starts it

    @property
    def description(self) -> str:
        """What a host shows, and what an agent chooses by."""
        return f"{self.summary} {self.when}"


_FOLLOW = (
    "Tell the person the job's id, and that it continues without this session. `{fairlead} job show"
    " JOB --json` shows how it stands; look again only when asked."
)
_QUESTION = (
    "If the job waits for an answer, show the question with its choices. When the person has chosen,"
    " run `{fairlead} job answer JOB ANSWER --json` and start the same command again."
)
_PHASE = (
    "The phase is {arguments}. Without a number, take the one that `{fairlead} next --json` names in"
    " `phase`, and say which one it is."
)

WORKFLOWS = (
    HostWorkflow(
        "status",
        "Show where this project stands, from its files.",
        "Use it when the person asks for status, progress or what is open.",
        "",
        (
            "Run `{fairlead} status --json`.",
            (
                "Report in a few lines: milestone and phase, plans and phases done (`progress`), open"
                " `blockers`, `question`, and `jobs` that run or wait."
            ),
            (
                "If `drift` is not empty, say how many documents differ from the files, and name"
                " `{fairlead} doctor`."
            ),
            "End with `next.command` and its reason. Do not run it.",
        ),
    ),
    HostWorkflow(
        "next",
        "Find the next step of this project.",
        "Use it when the person asks what to do next or how to continue.",
        "",
        (
            "Run `{fairlead} next --json`.",
            "Tell the person the command and its reason. If a question waits, show it first.",
            (
                "Offer to start it with the matching Fairlead command of this chat. Start it only after"
                " the person agrees."
            ),
        ),
    ),
    HostWorkflow(
        "new",
        "Create a project from an idea: questions, research, requirements, roadmap.",
        "Use it only when the person asks to start a project with Fairlead.",
        "the idea",
        (
            "The idea is: {arguments}. If it is empty, ask for it.",
            "Run `{fairlead} new IDEA --detach --json` with the idea as one quoted argument.",
            _QUESTION,
            _FOLLOW,
        ),
        starts_job=True,
    ),
    HostWorkflow(
        "discuss",
        "Discuss a phase before it is planned: assumptions, options, decisions.",
        "Use it only when the person asks to discuss a phase.",
        "phase number",
        (
            _PHASE,
            "Run `{fairlead} phase discuss N --detach --json`.",
            _QUESTION,
            "When the job is done, show the decisions in the phase's CONTEXT.md.",
            _FOLLOW,
        ),
        starts_job=True,
    ),
    HostWorkflow(
        "plan",
        "Plan a phase: research, plans, and a check of the plans.",
        "Use it only when the person asks to plan a phase.",
        "phase number",
        (
            _PHASE,
            "Run `{fairlead} phase plan N --detach --json`.",
            _QUESTION,
            _FOLLOW,
        ),
        starts_job=True,
    ),
    HostWorkflow(
        "execute",
        "Execute the plans of a phase in waves, each task through its gate.",
        "Use it only when the person asks to execute a phase.",
        "phase number",
        (
            _PHASE,
            (
                "Run `{fairlead} phase execute N --dry-run --json`. Show the plans, their waves and every"
                " verify command."
            ),
            "Ask the person whether these commands may run. Without a clear yes, stop here.",
            "Run `{fairlead} phase execute N --approve --detach --json`.",
            _QUESTION,
            _FOLLOW,
        ),
        starts_job=True,
    ),
    HostWorkflow(
        "verify",
        "Check that a phase does what its plans promise, with evidence.",
        "Use it only when the person asks to verify a phase.",
        "phase number",
        (
            _PHASE,
            "Run `{fairlead} phase verify N --dry-run --json`, and show the commands it would run.",
            (
                "Ask the person whether they may run. If yes: `{fairlead} phase verify N --approve"
                " --json`; if no: `{fairlead} phase verify N --no-commands --json`."
            ),
            (
                "Report each finding with its evidence. Exit code 6 means that it did not pass. Never call"
                " a phase verified that did not pass."
            ),
        ),
    ),
    HostWorkflow(
        "run",
        "Take a goal from a request to verified, committed work, with a council of six seats.",
        "Use it only when the person asks for a Fairlead run.",
        "the goal",
        (
            "The goal is: {arguments}. If it is empty, ask for it.",
            (
                "Run `{fairlead} run GOAL --dry-run --json` with the goal as one quoted argument. Show the"
                " roster, the models and the budget."
            ),
            "Ask the person whether to start. Without a clear yes, stop here.",
            "Run `{fairlead} run GOAL --detach --json`.",
            _QUESTION,
            _FOLLOW,
        ),
        starts_job=True,
    ),
    HostWorkflow(
        "capture",
        "Record an idea as a todo, so that it is not lost.",
        "Use it when the person wants to remember something for later.",
        "the idea",
        (
            "The text is: {arguments}. If it is empty, ask for it.",
            (
                "Run `{fairlead} capture TEXT --json` with the text as one quoted argument. For a remark"
                " that is not a task, add `--note`."
            ),
            "Confirm in one line with the path in `changed`.",
        ),
    ),
    HostWorkflow(
        "pause",
        "Pause the project, and record what is open and what comes next.",
        "Use it when the person wants to stop for now and continue later.",
        "what is open",
        (
            "Summarise in one or two sentences what is open, from this session and from: {arguments}.",
            "Run `{fairlead} pause TEXT --json` with that summary as one quoted argument.",
            "Tell the person where the handover is, and that `{fairlead} resume` continues.",
        ),
    ),
)

RULES = (
    (
        "The commands print one JSON document; `ok` and the exit code say whether they succeeded. If one"
        " fails, show `error.message` and `error.hint`, and do not work around it."
    ),
    "Report what the output says, and nothing beyond it. What is unverifiable stays unverifiable.",
    "Only a person approves, accepts, vetoes and rules. Show them the command; do not run it.",
)
MISSING = (
    "If the command `fairlead` is not found, it is not installed. Tell the person to install it from"
    " a checkout or a wheel: `pipx install PATH` or `uv tool install PATH`. Then stop."
)

# The text for the memory of a host: AGENTS.md, CLAUDE.md or GEMINI.md.
MEMORY = (
    "## Fairlead",
    "",
    (
        "Projects with a `.planning/` folder keep their plan and state there, written by the `fairlead`"
        " command. Do not edit these files by hand. `fairlead status --json` says where the project"
        " stands, `fairlead next --json` what comes next, `fairlead capture TEXT` records an idea. Only a"
        " person approves."
    ),
    "",
    (
        "This does not concern you if the environment variable `FAIRLEAD_JOB` is set: then Fairlead has"
        " started you for one task, and your task is in your prompt."
    ),
)


def workflow(name: str) -> HostWorkflow:
    """A workflow by its name."""
    return next(each for each in WORKFLOWS if each.name == name)
