"""The prompts: one for each workflow, naming the tools and the commands that a person runs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from fairlead.interfaces.mcp.errors import BadArguments, UnknownPrompt

_PERSON = "Approvals, vetoes and rulings belong to the person: show them the command you get."


class WorkflowPrompt(NamedTuple):
    """A prompt: the text may contain its one argument."""

    name: str
    description: str
    text: str
    argument: str = ""  # empty: it takes none
    meaning: str = ""


PROMPTS = (
    WorkflowPrompt(
        "status",
        "Say where the project stands and what to do next.",
        "Call the tools `status` and `next`. Say in five lines where the project stands, what "
        "waits for a person, and the next command.",
    ),
    WorkflowPrompt(
        "plan_goal",
        "Plan a goal into modules and requirements.",
        "Plan this goal with the tool `planning`: {goal}\n\nStart the Plan Phase, add the modules "
        "with acceptance criteria, complete the requirements with the person, then review. "
        + _PERSON,
        "goal",
        "What is to be reached.",
    ),
    WorkflowPrompt(
        "discuss",
        "Discuss a phase: open points and decisions.",
        "Read the roadmap section and the documents of phase {phase}. Start the job `discuss` for "
        "it and follow it with `show_job`. " + _PERSON,
        "phase",
        "Number of the phase.",
    ),
    WorkflowPrompt(
        "plan",
        "Make checked plans for a phase.",
        "Start the job `plan` for phase {phase} and follow it with `show_job`. When it is done, "
        "summarise the plans and their waves. " + _PERSON,
        "phase",
        "Number of the phase.",
    ),
    WorkflowPrompt(
        "execute",
        "Execute the plans of a phase.",
        "Start the job `execute` for phase {phase} and follow it with `show_job`. Answer factual "
        "questions of executors with `answer_job` if you know the answer from this project. "
        + _PERSON,
        "phase",
        "Number of the phase.",
    ),
    WorkflowPrompt(
        "run",
        "Take a goal from request to verified, committed work.",
        "Start the job `run` with this goal: {goal}\n\nFollow it with `show_job`, and report "
        "votes, questions and the result. " + _PERSON,
        "goal",
        "What is to be reached.",
    ),
    WorkflowPrompt(
        "pause",
        "Record where the work stops.",
        "Record open decisions and blockers with `record`, then the event `session` with one line "
        "that says where you stopped and what comes next.",
    ),
)


def prompt_text(name: str, arguments: Mapping[str, str] | None) -> tuple[WorkflowPrompt, str]:
    """A prompt and its text with the argument in place."""
    prompt = next((each for each in PROMPTS if each.name == name), None)
    if prompt is None:
        raise UnknownPrompt(name, tuple(each.name for each in PROMPTS))
    given = dict(arguments or {})
    value = given.pop(prompt.argument, "") if prompt.argument else ""
    problems = [f"{each!r} is not an argument" for each in given]
    if prompt.argument and not value.strip():
        problems.append(f"{prompt.argument} is missing")
    if problems:
        raise BadArguments(name, tuple(problems))
    return prompt, prompt.text.replace(f"{{{prompt.argument}}}", value.strip())
