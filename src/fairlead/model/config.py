"""Settings: which there are, what they may hold, and where a value comes from.

A setting is named by its path in a configuration file; ours stand below `fairlead`. A person's
file gives the default of all their projects, the project's own file has the last word. Keys
that other tools keep in the same file are shown as they are and never interpreted.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from fairlead.errors import SettingValue, UnknownSetting
from fairlead.values import dataclass


class Origin(StrEnum):
    """Where a value comes from, weakest first."""

    DEFAULT = "default"
    USER = "user"
    PROJECT = "project"


class Setting(NamedTuple):
    """One setting that this program reads."""

    key: str
    default: str | float | bool
    meaning: str
    allowed: tuple[str, ...] = ()  # for text
    least: int = 0  # for numbers
    most: int = 0

    @property
    def takes(self) -> str:
        """What the setting takes, for people."""
        if isinstance(self.default, bool):
            return "true or false"
        if isinstance(self.default, int | float):
            whole = "whole " * isinstance(self.default, int)
            return f"a {whole}number from {self.least} to {self.most}"
        return " or ".join(self.allowed) or "one line of text"

    def accepts(self, value: object) -> bool:
        """Whether a value is of the right type and within its range."""
        if isinstance(self.default, bool):
            return isinstance(value, bool)
        if isinstance(self.default, int | float):
            kinds = (int, type(self.default))  # a whole number is a number as well
            is_number = isinstance(value, kinds) and not isinstance(value, bool)
            return is_number and self.least <= value <= self.most  # type: ignore[operator]
        if not self.allowed:
            return isinstance(value, str) and value.isprintable()
        return isinstance(value, str) and value in self.allowed


# What is run, and whom a key is sent to: no repository may say that.
PERSONAL = ("fairlead.agents.", "fairlead.models.")
_TOKENS, _DOLLARS = 1_000_000_000, 100_000
SETTINGS = (
    Setting(
        "fairlead.budget.run_tokens",
        2_000_000,
        "the most tokens that one run may take; 0: no limit",
        most=_TOKENS,
    ),
    Setting(
        "fairlead.budget.run_usd",
        20.0,
        "the most US dollars that one run may cost; 0: no limit",
        most=_DOLLARS,
    ),
    Setting(
        "fairlead.budget.day_tokens",
        0,
        "the most tokens that all runs of a day may take; 0: no limit",
        most=_TOKENS,
    ),
    Setting(
        "fairlead.budget.day_usd",
        100.0,
        "the most US dollars that all runs of a day may cost; 0: no limit",
        most=_DOLLARS,
    ),
    Setting("fairlead.color", "auto", "colours in a terminal", allowed=("auto", "always", "never")),
    Setting(
        "fairlead.dialect",
        "gsd",
        "the form of STATE.md that `init` makes",
        allowed=("gsd", "ultraplan"),
    ),
    Setting("fairlead.github_seconds", 30, "how long one call of gh may take", least=1, most=600),
    Setting(
        "fairlead.lock_wait_seconds",
        30,
        "how long a command waits for another one to finish writing",
        least=1,
        most=600,
    ),
    Setting(
        "fairlead.state_lines",
        100,
        "how long events may make STATE.md before its oldest entries go to the archive; 0: any",
        least=0,
        most=100_000,
    ),
    Setting(
        "fairlead.completion",
        "auto",
        "when a phase counts as complete; auto: verified where STATE.md has state_head",
        allowed=("auto", "summarised", "verified"),
    ),
    Setting("statusline.show_git", default=False, meaning="the branch and its changes"),
    Setting("statusline.show_last_command", default=False, meaning="the last command"),
    Setting("statusline.show_context_tokens", default=False, meaning="tokens beside the meter"),
    Setting(
        "statusline.show_state_freshness",
        default=False,
        meaning="how many commits STATE.md is behind",
    ),
    Setting(
        "statusline.context_position",
        "end",
        "where the context meter stands",
        allowed=("end", "front"),
    ),
    Setting("statusline.state_format", "full", "how much is said", allowed=("full", "compact")),
    Setting(
        "fairlead.shared_disk",
        default=False,
        meaning="write on a network share, where locks may not be seen by other machines",
    ),
    Setting("fairlead.agent", "auto", "who executes: auto takes the first agent that is found"),
    Setting("fairlead.reviewer", "", "who reviews; empty: the agent that executes"),
    Setting("fairlead.model", "", "the model that agents use; empty: their own choice"),
    Setting("fairlead.tier.strong", "", "the model of roles that need the strongest one"),
    Setting("fairlead.tier.balanced", "", "the model of most roles"),
    Setting("fairlead.tier.fast", "", "the model of roles that need little"),
    Setting("fairlead.slots", 2, "agents that work at once", least=1, most=64),
    Setting(
        "fairlead.provider_slots",
        "",
        "of these, agents of one kind at once: claude=1 codex=2; empty: as many as there are slots",
    ),
    Setting("fairlead.executor_minutes", 5, "the longest that an executor works", least=1, most=15),
    Setting("fairlead.verify_minutes", 2, "the longest that a verify takes", least=1, most=5),
    Setting(
        "fairlead.zero_tests",
        "fail",
        "what a verify command means that succeeds and says that it ran no test",
        allowed=("fail", "pass"),
    ),
    Setting("fairlead.architect_minutes", 3, "the longest that a review takes", least=1, most=10),
    Setting("fairlead.idle_minutes", 2, "how long an agent may be silent", least=1, most=15),
    Setting(
        "model_profile",
        "balanced",
        "how able the models of roles are: quality, balanced, budget, adaptive or inherit",
    ),
    Setting("granularity", "standard", "how many phases a roadmap has: coarse, standard or fine"),
    Setting("mode", "interactive", "interactive asks; yolo goes by the policy of --auto"),
    Setting("fairlead.fallback", "", "who stands in for a role of a workflow: AGENT:MODEL, AGENT"),
    Setting("workflow.research", default=True, meaning="research before planning"),
    Setting("workflow.plan_check", default=True, meaning="plans are checked before they count"),
    Setting("workflow.pattern_mapper", default=True, meaning="map new files to existing ones"),
    Setting(
        "fairlead.council.pm", "", "who asks back, audits and researches: AGENT or AGENT:MODEL"
    ),
    Setting("fairlead.council.synthesiser", "", "who writes the master plan; holds no seat"),
    Setting("fairlead.council.seats.architect", "", "who sits there; empty: fairlead.agent"),
    Setting("fairlead.council.seats.builder", "", "who sits there; empty: fairlead.agent"),
    Setting("fairlead.council.seats.skeptic", "", "who sits there; empty: fairlead.agent"),
    Setting("fairlead.council.seats.security", "", "who sits there; empty: fairlead.agent"),
    Setting("fairlead.council.seats.operator", "", "who sits there; empty: fairlead.agent"),
    Setting("fairlead.council.seats.advocate", "", "who sits there; empty: fairlead.agent"),
    Setting(
        "fairlead.council.fallback", "", "who stands in, in this order: AGENT:MODEL, AGENT:MODEL"
    ),
    Setting(
        "fairlead.council.min_families",
        1,
        "families of models that must have planned; with one the council is marked degraded",
        least=1,
        most=6,
    ),
    Setting(
        "fairlead.council.allow_absent",
        0,
        "1: five of six may approve when one seat, not security, is absent",
        most=1,
    ),
    Setting("fairlead.council.rounds", 3, "reviews before a deadlock", least=1, most=9),
    Setting("fairlead.council.plan_tokens", 8192, "the longest plan", least=512, most=8192),
    Setting(
        "fairlead.council.seat_seconds", 180, "the longest that a seat takes", least=1, most=3600
    ),
    Setting(
        "fairlead.council.synthesis_seconds",
        300,
        "the longest that the synthesiser takes",
        least=1,
        most=3600,
    ),
    Setting(
        "fairlead.council.pm_seconds",
        300,
        "the longest that a pass of the PM takes",
        least=1,
        most=3600,
    ),
    Setting(
        "fairlead.council.bridge",
        "engine",
        "who carries an approved plan out: this engine, or the host agent's own command",
        allowed=("engine", "host"),
    ),
    Setting(
        "fairlead.council.host_command",
        "/gsd-execute-phase {phase}",
        "what the host agent is told, from your own file alone; {phase} is the number",
    ),
    Setting(
        "fairlead.council.host_minutes", 30, "the longest that the host works", least=1, most=600
    ),
    Setting(
        "fairlead.council.completion_policy",
        "strict",
        "reconcile: summaries and commits prove an execution that ended badly",
        allowed=("strict", "reconcile"),
    ),
    Setting("commit_docs", default=True, meaning="commit .planning beside the work"),
    Setting(
        "git.branching_strategy",
        "none",
        "the branch that work lands on: the present one, one a phase, or one a milestone",
        allowed=("none", "phase", "milestone"),
    ),
    Setting(
        "git.phase_branch_template", "gsd/phase-{phase}-{slug}", "the name of a phase's branch"
    ),
    Setting("git.milestone_branch_template", "gsd/{milestone}-{slug}", "the name of a milestone's"),
)


@dataclass(frozen=True, slots=True)
class Effective:
    """A value that holds, and the file that says so."""

    key: str
    value: object
    origin: Origin
    file: str  # empty for a default


def setting(key: str) -> Setting | None:
    """The setting of this name, or None if this program does not read it."""
    return next((known for known in SETTINGS if known.key == key), None)


def effective(layers: Mapping[Origin, tuple[str, Mapping[str, object]]]) -> tuple[Effective, ...]:
    """Every value that holds, by key. A layer is a file's name and its flattened content."""
    found = {
        known.key: Effective(known.key, known.default, Origin.DEFAULT, "") for known in SETTINGS
    }
    for origin in (Origin.USER, Origin.PROJECT):
        file, values = layers.get(origin, ("", {}))
        for key, value in values.items():
            found[key] = Effective(key, value, origin, file)
    return tuple(found[key] for key in sorted(found))


def checked(key: str, value: object) -> object:
    """The value, if the setting takes it."""
    below = next((known.key for known in SETTINGS if known.key.startswith(f"{key}.")), "")
    if below:
        raise SettingValue(key, value, f"no value itself, what is below it does, such as {below}")
    if not all(key.split(".")):
        raise UnknownSetting(repr(key))
    if key.startswith("fairlead.agents."):
        from fairlead.model.agent_commands import checked_field

        return checked_field(key, value)
    if key.startswith("fairlead.models."):
        from fairlead.model import model_services

        return model_services.checked_field(key, value)
    if key == "fairlead.provider_slots":
        from fairlead.model.job import shares_of

        shares_of(str(value))
    known = setting(key)
    if known and not known.accepts(value):
        raise SettingValue(key, value, known.takes)
    if not known and key.startswith("fairlead."):
        raise UnknownSetting(key, near=near(key))
    return value


def near(key: str) -> str:
    """The setting that was perhaps meant."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(key, [known.key for known in SETTINGS], n=1)), "")
