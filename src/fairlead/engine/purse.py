"""The purse: what jobs have spent, told from their evidence."""

from collections.abc import Iterator

from fairlead.model.budget import Actual, Spent
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
        return self.by(job.id, today, is_rehearsed=job.is_rehearsed)

    def by(self, job: str, day: str, *, is_rehearsed: bool) -> tuple[Spent, Spent]:
        """By a job, which may not be there yet, and by all on a day."""
        mine = [each for each in self._all() if each.is_rehearsed == is_rehearsed]
        own = (each.spent for each in mine if job and each.job == job)
        return sum(own, Spent()), sum((each.spent for each in mine if each.day == day), Spent())

    def today(self, day: str, *, is_rehearsed: bool) -> Spent:
        """What all jobs of the engine took on a day."""
        return self.by("", day, is_rehearsed=is_rehearsed)[1]

    def actuals(self, *, is_rehearsed: bool) -> tuple[Actual, ...]:
        """What calls that did their work took."""
        mine = (each.actual for each in self._all() if each.is_rehearsed == is_rehearsed)
        return tuple(each for each in mine if each)

    def _all(self) -> Iterator[Spending]:
        for path, marks in marks_in(self._files.folder, layout.LEDGER).items():
            yield from self._told.of(path, marks)

    def _read(self, path: str) -> tuple[Spending, ...]:
        loaded = self._files.load_for_display(path)
        return spendings(loaded.text if loaded else "")
