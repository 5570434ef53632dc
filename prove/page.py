"""Writes the page of proofs: what was tried, how often, when, and what was found.

The figures are in docs/reference/proof.json. The page is generated from them alone, so that a test
can compare the two. Only `make prove` writes here.
"""

from collections.abc import Iterable
from pathlib import Path

from prove.frame import Progress, Proof
from tests.support.figures import QUICK, fingerprint, read_json, write_json
from tests.support.programs import ROOT

FIGURES = ROOT / "docs" / "reference" / "proof.json"
PAGE = ROOT / "docs" / "reference" / "proof.md"

Row = dict[str, object]

_HEAD = """\
# Proof

Each row is a promise of Fairlead, tested with real faults on real processes. `make prove MINUTES=n`
generates this page from `proof.json`; do not edit it. The modules in `tests/support` and `prove`
describe how each test works.

*Source* is a fingerprint of the code that was tested. A row stays until the same proof has been
completed on newer code. *Found* is the number of broken promises; any number but 0 is a bug.
"""


def update(proofs: Iterable[Proof], progress: Progress, seed: int, minutes: float) -> None:
    """Store the figures of this run and write the page."""
    saved = read_json(FIGURES)
    long, quick = _rows(saved.get("long")), _rows(saved.get("quick"))
    for proof in proofs:
        row = progress.rows.get(proof.name)
        if isinstance(row, dict) and row.get("tried"):
            new = _long_row(proof, row, seed, minutes)
            if new["complete"] or not _is_complete(long.get(proof.name)) or _is_same(new, long):
                long[proof.name] = new
    for path in sorted(QUICK.glob("*.json")):
        figures = read_json(path)
        if figures.get("source") == fingerprint():
            quick[str(figures["name"])] = figures
    value = {"long": long, "quick": quick}
    if value != saved:
        FIGURES.parent.mkdir(parents=True, exist_ok=True)
        write_json(FIGURES, value)
    draw(FIGURES, PAGE)


def draw(figures: Path, page: Path) -> None:
    """Write the page that belongs to the figures."""
    text = page_of(read_json(figures))
    if not page.exists() or page.read_text("utf-8") != text:
        page.write_text(text, "utf-8")


def page_of(figures: Row) -> str:
    """The page as text."""
    lines = [_HEAD, "## The long tier: `make prove`\n"]
    lines += ["| proof | claim | tried | found | time | date | source |"]
    lines += ["|---|---|---|---|---|---|---|"]
    for name, row in sorted(_rows(figures.get("long")).items()):
        tried = f"{_number(row['tried']):,} {row['unit']}"
        if not row["complete"]:
            tried += f" ({_number(row['done']):,} of {_number(row['cases']):,} cases)"
        details = _details(row.get("figures"))
        lines.append(
            f"| {name} | {row['claim']}{details} | {tried} | {row['found']} "
            f"| {float(str(row['seconds'])):,.0f} s | {row['date']} | `{row['source']}` |"
        )
    lines += ["", "## The quick tier: `make test`\n"]
    lines += ["| proof | claim | figures | date | source |", "|---|---|---|---|---|"]
    for name, row in sorted(_rows(figures.get("quick")).items()):
        counts = _details(row.get("counts")).removeprefix("; ")
        lines.append(f"| {name} | {row['claim']} | {counts} | {row['date']} | `{row['source']}` |")
    return "\n".join(lines) + "\n"


def _long_row(proof: Proof, row: Row, seed: int, minutes: float) -> Row:
    done, findings = row["done"], row["findings"]
    assert isinstance(done, list)
    assert isinstance(findings, list)
    return {
        "claim": proof.claim,
        "unit": proof.unit,
        "tried": row["tried"],
        "cases": row["cases"],
        "done": len(done),
        "complete": len(done) >= _number(row["cases"]),
        "found": len(findings),
        "figures": row["figures"],
        "seconds": row["seconds"],
        "date": row["date"],
        "source": row["source"],
        "command": f"python -m prove --only {proof.name} --minutes {minutes:g}",
        "seed": seed,
    }


def _details(value: object) -> str:
    if not isinstance(value, dict):
        return ""
    return "".join(f"; {_shown(figure)} {name}" for name, figure in sorted(value.items()))


def _shown(figure: object) -> str:
    if isinstance(figure, float):
        return f"{figure:,.1f}"
    return f"{figure:,}" if isinstance(figure, int) else str(figure)


def _rows(value: object) -> dict[str, Row]:
    return {str(name): dict(row) for name, row in value.items()} if isinstance(value, dict) else {}


def _number(value: object) -> int:
    return int(str(value))


def _is_complete(row: Row | None) -> bool:
    return bool(row and row.get("complete"))


def _is_same(new: Row, old: dict[str, Row]) -> bool:
    return any(
        row.get("source") == new["source"] and row.get("claim") == new["claim"]
        for row in old.values()
    )
