"""Errors of finding, starting and supervising agents."""

from __future__ import annotations

from collections.abc import Sequence

from fairlead.core.errors import AgentError, BlockedError, StorageError, UsageError


class NoSuchAgent(UsageError, code="no-such-agent"):
    """There is no agent of this name."""

    name: str
    known: Sequence[str]
    message = "there is no agent {name!r}"
    hint = "known agents: {known}; details: fairlead doctor agents"


class OnlyRehearses(UsageError, code="only-rehearses"):
    """The scripted agent cannot do real work."""

    message = "the scripted agent can only rehearse"
    hint = "add --rehearse"


class OnlyAnswers(UsageError, code="only-answers"):
    """A plain model cannot change files."""

    name: str
    message = "{name} is a plain model: it answers, but cannot change files"
    hint = "choose an agent from this list: fairlead doctor agents"


class NoAgent(AgentError, code="no-agent"):
    """No agent is installed."""

    looked_for: Sequence[str]
    rehearsal: str
    message = "no agent was found; looked for {looked_for}"
    hint = "install one of them, or try everything without an agent: {rehearsal}"


class NoModelClient(AgentError, code="no-model-client"):
    """The client package of a model service is not installed."""

    name: str
    package: str
    message = "the model {name} needs the package {package}"
    hint = "install it with: pip install 'fairlead[models]'"


class NoAgentAnswers(AgentError, code="no-agent-answers"):
    """Agents are installed, and none of them answers."""

    answers: Sequence[str]
    message = "no agent answers: {answers:; }"
    hint = "start one of them in a terminal and log in, then: fairlead doctor agents --ask"


class AgentRefused(AgentError, code="agent-refused"):
    """The service of an agent refuses it: a login, a key or a payment is missing."""

    agent: str
    error: str
    login: str
    command: str
    message = "{agent} cannot be used: {error}"
    hint = "log in with: {login}; then: {command}"


class NestedRun(BlockedError, code="nested-run"):
    """An agent tried to start agents."""

    message = "an agent may not start agents, and this command runs inside one"
    hint = "run it in a terminal of your own"


class NotPrivate(StorageError, code="not-private"):
    """A folder for private files can be read by others."""

    path: object
    message = "{path} must be a folder of yours that nobody else can open"
    hint = "look at it, then: chmod 700 {path}"
