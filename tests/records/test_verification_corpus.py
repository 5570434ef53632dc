"""Every verification, UAT and summary of real projects is read, or refused with its place."""

from collections.abc import Callable
from pathlib import Path

import pytest

from fairlead.errors import DocumentError
from fairlead.model.plan import PlanSheet
from fairlead.records.claims import Known, findings_of
from fairlead.records.uat import read_uat
from fairlead.records.verification import read_verification
from tests.support.corpus import corpus_documents

NOBODY = Known(lambda _: True, lambda _: True, lambda _: True, lambda _: frozenset())
READERS: dict[str, Callable[[str, str], object]] = {
    "VERIFICATION": read_verification,
    "UAT": read_uat,
    "SUMMARY": lambda path, text: findings_of(path, text, PlanSheet("01-01", "x", 1), NOBODY),
}


@pytest.mark.parametrize("kind", READERS)
def test_every_document_of_the_corpus_is_read_or_refused_with_its_place(kind: str):
    documents = [(path, text) for path, text in corpus_documents() if kind in Path(path).name]

    refused = [(path, why) for path, text in documents if (why := refusal(kind, path, text))]

    assert documents
    assert [path for path, why in refused if str(path) not in why] == []


def refusal(kind: str, path: Path, text: str) -> str:
    """Why a document is refused; empty if it is read."""
    try:
        READERS[kind](str(path), text)
    except DocumentError as error:
        return str(error)
    return ""
