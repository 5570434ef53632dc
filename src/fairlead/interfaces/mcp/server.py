"""The protocol: the official SDK around a `ProjectServer`. No other module imports the SDK."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Callable
from typing import Any

import anyio
import anyio.to_thread
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    GetPromptRequestParams,
    GetPromptResult,
    ListPromptsResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    PromptArgument,
    PromptMessage,
    ReadResourceRequestParams,
    ReadResourceResult,
    ResourceTemplate,
    TextContent,
    TextResourceContents,
    ToolAnnotations,
)
from mcp_types import Prompt as SdkPrompt
from mcp_types import Resource as SdkResource
from mcp_types import Tool as SdkTool

from fairlead import __version__
from fairlead.core.errors import FairleadError
from fairlead.interfaces.mcp.prompts import PROMPTS, WorkflowPrompt, prompt_text
from fairlead.interfaces.mcp.resources import TEMPLATES
from fairlead.interfaces.mcp.service import ProjectServer
from fairlead.interfaces.mcp.tools import Tool
from fairlead.views.document import error_document

_CALLS_AT_ONCE = 4
_INSTRUCTIONS = (
    "The project's memory. Read `status` before you work; record decisions and blockers when they "
    "happen. Approvals, vetoes and rulings belong to a person: show them the command you get."
)


def make_server(project: ProjectServer) -> Server[Any]:
    """The SDK's server for one project."""
    handlers = _Handlers(project)
    return Server(
        "fairlead",
        version=__version__,
        title="Fairlead",
        instructions=_INSTRUCTIONS,
        on_list_tools=handlers.list_tools,
        on_call_tool=handlers.call_tool,
        on_list_resources=handlers.list_resources,
        on_list_resource_templates=handlers.list_templates,
        on_read_resource=handlers.read_resource,
        on_list_prompts=handlers.list_prompts,
        on_get_prompt=handlers.get_prompt,
    )


class _Handlers:
    """What the SDK calls for each request."""

    def __init__(self, project: ProjectServer) -> None:
        self._project = project
        # The services are synchronous. A job that begins slowly must not hold up a look at the
        # status.
        self._threads = anyio.CapacityLimiter(_CALLS_AT_ONCE)

    async def list_tools(self, _: Any, __: PaginatedRequestParams | None) -> ListToolsResult:
        return ListToolsResult(tools=[_tool(tool) for tool in self._project.tools])

    async def call_tool(self, _: Any, params: CallToolRequestParams) -> CallToolResult:
        done = await self._in_thread(self._project.call, params.name, params.arguments)
        text = json.dumps(done.content, ensure_ascii=False, separators=(",", ":"))
        return CallToolResult(
            content=[TextContent(type="text", text=text)],
            structured_content=done.content,
            is_error=done.is_error,
        )

    async def list_resources(
        self, _: Any, __: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        found = await self._in_thread(self._project.resources)
        return ListResourcesResult(resources=[SdkResource(**each._asdict()) for each in found])

    async def list_templates(
        self, _: Any, __: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        templates = [
            ResourceTemplate(uri_template=uri, name=name, description=text, mime_type=mime)
            for uri, name, text, mime in TEMPLATES
        ]
        return ListResourceTemplatesResult(resource_templates=templates)

    async def read_resource(self, _: Any, params: ReadResourceRequestParams) -> ReadResourceResult:
        try:
            found = await self._in_thread(self._project.read, str(params.uri))
        except FairleadError as error:
            raise _refused(error) from None
        content = TextResourceContents(uri=params.uri, text=found.text, mime_type=found.mime_type)
        return ReadResourceResult(contents=[content])

    async def list_prompts(self, _: Any, __: PaginatedRequestParams | None) -> ListPromptsResult:
        return ListPromptsResult(prompts=[_prompt(prompt) for prompt in PROMPTS])

    async def get_prompt(self, _: Any, params: GetPromptRequestParams) -> GetPromptResult:
        try:
            prompt, text = prompt_text(params.name, params.arguments)
        except FairleadError as error:
            raise _refused(error) from None
        message = PromptMessage(role="user", content=TextContent(type="text", text=text))
        return GetPromptResult(description=prompt.description, messages=[message])

    async def _in_thread(self, call: Callable[..., Any], *arguments: Any) -> Any:
        return await anyio.to_thread.run_sync(call, *arguments, limiter=self._threads)


def serve_stdio(project: ProjectServer) -> None:
    """Serve one client on standard input and output until it closes them."""
    # Standard output belongs to the protocol.
    logging.basicConfig(stream=sys.stderr, level=logging.WARNING)
    server = make_server(project)

    async def serve() -> None:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(serve)


def _tool(tool: Tool) -> SdkTool:
    return SdkTool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.input_schema,
        output_schema=tool.output_schema,
        annotations=ToolAnnotations(
            read_only_hint=not tool.is_write,
            destructive_hint=tool.is_destructive,
            idempotent_hint=tool.is_idempotent,
            open_world_hint=tool.is_open_world,
        ),
    )


def _prompt(prompt: WorkflowPrompt) -> SdkPrompt:
    argument = PromptArgument(name=prompt.argument, description=prompt.meaning, required=True)
    return SdkPrompt(
        name=prompt.name,
        description=prompt.description,
        arguments=[argument] if prompt.argument else None,
    )


def _refused(error: FairleadError) -> MCPError:
    """An error of a resource or a prompt: the protocol carries the document as data."""
    return MCPError(code=INVALID_PARAMS, message=str(error), data=error_document(error)["error"])
