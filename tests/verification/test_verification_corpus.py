"""Every VERIFICATION, UAT and SUMMARY file of real projects is read or refused with its path."""

from collections.abc import Callable
from pathlib import Path

import pytest

from fairlead.core.errors import DocumentError
from fairlead.plans.model import PlanDocument
from fairlead.verification.claims import findings_of
from fairlead.verification.documents import read_uat, read_verification
from fairlead.verification.model import RepositoryFacts
from tests.support.corpus import corpus_documents

EVERYTHING_EXISTS = RepositoryFacts(
    lambda _: True, lambda _: True, lambda _: True, lambda _: frozenset()
)
READERS: dict[str, Callable[[str, str], object]] = {
    "VERIFICATION": read_verification,
    "UAT": read_uat,
    "SUMMARY": lambda path, text: findings_of(
        path, text, PlanDocument("01-01", "x", 1), EVERYTHING_EXISTS
    ),
}


@pytest.mark.parametrize("kind", READERS)
def test_every_document_of_the_corpus_is_read_or_refused_with_its_path(kind: str):
    documents = [(path, text) for path, text in corpus_documents() if kind in Path(path).name]

    refused = [(path, why) for path, text in documents if (why := refusal(kind, path, text))]

    assert documents
    assert [path for path, why in refused if str(path) not in why] == []


def refusal(kind: str, path: Path, text: str) -> str:
    """Return why a document is refused; empty if it is read."""
    try:
        READERS[kind](str(path), text)
    except DocumentError as error:
        return str(error)
    return ""
