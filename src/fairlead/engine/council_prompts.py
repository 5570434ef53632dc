"""What is asked of whom: every call of a council job as a template and its pieces, by its key.

What goes into a prompt is read from the job's own documents and passes the filter for secrets.
The same stage with the same documents gives the same question, whatever the job is called; only
the nonce differs. That is how a retry knows which answers still hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from fairlead.engine.council_site import PM, SYNTHESISER
from fairlead.engine.prompting import framed_piece, prompt, template
from fairlead.model.seats import NAMES, ROSTER, VETO_SEATS
from fairlead.records.raw_answer import digest
from fairlead.records.secrets import LeftOut, without_secrets
from fairlead.store import layout_council as names
from fairlead.store.paths import paths_below
from fairlead.values import dataclass, replace

if TYPE_CHECKING:
    from fairlead.engine.council_reading import Reading

BALLOT, SEAT, SYNTHESIS = "ballot", "seat", "synthesis"
_BALLOT_TOKENS = 4096
_MOST_FILES = 400
_FIXED = "0" * 36  # in place of a nonce, where two questions are compared
_LATER = "(not made yet)"
_PLAN = "PLAN "
_READS = {
    "refined": ("request",),
    "audit": ("refined",),
    "research": ("refined", "audit"),
    "verify": ("refined", "audit", "research"),
}
# Pieces that are not always there bring a heading of their own.
_HEADED = {
    "rulings": "A person has decided, and this is fixed:",
    "failed": "Checks that failed before:",
    "earlier": "What you wrote before:",
    "previous": "The master plan that was reviewed. Edit it, do not start over:",
    "items": "Open blocking items. Answer every id, with a change or with a reason:",
    "faults": "What is wrong with your last answer. Put it right, and answer in full again:",
}
_SHORTER = " Your last answer was cut off at that limit: this time, be shorter."
_VETO = (
    "VETO: only you may, and only with evidence: severity high or critical, a step of the plan, "
    "and a concrete reason of at least twenty words."
)


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: to whom, how it is put, and how long it may take."""

    who: str  # pm, synthesiser, or a seat
    role: str
    template: str
    words: Mapping[str, str]
    pieces: Mapping[str, str]  # data, after the filter
    max_tokens: int
    wall: timedelta
    retries: int = 2
    skipped: int = 0  # voices that have had their turn
    left_out: tuple[LeftOut, ...] = ()

    def text(self, nonce: str) -> str:
        """The prompt."""
        headed = {
            key: f"\n{title}\n{framed_piece(key, self.pieces[key], nonce)}\n"
            if self.pieces.get(key)
            else ""
            for key, title in _HEADED.items()
        }
        plain = {key: text for key, text in self.pieces.items() if key not in _HEADED}
        # Each plan has a frame of its own: none can speak for another, or leave it no room.
        plans = [framed_piece(key, plain.pop(key), nonce) for key in self.pieces if _PLAN in key]
        words = {key: text.replace("{{nonce}}", nonce) for key, text in self.words.items()}
        words = {"nonce": nonce, "plans": "\n\n".join(plans) or _LATER, **words, **headed}
        return prompt(self.template, nonce, words, plain)

    @property
    def identity(self) -> str:
        """What the question is, whenever it is asked: without its nonce and the list of files."""
        pieces = {**self.pieces, "files": ""}
        return digest(replace(self, pieces=pieces).text(_FIXED))


def asked(reading: Reading, key: str) -> Asked:
    """The question of a call."""
    folder, _, name = key.rpartition("/")
    name, _, number = name.partition(".")
    attempt = int(number or 1)
    if folder == names.PM:
        return _of_pm(reading, name, attempt)
    if folder == names.SYNTHESIS:
        return _of_synthesis(reading, int(name.removeprefix("v")), attempt)
    round_ = int(folder.rpartition("/r")[2])
    if round_:
        return _of_ballot(reading, name, round_, attempt)
    return _of_plan(reading, name, attempt)


def _of_pm(reading: Reading, name: str, cycle: int) -> Asked:
    terms = reading.terms
    pieces = {each: reading.pm_text(each, cycle) or _LATER for each in _READS[name]}
    if name == "audit":
        pieces["files"] = "\n".join(paths_below(reading.folder, _MOST_FILES))
    if cycle > 1:
        pieces["failed"] = "\n".join(reading.verified(cycle - 1).failed_checks)
        pieces["earlier"] = reading.pm_text(name, cycle - 1)
    pieces["rulings"] = _ruled(reading, of_seats=False)
    return _asked(PM, PM, f"council_{name}", {}, pieces, terms.plan_tokens, terms.pm_wall)


def _of_plan(reading: Reading, seat: str, attempt: int) -> Asked:
    terms = reading.terms
    shorter = _SHORTER if attempt > 1 else ""
    words = {**_seated(seat), "tokens": str(terms.plan_tokens), "shorter": shorter}
    pieces = {"brief": reading.brief or _LATER}
    return _asked(seat, SEAT, "council_plan", words, pieces, terms.plan_tokens, terms.seat_wall)


def _of_synthesis(reading: Reading, version: int, attempt: int) -> Asked:
    terms = reading.terms
    pieces = {
        "brief": reading.brief or _LATER,
        **{_PLAN + letter: reading.plans[seat].text for letter, seat in reading.letters.items()},
        "rulings": _ruled(reading),
        "previous": reading.master_plan(version - 1),
        "items": reading.open_items(version - 1),
    }
    if attempt > 1:
        pieces["faults"] = "\n".join(reading.synthesis(version, attempt - 1).faults)
        pieces["earlier"] = reading.text(names.synthesis_key(version, attempt - 1))
    words = {"tokens": str(terms.plan_tokens), "answer": template("council_synthesis_answer")}
    question = _asked(
        SYNTHESISER,
        SYNTHESIS,
        "council_synthesis",
        words,
        pieces,
        terms.plan_tokens,
        terms.synthesis_wall,
    )
    return replace(question, retries=1)


def _of_ballot(reading: Reading, seat: str, round_: int, attempt: int) -> Asked:
    terms = reading.terms
    pieces = {
        "brief": reading.brief or _LATER,
        "plan": reading.master_plan(round_) or _LATER,
        "own": reading.plan_of(seat) or "(none)",
        "last": reading.text(reading.ballot_key(round_ - 1, seat)) or "(none)",
        "rulings": _ruled(reading),
    }
    if attempt == 2:
        pieces["faults"] = "\n".join(reading.ballot_faults(round_, seat))
        pieces["earlier"] = reading.text(names.seat_key(round_, seat))
    words = {**_seated(seat), "answer": template("council_ballot_answer")}
    words["veto"] = _VETO if seat in VETO_SEATS else ""
    question = _asked(
        seat, BALLOT, "council_ballot", words, pieces, _BALLOT_TOKENS, terms.seat_wall
    )
    return replace(question, skipped=1 if attempt > 2 else 0)


def _seated(seat: str) -> dict[str, str]:
    lens = next(each.lens for each in ROSTER if each.name == seat)
    return {"seat": seat, "lens": lens}


def _ruled(reading: Reading, *, of_seats: bool = True) -> str:
    """What a person decided; items of seats arise after the brief and leave it as it is."""
    wanted = [
        each for each in reading.record.rulings if of_seats or each.id.split("-")[0] not in NAMES
    ]
    return "\n".join(
        f"{each.id}: {each.text}" + (f"\n  It was about: {each.about}" if each.about else "")
        for each in wanted
    )


def _asked(
    who: str,
    role: str,
    name: str,
    words: Mapping[str, str],
    pieces: Mapping[str, str],
    max_tokens: int,
    wall: timedelta,
) -> Asked:
    """The question, with every piece through the filter for secrets."""
    clean: dict[str, str] = {}
    left_out: list[LeftOut] = []
    for key, text in pieces.items():
        clean[key], found = without_secrets(text)
        left_out += found
    return Asked(who, role, name, words, clean, max_tokens, wall, left_out=tuple(left_out))
