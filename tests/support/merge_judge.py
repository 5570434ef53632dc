"""The judge of generated merges: what must be there is decided on values, by one rule.

A merge is read here line by line, by a reader that knows the generator's own forms and shares
nothing with the code under test, not even the list of values that may be settled.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from tests.support.merges import Bullet, Case, Model, Section, row_line

# What the merge may settle by itself. Listed by hand, so that the judge shares no table.
COMPUTED_KEYS = ("completed_plans", "percent", "last_updated", "last_activity")
COMPUTED_FIELDS = ("Progress", "Last activity", "Plan")
COMPUTED_COLUMNS = ("Plans Complete", "Status", "Completed")


@dataclass
class Wanted:
    """What a merge must be: lines by section, each slot filled once, and the real conflicts."""

    slots: list[tuple[str, frozenset[str]]] = field(default_factory=list)
    conflicts: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = field(default_factory=list)
    may_be_empty: set[str] = field(default_factory=set)  # sections that may say so

    def line(self, section: str, *allowed: str) -> None:
        """One of these lines must stand in the section."""
        self.slots.append((section, frozenset(allowed)))

    def value(self, section: str, versions: "Versions", *, is_computed: bool = False) -> None:
        """A line that both sides may have changed."""
        base, ours, theirs = versions
        merged, is_conflict = three_way(base, ours, theirs)
        if is_conflict and is_computed:
            if ours and theirs:
                self.line(section, ours, theirs)
        elif is_conflict:
            sides = [(side,) if side else () for side in (ours, theirs)]
            self.conflicts.append((section, sides[0], sides[1]))
        elif merged:
            self.line(section, merged)


Versions = tuple[str | None, str | None, str | None]
Value = TypeVar("Value")


def three_way(base: Value, ours: Value, theirs: Value) -> tuple[Value, bool]:
    """The merged value, or that there is none. This is the whole rule."""
    if theirs in (ours, base):
        return ours, False
    return theirs, ours != base


def wanted_of(case: Case) -> Wanted:
    """Decide on the models what the merge has to be."""
    wanted = Wanted()
    models = (case.base, case.ours, case.theirs)
    if case.base.front:
        wanted.line("---", "---")
        wanted.line("---", "---")
    _want_front(wanted, models)
    for title in {title: 1 for model in models for title in model.sections}:
        held = [model.sections.get(title) for model in models]
        section = held[1] or held[2]
        assert section is not None
        wanted.line(title, f"{'#' * section.level} {title}")
        filled = [each or Section(section.level) for each in held]
        _want_section(wanted, title, filled[0], filled[1], filled[2])
    return wanted


def _want_front(wanted: Wanted, models: tuple[Model, Model, Model]) -> None:
    for key in {key: 1 for model in models for key in model.front}:
        held = [model.front.get(key) for model in models]
        if any(isinstance(value, list) for value in held):
            lists = [value if isinstance(value, list) else [] for value in held]
            wanted.line("---", f"{key}:")
            for item in {item: 1 for items in lists for item in items}:
                present = tuple(f"- {item}" if item in items else None for items in lists)
                wanted.value("---", (present[0], present[1], present[2]))
            continue
        lines = tuple(None if value is None else f"{key}: {value}" for value in held)
        wanted.value("---", (lines[0], lines[1], lines[2]), is_computed=key in COMPUTED_KEYS)
    if models[0].nested:
        wanted.line("---", "progress:")
    for key in models[0].nested:
        lines = tuple(f"{key}: {model.nested[key]}" for model in models)
        wanted.value("---", (lines[0], lines[1], lines[2]), is_computed=True)


def _want_section(
    wanted: Wanted, title: str, base: Section, ours: Section, theirs: Section
) -> None:
    sides = (base, ours, theirs)
    for label in {label: 1 for side in sides for label in side.fields}:
        values = [side.fields.get(label) for side in sides]
        lines = [None if value is None else f"{label}: {value}" for value in values]
        wanted.value(title, (lines[0], lines[1], lines[2]), is_computed=label in COMPUTED_FIELDS)
    for name in {name: 1 for side in sides for name in side.prose}:
        texts = [side.prose.get(name) for side in sides]
        wanted.value(title, (texts[0], texts[1], texts[2]))
    for name in {name: 1 for side in sides for name in side.bullets}:
        held = [side.bullets.get(name) for side in sides]
        _want_bullet(wanted, title, held[0], held[1], held[2])
    columns = base.columns or ours.columns or theirs.columns
    if columns:
        wanted.line(title, row_line(columns))
        wanted.line(title, "|" + "---|" * len(columns))
    for name in {name: 1 for side in sides for name in side.rows}:
        rows = [side.rows.get(name) for side in sides]
        _want_row(wanted, title, columns, (rows[0], rows[1], rows[2]))
    if all(not side.fields and not side.prose and not side.columns for side in sides):
        kept = set(ours.bullets) & set(theirs.bullets) or any(
            name not in base.bullets for side in (ours, theirs) for name in side.bullets
        )
        if not kept:
            wanted.may_be_empty.add(title)


def _want_bullet(
    wanted: Wanted, title: str, base: Bullet | None, ours: Bullet | None, theirs: Bullet | None
) -> None:
    held = ours or theirs
    if held is None:
        return
    notes = tuple(held.notes)
    if ours is None or theirs is None:
        if base is not None and held != base:
            lines = (_bare(held), *notes)
            wanted.conflicts.append((title, lines if ours else (), lines if theirs else ()))
        elif base is None:
            for line in (_bare(held), *notes):
                wanted.line(title, line)
        return
    assert base is not None  # the names of new bullets differ on the two sides
    for note in notes:
        wanted.line(title, note)
    text, is_conflict = three_way(base.text, ours.text, theirs.text)
    if is_conflict:
        wanted.conflicts.append((title, (_bare(ours),), (_bare(theirs),)))
    else:
        box, _ = three_way(base.box, ours.box, theirs.box)
        wanted.line(title, _bare(Bullet(text, box)))


def _want_row(
    wanted: Wanted,
    title: str,
    columns: tuple[str, ...],
    versions: tuple[list[str] | None, list[str] | None, list[str] | None],
) -> None:
    base, ours, theirs = versions
    if base is None or ours is None or theirs is None:
        row = ours or theirs
        assert row is not None
        assert base is None  # no edit removes a row
        wanted.line(title, row_line(row))
        return
    allowed: list[list[str]] = [[]]
    for column, *cells in zip(columns, base, ours, theirs, strict=True):
        merged, is_conflict = three_way(cells[0], cells[1], cells[2])
        is_computed = "Plans Complete" in columns and column in COMPUTED_COLUMNS
        if is_conflict and not is_computed:
            wanted.conflicts.append((title, (row_line(ours),), (row_line(theirs),)))
            return
        choices = cells[1:] if is_conflict else [merged]
        allowed = [[*row, choice] for row in allowed for choice in choices]
    wanted.line(title, *(row_line(row) for row in allowed))


def faults_in(case: Case, merged: str, conflicts: int) -> list[str]:
    """What is wrong with a merge: lost, left over, marked without need, out of order."""
    wanted = wanted_of(case)
    lines, marked = _read(merged)
    faults = []
    open_slots = list(wanted.slots)
    for section, line in lines:
        slot = next((each for each in open_slots if each[0] == section and line in each[1]), None)
        if slot:
            open_slots.remove(slot)
        elif line != "None yet." or section not in wanted.may_be_empty:
            faults.append(f"left over in {section}: {line}")
    faults += [f"lost from {section}: {' or '.join(sorted(line))}" for section, line in open_slots]
    faults += [f"marked without need: {each}" for each in marked if each not in wanted.conflicts]
    faults += [f"conflict not marked: {each}" for each in wanted.conflicts if each not in marked]
    if conflicts != len(marked):
        faults.append(f"{conflicts} conflicts were told, {len(marked)} are marked")
    return [*faults, *_disorder(case, lines)]


def _disorder(case: Case, lines: list[tuple[str, str]]) -> Iterator[str]:
    """Bullets that a side has in another order than the merge."""
    for side in (case.ours, case.theirs):
        for title, section in side.sections.items():
            places = {bullet.text: at for at, bullet in enumerate(section.bullets.values())}
            texts = [_text_of(line) for where, line in lines if where == title]
            order = [places[text] for text in texts if text in places]
            if order != sorted(order):
                yield f"out of order in {title}: {order}"


def _read(
    merged: str,
) -> tuple[list[tuple[str, str]], list[tuple[str, tuple[str, ...], tuple[str, ...]]]]:
    """The lines outside of conflicts by section, and the conflicts."""
    section, is_front = "", False
    lines: list[tuple[str, str]] = []
    marked: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = []
    sides: tuple[list[str], list[str]] | None = None
    at = 0
    for number, raw in enumerate(merged.replace("\r\n", "\n").split("\n")):
        line = _normal(raw)
        if line == "---":
            is_front = number == 0
            section = "---"
        if line.startswith("#") and not is_front:
            section = line.lstrip("#").strip()
        if line.startswith("<<<<<<< "):
            sides, at = ([], []), 0
        elif line == "=======" and sides:
            at = 1
        elif line.startswith(">>>>>>> ") and sides:
            marked.append((section, tuple(sides[0]), tuple(sides[1])))
            sides = None
        elif line and sides:
            sides[at].append(line)
        elif line:
            lines += [(section, part) for part in _unpacked(line)]
    return lines, marked


def _unpacked(line: str) -> list[str]:
    """A bracketed list as the lines it would have without brackets."""
    key, _, value = line.partition(": ")
    if not (value.startswith("[") and value.endswith("]")) or " " in key:
        return [line]
    return [f"{key}:", *(f"- {item.strip()}" for item in value[1:-1].split(",") if item.strip())]


def _normal(line: str) -> str:
    text = line.strip()
    return f"- {text[2:]}" if text.startswith("* ") else text


def _bare(bullet: Bullet) -> str:
    return f"- {bullet.box}{bullet.text}"


def _text_of(line: str) -> str:
    return line.removeprefix("- ").removeprefix("[ ] ").removeprefix("[x] ")
