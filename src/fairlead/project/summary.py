"""SUMMARY.md: the proof that a plan is done, written last and read by later planning.

Values from agents become one line each and cannot add structure. A summary proves its own plan
only: an empty one, one that says otherwise and one for another plan prove nothing.
"""

from collections.abc import Iterable

from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass
from fairlead.project.derive.inventory import Proof
from fairlead.project.derive.phase_files import summary_head
from fairlead.text.document import Document
from fairlead.text.frontmatter_values import list_of, text_of, whole_number
from fairlead.text.inline import one_line
from fairlead.text.yaml_emit import Value, block_lines

HALTED = "halted"  # a planned stop: plans that depend on this one are blocked
_PROOFS = {
    Proof.EMPTY: "is empty",
    Proof.BLOCKED: "says that the plan is blocked",
    Proof.FAILED: "says that its self-check failed",
}
_COMMIT = lazy_pattern(r"[0-9]+\. \*\*(.+?)\*\* - `([0-9a-f]{4,64}|-)`")
_LAST_NUMBER = lazy_pattern(r"([0-9]{1,4})\Z")


@dataclass(frozen=True, slots=True)
class Actuals:
    """What the plan used."""

    tokens: int = 0
    tasks: int = 0
    commits: int = 0
    usd: float | None = None


@dataclass(frozen=True, slots=True)
class Summary:
    """One summary."""

    phase: str
    plan: int
    title: str  # what was made, in one line
    completed: str  # a date
    status: str = "complete"  # or halted, or partial
    duration: str = ""
    subsystem: str = ""
    tags: tuple[str, ...] = ()
    provides: tuple[str, ...] = ()
    affects: tuple[str, ...] = ()
    created: tuple[str, ...] = ()
    modified: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    actuals: Actuals = Actuals()
    commits: tuple[tuple[str, str], ...] = ()  # task name and commit; `-` for none
    deviations: tuple[str, ...] = ()  # skipped and forced tasks, and what executors report
    concerns: tuple[str, ...] = ()  # of executors, reviewers and Fairlead; undeclared files
    ledger: str = ""  # the hash of the last ledger entry
    rehearsed: bool = False
    is_sound: bool = True  # its self-check


def new_summary(summary: Summary) -> str:
    """The text of a summary."""
    actuals: dict[str, Value] = {
        "tokens": summary.actuals.tokens,
        "tasks": summary.actuals.tasks,
        "commits": summary.actuals.commits,
    }
    if summary.actuals.usd is not None:
        actuals["usd"] = f"{summary.actuals.usd:.2f}"
    front: dict[str, Value] = {
        "phase": summary.phase,
        "plan": summary.plan,
        "subsystem": summary.subsystem or None,
        "tags": list(summary.tags),
        "provides": list(summary.provides),
        "affects": list(summary.affects),
        "actuals": actuals,
        "key-files": {"created": list(summary.created), "modified": list(summary.modified)},
        "key-decisions": list(summary.decisions),
        "requirements-completed": list(summary.requirements),
        "duration": summary.duration or None,
        "completed": summary.completed,
        "status": summary.status,
    }
    rare: dict[str, Value] = {"ledger": summary.ledger, "rehearsed": summary.rehearsed}
    front |= {key: value for key, value in rare.items() if value}
    commits = [
        f"{at}. **{one_line(name)}** - `{commit or '-'}`"
        for at, (name, commit) in enumerate(summary.commits, 1)
    ]
    parts = [
        "---",
        *block_lines(front, 0),
        "---",
        "",
        f"# Phase {summary.phase} Plan {summary.plan}: Summary",
        "",
        f"**{one_line(summary.title)}**",
        *_section("Task Commits", commits),
        *_section(
            "Files Created/Modified", _items(f"`{p}`" for p in summary.created + summary.modified)
        ),
        *_section("Decisions Made", _items(summary.decisions)),
        *_section("Deviations from Plan", _items(summary.deviations)),
        *_section("Concerns", _items(summary.concerns)),
        "",
        f"## Self-Check: {'PASSED' if summary.is_sound else 'FAILED'}",
        "",
    ]
    return "\n".join(parts)


def read_summary(text: str) -> Summary:
    """Read a summary of any tool; a value that cannot be read is empty."""
    document = Document(text)
    front = document.shown_front
    files = front.get("key-files")
    recorded = front.get("actuals")
    actuals = recorded if isinstance(recorded, dict) else {}
    prose = [line.text for line in document.lines if line.is_prose]
    bold = (line.strip() for line in prose)
    return Summary(
        phase=text_of(front, "phase"),
        plan=_plan_number(text_of(front, "plan")),
        title=next((line.strip("*") for line in bold if _is_bold(line)), ""),
        completed=text_of(front, "completed"),
        status=text_of(front, "status") or "complete",
        duration=text_of(front, "duration"),
        subsystem=text_of(front, "subsystem"),
        tags=list_of(front, "tags"),
        provides=list_of(front, "provides"),
        affects=list_of(front, "affects"),
        created=list_of(files, "created") if isinstance(files, dict) else (),
        modified=list_of(files, "modified") if isinstance(files, dict) else (),
        decisions=list_of(front, "key-decisions"),
        requirements=list_of(front, "requirements-completed"),
        actuals=Actuals(
            *(whole_number(text_of(actuals, key)) or 0 for key in ("tokens", "tasks", "commits"))
        ),
        commits=tuple((m[1], m[2]) for line in prose if (m := _COMMIT.match(line.strip()))),
        ledger=text_of(front, "ledger"),
        rehearsed=text_of(front, "rehearsed") == "true",
        is_sound=summary_head(text.encode("utf-8", "surrogateescape")).proof is not Proof.FAILED,
    )


def fault_of(text: str, plan_id: str) -> str:
    """Why a summary does not prove this plan; empty if it does."""
    proof = summary_head(text.encode("utf-8", "surrogateescape")).proof
    if proof in _PROOFS:
        return _PROOFS[proof]
    named = text_of(Document(text).shown_front, "plan")
    expected, number = _plan_number(plan_id), _plan_number(named)
    is_other = bool(expected) and number not in (0, expected)
    return f"belongs to plan {named}, not to {plan_id}" if is_other else ""


def _plan_number(text: str) -> int:
    match = _LAST_NUMBER.search(text)
    return int(match[1]) if match else 0


def _section(title: str, lines: list[str]) -> list[str]:
    return ["", f"## {title}", "", *lines] if lines else []


def _items(values: Iterable[str]) -> list[str]:
    return [f"- {one_line(value)}" for value in values]


def _is_bold(line: str) -> bool:
    return line.startswith("**") and line.endswith("**") and len(line) > 4
