"""The fields of STATE.md, one row each. To add a field, add a row (and a line to the template).

Reading, `state get` and `state set`, the comparison with the files, the digest and the merge
driver look a field up here instead of knowing it by name. Two places cannot import this module
and repeat a part of it as literals, and a test compares both: the status line's reader, which
must start fast, and the templates of a new STATE.md.
"""

import re
from collections.abc import Iterable, Iterator
from enum import StrEnum
from functools import cached_property

from fairlead.core.values import dataclass
from fairlead.project.status_words import Status

POSITION = ("Current Position",)
SESSION = ("Session", "Session Continuity")
METRICS = ("Performance Metrics",)
PROGRESS = "progress"  # the frontmatter map of counters

# Titles of the lists; the first one heads a new section. The translations are the usual titles in
# the languages in which the roadmap's word for a phase is read.
DECISIONS = (
    *("Decisions", "Decisions Made", "Accumulated Decisions", "Key Decisions", "Decisiones"),
    *("Decisões", "Décisions", "Decisioni", "Entscheidungen", "Решения", "Decyzje", "Rozhodnutí"),
    *("决策", "决定", "決策", "決定", "결정"),
)
BLOCKERS = (
    *("Blockers/Concerns", "Blockers", "Concerns", "Blockers & Concerns", "Blockers & Risk Items"),
    *("Bloqueos", "Bloqueios", "Impedimentos", "Blocages", "Blocchi", "Hindernisse", "Блокеры"),
    *("Blokady", "Blokery", "Překážky", "阻塞", "阻碍", "障碍", "ブロッカー", "블로커"),
)
PENDING_TODOS = ("Pending Todos", "Todos")
ROADMAP_CHANGES = ("Roadmap Evolution",)


class Owner(StrEnum):
    """Who decides what a field says."""

    DERIVED = "derived"  # follows from the files; a command rewrites it at any time
    EVENT = "event"  # recorded when something happens; cannot be recomputed
    PERSON = "person"  # free text, which commands only fill where it is empty


class Source(StrEnum):
    """What the value of a derived field is computed from."""

    NONE = ""
    COUNTS = "counts"  # the attribute of `Progress` with the name of the key
    POSITION = "position"  # the phase and plan in progress
    NEXT_STEP = "next step"
    METRICS = "metrics"  # the rows of the metrics table
    CLOCK = "clock"


class MergeRule(StrEnum):
    """What the merge driver does when both branches changed a field."""

    RECOMPUTE = "recompute"  # take the newer side; the next sync computes the value again
    RECOMPUTE_IN_SECTION = "recompute in section"  # only below its heading, conflict elsewhere
    STEP = "step"  # take the newer side when a command wrote both values, otherwise conflict
    UNION = "union"  # keep the entries of both lists
    CONFLICT = "conflict"  # a person chooses


@dataclass(frozen=True, slots=True)
class StateField:
    """One field: where it is written, who owns it and how two versions of it merge."""

    key: str = ""  # frontmatter key, dotted inside a map; empty: body only
    labels: tuple[str, ...] = ()  # labels of the body line, preferred one first; titles of a list
    section: tuple[str, ...] = ()  # titles of the section that holds the line; empty: anywhere
    owner: Owner = Owner.EVENT
    source: Source = Source.NONE
    command: str = ""  # the only command that writes it; empty: `state set` may, if it is true
    merge: MergeRule = MergeRule.CONFLICT
    is_in_status_line: bool = False
    is_unique: bool = False  # a second line with this label in the section is reported
    is_only_in_section: bool = False  # a common word: the label means the field only there
    is_list: bool = False  # a section with one entry per line
    values: tuple[str, ...] = ()  # the only values `state set` accepts; empty: any text
    is_line_free: bool = False  # only the key has fixed values; the line is in a person's words

    @property
    def name(self) -> str:
        """The name people use: the key, else the preferred label."""
        return self.key or self.labels[0]

    @property
    def names(self) -> tuple[str, ...]:
        """Every name the field answers to, in lower case."""
        return tuple(name.casefold() for name in (self.key, *self.labels) if name)

    @property
    def plain_names(self) -> Iterator[str]:
        """The same for a merge, which knows only the last key of a path and the label of a line."""
        return (plain_name(name.rpartition(".")[2]) for name in self.names)


class FieldTable:
    """Rows, and the lookups that the rest of the package needs."""

    def __init__(self, rows: Iterable[StateField]) -> None:
        self.rows = tuple(rows)

    def find(self, name: str) -> StateField | None:
        """The row of a key or a label, in either case."""
        return self._by_name.get(name.casefold())

    def in_section(self, section: tuple[str, ...]) -> tuple[StateField, ...]:
        """The rows with a body line in this section."""
        return tuple(row for row in self.rows if row.section == section and not row.is_list)

    def keys(self, source: Source) -> tuple[str, ...]:
        """The frontmatter keys that are computed from this source."""
        return tuple(row.key for row in self.rows if row.key and row.source is source)

    def merging_by(self, rule: MergeRule) -> frozenset[str]:
        """The plain names of the fields that merge by this rule."""
        return self._by_rule.get(rule, frozenset())

    @cached_property
    def _by_name(self) -> dict[str, StateField]:
        return {name: row for row in reversed(self.rows) for name in row.names}

    @cached_property
    def _by_rule(self) -> dict[MergeRule, frozenset[str]]:
        return {
            rule: frozenset(
                name for row in self.rows if row.merge is rule for name in row.plain_names
            )
            for rule in MergeRule
        }


def plain_name(name: str) -> str:
    """A key or label as the merge driver compares them: `Last_activity:` is `last activity`."""
    return re.sub(r"[\s_\-]+", " ", name.strip(" *:`").casefold())


def _counter(name: str, *, is_in_status_line: bool = False) -> StateField:
    return StateField(
        key=f"{PROGRESS}.{name}",
        owner=Owner.DERIVED,
        source=Source.COUNTS,
        command=_SYNC,
        merge=MergeRule.RECOMPUTE,
        is_in_status_line=is_in_status_line,
    )


def _metric(label: str, command: str = "") -> StateField:
    return StateField(
        labels=(label,),
        section=METRICS,
        owner=Owner.DERIVED,
        source=Source.METRICS,
        command=command,
        merge=MergeRule.RECOMPUTE,
    )


def _list(*titles: str) -> StateField:
    return StateField(labels=titles, merge=MergeRule.UNION, is_list=True)


_SYNC = "fairlead state sync"
_BEGIN = "fairlead state begin-phase"
_ADVANCE = "fairlead state advance-plan"
_NEXT_ACTIONS = ("discuss-phase", "plan-phase", "execute-phase", "verify-phase")

# Columns: key, labels, section, owner, source, command, merge rule; then flags by name.
STATE_FIELDS = FieldTable(
    (
        StateField("gsd_state_version", values=("1.0",)),
        StateField("milestone", is_in_status_line=True),
        StateField("milestone_name", is_in_status_line=True),
        StateField(
            "status", ("Status",), POSITION, is_in_status_line=True, is_unique=True,
            is_only_in_section=True, values=tuple(Status), is_line_free=True,
        ),
        # --- next step
        StateField(
            "active_phase", (), (), Owner.DERIVED, Source.NEXT_STEP, _BEGIN, MergeRule.RECOMPUTE,
            is_in_status_line=True,
        ),
        StateField(
            "next_action", (), (), Owner.DERIVED, Source.NEXT_STEP, _SYNC, MergeRule.RECOMPUTE,
            is_in_status_line=True, values=_NEXT_ACTIONS,
        ),
        StateField(
            "next_phases", (), (), Owner.DERIVED, Source.NEXT_STEP, _SYNC, MergeRule.RECOMPUTE,
            is_in_status_line=True,
        ),
        # --- position
        # "Phase" and "Plan" are common words: outside their section a person may use them.
        StateField(
            "", ("Phase",), POSITION, Owner.DERIVED, Source.POSITION, _BEGIN,
            MergeRule.RECOMPUTE_IN_SECTION, is_unique=True, is_only_in_section=True,
        ),
        StateField(
            "", ("Plan",), POSITION, Owner.DERIVED, Source.POSITION, _ADVANCE,
            MergeRule.RECOMPUTE_IN_SECTION, is_unique=True, is_only_in_section=True,
        ),
        StateField(
            "current_phase", ("Current Phase",), POSITION, Owner.DERIVED, Source.POSITION, _BEGIN,
            MergeRule.RECOMPUTE, is_only_in_section=True,
        ),
        StateField(
            "current_phase_name", ("Current Phase Name",), POSITION, Owner.DERIVED, Source.POSITION,
            _SYNC, MergeRule.RECOMPUTE,
        ),
        StateField(
            "current_plan", ("Current Plan",), POSITION, Owner.DERIVED, Source.POSITION, _ADVANCE,
            MergeRule.RECOMPUTE,
        ),
        StateField(
            "", ("Total Phases",), POSITION, Owner.DERIVED, Source.POSITION,
            merge=MergeRule.RECOMPUTE,
        ),
        StateField(
            "", ("Total Plans in Phase",), POSITION, Owner.DERIVED, Source.POSITION,
            merge=MergeRule.RECOMPUTE,
        ),
        StateField("", ("Current focus",), merge=MergeRule.CONFLICT),
        StateField("", ("Core value",), owner=Owner.PERSON),
        # --- progress
        StateField(
            PROGRESS, ("Progress",), POSITION, Owner.DERIVED, Source.POSITION, _SYNC,
            MergeRule.RECOMPUTE, is_unique=True, is_only_in_section=True,
        ),
        # Of several milestones it may count more than this one, so the newer side proves nothing.
        StateField("", ("Overall progress",), (), Owner.DERIVED),
        _counter("total_phases", is_in_status_line=True),
        _counter("completed_phases", is_in_status_line=True),
        _counter("total_plans"),
        _counter("completed_plans"),
        _counter("percent", is_in_status_line=True),
        # --- last activity
        StateField(
            "last_activity", ("Last activity",), POSITION, source=Source.CLOCK,
            merge=MergeRule.RECOMPUTE,
        ),
        StateField("last_activity_desc", merge=MergeRule.RECOMPUTE),
        StateField(
            "last_updated", (), (), Owner.DERIVED, Source.CLOCK, "any command that changes STATE.md",
            MergeRule.RECOMPUTE,
        ),
        # Written by the reference tool: the commit at which it wrote the document.
        StateField("state_head", merge=MergeRule.RECOMPUTE, is_in_status_line=True),
        # --- session
        StateField(
            "", ("Last session", "Last Date"), SESSION, source=Source.CLOCK,
            merge=MergeRule.RECOMPUTE,
        ),
        StateField("stopped_at", ("Stopped at",), SESSION, merge=MergeRule.STEP),
        StateField("", ("Resume file",), SESSION),
        StateField("paused_at", ("Paused at",), SESSION, merge=MergeRule.STEP),
        StateField("current_task", command="fairlead state gate"),
        # --- metrics
        _metric("Total plans completed", "fairlead state record-metric"),
        _metric("Average duration"),
        _metric("Total execution time"),
        _metric("Last 5 plans"),
        _metric("Trend"),
        # --- lists
        _list(*DECISIONS),
        _list(*BLOCKERS),
        _list(*PENDING_TODOS),
        _list(*ROADMAP_CHANGES),
    )
)  # fmt: skip
