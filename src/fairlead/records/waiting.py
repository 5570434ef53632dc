"""WAITING.json: the project waits for an answer of a person."""

import json
from datetime import datetime

from fairlead.records.state import moment
from fairlead.text.inline import one_line
from fairlead.values import dataclass

DECISION = "decision_point"


@dataclass(frozen=True, slots=True)
class Question:
    """What a person is asked."""

    question: str
    options: tuple[str, ...] = ()
    phase: str = ""
    kind: str = DECISION


def waiting_text(question: Question, now: datetime) -> str:
    """The signal as a file."""
    content = {
        "status": "waiting",
        "type": one_line(question.kind, "the kind"),
        "question": one_line(question.question, "the question"),
        "options": [one_line(option, "an option") for option in question.options],
        "since": moment(now),
        "phase": question.phase or None,
    }
    return json.dumps(content, ensure_ascii=False, indent=2) + "\n"


def same_question(text: str, question: Question) -> bool:
    """Whether a signal asks the same already."""
    return question_of(text) == one_line(question.question)


def question_of(text: str) -> str:
    """What a signal asks; nothing if it cannot be read."""
    try:
        held = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    return str(held.get("question") or "") if isinstance(held, dict) else ""
