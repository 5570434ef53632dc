"""The table of settings: names, defaults, allowed values, and where a value comes from.

A setting is named by its path in a configuration file; Fairlead's own start with `fairlead`. The
user's file provides defaults for all projects, and the project's file overrides it. Keys of other
tools in the same file are shown as they are and never interpreted.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import NamedTuple

from fairlead.core.errors import SettingValue, UnknownSetting
from fairlead.core.values import dataclass


class Origin(StrEnum):
    """Where a value comes from, weakest first."""

    DEFAULT = "default"
    USER = "user"
    PROJECT = "project"


class Setting(NamedTuple):
    """One setting that Fairlead reads."""

    key: str
    default: str | float | bool | tuple[str, ...]  # a tuple: a list of texts
    meaning: str
    allowed: tuple[str, ...] = ()  # for text
    least: int = 0  # for numbers
    most: int = 0
    is_agent: bool = False  # AGENT or AGENT:MODEL; several are separated by commas

    @property
    def takes(self) -> str:
        """The allowed values, in words."""
        if isinstance(self.default, tuple):
            return 'a list of texts, such as ["one", "two"]'
        if isinstance(self.default, bool):
            return "true or false"
        if isinstance(self.default, int | float):
            whole = "whole " * isinstance(self.default, int)
            return f"a {whole}number from {self.least} to {self.most}"
        if self.is_agent:
            return "AGENT or AGENT:MODEL"
        return " or ".join(self.allowed) or "one line of text"

    def accepts(self, value: object) -> bool:
        """Whether a value is of the right type and within its range."""
        if isinstance(self.default, tuple):
            return isinstance(value, list) and all(
                isinstance(word, str) and word.strip() and word.isprintable() for word in value
            )
        if isinstance(self.default, bool):
            return isinstance(value, bool)
        if isinstance(self.default, int | float):
            kinds = (int, type(self.default))  # a float setting accepts an int
            is_number = isinstance(value, kinds) and not isinstance(value, bool)
            return is_number and self.least <= value <= self.most  # type: ignore[operator]
        if not self.allowed:
            return isinstance(value, str) and value.isprintable()
        return isinstance(value, str) and value in self.allowed


Validator = Callable[[str, object], object]  # raises when the value of a key is wrong

# Settings that choose programs and services: only the user's own file counts, never a project's.
PERSONAL = ("fairlead.agents.", "fairlead.models.")
_TOKENS, _DOLLARS = 1_000_000_000, 100_000
_MINUTES = 8 * 60
_SEATS = ("architect", "builder", "skeptic", "security", "operator", "advocate")


def _number(key: str, default: float, meaning: str, least: int, most: int) -> Setting:
    return Setting(key, default, meaning, least=least, most=most)


def _choice(key: str, meaning: str, *allowed: str) -> Setting:
    """A setting with a fixed list of words, of which the first is the default."""
    return Setting(key, allowed[0], meaning, allowed)


def _agent(key: str, meaning: str, default: str = "") -> Setting:
    """A setting that names agents. Whether they exist is checked when it is set, not when it is
    read: a colleague's agent may be missing on this machine.
    """
    return Setting(key, default, meaning, is_agent=True)


SETTINGS = (
    # Budgets
    _number(
        "fairlead.budget.run_tokens", 2_000_000, "token limit of one run; 0: no limit", 0, _TOKENS
    ),
    _number(
        "fairlead.budget.run_usd", 20.0, "US dollar limit of one run; 0: no limit", 0, _DOLLARS
    ),
    _number(
        "fairlead.budget.day_tokens", 0, "token limit of all runs of a day; 0: no limit", 0, _TOKENS
    ),
    _number(
        "fairlead.budget.day_usd",
        100.0,
        "US dollar limit of all runs of a day; 0: no limit",
        0,
        _DOLLARS,
    ),
    # Documents and output
    _choice("fairlead.color", "colours in a terminal", "auto", "always", "never"),
    _choice("fairlead.dialect", "format of the STATE.md that `init` creates", "gsd", "ultraplan"),
    _number("fairlead.github_seconds", 30, "time limit of one gh call", 1, 600),
    _number(
        "fairlead.lock_wait_seconds", 30, "how long a command waits for another writer", 1, 600
    ),
    _number(
        "fairlead.state_lines",
        100,
        "lines of STATE.md above which its oldest entries are archived; 0: no limit",
        0,
        100_000,
    ),
    _choice(
        "fairlead.completion",
        "when a phase is complete; auto: verified if STATE.md has state_head",
        "auto",
        "summarised",
        "verified",
    ),
    Setting("statusline.show_git", False, "show the branch and its changes"),
    Setting("statusline.show_last_command", False, "show the last command"),
    Setting("statusline.show_context_tokens", False, "show tokens beside the context meter"),
    Setting("statusline.show_state_freshness", False, "show how many commits STATE.md is behind"),
    _choice("statusline.context_position", "position of the context meter", "end", "front"),
    _choice("statusline.state_format", "length of the status line", "full", "compact"),
    Setting(
        "fairlead.shared_disk",
        False,
        "allow writing to a network share without locks; safe only if one machine writes",
    ),
    # Agents and models
    _agent("fairlead.agent", "the executing agent; auto: the first one installed", "auto"),
    _agent("fairlead.reviewer", "the reviewing agent; empty: the executing agent"),
    Setting("fairlead.model", "", "the model of agents; empty: the agent chooses"),
    Setting("fairlead.tier.strong", "", "the model of roles that need the strongest one"),
    Setting("fairlead.tier.balanced", "", "the model of most roles"),
    Setting("fairlead.tier.fast", "", "the model of simple roles"),
    _number("fairlead.slots", 2, "agents that work at the same time", 1, 64),
    Setting(
        "fairlead.provider_slots",
        "",
        "agents of one kind at the same time, such as claude=1 codex=2; empty: fairlead.slots",
    ),
    _number("fairlead.executor_minutes", 30, "time limit of an executor", 1, _MINUTES),
    _number("fairlead.verify_minutes", 15, "time limit of a verify command", 1, _MINUTES),
    _choice(
        "fairlead.zero_tests",
        "the result of a verify command that succeeds without running a test",
        "fail",
        "pass",
    ),
    _number("fairlead.architect_minutes", 15, "time limit of a review", 1, _MINUTES),
    _number(
        "fairlead.idle_minutes",
        15,
        "how long an agent that reports events may be silent",
        1,
        _MINUTES,
    ),
    _number("fairlead.execution.attempts", 3, "attempts at a task before a person is asked", 1, 9),
    Setting(
        "fairlead.execution.commands",
        (),
        "commands that executors may run, with any arguments; empty: the test and build commands"
        " of what the project contains",
    ),
    _choice(
        "fairlead.execution.permissions",
        "what executors may run: the verify commands, fairlead.execution.commands and reading git;"
        " or everything",
        "commands",
        "all",
    ),
    Setting(
        "fairlead.execution.setup",
        "",
        "command that installs dependencies in an attempt's worktree, such as npm ci",
    ),
    Setting(
        "fairlead.execution.keep",
        "node_modules .venv venv vendor target .gradle .bundle .tox .nox",
        "dependency folders that stay when ignored files are removed before verify",
    ),
    _choice(
        "fairlead.execution.undeclared",
        "changed files that the plan does not declare; review: a file lands if the agent named it and"
        " the reviewer approved",
        "review",
        "ask",
        "never",
    ),
    _choice(
        "model_profile",
        "strength of the roles' models",
        "balanced",
        "quality",
        "budget",
        "adaptive",
        "inherit",
    ),
    _choice("granularity", "number of phases in a roadmap", "standard", "coarse", "fine"),
    _choice("mode", "interactive asks; yolo follows the policy of --auto", "interactive", "yolo"),
    _agent("fairlead.fallback", "substitutes for the roles of workflows: AGENT:MODEL, AGENT"),
    Setting("workflow.research", True, "research before planning"),
    Setting("workflow.plan_check", True, "check plans before they are accepted"),
    Setting("workflow.pattern_mapper", True, "map new files to existing ones"),
    # Council
    _agent(
        "fairlead.council.pm",
        "agent of the project manager (PM); empty: fairlead.agent",
    ),
    _agent(
        "fairlead.council.synthesiser",
        "agent that writes the master plan; empty: fairlead.agent, or with auto claude if installed",
    ),
    *(
        _agent(
            f"fairlead.council.seats.{seat}",
            "agent of this seat; empty: fairlead.agent, or with auto an installed agent in turn",
        )
        for seat in _SEATS
    ),
    _agent("fairlead.council.fallback", "substitutes, in this order: AGENT:MODEL, AGENT:MODEL"),
    _number(
        "fairlead.council.min_families",
        1,
        "model families that must plan; a council with one family is marked as degraded",
        1,
        6,
    ),
    _number(
        "fairlead.council.allow_absent",
        0,
        "1: one seat other than security may be absent, and the other five can approve",
        0,
        1,
    ),
    _number("fairlead.council.rounds", 3, "reviews before a deadlock", 1, 9),
    _number("fairlead.council.plan_tokens", 8192, "token limit of a plan", 512, 8192),
    _number("fairlead.council.seat_seconds", 180, "time limit of a seat", 1, 3600),
    _number("fairlead.council.synthesis_seconds", 300, "time limit of the synthesiser", 1, 3600),
    _number("fairlead.council.pm_seconds", 300, "time limit of one pass of the PM", 1, 3600),
    _choice(
        "fairlead.council.bridge",
        "what executes an approved plan: this engine, or the host agent's own command",
        "engine",
        "host",
    ),
    Setting(
        "fairlead.council.host_command",
        "/gsd-execute-phase {phase}",
        "prompt for the host agent, read from your own file only; {phase} is the phase number",
    ),
    _number("fairlead.council.host_minutes", 30, "time limit of the host agent", 1, 600),
    _choice(
        "fairlead.council.completion_policy",
        "reconcile: summaries and commits can prove an execution that ended badly",
        "strict",
        "reconcile",
    ),
    # Cluster
    Setting(
        "fairlead.cluster.remote",
        "",
        "git repository through which this machine and the workers exchange code",
    ),
    _choice(
        "fairlead.cluster.verify",
        "where verify commands run on merged code; worker: their results are trusted and marked",
        "coordinator",
        "worker",
    ),
    _number(
        "fairlead.cluster.heartbeat_seconds",
        30,
        "a worker without a heartbeat for this long counts as lost, and its call is repeated",
        3,
        600,
    ),
    Setting("fairlead.cluster.codec", "", "the installed payload codec that encrypts calls"),
    Setting(
        "fairlead.cluster.ui", "http://127.0.0.1:8233", "the address of Temporal's user interface"
    ),
    # Git
    Setting("commit_docs", True, "commit .planning together with the work"),
    _choice(
        "git.branching_strategy",
        "where work lands: the current branch, one branch per phase, or one per milestone",
        "none",
        "phase",
        "milestone",
    ),
    Setting("git.phase_branch_template", "gsd/phase-{phase}-{slug}", "name of a phase's branch"),
    Setting(
        "git.milestone_branch_template", "gsd/{milestone}-{slug}", "name of a milestone's branch"
    ),
)


@dataclass(frozen=True, slots=True)
class Effective:
    """A value in effect, and the file it comes from."""

    key: str
    value: object
    origin: Origin
    file: str  # empty for a default


def setting(key: str) -> Setting | None:
    """The setting of this name; None if Fairlead does not read it."""
    return next((known for known in SETTINGS if known.key == key), None)


def effective(layers: Mapping[Origin, tuple[str, Mapping[str, object]]]) -> tuple[Effective, ...]:
    """Every value in effect, by key. A layer is a file's name and its flattened content."""
    values_by_key = {
        known.key: Effective(known.key, known.default, Origin.DEFAULT, "") for known in SETTINGS
    }
    for origin in (Origin.USER, Origin.PROJECT):
        file, values = layers.get(origin, ("", {}))
        for key, value in values.items():
            values_by_key[key] = Effective(key, value, origin, file)
    return tuple(values_by_key[key] for key in sorted(values_by_key))


def checked(key: str, value: object, validators: Mapping[str, Validator] | None = None) -> object:
    """The value, if the setting accepts it.

    A validator is called for the keys that start with its name. A name that ends with a dot is a
    group whose keys the person chooses, so the table of settings does not apply to it.
    """
    below = next((known.key for known in SETTINGS if known.key.startswith(f"{key}.")), "")
    if below:
        raise SettingValue(
            key, value, f"no value itself, only the settings below it, such as {below}"
        )
    if not all(key.split(".")):
        raise UnknownSetting(repr(key))
    for name, validate in (validators or {}).items():
        if key.startswith(name):
            validate(key, value)
            if name.endswith("."):
                return value
    known = setting(key)
    if known and not known.accepts(value):
        raise SettingValue(key, value, known.takes)
    if not known and key.startswith("fairlead.") and not key.startswith(PERSONAL):
        raise UnknownSetting(key, near=near(key))
    return value


def near(key: str) -> str:
    """The setting with the most similar name."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(key, [known.key for known in SETTINGS], n=1)), "")
