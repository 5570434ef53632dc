"""The table of attacks: who attacks, what the attack does, and what has to happen.

Each attack is one function below a decorator that adds its row. The rows are in the order of the
modules, so that the page in the documentation and the seeded sample stay the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.attacks.arena import Arena


class Attacker(StrEnum):
    """Who attacks, or through what."""

    EXECUTOR = "executor"
    REVIEWER = "reviewer"
    SEAT = "council seat"
    ROLE = "role"
    PLAN = "plan file"
    REPOSITORY = "repository content"
    ENVIRONMENT = "environment and PATH"


class Expected(StrEnum):
    """What has to happen."""

    VERIFY_FAILS = "the verify command fails, and nothing lands"
    ASKED = "the change is undone, or a person is asked about it; nothing lands before the answer"
    ASKED_ABOUT_FILES = "the person sees the file and decides; it lands only with their consent"
    LEFT_OUT = "the file does not land; the rest of the work does"
    ATTEMPT_FAILS = "the attempt fails with the reason, and nothing lands"
    NO_EFFECT = "no effect: the run ends as it would without the attack"
    VOID = "the answer does not count"
    REFUSED = "refused with an error and an exit code"
    MASKED = "the secret is masked"
    VISIBLE = "shown with every control character visible"


class Defence(StrEnum):
    """What stops an attack. A planted weakness switches one of these off."""

    CLEAN_TREE = "verify sees exactly the files of the commit"
    TAMPER_CHECK = "the tamper check around every call and command"
    OBJECTS = "objects have the content that their ids name"
    PRIVATE_GIT = "our own git reads settings from before the agents"
    UNDECLARED = "the rule about undeclared files"
    SUPERVISOR = "the supervisor ends every process of an agent"
    PROOFS = "private proofs of answers"
    RECORDED_ANSWERS = "the person's own record of answers"
    NONCE = "a nonce for each call"
    SECRET_FILTER = "the filter for secrets"
    VISIBLE_TEXT = "control characters are made visible"
    EVALUATION = "completeness is evaluated, not read"
    READING = "strict readers with limits"
    SEARCH_PATH = "programs are not taken from inside the project"
    ATTEMPT_IS_READ_ONLY = "commands inside an attempt only read"
    LINKS = "no link out of the project lands or is followed"
    APPROVAL = "approval of the exact text of a plan"
    SCRATCH = "each role works in a scratch folder of its own"


Carry = Callable[["Arena"], None]


@dataclass(frozen=True, slots=True)
class Attack:
    """One row of the table."""

    id: str
    attacker: Attacker
    what: str
    expected: Expected
    defence: Defence
    carry_out: Carry  # raises AssertionError if the attack succeeds


ATTACKS: dict[str, Attack] = {}


def attack(
    id_: str, attacker: Attacker, what: str, expected: Expected, defence: Defence
) -> Callable[[Carry], Carry]:
    """Add a row to the table."""

    def add(carry_out: Carry) -> Carry:
        assert id_ not in ATTACKS, id_
        ATTACKS[id_] = Attack(id_, attacker, what, expected, defence, carry_out)
        return carry_out

    return add
