"""Reads a ballot from a seat's answer, strictly.

Only the last line is a verdict: word for word, with the nonce of this call, outside fences and
quotes. Nothing is inferred from prose. An unreadable ballot is asked for once more and then
counts as an abstention, never as a yes. A seat that shows it has not read the plan abstains.
"""

import re
from collections.abc import Collection, Sequence

from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass, replace
from fairlead.council.model import AnswerStatus, Ballot, Category, Item, Vote
from fairlead.council.seats import says_nothing_to_read
from fairlead.council.tally import NO_REASON, is_place, steps_named
from fairlead.text.outline import Line, lines_of

MAX_TEXT = 4000  # characters of one part of an item
LONGEST_ANSWER = 256 * 1024
MAX_ITEMS = 40
SEVERITIES = ("low", "medium", "high", "critical")
_VERDICTS = (Vote.APPROVE, Vote.REVISE, Vote.VETO)
_VERDICT = lazy_pattern(r"[\W_]*verdict\b[^:]{0,80}:", re.IGNORECASE)
_ITEM = lazy_pattern(
    r"[-*+] (?:[*_`]{0,3}([a-z]+-[0-9]{1,4})[*_`]{0,3} )?\[([A-Za-z][A-Za-z ,/:-]{1,40})\](?!\() *(.*)\Z"
)
_ID = lazy_pattern(r"[(\[]?([a-z]+-[0-9]{1,4})[)\]]?(?:\s+|\Z)")
_BAR = lazy_pattern(r"(?<!\\)\s\|\s|\s\|\Z")


@dataclass(frozen=True, slots=True)
class BallotRequest:
    """What a seat was asked: the plan it votes on, and the items it may refer to."""

    seat: str
    nonce: str
    places: tuple[str, ...]  # the steps and parts of the plan
    known: tuple[Item, ...] = ()  # every item of earlier rounds, whichever seat raised it


@dataclass(frozen=True, slots=True)
class BallotReading:
    """What an answer says. A fault is a reason to ask once more; without a repair it stands."""

    vote: Vote
    blocking: tuple[Item, ...] = ()
    advisory: tuple[Item, ...] = ()
    status: AnswerStatus = AnswerStatus.OK
    fault: str = ""
    note: str = ""


def read_ballot(text: str, request: BallotRequest) -> BallotReading:
    """Read the ballot in an answer."""
    if len(text) > LONGEST_ANSWER:
        return _unreadable(f"the answer has more than {LONGEST_ANSWER:,} characters")
    lines = lines_of(text, is_answer=True)
    vote, fault = _verdict(lines, request.nonce)
    if vote is None:
        return _unreadable(fault)
    unnumbered, fault = _items(lines)
    if len(unnumbered) > MAX_ITEMS:
        return _unreadable(f"the answer has {len(unnumbered)} items, more than {MAX_ITEMS}")
    items = _numbered(unnumbered, request)
    if note := _unread_note(lines, items, request.places):
        return BallotReading(Vote.ABSTAIN, status=AnswerStatus.BLIND, note=note)
    if vote is Vote.APPROVE:
        return BallotReading(vote, advisory=items)
    if not items:
        placeholder = Item(_next_id(request, 0), Category.AMBIGUITY, "", NO_REASON)
        fault = f"{vote} needs at least one item that gives the reason"
        return BallotReading(vote, (placeholder,), fault=fault)
    return BallotReading(vote, items, fault=fault)


def after_repair(first: BallotReading, second: BallotReading | None) -> BallotReading:
    """Return the reading that counts after the one repair call; None: it was not answered.

    A repair may add a missing reason or verdict. It cannot turn a no into a yes: a seat that was
    asked for its reason and approves instead has not been convinced by anything.
    """
    if not first.fault or second is None or second.vote is Vote.ABSTAIN:
        return first
    if first.vote is not Vote.ABSTAIN and second.vote is Vote.APPROVE:
        return first
    return replace(second, status=AnswerStatus.REPAIRED, fault="", note=first.fault)


def known_items(history: Sequence[Ballot], before_round: int) -> tuple[Item, ...]:
    """List the items of earlier rounds, each once; ballots of one round stay secret in it."""
    items: dict[str, Item] = {}
    for ballot in history:
        if ballot.round < before_round:
            for item in (*ballot.blocking, *ballot.advisory):
                items.setdefault(item.id, item)
    return tuple(items.values())


def _verdict(lines: tuple[Line, ...], nonce: str) -> tuple[Vote | None, str]:
    if not nonce:
        raise ValueError("a verdict without a nonce proves nothing")
    written = [line for line in lines if line.text.strip()]
    if not written:
        return None, "the answer is empty"
    last = written[-1]
    verdicts = {f"VERDICT {nonce}: {vote}": vote for vote in _VERDICTS}
    vote = verdicts.get(last.text.rstrip(" \t"))
    if vote is None or not last.is_prose:
        return None, "the last line is not one of the three verdicts, with the code of this call"
    if any(_is_verdict(line) for line in written[:-1]):
        return None, "there is more than one verdict"
    return vote, ""


def _is_verdict(line: Line) -> bool:
    # A quoted line repeats somebody else's words.
    is_quote = line.text.lstrip().startswith(">")
    return line.is_prose and not is_quote and _VERDICT.match(line.text) is not None


def _items(lines: tuple[Line, ...]) -> tuple[list[Item], str]:
    """Read the items of an answer, without their final ids, and what is wrong with them."""
    texts: list[tuple[str, str]] = []  # category and severity, and the rest
    is_open = False
    for line in lines:
        match = _ITEM.match(line.text.strip()) if line.is_prose else None
        if match and not line.text.startswith("    "):
            texts.append((match[2], f"{match[1]} {match[3]}" if match[1] else match[3]))
            is_open = True
        elif is_open and line.is_prose and line.text.startswith(("  ", "\t")) and line.text.strip():
            head, text = texts[-1]
            texts[-1] = (head, f"{text} {line.text.strip()}")
        else:
            is_open = False
    faults: list[str] = []
    return [_item(head, text, faults) for head, text in texts], "; ".join(faults[:3])


def _item(head: str, text: str, faults: list[str]) -> Item:
    words = re.split(r"[ ,/:]+", head.casefold().strip())
    severity = next((word for word in words if word in SEVERITIES), "")
    category = next((word for word in words if word in tuple(Category)), "")
    if not category:
        faults.append(f"{head!r} is none of: {', '.join(Category)}")
        text = f"{text} [{head}]"
    problem, _, fix = (_BAR.sub("\0", text, count=1)).partition("\0")
    where, colon, why = problem.partition(": ")
    if not colon:
        where, why = "", problem
    where, why, fix = (part.strip()[:MAX_TEXT] for part in (where, why, fix))
    return Item("", Category(category or Category.AMBIGUITY), where, why, fix, severity)


def _numbered(items: Sequence[Item], request: BallotRequest) -> tuple[Item, ...]:
    """Give the items their ids; an item that was raised before keeps the id it had.

    A seat refers to an earlier item by citing its id, or by repeating it word for word.
    """
    known = {item.id: item for item in request.known}
    ids = {_content(item): item.id for item in request.known}
    numbered: dict[str, Item] = {}
    for original in items:
        item = original
        cited = _ID.match(item.where or item.why)
        if cited and cited[1] in known:
            name = cited[1]
            where = item.where[cited.end() :] or known[name].where
            why = item.why if item.where else item.why[cited.end() :]
            item = replace(item, where=where, why=why)
        else:
            new_count = len(numbered.keys() - known.keys())
            name = ids.setdefault(_content(item), _next_id(request, new_count))
        numbered.setdefault(name, replace(item, id=name))
    return tuple(numbered.values())


def _next_id(request: BallotRequest, new_count: int) -> str:
    pattern = re.compile(rf"{re.escape(request.seat)}-([0-9]{{1,4}})")
    matches = (pattern.fullmatch(item.id) for item in request.known)
    last = max((int(match[1]) for match in matches if match), default=0)
    return f"{request.seat}-{last + new_count + 1}"


def _content(item: Item) -> tuple[str, ...]:
    return item.category, *(" ".join(text.casefold().split()) for text in (item.where, item.why))


def _unread_note(lines: Sequence[Line], items: Sequence[Item], places: Collection[str]) -> str:
    """Say why the answer cannot be about this plan; empty if it can."""
    prose = [line.text for line in lines if line.is_prose and not _ITEM.match(line.text.strip())]
    if says_nothing_to_read("\n".join(prose)):
        return "the seat says that it could not read the plan"
    steps = [item.where for item in items if steps_named(item.where)]
    if steps and places and not any(is_place(where, places) for where in steps):
        return f"the plan has no {steps[0]}"
    return ""


def _unreadable(fault: str) -> BallotReading:
    return BallotReading(Vote.ABSTAIN, status=AnswerStatus.UNREADABLE, fault=fault, note=fault)
