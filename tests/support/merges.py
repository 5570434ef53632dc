"""Generated three-way merges of documents like STATE.md, ROADMAP.md and plans.

A document starts as a model: keys, fields, bullets, rows and paragraphs with a name each. Both
sides edit a copy of the model, which is then written as text. So `merge_judge` knows what a merge
must contain without reading Markdown with the code under test.
"""

import copy
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random

WORDS = (
    "cache queue parser ledger worker replay budget schema token window gateway tenant invoice"
    " socket kernel vector archive beacon cursor digest envelope fixture gradient harness index"
    " journal lattice manifest notary oracle packet quorum relay shard tunnel upstream verdict"
).split()
STATUSES = ("planning", "executing", "verifying", "paused", "blocked", "completed")


@dataclass
class Bullet:
    """One entry of a list."""

    text: str
    box: str = ""  # "", "[ ] " or "[x] "
    notes: list[str] = field(default_factory=list)  # continuation lines


@dataclass
class Section:
    """A heading with its content."""

    level: int
    fields: dict[str, str] = field(default_factory=dict)
    prose: dict[str, str] = field(default_factory=dict)
    bullets: dict[str, Bullet] = field(default_factory=dict)
    columns: tuple[str, ...] = ()
    rows: dict[str, list[str]] = field(default_factory=dict)


@dataclass
class Model:
    """A document as values."""

    front: dict[str, str | list[str]]
    nested: dict[str, str]  # below `progress`
    sections: dict[str, Section]


@dataclass(frozen=True)
class Style:
    """How a model is written down."""

    ending: str = "\n"
    bullet: str = "-"
    is_loose: bool = False  # a blank line between bullets
    is_flow: bool = True  # lists of the frontmatter in brackets
    has_gaps: bool = True  # blank lines around headings
    is_ended: bool = True  # the last line has a line break


@dataclass(frozen=True)
class Case:
    """One merge: three models, and the three texts."""

    base: Model
    ours: Model
    theirs: Model
    texts: tuple[str, str, str]


def a_case(seed: int) -> Case:
    """A merge that depends on its seed alone."""
    random = Random(seed)
    base = random.choice((a_state, a_roadmap, a_plan))(random)
    style = Style(
        bullet=random.choice("--*"),
        is_loose=random.random() < 0.15,
        is_flow=random.random() < 0.6,
        has_gaps=random.random() < 0.85,
        is_ended=random.random() < 0.9,
    )
    sides = []
    for name in ("o", "t"):
        side = copy.deepcopy(base)
        for number in range(random.randint(1, random.choice((4, 8, 24)))):
            random.choice(EDITS)(side, random, f"{name}{number}")
        sides.append(side)
    ours_style = Style(**{**vars(style), "ending": "\r\n"}) if random.random() < 0.1 else style
    texts = (
        written(base, style),
        written(sides[0], ours_style),
        written(sides[1], style),
    )
    return Case(base, sides[0], sides[1], texts)


# --- documents -------------------------------------------------------------------------


def a_state(random: Random) -> Model:
    """Like STATE.md."""
    return Model(
        front={
            "gsd_state_version": "1.0",
            "milestone": "v1.0",
            "status": random.choice(STATUSES),
            "stopped_at": words(random, 4),
            "tags": [f"tag{n}" for n in range(random.randint(0, 3))],
            "last_updated": '"2026-05-06T10:00:00.000Z"',
            "last_activity": "2026-05-06",
        },
        nested={"total_plans": "9", "completed_plans": "3", "percent": "33"},
        sections={
            "Project State": Section(1),
            "Current Position": Section(
                2,
                fields={
                    "Plan": "1 of 3",
                    "Status": words(random, 2),
                    "Last activity": "2026-05-06",
                    "Progress": "[███░░░░░░░] 33%",
                },
            ),
            "Decisions": Section(
                3, bullets=bullets(random, "d", random.randint(0, 6), label="[Phase 1]: ")
            ),
            "Pending Todos": Section(
                3, bullets=bullets(random, "p", random.randint(0, 4), box="[ ] ")
            ),
            "Blockers/Concerns": Section(3, bullets=bullets(random, "b", random.randint(0, 3))),
            "Session Continuity": Section(
                2, fields={"Stopped at": words(random, 4), "Resume file": "None"}
            ),
        },
    )


def a_roadmap(random: Random) -> Model:
    """Like ROADMAP.md."""
    count = random.randint(1, 5)
    phases = {
        f"ph{n}": Bullet(f"**Phase {n}: {words(random, 2)}** - {words(random, 4)}", "[ ] ")
        for n in range(1, count + 1)
    }
    rows = {
        f"ro{n}": [f"{n}. {words(random, 2)}", "0/3", "Not started", "-"]
        for n in range(1, count + 1)
    }
    details = {
        f"Phase {n}: {words(random, 2)}": Section(
            3,
            fields={"Goal": words(random, 6), "Depends on": "nothing"},
            bullets=bullets(random, f"q{n}", random.randint(1, 3), box="[ ] "),
        )
        for n in range(1, count + 1)
    }
    return Model(
        front={},
        nested={},
        sections={
            "Roadmap": Section(1),
            "Overview": Section(2, prose={"ov0": words(random, 12), "ov1": words(random, 9)}),
            "Phases": Section(2, bullets=phases),
            "Phase Details": Section(2),
            **details,
            "Progress": Section(
                2, columns=("Phase", "Plans Complete", "Status", "Completed"), rows=rows
            ),
        },
    )


def a_plan(random: Random) -> Model:
    """Like a PLAN.md."""
    return Model(
        front={
            "phase": "01-foundation",
            "plan": "01",
            "wave": "1",
            "files_modified": [f"src/{word}.py" for word in random.sample(WORDS, 3)],
            "depends_on": [],
            "autonomous": "true",
        },
        nested={},
        sections={
            "Objective": Section(2, prose={"ob0": words(random, 10)}),
            "Tasks": Section(2, bullets=bullets(random, "k", random.randint(1, 5), box="[ ] ")),
            "Files": Section(
                2,
                columns=("File", "Change", "Risk"),
                rows={f"fi{n}": [f"src/{n}.py", words(random, 2), "low"] for n in range(3)},
            ),
            "Notes": Section(2, prose={"no0": words(random, 8), "no1": words(random, 8)}),
        },
    )


def bullets(
    random: Random, prefix: str, count: int, *, label: str = "", box: str = ""
) -> dict[str, Bullet]:
    """Entries of a list; every third has a continuation line."""
    return {
        f"{prefix}{n}": Bullet(
            label + words(random, 6), box, [words(random, 3)] if random.random() < 0.3 else []
        )
        for n in range(count)
    }


def words(random: Random, count: int) -> str:
    """A phrase that is practically unique."""
    return " ".join(random.choice(WORDS) for _ in range(count - 1)) + f" {random.randrange(10**6)}"


# --- edits: each changes one thing of a model --------------------------------------------


def add_bullet(model: Model, random: Random, name: str) -> None:
    section = _some(model, random, lambda section: not section.fields and not section.columns)
    if section and (section.bullets or not section.prose):
        box = next((bullet.box for bullet in section.bullets.values()), "")
        new = {name: Bullet(words(random, 6), box and "[ ] ")}
        first = random.random() < 0.15
        section.bullets = {**new, **section.bullets} if first else {**section.bullets, **new}


def remove_bullet(model: Model, random: Random, name: str) -> None:
    section = _some(model, random, lambda section: len(section.bullets) > 0)
    if section:
        del section.bullets[random.choice(list(section.bullets))]


def tick_bullet(model: Model, random: Random, name: str) -> None:
    section = _some(model, random, lambda section: any(b.box for b in section.bullets.values()))
    if section:
        random.choice([b for b in section.bullets.values() if b.box]).box = "[x] "


def edit_bullet(model: Model, random: Random, name: str) -> None:
    section = _some(model, random, lambda section: len(section.bullets) > 0)
    if section:
        random.choice(list(section.bullets.values())).text += f" ({name} {random.choice(WORDS)})"


def edit_cell(model: Model, random: Random, name: str) -> None:
    section = _some(model, random, lambda section: len(section.rows) > 0)
    if section:
        row = random.choice(list(section.rows.values()))
        at = random.randrange(1, len(row))
        row[at] = (
            f"{random.randint(1, 3)}/3"
            if section.columns[at] == "Plans Complete"
            else f"{random.choice(STATUSES)} {name}"
        )


def add_row(model: Model, random: Random, name: str) -> None:
    section = _some(model, random, lambda section: bool(section.columns))
    if section:
        section.rows[name] = [words(random, 2), *(["-"] * (len(section.columns) - 1))]


def edit_field(model: Model, random: Random, name: str) -> None:
    section = _some(model, random, lambda section: bool(section.fields))
    if section:
        label = random.choice(list(section.fields))
        number = random.randint(2, 9)
        section.fields[label] = {
            "Progress": f"[{'█' * number}{'░' * (10 - number)}] {number}0%",
            "Plan": f"{number} of 9",
            "Last activity": f"2026-05-{10 + number}",
        }.get(label, f"{words(random, 3)} {name}")


def edit_prose(model: Model, random: Random, name: str) -> None:
    section = _some(model, random, lambda section: bool(section.prose))
    if section:
        key = random.choice(list(section.prose))
        section.prose[key] += f" and {random.choice(WORDS)} {name}."


def add_prose(model: Model, random: Random, name: str) -> None:
    section = _some(model, random, lambda section: bool(section.prose))
    if section:
        section.prose[name] = words(random, 9)


def add_section(model: Model, random: Random, name: str) -> None:
    section = Section(2, prose={name: words(random, 7)}, bullets=bullets(random, name, 2))
    model.sections[f"Risks {name}"] = section


def edit_key(model: Model, random: Random, name: str) -> None:
    keys = [key for key, value in model.front.items() if isinstance(value, str)]
    if keys:
        key = random.choice(keys)
        model.front[key] = {
            "status": random.choice(STATUSES),
            "last_updated": f'"2026-05-{random.randint(10, 28)}T10:00:00.000Z"',
            "last_activity": f"2026-05-{random.randint(10, 28)}",
        }.get(key, f"{random.choice(WORDS)} {name}")


def add_key(model: Model, random: Random, name: str) -> None:
    if model.front:
        model.front[f"x_{name}"] = words(random, 3)


def remove_key(model: Model, random: Random, name: str) -> None:
    keys = [key for key in model.front if key in ("milestone", "wave", "stopped_at")]
    if keys:
        del model.front[random.choice(keys)]


def edit_list(model: Model, random: Random, name: str) -> None:
    lists = [value for value in model.front.values() if isinstance(value, list)]
    if not lists:
        return
    items = random.choice(lists)
    if items and random.random() < 0.4:
        items.remove(random.choice(items))
    else:
        items.append(f"{random.choice(WORDS)}-{name}")


def compute(model: Model, random: Random, name: str) -> None:
    """Update the values that a tool writes after each plan."""
    if model.nested:
        model.nested["completed_plans"] = str(random.randint(4, 9))
        model.nested["percent"] = str(random.randint(34, 99))
        model.front["last_updated"] = f'"2026-05-{random.randint(10, 28)}T10:00:00.000Z"'


EDITS: tuple[Callable[[Model, Random, str], None], ...] = (
    add_bullet, add_bullet, add_bullet, remove_bullet, tick_bullet, edit_bullet, edit_cell, add_row,
    edit_field, edit_prose, add_prose, add_section, edit_key, add_key, remove_key, edit_list, compute,
)  # fmt: skip


def _some(model: Model, random: Random, holds: Callable[[Section], bool]) -> Section | None:
    candidates = [
        section for section in model.sections.values() if section.level > 1 and holds(section)
    ]
    return random.choice(candidates) if candidates else None


# --- text ------------------------------------------------------------------------------


def written(model: Model, style: Style) -> str:
    """The model as a document."""
    lines = list(_front_lines(model, style))
    for title, section in model.sections.items():
        lines += [*([""] if style.has_gaps and lines else []), f"{'#' * section.level} {title}"]
        lines += _section_lines(section, style)
    text = style.ending.join(lines)
    return text + style.ending if style.is_ended else text


def _front_lines(model: Model, style: Style) -> Iterator[str]:
    if not model.front:
        return
    yield "---"
    for key, value in model.front.items():
        if isinstance(value, str):
            yield f"{key}: {value}"
        elif style.is_flow or not value:
            yield f"{key}: [{', '.join(value)}]"
        else:
            yield from (f"{key}:", *(f"  - {item}" for item in value))
    if model.nested:
        yield from ("progress:", *(f"  {key}: {value}" for key, value in model.nested.items()))
    yield "---"


def _section_lines(section: Section, style: Style) -> Iterator[str]:
    gap = [""] if style.has_gaps else []
    if section.fields:
        yield from (*gap, *(f"{label}: {value}" for label, value in section.fields.items()))
    for text in section.prose.values():
        yield from ("", text)
    if section.bullets:
        yield from ([""] if section.prose else gap)
    for number, bullet in enumerate(section.bullets.values()):
        if number and style.is_loose:
            yield ""
        yield bullet_line(bullet, style.bullet)
        yield from (f"  {note}" for note in bullet.notes)
    if section.columns:
        yield from ("", row_line(section.columns), "|" + "---|" * len(section.columns))
        yield from (row_line(row) for row in section.rows.values())
    if not (section.fields or section.prose or section.bullets or section.columns):
        yield from (*gap, "None yet.")


def bullet_line(bullet: Bullet, mark: str) -> str:
    """The first line of a bullet."""
    return f"{mark} {bullet.box}{bullet.text}"


def row_line(cells: "list[str] | tuple[str, ...]") -> str:
    """A table's row."""
    return f"| {' | '.join(cells)} |"
