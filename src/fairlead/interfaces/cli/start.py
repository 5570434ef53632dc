"""`fairlead` without a command: what is here, and what to do next."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import click

from fairlead.interfaces.cli.output import (
    Line,
    Styled,
    is_interactive,
    report,
    table_lines,
    warn,
)
from fairlead.interfaces.cli.status_page import job_lines
from fairlead.project.derive.progress import bar
from fairlead.views.start import (
    NextStepChoice,
    ProjectStartView,
    StartView,
    is_in_project,
    project_start_view,
    start_view,
)
from fairlead.views.status import status_view

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from fairlead.app import App
    from fairlead.project.overview import StatusReport

_IDEA = "YOUR IDEA"
_LISTED = 3


def start(app: App, run: Callable[[list[str]], int], *, as_json: bool) -> int:
    """Show the situation; in a terminal, offer to run one of the commands."""
    if is_in_project(app):
        status = status_view(app)
        project = project_start_view(app, status)
        report(project, _project_lines(project, status), as_json=as_json)
        choices: Sequence[NextStepChoice] = project.choices
    else:
        found = start_view(app)
        report(found, _outside_lines(found), as_json=as_json)
        choices = found.choices
    asks = is_interactive() and not as_json
    report({}, _choice_lines(choices, is_numbered=asks), as_json=False) if not as_json else None
    return _offer(choices, app.folder, run) if asks else 0


def _project_lines(found: ProjectStartView, status: StatusReport) -> list[Line]:
    percent = "" if found.percent is None else f"  [{bar(found.percent)}] {found.percent}%"
    return [
        (Styled(found.title or "(no title)", "bold"), percent),
        (found.position.where,),
        *job_lines(status),
        (),
    ]


def _outside_lines(found: StartView) -> list[Line]:
    git = f"repository {found.git}" if found.git else "no repository here: git init"
    rows: list[tuple[str | Styled, ...]] = [("  project", "none here"), ("  git", git)]
    for agent in found.agents:
        rows.append((f"  {agent.name}", f"{agent.version} {agent.login}".strip()))
    if not found.agents:
        rows.append(("  agents", "none found: claude, codex, opencode, gemini, …"))
    rows += [(f"  {tool.name}", f"{tool.folder}/ (stays as it is)") for tool in found.tools]
    more = len(found.projects) - _LISTED
    if found.projects:
        named = ", ".join(found.projects[:_LISTED]) + (f" and {more} more" if more > 0 else "")
        rows.append(("  below", f"projects in {named}"))
    head = Styled("Fairlead runs coding agents and keeps a project's memory in Markdown.", "bold")
    return [(head,), *table_lines(rows), ()]


def _choice_lines(choices: Sequence[NextStepChoice], *, is_numbered: bool) -> list[Line]:
    lines = table_lines(
        [
            (
                Styled(f"  {number}" if is_numbered else "", "dim"),
                Styled(choice.command, "cyan"),
                Styled(choice.reason, "dim"),
            )
            for number, choice in enumerate(choices, 1)
        ]
    )
    return [(Styled("next", "bold"),), *lines]


def _offer(choices: Sequence[NextStepChoice], folder: str, run: Callable[[list[str]], int]) -> int:
    """Ask which command to run, and run it if it is one of ours and complete."""
    wanted = click.prompt("which one (Enter: none)", default="", show_default=False).strip()
    if not wanted:
        return 0
    if not wanted.isdecimal() or not 1 <= int(wanted) <= len(choices):
        warn(f"nothing was run: {wanted} is not a number from 1 to {len(choices)}")
        return 0
    command = choices[int(wanted) - 1].command
    if _IDEA in command:
        command = command.replace(f'"{_IDEA}"', shlex.quote(click.prompt("your idea")))
    words = shlex.split(command)
    if words[0] != "fairlead" or any(word.isupper() for word in words):
        report({}, [(f"Run it yourself: {command}",)], as_json=False)
        return 0
    report({}, [(Styled("$ ", "dim"), Styled(command, "cyan"))], as_json=False)
    return run(words[1:] if "-C" in words else ["-C", folder, *words[1:]])
