"""Calling a role: one way for all of them.

The call is written down before it is made. The role stands in a scratch folder; its documents are
read from the disk first and from its answer second, and a reader of ours decides whether they
are what was asked for. If not, it is asked once more, with the reason. What it gave is kept in
the job's folder, so that a workflow that goes on asks nothing twice.
"""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from fairlead.engine.asking import Patience, Voice, started
from fairlead.engine.fanout import Fanout
from fairlead.engine.prompting import fitted, framed_piece, listed, role_prompt
from fairlead.engine.role_site import Cast, RoleSite, Stopped, Wish, asked, digest_of
from fairlead.errors import ArtefactFault, DocumentError
from fairlead.model.agent_events import AgentEvent, Ending, EndKind, Retried
from fairlead.model.agent_orders import Limits, Order
from fairlead.model.budget import CHARACTERS_A_TOKEN, Actual, Prices, Spent, estimate, may_spend
from fairlead.model.job import QuestionKind
from fairlead.model.roles import Call, Role, Shape
from fairlead.records.artefacts import required
from fairlead.records.ledger import Entry, EntryKind, appended
from fairlead.records.result import Malformed, answer_of
from fairlead.records.secrets import without_secrets
from fairlead.records.state import moment
from fairlead.store import layout
from fairlead.store.digests import digests_of
from fairlead.store.journal import Journal
from fairlead.store.layout_roles import OUTPUT
from fairlead.store.load import Reader
from fairlead.values import dataclass, field, replace

Value = TypeVar("Value")
_TRIES = 2  # the call, and one more with what was wrong with it
_PASSING = (EndKind.RATE_LIMITED, EndKind.OVERLOADED)  # a role that took its time took it all
_NO_NONCE = "0" * 16
_UNFINISHED = "<!-- gsd:write-continue -->"
_DOCUMENT = re.compile(r"(~{3,}|`{3,})[ \t]*document (\S+) (\S+)[ \t]*\Z")


@dataclass(frozen=True, slots=True)
class Ask:
    """What a role is asked."""

    role: Role
    key: str  # names the call in its job, and its file: plan-2
    pieces: Mapping[str, str]  # framed data
    words: Mapping[str, str] = field(default_factory=dict)  # our own, for its template
    outputs: tuple[str, ...] = ()  # the documents it is to write; `*` stands for anything
    prompt: str = ""  # another template than the role's own


@dataclass(frozen=True, slots=True)
class Given:
    """What came back, not yet read."""

    documents: Mapping[str, str]
    answer: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Reply(Generic[Value]):
    """What a call came to; without a value, the note says why."""

    call: Call
    value: Value | None = None

    @property
    def note(self) -> str:
        """What was wrong with it, if anything."""
        return self.call.note


Read = Callable[[Given], Value]


def document(kind: str, name: str) -> Read[str]:
    """Reads one document, which has the parts that its kind must have."""

    def read(given: Given) -> str:
        if name not in given.documents:
            raise ArtefactFault(f"there is no {name}")
        required(kind, name, given.documents[name])
        return given.documents[name]

    return read


def text_of(ask: Ask, nonce: str = _NO_NONCE) -> str:
    """The prompt of a call; without a nonce of its own it tells whether two calls ask the same."""
    role = ask.role
    ending = "documents" if role.shape is Shape.DOCUMENT else ""
    words = {"files": listed([f"`{OUTPUT}/{each}`" for each in ask.outputs]), **ask.words}
    name = ask.prompt or role.prompt
    empty = role_prompt(name, nonce, words, {}, ending)
    room = role.prompt_tokens * CHARACTERS_A_TOKEN - len(empty)
    open_pieces = {key: without_secrets(each)[0] for key, each in ask.pieces.items()}
    return role_prompt(name, nonce, words, fitted(open_pieces, room), ending)


def left_out(ask: Ask) -> tuple[str, ...]:
    """What the secret filter keeps out of a prompt, and where it stands."""
    return tuple(
        f"{key}:{each.line}: {each.kind}"
        for key, text in ask.pieces.items()
        for each in without_secrets(text)[1]
    )


class RoleCalls:
    """Calls the roles of one workflow."""

    def __init__(self, site: RoleSite) -> None:
        self._site = site

    def call(self, ask: Ask, read: Read[Value]) -> Reply[Value]:
        """Ask a role, unless it has answered this very question already."""
        digest = self.digest(ask)
        held = self._site.jobs.load_call(ask.key)
        if held is not None and held.is_ok and held.digest == digest:
            known = _known(held, read)
            if known is not None:
                return Reply(held, known)
        cast = self._site.company.cast(ask.role)
        self._require_budget(ask, cast)
        call = Call(
            ask.key,
            ask.role.name,
            digest,
            moment(self._site.clock.now()),
            agent=cast.agent.name,
            model=cast.model,
            left_out=left_out(ask),
        )
        self._site.jobs.save_call(call)
        reply: Reply[Value] = Reply(call)
        while call.status == "asked" and call.tries < _TRIES:
            reply = self._tried(ask, read, cast, replace(call, tries=call.tries + 1))
            call = reply.call
        ended = replace(
            call,
            status=call.status if call.status != "asked" else "failed",
            ended_at=moment(self._site.clock.now()),
        )
        self._site.jobs.save_call(ended)
        self._site.tell("called", ask.key, ended.note, status=ended.status, tokens=ended.tokens)
        return Reply(ended, reply.value)

    def digest(self, ask: Ask) -> str:
        """What tells one question from another."""
        return digest_of(text_of(ask))

    def all(self, asks: Sequence[tuple[Ask, Read[Value]]]) -> tuple[Reply[Value], ...]:
        """Ask several at once; the replies in the order of the questions."""
        replies: dict[str, Reply[Value]] = {}
        waiting = list(asks)
        beside = Fanout()

        def begin(ask: Ask, read: Read[Value]) -> None:
            def work() -> None:
                replies[ask.key] = self.call(ask, read)

            beside.start(ask.key, work)

        problem: BaseException | None = None
        while waiting or beside.running:
            while waiting and problem is None and len(beside.running) < self._site.company.slots:
                begin(*waiting.pop(0))
            if not beside.running:
                break
            try:
                beside.wait(1.0)
            except BaseException as error:  # noqa: BLE001 - raised again when all have ended
                problem = problem or error
        if problem is not None:
            raise problem
        return tuple(replies[ask.key] for ask, _ in asks)

    # -- one try ---------------------------------------------------------------------------

    def _tried(self, ask: Ask, read: Read[Value], cast: Cast, call: Call) -> Reply[Value]:
        site = self._site
        nonce = site.new_nonce()
        text = text_of(ask, nonce)
        if call.note:
            text = f"{_again(call.note, nonce)}\n\n{text}"
        call = replace(call, prompt_characters=len(text), note="")
        place = f"{site.private}/scratch/{ask.key}"
        with site.turn:
            site.scratch.make(place)
        before = self._guarded()
        made = self._started(ask, cast, call, place, text)
        if site.company.over.is_given or not made:
            raise Stopped
        after = self._guarded()
        changed = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
        ending = made[-1][1]
        documents = _on_disk(place, ask.outputs) or _in_answer(ending.text, nonce, ask.outputs)
        with site.turn:
            site.scratch.remove(place)
        for voice, each in made:
            call = self._paid(call, voice, each)
        if changed:
            note = f"while {ask.role.title} worked, this was changed: {', '.join(changed)}"
            asked(site, Wish(ask.key, note, ("accept", "abort"), kind=QuestionKind.TOUCHED))
        return _judged(ask, read, call, ending, documents, nonce)

    def _started(
        self, ask: Ask, cast: Cast, call: Call, place: str, text: str
    ) -> tuple[tuple[Voice, Ending], ...]:
        """Every start of the call: again where the service was busy, then with who stands in."""
        site, role = self._site, ask.role
        quiet = min(site.company.idle, role.wall)

        def order(voice: Voice, number: int) -> Order:
            site.tell("call", ask.key, f"{role.title} begins", characters=len(text))
            return Order(
                role=role.name,
                prompt=text,
                folder=place,
                raw=f"{site.private}/raw/{ask.key}-{call.tries}{f'-{number + 1}' * bool(number)}",
                job=layout.runs_path(site.files.folder, site.job.id),
                session=site.new_nonce(),
                model=voice.model,
                is_read_only=role.is_read_only,
                tools=role.tools,
                limits=Limits(wall=role.wall, first_event=quiet, idle=quiet),
            )

        def watch(event: AgentEvent) -> None:
            site.company.watch(ask.key, event)
            if isinstance(event, Retried):
                told = f"{event.reason}: again in {event.delay_seconds:.0f} s"
                site.tell("waiting", ask.key, told)

        def is_enough(ending: Ending) -> bool:
            return ending.kind is EndKind.OK or bool(_on_disk(place, ask.outputs))

        patience = Patience(
            site.company.over.wait, lambda: not site.company.over.is_given, watch, passing=_PASSING
        )
        return started(cast.voices, order, patience, is_enough)

    # -- money and evidence ----------------------------------------------------------------

    def _require_budget(self, ask: Ask, cast: Cast) -> None:
        site = self._site
        run, day = site.purse.spent(site.job, moment(site.clock.now())[:10])
        why = may_spend(self.estimate(ask), run, day, site.company.caps)
        if why:
            asked(site, Wish(ask.key, why, ("accept", "abort"), kind=QuestionKind.BUDGET))

    def estimate(self, ask: Ask) -> Spent:
        """What a call will probably take, by what such calls took before."""
        past = [
            Actual(each.role, each.prompt_characters, Spent(each.tokens, each.usd))
            for each in self._site.jobs.load_calls()
        ]
        return estimate(ask.role.name, len(text_of(ask)), past)

    def _paid(self, call: Call, voice: Voice, ending: Ending) -> Call:
        """The call with what a start took; the ledger of the job keeps it, where the purse looks."""
        site, usage = self._site, ending.usage
        usd = ending.cost_usd
        if usd is None:
            usd = Prices().cost(usage.tokens_in, usage.tokens_out, usage.tokens_cached)
        entry = Entry(
            EntryKind.CALL,
            call.key,
            call.tries,
            moment(site.clock.now()),
            voice.agent.name,
            session=ending.session,
            verdict=str(ending.kind),
            tokens_in=usage.tokens_in,
            tokens_out=usage.tokens_out,
            estimated=ending.is_estimated or None,
            cost_usd=usd,
            rehearsed=site.job.is_rehearsed,
            job=site.job.id,
        )
        journal = Journal(site.files.folder, layout.ledger_path(site.job.id))
        journal.append(lambda last: appended(last, entry), command=f"job {site.job.id}")
        tokens = call.tokens + usage.tokens_in + usage.tokens_out
        model = ending.model or voice.model
        return replace(call, tokens=tokens, usd=call.usd + usd, model=model, agent=voice.agent.name)

    def _guarded(self) -> dict[str, str]:
        return {**self._site.scratch.guard(), **digests_of(self._site.company.guarded)}


def _known(call: Call, read: Read[Value]) -> Value | None:
    """What a recorded call gave; nothing where our reader asks for more than it did."""
    try:
        return read(Given(dict(call.documents), call.answer))
    except DocumentError:
        return None


def _again(note: str, nonce: str) -> str:
    told = framed_piece("fault", note, nonce)
    return f"You were asked this before, and what you gave could not be used:\n{told}"


def _judged(
    ask: Ask,
    read: Read[Value],
    call: Call,
    ending: Ending,
    documents: dict[str, str],
    nonce: str,
) -> Reply[Value]:
    """What the try came to: documents that can be read count, whatever the answer says."""
    held = answer_of(ending.text, nonce)
    answer = {} if isinstance(held, Malformed) else dict(held)
    if str(answer.get("status", "")).strip().lower() == "blocked":
        note = str(answer.get("reason") or "it is blocked and does not say by what")
        return Reply(replace(call, status="blocked", note=note, answer=answer))
    if ask.role.shape is Shape.DOCUMENT and not documents:
        return Reply(replace(call, note=_why(ending, held) or "no document was written"))
    if ask.role.shape is Shape.ANSWER and isinstance(held, Malformed):
        return Reply(replace(call, note=_why(ending, held)))
    try:
        value = read(Given(documents, answer))
    except DocumentError as error:
        return Reply(replace(call, note=str(error)))
    kept = tuple(sorted(documents.items()))
    return Reply(replace(call, status="ok", documents=kept, answer=answer), value)


def _why(ending: Ending, held: object) -> str:
    if ending.kind is not EndKind.OK:
        said = ending.error.strip().splitlines()
        return said[-1] if said else f"the agent ended: {ending.kind}"
    return held.reason if isinstance(held, Malformed) else ""


def _on_disk(place: str, wanted: tuple[str, ...]) -> dict[str, str]:
    """The documents in the output folder that were asked for and are finished."""
    reader = Reader(place)
    found = {}
    for name in reader.names(OUTPUT):
        if any(fnmatch.fnmatchcase(name, each) for each in wanted):
            text = _document(reader, name).rstrip()
            if text and not text.endswith(_UNFINISHED):
                found[name] = f"{text}\n"
    return found


def _document(reader: Reader, name: str) -> str:
    """Its text; nothing if it is a link, too large, or no text."""
    try:
        loaded = reader.load_if_present(f"{OUTPUT}/{name}")
    except DocumentError:
        return ""
    return loaded.text if loaded else ""


def _in_answer(text: str, nonce: str, wanted: tuple[str, ...]) -> dict[str, str]:
    """The documents that stand in the answer, each between marks with the nonce."""
    found: dict[str, str] = {}
    fence, name = "", ""
    body: list[str] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        if fence and line.rstrip(" \t") == fence:
            found[name], fence = "".join(body), ""
        elif fence:
            body.append(f"{line}\n")
        elif (match := _DOCUMENT.match(line)) and match[2] == nonce:
            if any(fnmatch.fnmatchcase(match[3], each) for each in wanted):
                fence, name, body = match[1], match[3], []
    return found
