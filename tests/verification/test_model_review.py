"""The review by a model: what becomes of each entry in the answer of the verifier."""

import pytest

from fairlead.verification.model import HumanItem, RuleFinding
from fairlead.verification.model_review import _additions
from fairlead.verification.source_files import SourceFiles

SOURCES = SourceFiles({"calc.py": "x = 1\n"})


@pytest.mark.parametrize(
    "fields", [{"reason": None}, {"reason": ["a", "b"]}, {"path": 3}, {"missing": {"a": 1}}]
)
def test_a_gap_with_a_field_of_the_wrong_type_is_kept(fields: dict[str, object]) -> None:
    gap = {"truth": "sums are exact", "missing": "use whole numbers", **fields}

    findings, questions = _additions({"gaps": [gap]}, SOURCES)

    assert (findings, [item.test for item in questions]) == ((), ["sums are exact"])


def test_a_gap_in_an_existing_file_is_a_finding_with_its_line() -> None:
    gap = {"truth": "sums are exact", "reason": "calc.py:4 overflows", "missing": ["a", 2]}

    findings, _ = _additions({"gaps": [gap, "no map"]}, SOURCES)

    reason = "calc.py:4 overflows"
    expected = RuleFinding("verifier", "calc.py", 4, reason, "a; 2", "sums are exact")
    assert findings == (expected,)


def test_a_truth_left_to_a_person_is_a_question_even_without_evidence() -> None:
    truth = {"truth": "it looks calm", "status": " Human ", "evidence": None}

    _, questions = _additions({"truths": [truth]}, SOURCES)

    assert [type(item) for item in questions] == [HumanItem]
