"""What `fairlead` without arguments finds, and the commands it offers next."""

from __future__ import annotations

import os
import shlex
from typing import TYPE_CHECKING

from fairlead.agents.discovery import Login
from fairlead.core.errors import FairleadError
from fairlead.core.values import dataclass
from fairlead.project.surroundings import OtherTool, surroundings_of
from fairlead.store import layout
from fairlead.store.errors import NoProject
from fairlead.views.status import NextView, next_view, status_view

if TYPE_CHECKING:
    from fairlead.app import App
    from fairlead.project.overview import StatusReport

_MOST_PROJECTS = 3


@dataclass(frozen=True, slots=True)
class FoundAgent:
    """An installed agent, and whether it is logged in."""

    name: str
    version: str
    login: str
    login_command: str


@dataclass(frozen=True, slots=True)
class NextStepChoice:
    """One way to go on."""

    command: str
    reason: str


@dataclass(frozen=True, slots=True)
class StartView:
    """The situation outside a project."""

    is_project: bool
    folder: str
    git: str  # the root of the repository; empty: none
    agents: tuple[FoundAgent, ...]
    projects: tuple[str, ...]
    tools: tuple[OtherTool, ...]
    choices: tuple[NextStepChoice, ...]


@dataclass(frozen=True, slots=True)
class ProjectStartView:
    """The situation inside a project."""

    is_project: bool
    title: str
    percent: int | None
    position: NextView
    choices: tuple[NextStepChoice, ...]


def is_in_project(app: App) -> bool:
    """Whether the folder belongs to a project."""
    try:
        layout.find_project(app.folder)
    except NoProject:
        return False
    return True


def project_start_view(app: App, status: StatusReport | None = None) -> ProjectStartView:
    """Where the project stands, and the commands to go on with."""
    status = status or status_view(app)
    position = next_view(app, status)
    choices = [NextStepChoice(position.next.command, position.next.reason)]
    choices += [
        NextStepChoice(each.command, f"answer: {each.question}") for each in position.waiting
    ]
    choices += [
        *_rehearsal_choices(app),
        NextStepChoice("fairlead status", "phases, progress, decisions and blockers"),
        NextStepChoice("fairlead help", "every command, by purpose"),
    ]
    percent = status.progress.percent
    return ProjectStartView(True, status.title, percent, position, tuple(choices))


def start_view(app: App) -> StartView:
    """What is here besides a project: git, agents, projects below, files of other tools."""
    folder = os.path.realpath(app.folder)
    around = surroundings_of(folder)
    agents = _agents(app)
    choices = (
        *_open_choices(around.projects),
        *_rehearsal_choices(app),
        NextStepChoice("fairlead demo", "watch a goal become merged commits; no agent, no model"),
        *_agent_choices(agents),
        NextStepChoice(
            f"fairlead init {_title(folder)} --yes", "an empty project here; asks no model"
        ),
    )
    git = layout.repository_of(folder)
    return StartView(False, folder, git, agents, around.projects, around.tools, choices)


def _rehearsal_choices(app: App) -> tuple[NextStepChoice, ...]:
    """A rehearsal that has begun: it lies outside the project, so nothing else shows it."""
    if app.found_rehearsal() is None:
        return ()
    return (NextStepChoice("fairlead rehearsal show", "a rehearsal has begun: its next command"),)


def _agents(app: App) -> tuple[FoundAgent, ...]:
    discovery = app.agent_discovery
    try:
        installed = [agent for agent in discovery.known_agents() if agent.path]
    except FairleadError:  # inside an agent, which may not start agents
        return ()
    return tuple(
        FoundAgent(
            agent.name,
            agent.version,
            str(discovery.login(agent.name)),
            discovery.login_command(agent.name),
        )
        for agent in installed
    )


def _open_choices(projects: tuple[str, ...]) -> list[NextStepChoice]:
    return [
        NextStepChoice(f"fairlead -C {shlex.quote(place)} status", f"open the project in {place}")
        for place in projects[:_MOST_PROJECTS]
    ]


def _agent_choices(agents: tuple[FoundAgent, ...]) -> list[NextStepChoice]:
    ready = [agent for agent in agents if agent.login != Login.NO]
    if ready:
        why = f"a roadmap from an idea, made with {ready[0].name}; add --dry-run to see the price"
        return [NextStepChoice('fairlead new "YOUR IDEA"', why)]
    if agents:
        return [NextStepChoice(agents[0].login_command, f"log in to {agents[0].name}")]
    return [NextStepChoice("fairlead doctor agents", "no agent found: see what is looked for")]


def _title(folder: str) -> str:
    words = os.path.basename(folder).replace("-", " ").replace("_", " ").strip()
    return shlex.quote(words.capitalize() or "My project")
