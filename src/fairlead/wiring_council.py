"""Who sits in the council: seats and roles, as the settings name them, become voices."""

from __future__ import annotations

import os
from datetime import timedelta
from typing import TYPE_CHECKING

from fairlead.engine.council_site import PM, SYNTHESISER, CouncilTerms, Hands, Table
from fairlead.errors import OnlyRehearses
from fairlead.model.config import Origin, setting
from fairlead.model.seats import NAMES

if TYPE_CHECKING:
    from fairlead.engine.asking import Voice
    from fairlead.engine.council import Council
    from fairlead.wiring import App

_HOST_COMMAND = "fairlead.council.host_command"


def council_of(app: App) -> Council:
    """The council of the project that a folder belongs to."""
    from fairlead.adapters.chance import fresh
    from fairlead.adapters.scratch import Scratch
    from fairlead.engine.council import Council
    from fairlead.wiring import workspace_of

    files, workspace = app.files_of(app.place), workspace_of(app.place)
    return Council(files, app.state, app.clock, workspace, Scratch(workspace), fresh, app.execution)


def table_of(app: App, *, is_rehearsed: bool) -> Table:
    """Everybody who may be asked; who is not installed is an error before anything begins."""
    from fairlead.adapters import keeper
    from fairlead.adapters.clock import rest
    from fairlead.adapters.supervision import reap

    stand_ins = [] if is_rehearsed else voices_of(app, str(app.value("fairlead.council.fallback")))
    keys = {PM: PM, SYNTHESISER: SYNTHESISER, **{seat: f"seats.{seat}" for seat in NAMES}}
    known: dict[str, list[Voice]] = {}
    voices = {}
    for role, key in keys.items():
        named = str(app.value(f"fairlead.council.{key}")) or str(app.value("fairlead.agent"))
        named = "scripted" if is_rehearsed else named
        if named not in known:
            known[named] = voices_of(app, named, is_rehearsed=is_rehearsed)
        main, *own = known[named]  # a seat may name its own stand-ins
        there = [(each.agent.name, each.model) for each in known[named]]
        others = [*own, *(each for each in stand_ins if (each.agent.name, each.model) not in there)]
        if role == SYNTHESISER:  # one of another family comes first
            others.sort(key=lambda each: each.family == main.family)
        voices[role] = (main, *others)
    return Table(voices, rest, lambda job: reap(keeper.JOB, job))


def voices_of(app: App, named: str, *, is_rehearsed: bool = False, place: str = "") -> list[Voice]:
    """Those who are named, in their order: AGENT or AGENT:MODEL, between commas."""
    from fairlead.adapters import registry
    from fairlead.engine.asking import Voice

    found = []
    for each in (part.strip() for part in named.split(",") if named):
        agent, _, model = each.partition(":")
        if agent == registry.SCRIPTED and not is_rehearsed:
            raise OnlyRehearses
        chosen = registry.agent(
            agent.removeprefix("auto"),
            outside=(place or app.place,),
            commands=app.settings.agents(),
        )
        model = model or registry.own_model(chosen)
        model = model or ("" if is_rehearsed else str(app.value("fairlead.model")))
        found.append(Voice(chosen, model, registry.family(chosen, model)))
    return found


def terms_of(app: App, *, is_rehearsed: bool) -> CouncilTerms:
    """Under which terms a council works here."""
    from fairlead.model.budget import Caps

    def number(key: str) -> int:
        return int(str(app.value(f"fairlead.council.{key}")))

    values = {each.key: each.value for each in app.settings.all()}
    return CouncilTerms(
        caps=Caps.of(values),
        rounds=number("rounds"),
        plan_tokens=number("plan_tokens"),
        seat_wall=timedelta(seconds=number("seat_seconds")),
        synthesis_wall=timedelta(seconds=number("synthesis_seconds")),
        pm_wall=timedelta(seconds=number("pm_seconds")),
        min_families=number("min_families"),
        allow_absent=number("allow_absent"),
        bridge="engine" if is_rehearsed else str(app.value("fairlead.council.bridge")),
        host_wall=timedelta(minutes=number("host_minutes")),
        host_command=_own_host_command(app),
        completion=str(app.value("fairlead.council.completion_policy")),
        is_rehearsed=is_rehearsed,
        guarded=app.guarded(app.place),
    )


def _own_host_command(app: App) -> str:
    """What the host is told: by the person, never by the project that is worked on."""
    held = app.settings.get(_HOST_COMMAND)
    known = setting(_HOST_COMMAND)
    assert known is not None
    return str(known.default if held.origin is Origin.PROJECT else held.value)


def hands_of(app: App, agent: str, reviewer: str, *, is_rehearsed: bool) -> Hands:
    """Who carries an approved plan out."""
    crew = app.crew(agent, reviewer, is_rehearsed=is_rehearsed)
    terms = app.terms(model="", slots=None, is_rehearsed=is_rehearsed)
    faults: tuple[str, ...] = ()
    host = crew.executor.name
    if host == "claude" and not _has_host_commands(app):
        faults = ("the host agent has no GSD commands: install them, or set the bridge to engine",)
    elif host not in ("claude", *(each.name for each in app.settings.agents())):
        if app.settings.get(_HOST_COMMAND).origin is not Origin.USER:
            told = f"set {_HOST_COMMAND} to a command of it, or the bridge to engine"
            faults = (f"nobody knows whether {host} has GSD commands: {told}",)
    return Hands(crew, terms, crew.executor, faults)


def _has_host_commands(app: App) -> bool:
    from fairlead.adapters.homes import host_folder

    homes = (os.path.join(app.place, ".claude"), host_folder("claude"))
    names = (
        "commands/gsd-execute-phase.md",
        "commands/gsd/execute-phase.md",
        "skills/gsd-execute-phase/SKILL.md",
    )
    return any(os.path.isfile(os.path.join(home, name)) for home in homes for name in names)
