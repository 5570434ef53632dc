"""Council jobs on disk: the record, raw memory, the versions of the plan, and what people want.

An answer is written once and never again. The record is replaced as a whole by the one runner
that holds the job's lock; people who want something of a running job leave a wish beside it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from fairlead.errors import FileExists
from fairlead.model.calls import Call
from fairlead.model.council_job import CouncilJob, Ruling
from fairlead.model.plain import plain, several
from fairlead.records.raw_answer import read_answer, written
from fairlead.store import layout
from fairlead.store import layout_council as names
from fairlead.store.files import Edit, Files
from fairlead.store.jobs import VERSION, JobFiles, content_of, job_ids
from fairlead.store.load import Reader
from fairlead.store.lock import RUN_WAITS
from fairlead.store.running import the_only_run
from fairlead.values import replace

_BEGINNING = "j_"


def council_ids(reader: Reader) -> tuple[str, ...]:
    """Every council job, the oldest first."""
    return tuple(each for each in job_ids(reader) if each.startswith(_BEGINNING))


def new_job_id(reader: Reader, day: str) -> str:
    """The next free name of a day: j_20260412_0007."""
    begun = f"{_BEGINNING}{day}_"
    taken = [
        int(each[len(begun) :])
        for each in reader.names(layout.JOBS)
        if each.startswith(begun) and each[len(begun) :].isdecimal()
    ]
    return f"{begun}{max(taken, default=0) + 1:04d}"


class CouncilFiles:
    """The files of one council job."""

    def __init__(
        self, folder: str, job: str, *, wait_seconds: float = RUN_WAITS, is_read_only: bool = False
    ) -> None:
        self.job = job
        self.folder = folder
        self._home = layout.job_path(job)
        self._files = Files(
            folder,
            desk=f"{self._home}/{layout.DESK_NAME}",
            wait_seconds=wait_seconds,
            is_read_only=is_read_only,
        )
        self.jobs = JobFiles(folder, job, wait_seconds=wait_seconds, is_read_only=is_read_only)
        self._seen: dict[str, Call] = {}  # raw memory never changes
        self._last: tuple[str, CouncilJob | None] = ("", None)

    @contextmanager
    def alone(self, command: str) -> Iterator[None]:
        """Be the one runner of this job; a second one is told who runs it."""
        with the_only_run(self.folder, command, names.run_lock(self.job)):
            yield

    # -- the record ------------------------------------------------------------------------

    def create(self, record: CouncilJob) -> None:
        """The first record of a job; a name that is taken is refused."""
        text = _text(plain(record))
        self._files.create_all({self._path(names.RECORD): text}, command="run")

    def save(self, record: CouncilJob) -> None:
        """The record as it is now."""
        self.jobs.save_job(record)

    def load(self) -> CouncilJob:
        """The record; it is read at every look, and seldom another."""
        text = self.text(names.RECORD)
        if not text or text != self._last[0]:
            self._last = text, self.jobs.load_council()
        held = self._last[1]
        assert held is not None
        return held

    # -- raw memory ------------------------------------------------------------------------

    def keep(self, call: Call) -> Call:
        """An answer, once and for good; what is stored already is the answer."""
        path = self._path(f"{call.key}.md")
        try:
            self._files.create_all({path: written(call)}, command=f"job {self.job}")
        except FileExists:
            pass
        return self.answer(call.key) or call

    def answer(self, key: str) -> Call | None:
        """A stored answer."""
        if key in self._seen:
            return self._seen[key]
        path = self._path(f"{key}.md")
        loaded = self._files.load_if_present(path)
        if loaded is None:
            return None
        self._seen[key] = replace(read_answer(path, loaded.text), key=key)
        return self._seen[key]

    def answers(self) -> dict[str, Call]:
        """All that was said, by its key."""
        found = {}
        for key in self._keys():
            call = self.answer(key)
            if call is not None:
                found[key] = call
        return found

    def _keys(self) -> Iterator[str]:
        rounds = self._files.names(self._path(names.RAW))
        for folder in (names.PM, *(f"{names.RAW}/{each}" for each in rounds)):
            for name in self._files.names(self._path(folder)):
                if name.endswith(".md"):
                    yield f"{folder}/{name.removesuffix('.md')}"

    # -- documents -------------------------------------------------------------------------

    def put(self, documents: Mapping[str, str]) -> None:
        """Documents of the job, in one step; the same text again changes nothing."""
        edits = {self._path(name): _always(text) for name, text in documents.items()}
        self._files.update_all(edits, command=f"job {self.job}", may_create=True)

    def text(self, name: str) -> str:
        """A document of the job; nothing if there is none."""
        loaded = self._files.load_if_present(self._path(name))
        return loaded.text if loaded else ""

    def content(self, name: str) -> bytes:
        """A document of the job to the byte."""
        return self._files.content(self._path(name)) or b""

    def paths(self) -> tuple[str, ...]:
        """What git keeps of the job: all of it, so that anybody can count the votes again."""
        raw = tuple(f"{key}.md" for key in self._keys())
        found = [
            name
            for name in self._files.names(self._home)
            if name.endswith((".md", ".json", ".jsonl"))
        ]
        return tuple(self._path(each) for each in (*sorted(found), *raw))

    # -- people ----------------------------------------------------------------------------

    def wish(self) -> tuple[str, str]:
        """What a person wants of the job (`veto` or `cancel`), and why."""
        path = self._path(names.WISH)
        loaded = self._files.load_if_present(path)
        held = content_of(path, loaded.text) if loaded else {}
        return (str(held.get("wish", "")), str(held.get("why", ""))) if held else ("", "")

    def leave_wish(self, wish: str, why: str) -> None:
        """Leave a wish for whoever carries the job on."""
        self.put({names.WISH: _text({"wish": wish, "why": why})})

    def rulings(self) -> tuple[Ruling, ...]:
        """What a person decided about open items."""
        path = self._path(names.RULINGS)
        loaded = self._files.load_if_present(path)
        held = content_of(path, loaded.text).get("rulings", []) if loaded else []
        return several(Ruling, held, path)

    def save_ruling(self, ruling: Ruling) -> None:
        """A decision about one item; a later one takes its place."""
        kept = [each for each in self.rulings() if each.id != ruling.id]
        self.put({names.RULINGS: _text({"rulings": plain((*kept, ruling))})})

    def _path(self, name: str) -> str:
        return f"{self._home}/{name}"


def _always(text: str) -> Edit:
    return lambda _: text


def _text(held: Mapping[str, object]) -> str:
    return json.dumps({"version": VERSION, **held}, ensure_ascii=False, indent=2) + "\n"
