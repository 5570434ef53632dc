"""Judges generated merges: decides on the models which lines a merge must contain.

It reads the merge line by line with its own reader and shares nothing with the code under test,
not even the list of derived values.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from tests.support.merges import Bullet, Case, Model, Section, row_line

# Derived values, repeated here so that the judge does not share the table of the product.
COMPUTED_KEYS = ("completed_plans", "percent", "last_updated", "last_activity")
COMPUTED_FIELDS = ("Progress", "Last activity", "Plan")
COMPUTED_COLUMNS = ("Plans Complete", "Status", "Completed")


@dataclass
class Expected:
    """The expected merge: lines by section, and the real conflicts."""

    slots: list[tuple[str, frozenset[str]]] = field(default_factory=list)
    conflicts: list[tuple[str, tuple[str, ...], tuple[str, ...]]] = field(default_factory=list)
    may_be_empty: set[str] = field(default_factory=set)  # sections that may contain a placeholder

    def line(self, section: str, *allowed: str) -> None:
        """The section must contain one of these lines."""
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
    """The merged value, and whether it is a conflict: the only rule of the judge."""
    if theirs in (ours, base):
        return ours, False
    return theirs, ours != base


def expected_of(case: Case) -> Expected:
    """The expected merge of three models."""
    expected = Expected()
    models = (case.base, case.ours, case.theirs)
    if case.base.front:
        expected.line("---", "---")
        expected.line("---", "---")
    _expect_front(expected, models)
    for title in {title: 1 for model in models for title in model.sections}:
        versions = [model.sections.get(title) for model in models]
        section = versions[1] or versions[2]
        assert section is not None
        expected.line(title, f"{'#' * section.level} {title}")
        filled = [each or Section(section.level) for each in versions]
        _expect_section(expected, title, filled[0], filled[1], filled[2])
    return expected


def _expect_front(expected: Expected, models: tuple[Model, Model, Model]) -> None:
    for key in {key: 1 for model in models for key in model.front}:
        versions = [model.front.get(key) for model in models]
        if any(isinstance(value, list) for value in versions):
            lists = [value if isinstance(value, list) else [] for value in versions]
            expected.line("---", f"{key}:")
            for item in {item: 1 for items in lists for item in items}:
                present = tuple(f"- {item}" if item in items else None for items in lists)
                expected.value("---", (present[0], present[1], present[2]))
            continue
        lines = tuple(None if value is None else f"{key}: {value}" for value in versions)
        expected.value("---", (lines[0], lines[1], lines[2]), is_computed=key in COMPUTED_KEYS)
    if models[0].nested:
        expected.line("---", "progress:")
    for key in models[0].nested:
        lines = tuple(f"{key}: {model.nested[key]}" for model in models)
        expected.value("---", (lines[0], lines[1], lines[2]), is_computed=True)


def _expect_section(
    expected: Expected, title: str, base: Section, ours: Section, theirs: Section
) -> None:
    sides = (base, ours, theirs)
    for label in {label: 1 for side in sides for label in side.fields}:
        values = [side.fields.get(label) for side in sides]
        lines = [None if value is None else f"{label}: {value}" for value in values]
        expected.value(title, (lines[0], lines[1], lines[2]), is_computed=label in COMPUTED_FIELDS)
    for name in {name: 1 for side in sides for name in side.prose}:
        texts = [side.prose.get(name) for side in sides]
        expected.value(title, (texts[0], texts[1], texts[2]))
    for name in {name: 1 for side in sides for name in side.bullets}:
        versions = [side.bullets.get(name) for side in sides]
        _expect_bullet(expected, title, versions[0], versions[1], versions[2])
    columns = base.columns or ours.columns or theirs.columns
    if columns:
        expected.line(title, row_line(columns))
        expected.line(title, "|" + "---|" * len(columns))
    for name in {name: 1 for side in sides for name in side.rows}:
        rows = [side.rows.get(name) for side in sides]
        _expect_row(expected, title, columns, (rows[0], rows[1], rows[2]))
    if all(not side.fields and not side.prose and not side.columns for side in sides):
        kept = set(ours.bullets) & set(theirs.bullets) or any(
            name not in base.bullets for side in (ours, theirs) for name in side.bullets
        )
        if not kept:
            expected.may_be_empty.add(title)


def _expect_bullet(
    expected: Expected, title: str, base: Bullet | None, ours: Bullet | None, theirs: Bullet | None
) -> None:
    present = ours or theirs
    if present is None:
        return
    notes = tuple(present.notes)
    if ours is None or theirs is None:
        if base is not None and present != base:
            lines = (_bare(present), *notes)
            expected.conflicts.append((title, lines if ours else (), lines if theirs else ()))
        elif base is None:
            for line in (_bare(present), *notes):
                expected.line(title, line)
        return
    assert base is not None  # the names of new bullets differ on the two sides
    for note in notes:
        expected.line(title, note)
    text, is_conflict = three_way(base.text, ours.text, theirs.text)
    if is_conflict:
        expected.conflicts.append((title, (_bare(ours),), (_bare(theirs),)))
    else:
        box, _ = three_way(base.box, ours.box, theirs.box)
        expected.line(title, _bare(Bullet(text, box)))


def _expect_row(
    expected: Expected,
    title: str,
    columns: tuple[str, ...],
    versions: tuple[list[str] | None, list[str] | None, list[str] | None],
) -> None:
    base, ours, theirs = versions
    if base is None or ours is None or theirs is None:
        row = ours or theirs
        assert row is not None
        assert base is None  # no edit removes a row
        expected.line(title, row_line(row))
        return
    allowed: list[list[str]] = [[]]
    for column, *cells in zip(columns, base, ours, theirs, strict=True):
        merged, is_conflict = three_way(cells[0], cells[1], cells[2])
        is_computed = "Plans Complete" in columns and column in COMPUTED_COLUMNS
        if is_conflict and not is_computed:
            expected.conflicts.append((title, (row_line(ours),), (row_line(theirs),)))
            return
        choices = cells[1:] if is_conflict else [merged]
        allowed = [[*row, choice] for row in allowed for choice in choices]
    expected.line(title, *(row_line(row) for row in allowed))


def faults_in(case: Case, merged: str, conflicts: int) -> list[str]:
    """The faults of a merge: lines lost or left over, needless conflicts, wrong order."""
    expected = expected_of(case)
    lines, marked = _read(merged)
    faults = []
    open_slots = list(expected.slots)
    for section, line in lines:
        slot = next((each for each in open_slots if each[0] == section and line in each[1]), None)
        if slot:
            open_slots.remove(slot)
        elif line != "None yet." or section not in expected.may_be_empty:
            faults.append(f"left over in {section}: {line}")
    faults += [f"lost from {section}: {' or '.join(sorted(line))}" for section, line in open_slots]
    faults += [f"marked without need: {each}" for each in marked if each not in expected.conflicts]
    faults += [f"conflict not marked: {each}" for each in expected.conflicts if each not in marked]
    if conflicts != len(marked):
        faults.append(f"{conflicts} conflicts are reported, {len(marked)} are marked")
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
