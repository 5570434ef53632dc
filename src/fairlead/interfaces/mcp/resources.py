"""The resources: the planning documents as text, and jobs and the Plan Phase as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote, unquote

from fairlead.core.errors import FairleadError
from fairlead.interfaces.mcp.errors import UnknownResource
from fairlead.views.document import document, json_text
from fairlead.views.documents import document_view, folder_view
from fairlead.views.jobs import job_view
from fairlead.views.planning import plan_phase_view

if TYPE_CHECKING:
    from fairlead.app import App

MARKDOWN, JSON = "text/markdown", "application/json"
TEMPLATES = (
    ("fairlead://document/{+path}", "document", "A planning document below .planning.", MARKDOWN),
    ("fairlead://job/{job}", "job", "A job with its tasks, calls and questions.", JSON),
)

_DOCUMENT, _JOB, _PLANNING = "fairlead://document/", "fairlead://job/", "fairlead://planning"
_LISTED_JOBS = 20


class Resource(NamedTuple):
    """A resource in the list."""

    uri: str
    name: str
    mime_type: str


class ResourceText(NamedTuple):
    """The content of a resource."""

    text: str
    mime_type: str


def resources(app: App) -> Iterator[Resource]:
    """The documents of the project and of the current phase, the Plan Phase and the newest jobs."""
    phase = app.overview.status().phase
    folders = ["", *(_folders_of_phase(app, phase) if phase else ())]
    for folder in folders:
        for path in folder_view(app, folder).documents:
            yield Resource(_DOCUMENT + quote(path), path, MARKDOWN)
    try:
        plan_phase_view(app)
        yield Resource(_PLANNING, "planning", JSON)
    except FairleadError:
        pass  # there is no Plan Phase
    for record in app.jobs.all()[-_LISTED_JOBS:]:
        yield Resource(_JOB + quote(record.id), record.id, JSON)


def resource_text(app: App, uri: str) -> ResourceText:
    """The content of one resource. An address is data: it names a document or a job, or nothing."""
    if uri == _PLANNING:
        return ResourceText(json_text(document(plan_phase_view(app))), JSON)
    if uri.startswith(_DOCUMENT):
        text = document_view(app, unquote(uri.removeprefix(_DOCUMENT))).text
        return ResourceText(text, MARKDOWN)
    if uri.startswith(_JOB):
        record = app.jobs.record(unquote(uri.removeprefix(_JOB)) or "?")
        content = job_view(app.jobs.report(record.id), app.jobs.present(record))
        return ResourceText(json_text(document(content)), JSON)
    raise UnknownResource(uri)


def _folders_of_phase(app: App, phase: str) -> tuple[str, ...]:
    folder = app.roadmaps.details(phase).phase.folder
    return (folder.removeprefix(".planning/"),) if folder else ()
