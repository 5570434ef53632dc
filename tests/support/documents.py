"""Generates, mutates, edits and examines documents.

`examine` is the oracle for every text: the text comes back byte for byte, both readers agree, and
an edit changes only its own lines or is refused with a position. The quick tests, the proofs and
the corpus test all call it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from fairlead.core.errors import DocumentError, UsageError
from fairlead.core.ids import PhaseId
from fairlead.project.state.documents import Decision, add_decision
from fairlead.text import frontmatter
from fairlead.text.document import Document
from fairlead.text.frontmatter import YamlNode
from fairlead.text.lines import split_lines
from fairlead.text.lists import items_of, set_checked
from fairlead.text.tables import set_cell, tables_of
from fairlead.text.yaml_scalars import Plain
from tests.support.times import NOON

WORDS = "planning executing phase 4.10 08 true no null v2.0 done café 東京 🚀 a-b x_y 2026-06-01".split()
NASTY = (
    "---", "...", "- ", "# ", ": ", " #", "'", '"', "[", "]", "{", "}", "&a", "*a", "!t", "|", ">", "%",
    "@", "`", "\\", "\t", "\r", "\r\n", "\n", "\n\n", "\ufeff", "\u2028", "\x85", "\x00", "\x1b[31m",
    "\ud800",
    "<<<<<<< HEAD\n", "=======\n", ">>>>>>> b\n", "```\n", "<!--", "-->", "| a | b |\n", "- [ ] t\n",
    "**Status:** x\n",
    "key: value\n", "  nested: 1\n", "- item\n", "? ", "~", "''", '""', "key: |\n", "## Phase 1\n",
)  # fmt: skip
VALUES: tuple[object, ...] = (
    "text", "4.10", "08", "a: b", "# no", "--- x", "it's", 'say "hi"', "line\nbreak", "", " pad ", "true",
    "null",
    "[x]", "{y}", "café 🚀", "- dash", "x #c", "tab\there", 7, 0, True, None, ["a", "4.5"], [],
    ["x, y", "z: w"],
    {"k": "v", "n": 2}, "status: approved", "$(touch x)", "~", "012", "1e3", "y",
)  # fmt: skip


@dataclass
class Tally:
    """Counts of examined documents and edits, and the faults."""

    documents: int = 0
    trees: int = 0  # frontmatter that both readers read
    edits: int = 0
    unchanged: int = 0
    refused: int = 0
    faults: list[str] = field(default_factory=list)

    def add(self, other: "Tally") -> None:
        self.documents += other.documents
        self.trees += other.trees
        self.edits += other.edits
        self.unchanged += other.unchanged
        self.refused += other.refused
        self.faults += other.faults


# --- making -----------------------------------------------------------------------------


def generated(random: Random) -> str:
    """A document like those that people and tools write."""
    ending = random.choice(("\n", "\n", "\n", "\r\n", "\r"))
    lines: list[str] = []
    if random.random() < 0.85:
        lines += ["---", *_front_lines(random), "---"]
    lines += ["", "# Project State", ""]
    for _ in range(random.randint(0, 4)):
        lines += _section_lines(random)
    if random.random() < 0.1:
        ending_of: Callable[[], str] = lambda: random.choice(("\n", "\r\n", "\r"))  # noqa: E731
    else:
        ending_of = lambda: ending  # noqa: E731
    text = "".join(line + ending_of() for line in lines)
    if random.random() < 0.2:
        text = text.rstrip("\r\n")
    return "\ufeff" + text if random.random() < 0.05 else text


def mutated(text: str, random: Random) -> str:
    """The text with a few things inserted, deleted, repeated or moved."""
    for _ in range(random.randint(1, 5)):
        at = random.randrange(len(text) + 1)
        choice = random.random()
        if choice < 0.45:
            text = text[:at] + random.choice(NASTY) + text[at:]
        elif choice < 0.7:
            text = text[:at] + text[at + random.randint(1, 12) :]
        elif choice < 0.85:
            start = random.randrange(len(text) + 1)
            text = text[:at] + text[start : start + random.randint(1, 60)] + text[at:]
        else:
            text = text[:at] + random.choice(WORDS) + text[at + 1 :]
    return text


def _front_lines(random: Random) -> list[str]:
    lines: list[str] = []
    for name in random.sample(
        ("status", "milestone", "phase", "goal", "tags", "notes"), random.randint(0, 5)
    ):
        lines.append(
            f"{name}:{random.choice((' ', '  '))}{_scalar(random)}{random.choice(('', '', ' # note'))}"
        )
    if random.random() < 0.6:
        lines += ["progress:"]
        lines += [
            f"  {name}: {random.randint(0, 99)}"
            for name in ("total_phases", "completed_phases", "percent")
        ]
    if random.random() < 0.3:
        lines.append("# a comment")
    if random.random() < 0.4:
        indent = random.choice(("", "  "))
        lines.append("modules:")
        for at in range(random.randint(1, 3)):
            lines += [
                f'{indent}- id: "m{at}"',
                f"{indent}  name: {_scalar(random)}",
                f"{indent}  github_issue: null",
            ]
    if random.random() < 0.3:
        lines.append(
            f"next_phases: [{', '.join(_flow_scalar(random) for _ in range(random.randint(0, 3)))}]"
        )
    if random.random() < 0.2:
        lines += [
            f"summary: {random.choice(('|', '>', '|-', '>-', '|+'))}",
            "  first line",
            "",
            "  second: line",
            "",
        ]
    if random.random() < 0.2:
        lines.append("empty:")
    return lines


def _scalar(random: Random) -> str:
    word = " ".join(random.choice(WORDS) for _ in range(random.randint(1, 3)))
    return random.choice((word, word, f'"{word}"', f"'{word}'"))


def _flow_scalar(random: Random) -> str:
    return random.choice(('"4.5"', "a b", "'x'", "12"))


def _section_lines(random: Random) -> list[str]:
    title = random.choice(
        ("Current Position", "Decisions", "Blockers/Concerns", "Performance Metrics", "Notes")
    )
    lines = [f"{random.choice(('##', '###'))} {title}", ""]
    for _ in range(random.randint(0, 4)):
        lines += random.choice(
            (
                ["Status: In progress  "],
                ["**Status:** Executing"],
                ["| Status | Executing |"],
                ["| Phase | Plans |", "|---|:-:|", "| 1 | 2/3 |", "| a \\| b | - |"],
                ["- [ ] todo one", "- [x] done two", "  continued"],
                ["- [Phase 1]: Use UTC", "* [Phase 2]: Other"],
                ["None yet."],
                ["```", "## not a heading", "- [ ] not a task", "```"],
                ["<!-- Status: hidden", "## hidden", "-->"],
                ["Plain prose, with a colon: here."],
                [""],
            )
        )
    return [*lines, ""]


# --- examining --------------------------------------------------------------------------


def examine(text: str, random: Random) -> Tally:
    """Read and edit one text in every way; record every broken promise as a fault."""
    tally = Tally(documents=1)
    document = Document(text)
    _expect(tally, document.text == text, "the text does not come back", text)
    _expect(tally, "".join(split_lines(text)) == text, "the lines do not add up", text)
    _expect(
        tally,
        all(text[line.start : line.end] == line.text for line in document.lines),
        "a line is misplaced",
        text,
    )
    assert isinstance(document.shown_front, dict)
    assert document.sections is not None
    _edit_front(document, random, tally)
    _edit_body(document, random, tally)
    return tally


def _edit_front(document: Document, random: Random, tally: Tally) -> None:
    try:
        document.require_writable()
        block = document.block
        if block is None:
            return
        root = frontmatter.compose(document.text[block.start : block.end], block.first_line)
    except DocumentError as refusal:
        _expect(
            tally,
            refusal.line > 0 and refusal.column > 0,
            "a refusal without a place",
            document.text,
        )
        tally.refused += 1
        return
    tally.trees += 1
    paths = _paths(root.tree()) or [()]
    path = random.choice(paths) if random.random() < 0.7 else ("new_key",)
    value = random.choice(VALUES)
    if not path:
        path = ("new_key",)
    try:
        changed = document.set_front(path, value)  # type: ignore[arg-type]
    except (DocumentError, UsageError):
        tally.refused += 1
        return
    _judge_edit(document, changed, tally)
    _expect(
        tally,
        _reads_back(changed.value(*path), value),
        f"{path} does not read back as {value!r}",
        document.text,
    )
    again = changed.set_front(path, value)  # type: ignore[arg-type]
    _expect(tally, again.text == changed.text, f"setting {path} twice changes twice", document.text)
    node = _node(root, path)
    if node is not None and not isinstance(value, list | dict) and "\n" not in str(value):
        old_inner = document.text[block.start : block.end]
        first = len(split_lines(old_inner[: node.start] + "x"))
        last = len(split_lines(old_inner[: node.end] + "x"))
        _expect(
            tally,
            _touched(document, changed) <= last - first + 1,
            f"setting {path} touches other lines",
            document.text,
        )


def _edit_body(document: Document, random: Random, tally: Tally) -> None:
    edits: list[Callable[[], Document]] = []
    status_field = document.field("Status")
    if status_field:
        edits.append(
            lambda: document.set_field(
                status_field, random.choice(("Ready", "a | b", "100% # done"))
            )
        )
    boxes = [item for item in items_of(document.lines) if item.box >= 0]
    if boxes:
        box = random.choice(boxes)
        edits.append(lambda: document.replaced(set_checked(document.text, box, not box.is_checked)))
    cells = [cell for table in tables_of(document.lines) for row in table.rows for cell in row]
    if cells:
        cell = random.choice(cells)
        edits.append(
            lambda: document.replaced(
                set_cell(document.text, cell, random.choice(("3/3", "x | y")))
            )
        )
    for edit in edits:
        try:
            changed = edit()
        except UsageError:
            tally.refused += 1
            continue
        _judge_edit(document, changed, tally)
        _expect(
            tally,
            _touched(document, changed) <= 1,
            "a body edit touches other lines",
            document.text,
        )
    try:
        changed = add_decision(
            document, Decision(PhaseId.parse("4.10").text, "Use UTC: <b> | x"), NOON
        )
    except (DocumentError, UsageError):
        tally.refused += 1
        return
    _judge_edit(document, changed, tally)
    kept = [line for line in split_lines(document.text) if line.strip()]
    now = "".join(split_lines(changed.text))
    lost = [line for line in kept if line.strip("\r\n") not in now]
    allowed = [
        line
        for line in lost
        if "last_updated" in line or "none" in line.lower() or "no decisions" in line.lower()
    ]
    _expect(tally, lost == allowed, f"add_decision lost {lost[:1]!r}", document.text)


def _judge_edit(old: Document, new: Document, tally: Tally) -> None:
    if old.text == new.text:
        tally.unchanged += 1
        return
    tally.edits += 1
    for mark in ("\r\n", "\r", "\n"):
        if mark == "\n" or mark in old.text:
            continue
        _expect(tally, mark not in new.text, f"an edit brought {mark!r}", old.text)


def _touched(old: Document, new: Document) -> int:
    """The number of lines of the old text that the edit changed or removed."""
    before, after = split_lines(old.text), split_lines(new.text)
    head = 0
    while head < min(len(before), len(after)) and before[head] == after[head]:
        head += 1
    tail = 0
    while tail < min(len(before), len(after)) - head and before[-1 - tail] == after[-1 - tail]:
        tail += 1
    return len(before) - head - tail


def _reads_back(stored: object, value: object) -> bool:
    if isinstance(value, dict):
        return (
            isinstance(stored, dict)
            and list(stored) == list(value)
            and all(_reads_back(stored[key], value[key]) for key in value)
        )
    if isinstance(value, list):
        return (
            isinstance(stored, list)
            and len(stored) == len(value)
            and all(map(_reads_back, stored, value))
        )
    if isinstance(value, str):
        return isinstance(stored, str) and stored == value
    if value is None:
        return isinstance(stored, Plain) and stored.lower() in ("", "~", "null")
    return isinstance(stored, Plain) and stored.lower() == str(value).lower()


def _paths(tree: object, above: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    children = (
        tree.items()
        if isinstance(tree, dict)
        else enumerate(tree)
        if isinstance(tree, list)
        else ()
    )
    paths: list[tuple[str | int, ...]] = []
    for step, child in children:
        paths.append((*above, step))
        paths += _paths(child, (*above, step))
    return paths


def _node(root: YamlNode, path: tuple[str | int, ...]) -> YamlNode | None:
    node: YamlNode | None = root
    for step in path:
        node = node.child(step) if node else None
    return node


def _expect(tally: Tally, holds: bool, what: str, text: str) -> None:
    if not holds:
        tally.faults.append(f"{what}: {text!r}")
