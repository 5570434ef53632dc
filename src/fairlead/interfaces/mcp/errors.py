"""Errors of the MCP server."""

from __future__ import annotations

from fairlead.core.errors import AgentError, BlockedError, ConflictError, StorageError, UsageError


class UnknownTool(UsageError, code="unknown-tool"):
    """The server has no tool of this name."""

    tool: object
    known: tuple[str, ...]
    message = "there is no tool {tool}"
    hint = "tools: {known}"


class BadArguments(UsageError, code="bad-arguments"):
    """The arguments of a tool do not fit its schema."""

    tool: str
    problems: tuple[str, ...]
    message = "{tool} does not accept these arguments: {problems:; }"
    hint = "see the input schema of {tool}"


class ReadOnlyServer(BlockedError, code="read-only-server"):
    """The server does not offer the tools that write."""

    tool: str
    why: str
    message = "{tool} would change something, but {why}"
    hint = "a person can run the command in a terminal"


class UnknownResource(UsageError, code="unknown-resource"):
    """The server has no resource at this address."""

    uri: object
    message = "there is no resource {uri}"
    hint = "addresses: fairlead://document/STATE.md, fairlead://job/JOB, fairlead://planning"


class UnknownPrompt(UsageError, code="unknown-prompt"):
    """The server has no prompt of this name."""

    prompt: object
    known: tuple[str, ...]
    message = "there is no prompt {prompt}"
    hint = "prompts: {known}"


class NoMcpPackage(AgentError, code="no-mcp-package"):
    """The packages of the extra `mcp` are not installed."""

    why: object
    message = "the MCP server needs packages that are not installed: {why}"
    hint = "install them: pip install 'fairlead[mcp]'"


class PortBusy(ConflictError, code="port-busy"):
    """Another program uses the port."""

    port: int
    why: str
    message = "port {port} cannot be used: {why}"
    hint = "choose another one: fairlead mcp --http --port 0"


class OpenToken(StorageError, code="open-token"):
    """Other users can read the token of the server."""

    path: object
    message = "{path} can be read by other users"
    hint = "remove it and start again: a new token is made"


class TokenRequired(BlockedError, code="token-required"):
    """A request over HTTP has no token, or a wrong one."""

    message = "the request carries no valid token"
    hint = "send the header Authorization: Bearer TOKEN; `fairlead mcp --http` names the file"


class ServerFault(StorageError, code="server-fault"):
    """A bug in Fairlead; the server's log shows where."""

    problem: BaseException
    hint = "acknowledged changes are safe: fairlead status; please report the server's log"

    def _message(self) -> str:
        text = " ".join(f"{type(self.problem).__name__}: {self.problem}".split())
        return f"this is a bug in Fairlead: {text}"


class OnlyByPerson(BlockedError, code="only-by-person"):
    """Only a person may do this; the hint is the command for them."""

    what: str
    command: str
    message = "only a person can {what}"
    hint = "ask them to run: {command}"
