"""The server without the protocol: lists and calls for one project folder.

Every call opens the project anew, so it sees the files as they are. Errors become documents with
code, message and hint; nothing else leaves this module.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from fairlead.app import App
from fairlead.core.errors import FairleadError
from fairlead.interfaces.mcp.arguments import read_arguments
from fairlead.interfaces.mcp.errors import ReadOnlyServer, ServerFault, UnknownTool
from fairlead.interfaces.mcp.resources import Resource, ResourceText, resource_text, resources
from fairlead.interfaces.mcp.tools import TOOLS, Tool, ToolContext
from fairlead.jobs.detached import DetachedJob
from fairlead.store.errors import DiskFault
from fairlead.views.document import document, error_document, json_text

STARTED_BY_RUN = "this agent was started by Fairlead"
NOT_ALLOWED = "the server was started without --allow-write"


class ToolResult(NamedTuple):
    """The document that a tool returns."""

    content: dict[str, Any]
    is_error: bool = False


class ProjectServer:
    """The tools and resources of one project folder."""

    def __init__(
        self,
        folder: str,
        *,
        has_writes: bool,
        log: Callable[[BaseException], None],
        start: Callable[[str, Sequence[str]], DetachedJob],
    ) -> None:
        self._folder = folder
        self._start = start
        self._log = log
        self._read_only = "" if has_writes else NOT_ALLOWED
        # Both folders count: an agent's own worktree, and the project that its host names.
        if App(folder).is_read_only or App(os.curdir).is_read_only:
            self._read_only = STARTED_BY_RUN

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that can be called."""
        return tuple(tool for tool in TOOLS if not (tool.is_write and self._read_only))

    def call(self, name: str, arguments: Mapping[str, object] | None) -> ToolResult:
        """Call a tool. Errors are results as well."""
        try:
            tool = next((each for each in TOOLS if each.name == name), None)
            if tool is None:
                raise UnknownTool(name, tuple(each.name for each in self.tools))
            if tool.is_write and self._read_only:
                raise ReadOnlyServer(name, self._read_only)
            given: Any = read_arguments(name, tool.arguments, arguments)
            app = App(self._folder, getattr(given, "workstream", ""))
            return ToolResult(_plain(document(tool.call(ToolContext(app, self._start), given))))
        except Exception as problem:  # noqa: BLE001  # the one place that shows errors
            return ToolResult(_plain(error_document(self.error_of(problem))), is_error=True)

    def resources(self) -> tuple[Resource, ...]:
        """The documents and jobs of the project; none where there is no project."""
        try:
            return tuple(resources(App(self._folder)))
        except FairleadError:
            return ()

    def read(self, uri: str) -> ResourceText:
        """The content of a resource; raises a `FairleadError`."""
        try:
            found = resource_text(App(self._folder), uri)
        except Exception as problem:
            raise self.error_of(problem) from problem
        return found._replace(text=_valid(found.text))

    def error_of(self, problem: Exception) -> FairleadError:
        """Any exception as one of our errors; a bug is logged."""
        if isinstance(problem, FairleadError):
            return problem
        if isinstance(problem, OSError):
            return DiskFault(problem.filename or ".", problem.strerror or str(problem))
        self._log(problem)
        return ServerFault(problem)


def _plain(content: dict[str, Any]) -> dict[str, Any]:
    """The document in the types of JSON, exactly as `--json` prints it."""
    plain: dict[str, Any] = _valid_strings(json.loads(json_text(content)))
    return plain


def _valid_strings(value: Any) -> Any:
    if isinstance(value, str):
        return _valid(value)
    if isinstance(value, list):
        return [_valid_strings(item) for item in value]
    if isinstance(value, dict):
        return {_valid(name): _valid_strings(item) for name, item in value.items()}
    return value


def _valid(text: str) -> str:
    """The text with bytes that were not UTF-8 replaced: they have no form on the wire."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()
