"""The purse: what jobs have spent, told from their evidence."""

from collections.abc import Iterator

from fairlead.model.budget import Spent
from fairlead.model.job import Job
from fairlead.records.ledger import Spending, spendings
from fairlead.store import layout
from fairlead.store.digests import Derived, marks_in
from fairlead.store.files import Files


class Purse:
    """What was spent, told from the ledgers; a ledger that has not grown is not read again."""

    def __init__(self, files: Files) -> None:
        self._files = files
        self._told = Derived(self._read)

    def spent(self, job: Job, today: str) -> tuple[Spent, Spent]:
        """By this job, and by all jobs today; a rehearsal costs nothing."""
        own, day = Spent(), Spent()
        for each in self._all():
            if each.is_rehearsed != job.is_rehearsed:
                continue
            own = own + each.spent if each.job == job.id else own
            day = day + each.spent if each.day == today else day
        return own, day

    def today(self, day: str, *, is_rehearsed: bool) -> Spent:
        """What all jobs of the engine took on a day."""
        mine = [
            each.spent
            for each in self._all()
            if each.is_rehearsed == is_rehearsed and each.day == day
        ]
        return sum(mine, Spent())

    def _all(self) -> Iterator[Spending]:
        for path, marks in marks_in(self._files.folder, layout.LEDGER).items():
            yield from self._told.of(path, marks)

    def _read(self, path: str) -> tuple[Spending, ...]:
        loaded = self._files.load_for_display(path)
        return spendings(loaded.text if loaded else "")
