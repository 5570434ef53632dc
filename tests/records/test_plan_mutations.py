"""Damaged plan files: read and edited as asked, or refused with their line. More in the long tier."""

from random import Random

from tests.support.plans import a_mutated_plan, examine_plan


def test_a_damaged_plan_file_is_edited_as_asked_or_refused_with_its_line():
    random = Random(4)
    found = [fault for _ in range(400) for fault in examine_plan(a_mutated_plan(random), random)]

    assert found == []
