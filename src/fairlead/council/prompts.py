"""Builds the prompt of every call of a council job from its key.

A prompt is a template filled with documents of the job, which pass the filter for secrets. The
same stage with the same documents gives the same prompt in every job; only the nonce differs.
That is how a retry knows which answers it can reuse.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING

from fairlead.agents.secrets import LeftOut, without_secrets
from fairlead.core.values import dataclass, field, replace
from fairlead.council import paths as names
from fairlead.council.seats import (
    BALLOT,
    PM,
    ROSTER,
    SEAT,
    SEAT_NAMES,
    SYNTHESIS,
    SYNTHESISER,
    VETO_SEATS,
)
from fairlead.council.tally import EVIDENCE_WORDS
from fairlead.jobs.prompts import framed_piece, prompt, template
from fairlead.jobs.raw_answers import digest

if TYPE_CHECKING:
    from fairlead.council.answers import CouncilAnswers

_BALLOT_TOKENS = 4096
_MAX_FILES = 400
_NO_NONCE = "0" * 36  # where two prompts are compared
_LATER = "(not made yet)"
_PLAN = "PLAN "
_INPUTS = {  # what each pass of the PM reads
    "refined": ("request",),
    "audit": ("refined",),
    "research": ("refined", "audit"),
    "verify": ("refined", "audit", "research"),
}
_OPTIONAL = {  # pieces that are left out when empty, with their headings
    "rulings": "Decisions of a person; they are fixed:",
    "failed": "Checks that failed before:",
    "earlier": "Your earlier answer:",
    "previous": "The master plan that was reviewed. Edit it, do not start over:",
    "items": "Open blocking items. Answer every id, with a change or with a reason:",
    "faults": "Faults of your last answer. Correct them, and answer in full again:",
}
_SHORTER = " Your last answer reached that limit: this time, be shorter."
_VETO = (
    "VETO: only your seat may veto, and only with evidence: severity high or critical, a step of "
    f"the plan, and a concrete reason of at least {EVIDENCE_WORDS} words."
)
_HIDDEN = (".git", ".planning", "node_modules", ".venv", "__pycache__")


@dataclass(frozen=True, slots=True)
class CouncilPrompt:
    """One prompt: the role it is for, its parts, and the limits of the call."""

    who: str  # pm, synthesiser, or a seat
    role: str
    template: str
    pieces: Mapping[str, str]  # data, which is framed
    max_tokens: int
    wall: timedelta
    words: Mapping[str, str] = field(default_factory=dict)  # of the prompt itself
    retries: int = 2
    skipped: int = 0  # respondents that are not asked again
    left_out: tuple[LeftOut, ...] = ()

    def text(self, nonce: str) -> str:
        """Return the text of the prompt."""
        pieces = dict(self.pieces)
        optional = {key: pieces.pop(key, "") for key in _OPTIONAL}
        headed = {
            key: f"\n{_OPTIONAL[key]}\n{framed_piece(key, text, nonce)}\n" if text else ""
            for key, text in optional.items()
        }
        # Each plan has its own frame, so that no plan can speak for another or crowd it out.
        plans = [framed_piece(key, pieces.pop(key), nonce) for key in self.pieces if _PLAN in key]
        words = {key: text.replace("{{nonce}}", nonce) for key, text in self.words.items()}
        words = {"nonce": nonce, "plans": "\n\n".join(plans) or _LATER, **words, **headed}
        return prompt(self.template, nonce, words, pieces)

    @property
    def identity(self) -> str:
        """The hash of the prompt without its nonce and without the list of files."""
        pieces = {**self.pieces, "files": ""}
        return digest(replace(self, pieces=pieces).text(_NO_NONCE))


def council_prompt(answers: CouncilAnswers, key: str) -> CouncilPrompt:
    """Build the prompt of a call; every piece passes the filter for secrets."""
    folder, _, name = key.rpartition("/")
    name, _, number = name.partition(".")
    attempt = int(number or 1)
    if folder == names.PM:
        question = _pm_prompt(answers, name, attempt)
    elif folder == names.SYNTHESIS:
        question = _synthesis_prompt(answers, int(name.removeprefix("v")), attempt)
    elif round_ := names.number_of(key):
        question = _ballot_prompt(answers, name, round_, attempt)
    else:
        question = _plan_prompt(answers, name, attempt)
    filtered = {piece: without_secrets(text) for piece, text in question.pieces.items()}
    return replace(
        question,
        pieces={piece: text for piece, (text, _) in filtered.items()},
        left_out=tuple(secret for _, secrets in filtered.values() for secret in secrets),
    )


def _pm_prompt(answers: CouncilAnswers, name: str, cycle: int) -> CouncilPrompt:
    pieces = {piece: answers.pm_text(piece, cycle) or _LATER for piece in _INPUTS[name]}
    if name == "audit":
        pieces["files"] = "\n".join(paths_below(answers.folder, _MAX_FILES))
    if cycle > 1:
        pieces["failed"] = "\n".join(answers.verified(cycle - 1).failed_checks)
        pieces["earlier"] = answers.pm_text(name, cycle - 1)
    pieces["rulings"] = _rulings_text(answers, of_seats=False)
    options = answers.options
    return CouncilPrompt(PM, PM, f"council_{name}", pieces, options.plan_tokens, options.pm_wall)


def _plan_prompt(answers: CouncilAnswers, seat: str, attempt: int) -> CouncilPrompt:
    options = answers.options
    shorter = _SHORTER if attempt > 1 else ""
    return CouncilPrompt(
        seat,
        SEAT,
        "council_plan",
        {"brief": answers.brief or _LATER},
        options.plan_tokens,
        options.seat_wall,
        words={**_seat_words(seat), "tokens": str(options.plan_tokens), "shorter": shorter},
    )


def _synthesis_prompt(answers: CouncilAnswers, version: int, attempt: int) -> CouncilPrompt:
    options = answers.options
    pieces = {
        "brief": answers.brief or _LATER,
        **{_PLAN + letter: answers.plans[seat].text for letter, seat in answers.letters.items()},
        "rulings": _rulings_text(answers),
        "previous": answers.master_plan(version - 1),
        "items": answers.open_items_text(version - 1),
    }
    if attempt > 1:
        pieces["faults"] = "\n".join(answers.synthesis(version, attempt - 1).faults)
        pieces["earlier"] = answers.text(names.synthesis_key(version, attempt - 1))
    return CouncilPrompt(
        SYNTHESISER,
        SYNTHESIS,
        "council_synthesis",
        pieces,
        options.plan_tokens,
        options.synthesis_wall,
        words={
            "tokens": str(options.plan_tokens),
            "answer": template("council_synthesis_answer"),
        },
        retries=1,
    )


def _ballot_prompt(answers: CouncilAnswers, seat: str, round_: int, attempt: int) -> CouncilPrompt:
    pieces = {
        "brief": answers.brief or _LATER,
        "plan": answers.master_plan(round_) or _LATER,
        "own": answers.plan_of(seat) or "(none)",
        "last": answers.text(answers.ballot_key(round_ - 1, seat)) or "(none)",
        "rulings": _rulings_text(answers),
    }
    if attempt == 2:
        pieces["faults"] = "\n".join(answers.ballot_faults(round_, seat))
        pieces["earlier"] = answers.text(names.seat_key(round_, seat))
    return CouncilPrompt(
        seat,
        BALLOT,
        "council_ballot",
        pieces,
        _BALLOT_TOKENS,
        answers.options.seat_wall,
        words={
            **_seat_words(seat),
            "answer": template("council_ballot_answer"),
            "veto": _VETO if seat in VETO_SEATS else "",
        },
        skipped=1 if attempt > 2 else 0,  # the third call goes to a stand-in if there is one
    )


def _seat_words(seat: str) -> dict[str, str]:
    lens = next(other.lens for other in ROSTER if other.name == seat)
    return {"seat": seat, "lens": lens}


def _rulings_text(answers: CouncilAnswers, *, of_seats: bool = True) -> str:
    """List the decisions of a person.

    The PM does not see those about items of seats: they arose after the brief, and with them its
    prompts, and so the brief, would change.
    """
    lines = []
    for ruling in answers.record.rulings:
        if of_seats or ruling.id.split("-")[0] not in SEAT_NAMES:
            lines.append(f"{ruling.id}: {ruling.text}")
            lines += [f"  It was about: {ruling.about}"] if ruling.about else []
    return "\n".join(lines)


def paths_below(folder: str, limit: int) -> tuple[str, ...]:
    """List the files below a folder, sorted and up to a limit, without tool folders."""
    paths: list[str] = []
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _HIDDEN)
        inside = os.path.relpath(place, folder)
        paths += [os.path.normpath(os.path.join(inside, name)) for name in sorted(files)]
        if len(paths) >= limit:
            break
    return tuple(paths[:limit])
