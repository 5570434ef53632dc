"""Asking a role: the request, the call with its retry, and reading the answer.

A call is recorded before it starts. The role works in a scratch folder; its documents are read
from the disk first and from the text of its answer second, and a reader decides whether they are
what was asked for. If not, the role is asked once more with the reason. The answer is stored in
the job's folder, so that a resumed workflow does not ask again.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from fairlead.agents.ask import Respondent, RetryPolicy, call_until
from fairlead.agents.budget import CHARACTERS_A_TOKEN, Actual, Cost, Prices, estimate
from fairlead.agents.errors import AgentRefused
from fairlead.agents.model import (
    AgentCall,
    AgentEvent,
    CallLimits,
    CallResult,
    CommandPermissions,
    EndKind,
    ModelRetried,
)
from fairlead.agents.ports import Agent
from fairlead.agents.secrets import without_secrets
from fairlead.core.concurrency import ThreadGroup
from fairlead.core.errors import DocumentError
from fairlead.core.patterns import lazy_pattern
from fairlead.core.values import dataclass, field, replace
from fairlead.execution.answers import Malformed, answer_of
from fairlead.jobs.calls import CallLedger, CallRecorder, recorded
from fairlead.jobs.ledger import EntryKind
from fairlead.jobs.model import CallRecord, QuestionKind
from fairlead.jobs.paths import JOBS, OUTPUT, runs_path
from fairlead.jobs.prompts import fitted, framed_piece, listed, role_prompt
from fairlead.jobs.roster import login_of
from fairlead.store.reader import Reader
from fairlead.workflows.artefacts import read_required
from fairlead.workflows.errors import ArtefactFault
from fairlead.workflows.questions import (
    PendingQuestion,
    RunStopped,
    WorkflowContext,
    answer_to,
    digest_of,
)
from fairlead.workflows.roles import Role, Shape

Value = TypeVar("Value")
_MAX_TRIES = 2  # the second try states what was wrong with the first answer
# Only these are retried within a call; a role that timed out would take as long again.
_RETRIED = (EndKind.RATE_LIMITED, EndKind.OVERLOADED)
_NO_NONCE = "0" * 16
_UNFINISHED = "<!-- gsd:write-continue -->"
_DOCUMENT = lazy_pattern(r"(~{3,}|`{3,})[ \t]*document (\S+) (\S+)[ \t]*\Z")


# -- values --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RoleRequest:
    """What a role is asked."""

    role: Role
    key: str  # name of the call in its job, and of its file: plan-2
    pieces: Mapping[str, str]  # data, framed in the prompt
    words: Mapping[str, str] = field(default_factory=dict)  # trusted values for the template
    outputs: tuple[str, ...] = ()  # names of the documents to write; `*` matches anything
    prompt: str = ""  # a template other than the role's own


@dataclass(frozen=True, slots=True)
class RoleAnswer:
    """What a role returned, not yet checked."""

    documents: Mapping[str, str]
    fields: Mapping[str, Any]  # of the JSON block


@dataclass(frozen=True, slots=True)
class Reply(Generic[Value]):
    """The result of a call; without a value, the note gives the reason."""

    call: CallRecord
    value: Value | None = None

    @property
    def note(self) -> str:
        """What was wrong with the answer, if anything."""
        return self.call.note


AnswerReader = Callable[[RoleAnswer], Value]


@dataclass(frozen=True, slots=True)
class CallPreview:
    """What one role would receive, and the estimated cost."""

    role: str
    key: str
    model: str
    pieces: tuple[tuple[str, int], ...]  # name and characters
    characters: int
    estimate: Cost


@dataclass(frozen=True, slots=True)
class WorkflowPreview:
    """What running a workflow would mean: the calls, each made once."""

    calls: tuple[CallPreview, ...]
    resumes: str  # the unfinished job that would be resumed
    phase: str = ""
    name: str = ""
    goal: str = ""
    requirements: tuple[str, ...] = ()
    folder: str = ""
    artefacts: tuple[str, ...] = ()  # that exist already

    @property
    def estimate(self) -> Cost:
        """The estimated cost of all calls."""
        return sum((call.estimate for call in self.calls), Cost())


# -- requests ------------------------------------------------------------------------------------


def document(kind: str, name: str) -> AnswerReader[str]:
    """A reader for one document that must have the required sections of its kind."""

    def read(answer: RoleAnswer) -> str:
        if name not in answer.documents:
            raise ArtefactFault(f"there is no {name}")
        read_required(kind, name, answer.documents[name])
        return answer.documents[name]

    return read


def prompt_of(request: RoleRequest, nonce: str = _NO_NONCE) -> str:
    """The prompt of a call; without a nonce it is the same for equal requests."""
    role = request.role
    ending = "documents" if role.shape is Shape.DOCUMENT else ""
    files = listed([f"`{OUTPUT}/{name}`" for name in request.outputs])
    words = {"files": files, **request.words}
    name = request.prompt or role.prompt
    available = role.prompt_tokens * CHARACTERS_A_TOKEN
    available -= len(role_prompt(name, nonce, words, {}, ending))
    pieces = {key: without_secrets(text)[0] for key, text in request.pieces.items()}
    return role_prompt(name, nonce, words, fitted(pieces, available), ending)


def call_preview(request: RoleRequest, models: Mapping[str, str]) -> CallPreview:
    """What a role would receive."""
    size = len(prompt_of(request))
    name = request.role.name
    pieces = tuple((key, len(text)) for key, text in request.pieces.items())
    return CallPreview(name, request.key, models.get(name, ""), pieces, size, estimate(name, size))


def _secrets_in(request: RoleRequest) -> tuple[str, ...]:
    """The kind and place of every secret that is removed from a prompt."""
    return tuple(
        f"{key}:{secret.line}: {secret.kind}"
        for key, text in request.pieces.items()
        for secret in without_secrets(text)[1]
    )


# -- calls ---------------------------------------------------------------------------------------


class RoleCalls:
    """Calls the roles of one workflow."""

    def __init__(self, context: WorkflowContext) -> None:
        self._context = context

    def call(self, request: RoleRequest, read: AnswerReader[Value]) -> Reply[Value]:
        """Ask a role, unless it has already answered this request."""
        digest = self.digest(request)
        stored = self._context.folder.load_call(request.key)
        if stored is not None and stored.is_ok and stored.digest == digest:
            value = _stored_value(stored, read)
            if value is not None:
                return Reply(stored, value)
        respondents = self._context.roster.of(request.role.name)
        self._require_budget(request)
        call = CallRecord(
            request.key,
            request.role.name,
            digest,
            self._context.now(),
            agent=respondents[0].agent.name,
            model=respondents[0].model,
            left_out=_secrets_in(request),
        )
        self._context.folder.save_call(call)
        reply: Reply[Value] = Reply(call)
        while call.status == "asked" and call.tries < _MAX_TRIES:
            reply = self._try(request, read, respondents, replace(call, tries=call.tries + 1))
            call = reply.call
        status = call.status if call.status != "asked" else "failed"
        call = replace(call, status=status, ended_at=self._context.now())
        self._context.folder.save_call(call)
        self._context.tell("called", request.key, call.note, status=status, tokens=call.tokens)
        return Reply(call, reply.value)

    def digest(self, request: RoleRequest) -> str:
        """A digest of the prompt, which tells whether a recorded call asked the same."""
        return digest_of(prompt_of(request))

    def all(
        self, requests: Sequence[tuple[RoleRequest, AnswerReader[Value]]]
    ) -> tuple[Reply[Value], ...]:
        """Ask several roles at the same time; the replies are in the order of the requests."""
        replies: dict[str, Reply[Value]] = {}
        waiting = list(requests)
        threads = ThreadGroup()

        def start(request: RoleRequest, read: AnswerReader[Value]) -> None:
            def work() -> None:
                replies[request.key] = self.call(request, read)

            threads.start(request.key, work)

        problem: BaseException | None = None
        while waiting or threads.running:
            slots = self._context.options.slots
            while waiting and problem is None and len(threads.running) < slots:
                start(*waiting.pop(0))
            if not threads.running:
                break
            try:
                threads.wait(1.0)
            except BaseException as error:  # noqa: BLE001 - raised when all threads have ended
                problem = problem or error
        if problem is not None:
            raise problem
        return tuple(replies[request.key] for request, _ in requests)

    def estimate(self, request: RoleRequest) -> Cost:
        """The estimated cost of a call, based on earlier calls of the job."""
        past = [
            Actual(call.role, call.prompt_characters, Cost(call.tokens, call.usd))
            for call in self._context.folder.load_calls()
        ]
        return estimate(request.role.name, len(prompt_of(request)), past)

    def _try(
        self,
        request: RoleRequest,
        read: AnswerReader[Value],
        respondents: Sequence[Respondent],
        call: CallRecord,
    ) -> Reply[Value]:
        context = self._context
        nonce = context.new_token()
        text = prompt_of(request, nonce)
        if call.note:
            fault = framed_piece("fault", call.note, nonce)
            text = f"You were asked this before. Your answer was not usable:\n{fault}\n\n{text}"
        call = replace(call, prompt_characters=len(text), note="")
        place = f"{context.private}/scratch/{request.key}"
        with context.turn:
            context.scratch.make(place)
        before = context.guarded()
        context.proofs.begin()
        results = self._start(request, respondents, call, place, text)
        if not context.is_wanted or not results:
            raise RunStopped
        after = context.guarded()
        changed = sorted(name for name in {*before, *after} if before.get(name) != after.get(name))
        changed += context.proofs.put_aside()
        last = results[-1][1]
        documents = _documents_on_disk(place, request.outputs)
        documents = documents or _documents_in_answer(last.text, nonce, request.outputs)
        with context.turn:
            context.scratch.remove(place)
        for respondent, result in results:
            call = _with_cost(call, respondent, result)
        if all(result.kind is EndKind.AUTH for _, result in results):
            # Another try would be refused as well, and so would every other role.
            agent, refused = respondents[0].agent, results[0][1].error
            raise AgentRefused(agent.name, refused, login_of(agent), context.job.command)
        if changed:
            note = f"protected files changed while {request.role.title} ran: {', '.join(changed)}"
            self._require_acceptance(request, note, QuestionKind.TOUCHED)
        return _judged(request, read, call, last, documents, nonce)

    def _start(
        self,
        request: RoleRequest,
        respondents: Sequence[Respondent],
        call: CallRecord,
        place: str,
        text: str,
    ) -> tuple[tuple[Respondent, CallResult], ...]:
        """Run the call: retry while the service is busy, then use the fallback agents."""
        context, role = self._context, request.role
        source = context.source(left_out=(JOBS,))
        idle = min(context.options.limits.idle, role.wall)

        def agent_call(respondent: Respondent, number: int) -> AgentCall:
            context.tell("call", request.key, f"{role.title} begins", characters=len(text))
            suffix = f"-{number + 1}" if number else ""
            return AgentCall(
                role=role.name,
                prompt=text,
                folder=place,
                raw=f"{context.private}/raw/{request.key}-{call.tries}{suffix}",
                job=runs_path(context.files.folder, context.job.id),
                session=context.new_token(),
                model=respondent.model,
                is_read_only=role.is_read_only,
                tools=role.tools,
                commands=context.options.commands if role.runs_commands else CommandPermissions(),
                limits=CallLimits(wall=role.wall, first_event=idle, idle=idle),
                id=f"{request.key}-{call.tries}-{context.new_token()[:8]}",
                source=source,
            )

        def watch(event: AgentEvent) -> None:
            if isinstance(event, ModelRetried):
                text = f"{event.reason}: again in {event.delay_seconds:.0f} s"
                context.tell("waiting", request.key, text)

        def is_enough(result: CallResult) -> bool:
            return result.kind is EndKind.OK or bool(_documents_on_disk(place, request.outputs))

        recorder = CallRecorder(ended=lambda agent, result: self._record(call, agent, result))
        policy = RetryPolicy(context.over.wait, lambda: context.is_wanted, watch, retried=_RETRIED)
        return call_until(
            recorded(context, respondents, request.key, recorder), agent_call, policy, is_enough
        )

    def _require_budget(self, request: RoleRequest) -> None:
        fault = self._context.budget_fault(self.estimate(request))
        if fault:
            self._require_acceptance(request, fault, QuestionKind.BUDGET)

    def _require_acceptance(self, request: RoleRequest, text: str, kind: QuestionKind) -> None:
        pending = PendingQuestion(request.key, text, ("accept", "abort"), kind=kind)
        answer_to(self._context, pending)

    def _record(self, call: CallRecord, agent: Agent, result: CallResult) -> None:
        """Record one start in the ledger of the job, where spending is counted."""
        ledger = CallLedger(self._context)
        entry = replace(
            ledger.entry(EntryKind.CALL, call.key, call.tries, agent.name),
            session=result.session,
            model=result.model or call.model,
            seconds=round(result.seconds, 3),
            verdict=str(result.kind),
            tokens_in=result.usage.tokens_in,
            tokens_out=result.usage.tokens_out,
            estimated=result.is_estimated or None,
            cost_usd=_price(result),
        )
        ledger.record_lost("", replace(entry, call=result.call), result.lost)
        ledger.record_for_job(replace(entry, call=result.call))


def _price(result: CallResult) -> float:
    """The cost of a call as the agent reports it, otherwise at list prices."""
    usage = result.usage
    if result.cost_usd is not None:
        return result.cost_usd
    return Prices().cost(usage.tokens_in, usage.tokens_out, usage.tokens_cached)


def _with_cost(call: CallRecord, respondent: Respondent, result: CallResult) -> CallRecord:
    return replace(
        call,
        tokens=call.tokens + result.usage.tokens_in + result.usage.tokens_out,
        usd=call.usd + _price(result),
        model=result.model or respondent.model,
        agent=respondent.agent.name,
    )


# -- answers -------------------------------------------------------------------------------------


def _stored_value(call: CallRecord, read: AnswerReader[Value]) -> Value | None:
    """The value of a recorded call; None if a newer reader refuses it."""
    try:
        return read(RoleAnswer(dict(call.documents), call.answer))
    except DocumentError:
        return None


def _judged(
    request: RoleRequest,
    read: AnswerReader[Value],
    call: CallRecord,
    result: CallResult,
    documents: dict[str, str],
    nonce: str,
) -> Reply[Value]:
    """The reply of one try. Readable documents count even if the JSON block is missing."""
    block = answer_of(result.text, nonce)
    fields = {} if isinstance(block, Malformed) else dict(block)
    if str(fields.get("status", "")).strip().lower() == "blocked":
        note = str(fields.get("reason") or "the role is blocked and gives no reason")
        return Reply(replace(call, status="blocked", note=note, answer=fields))
    if request.role.shape is Shape.DOCUMENT and not documents:
        return Reply(replace(call, note=_failure(result, block) or "no document was written"))
    if request.role.shape is Shape.ANSWER and isinstance(block, Malformed):
        return Reply(replace(call, note=_failure(result, block)))
    try:
        value = read(RoleAnswer(documents, fields))
    except DocumentError as error:
        return Reply(replace(call, note=str(error)))
    stored = tuple(sorted(documents.items()))
    return Reply(replace(call, status="ok", documents=stored, answer=fields), value)


def _failure(result: CallResult, block: object) -> str:
    if result.kind is not EndKind.OK:
        lines = result.error.strip().splitlines()
        return lines[-1] if lines else f"the agent ended: {result.kind}"
    return block.reason if isinstance(block, Malformed) else ""


def _is_requested(name: str, outputs: tuple[str, ...]) -> bool:
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in outputs)


def _documents_on_disk(place: str, outputs: tuple[str, ...]) -> dict[str, str]:
    """The requested documents in the output folder, except unfinished ones."""
    reader = Reader(place)
    documents = {}
    for name in reader.names(OUTPUT):
        if _is_requested(name, outputs):
            text = _document_text(reader, name).rstrip()
            if text and not text.endswith(_UNFINISHED):
                documents[name] = without_secrets(f"{text}\n")[0]
    return documents


def _document_text(reader: Reader, name: str) -> str:
    """The text of a document; empty if it is a link, too large, or not text."""
    try:
        loaded = reader.load_if_present(f"{OUTPUT}/{name}")
    except DocumentError:
        return ""
    return loaded.text if loaded else ""


def _documents_in_answer(text: str, nonce: str, outputs: tuple[str, ...]) -> dict[str, str]:
    """The requested documents in the text of an answer, between fences with the nonce."""
    documents: dict[str, str] = {}
    fence, name = "", ""
    body: list[str] = []
    for line in text.replace("\r\n", "\n").split("\n"):
        if fence and line.rstrip(" \t") == fence:
            documents[name], fence = "".join(body), ""
        elif fence:
            body.append(f"{line}\n")
        elif (match := _DOCUMENT.match(line)) and match[2] == nonce:
            if _is_requested(match[3], outputs):
                fence, name, body = match[1], match[3], []
    return documents
