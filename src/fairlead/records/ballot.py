"""Ballots: what a seat's answer says, read strictly.

Only the last line is a verdict, word for word and with the nonce of this call, outside of any
fence or quote; nothing is guessed from prose. What cannot be read is asked for once more, and
then is an abstention, which never is a yes. A seat that shows it has not read the plan abstains.
"""

import re
from collections.abc import Collection, Sequence

from fairlead.model.council_job import AnswerStatus, Ballot, Category, Item, Vote
from fairlead.model.seats import says_unread
from fairlead.model.tally import NO_REASON, is_place, steps_named
from fairlead.text.outline import Line, lines_of
from fairlead.values import dataclass, replace

LONGEST_PIECE = 4000
LONGEST_ANSWER = 256 * 1024
MOST_ITEMS = 40
SEVERITIES = ("low", "medium", "high", "critical")
_SPOKEN = (Vote.APPROVE, Vote.REVISE, Vote.VETO)
_VERDICT = re.compile(r"[\W_]*verdict\b[^:]{0,80}:", re.IGNORECASE)
_ITEM = re.compile(
    r"[-*+] (?:[*_`]{0,3}([a-z]+-[0-9]{1,4})[*_`]{0,3} )?\[([A-Za-z][A-Za-z ,/:-]{1,40})\](?!\() *(.*)\Z"
)
_ID = re.compile(r"[(\[]?([a-z]+-[0-9]{1,4})[)\]]?(?:\s+|\Z)")
_BAR = re.compile(r"(?<!\\)\s\|\s|\s\|\Z")


@dataclass(frozen=True, slots=True)
class Asked:
    """What a seat was asked: the plan it votes on, and the items it may refer to."""

    seat: str
    nonce: str
    places: tuple[str, ...]  # the steps and parts of the plan
    known: tuple[Item, ...] = ()  # every item of earlier rounds, whoever raised it


@dataclass(frozen=True, slots=True)
class Reading:
    """What an answer says. With a fault it is asked for once more; what it says stands if that fails."""

    vote: Vote
    blocking: tuple[Item, ...] = ()
    advisory: tuple[Item, ...] = ()
    status: AnswerStatus = AnswerStatus.OK
    fault: str = ""
    note: str = ""


def read_ballot(text: str, asked: Asked) -> Reading:
    """The ballot that an answer holds."""
    if len(text) > LONGEST_ANSWER:
        return _unreadable(f"the answer has more than {LONGEST_ANSWER:,} characters")
    lines = lines_of(text)
    vote, fault = _verdict(lines, asked.nonce)
    if vote is None:
        return _unreadable(fault)
    found, odd = _items(lines)
    if len(found) > MOST_ITEMS:
        return _unreadable(f"there are {len(found)} items, {MOST_ITEMS} are the most")
    items = _numbered(found, asked)
    blind = _blind(lines, items, asked.places)
    if blind:
        return Reading(Vote.ABSTAIN, status=AnswerStatus.BLIND, note=blind)
    if vote is Vote.APPROVE:
        return Reading(vote, advisory=items)
    if not items:
        nothing = Item(_next_id(asked, 0), Category.AMBIGUITY, "", NO_REASON)
        return Reading(vote, (nothing,), fault=f"{vote} needs at least one item that says why")
    return Reading(vote, items, fault=odd)


def settled(first: Reading, again: Reading | None) -> Reading:
    """What stands after the one repair call; None: it was not answered.

    A repair may give a reason or a verdict that was missing. It cannot turn a no into a yes: who
    was asked for a reason and approves instead has not been convinced by anything.
    """
    if not first.fault or again is None or again.vote is Vote.ABSTAIN:
        return first
    if first.vote is not Vote.ABSTAIN and again.vote is Vote.APPROVE:
        return first
    repaired = replace(again, fault="", note=first.fault)
    return replace(repaired, status=AnswerStatus.REPAIRED)


def known_items(history: Sequence[Ballot], before_round: int) -> tuple[Item, ...]:
    """The items of earlier rounds, each once; a ballot of this round is nobody else's to see."""
    found: dict[str, Item] = {}
    for ballot in history:
        if ballot.round < before_round:
            for item in (*ballot.blocking, *ballot.advisory):
                found.setdefault(item.id, item)
    return tuple(found.values())


def _verdict(lines: tuple[Line, ...], nonce: str) -> tuple[Vote | None, str]:
    if not nonce:
        raise ValueError("a verdict without a nonce proves nothing")
    said = [line for line in lines if line.text.strip()]
    if not said:
        return None, "the answer is empty"
    last = said[-1]
    wanted = {f"VERDICT {nonce}: {vote}": vote for vote in _SPOKEN}
    vote = wanted.get(last.text.rstrip(" \t"))
    if vote is None or not last.is_prose:
        return None, "the last line is not one of the three verdicts, with the code of this call"
    others = [line for line in said[:-1] if line.is_prose and _VERDICT.match(_unquoted(line.text))]
    if others:
        return None, "there is more than one verdict"
    return vote, ""


def _unquoted(text: str) -> str:
    """A line of prose; one of a quote is nobody's verdict."""
    return "" if text.lstrip().startswith(">") else text


def _items(lines: tuple[Line, ...]) -> tuple[list[Item], str]:
    """The items of an answer without their ids, and what is odd about them."""
    texts: list[tuple[str, str]] = []
    is_open = False
    for line in lines:
        found = _ITEM.match(line.text.strip()) if line.is_prose else None
        if found and not line.text.startswith("    "):
            texts.append((found[2], f"{found[1]} {found[3]}" if found[1] else found[3]))
            is_open = True
        elif is_open and line.is_prose and line.text.startswith(("  ", "\t")) and line.text.strip():
            head, told = texts[-1]
            texts[-1] = (head, f"{told} {line.text.strip()}")
        else:
            is_open = False
    faults: list[str] = []
    return [_item(head, told, faults) for head, told in texts], "; ".join(faults[:3])


def _item(head: str, told: str, faults: list[str]) -> Item:
    words = re.split(r"[ ,/:]+", head.casefold().strip())
    severity = next((word for word in words if word in SEVERITIES), "")
    named = next((word for word in words if word in tuple(Category)), "")
    if not named:
        faults.append(f"{head!r} is none of: {', '.join(Category)}")
        told = f"{told} [{head}]"
    problem, _, fix = (_BAR.sub("\0", told, count=1)).partition("\0")
    where, colon, why = problem.partition(": ")
    if not colon:
        where, why = "", problem
    where, why, fix = (each.strip()[:LONGEST_PIECE] for each in (where, why, fix))
    return Item("", Category(named or Category.AMBIGUITY), where, why, fix, severity)


def _numbered(items: Sequence[Item], asked: Asked) -> tuple[Item, ...]:
    """The items with their ids: one that was raised before keeps the id it had."""
    known = {item.id: item for item in asked.known}
    told = {_content(item): item.id for item in asked.known}
    found: dict[str, Item] = {}
    for said in items:
        item = said
        cited = _ID.match(item.where or item.why)
        if cited and cited[1] in known:
            name = cited[1]
            where = item.where[cited.end() :] or known[name].where
            why = item.why if item.where else item.why[cited.end() :]
            item = replace(item, where=where, why=why)
        else:
            fresh = len(found.keys() - known.keys())
            name = told.setdefault(_content(item), _next_id(asked, fresh))
        found.setdefault(name, replace(item, id=name))
    return tuple(found.values())


def _next_id(asked: Asked, more: int) -> str:
    mine = (
        re.fullmatch(rf"{re.escape(asked.seat)}-([0-9]{{1,4}})", each.id) for each in asked.known
    )
    last = max((int(each[1]) for each in mine if each), default=0)
    return f"{asked.seat}-{last + more + 1}"


def _content(item: Item) -> tuple[str, str, str]:
    return (
        item.category,
        " ".join(item.where.casefold().split()),
        " ".join(item.why.casefold().split()),
    )


def _blind(lines: Sequence[Line], items: Sequence[Item], places: Collection[str]) -> str:
    """Why the answer cannot be about this plan; empty if it can."""
    talk = [line.text for line in lines if line.is_prose and not _ITEM.match(line.text.strip())]
    if says_unread("\n".join(talk)):
        return "the seat says that it could not read the plan"
    steps = [item.where for item in items if steps_named(item.where)]
    if steps and places and not any(is_place(where, places) for where in steps):
        return f"the plan has no {steps[0]}"
    return ""


def _unreadable(fault: str) -> Reading:
    return Reading(Vote.ABSTAIN, status=AnswerStatus.UNREADABLE, fault=fault, note=fault)
