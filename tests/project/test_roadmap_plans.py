"""The plan list of a phase is rewritten as a whole; the rest of its section stays."""

import pytest

from fairlead.core.ids import PhaseId
from fairlead.project.roadmap.phase_details import PlanLine, with_plans
from fairlead.text.document import Document
from tests.support.corpus import corpus_documents

ROADMAP = (
    "# Roadmap\n\n## Phases\n\n- [ ] **Phase 1: A** - x\n\n## Phase Details\n\n### Phase 1: A\n\n"
    "**Goal**: y\n{plans}\n\nA remark of mine.\n\n## Progress\n"
)
TWO = [PlanLine("01-01", "first", 1), PlanLine("01-02", "second", 2)]
PHASE = PhaseId.parse("1")


@pytest.mark.parametrize(
    "before",
    [
        "**Plans**: TBD",
        "**Plans:** 3 plans",
        "**Plans**: 1 plan\n\nPlans:\n**Wave 1**\n- [ ] 01-01-PLAN.md — old",
    ],
)
def test_the_plan_list_is_rewritten_and_the_rest_of_the_section_stays(before: str):
    changed = with_plans(Document(ROADMAP.format(plans=before)), PHASE, "", TWO)

    wanted = (
        "**Plans**: 2 plans\n\nPlans:\n**Wave 1**\n- [ ] 01-01-PLAN.md — first\n"
        "**Wave 2** *(blocked on Wave 1 completion)*\n- [ ] 01-02-PLAN.md — second"
    )
    assert changed.text == ROADMAP.format(plans=wanted)


def test_writing_the_plan_list_twice_changes_nothing_more():
    once = with_plans(Document(ROADMAP.format(plans="**Plans**: TBD")), PHASE, "", TWO)

    assert with_plans(once, PHASE, "", TWO).text == once.text


def test_line_endings_stay():
    text = ROADMAP.format(plans="**Plans**: TBD").replace("\n", "\r\n")

    changed = with_plans(Document(text), PHASE, "", TWO)

    assert changed.text.replace("\r\n", "").count("\n") == 0


def test_a_roadmap_without_details_of_the_phase_stays_as_it_is():
    document = Document("# Roadmap\n\n- [ ] **Phase 1: A** - x\n")

    assert with_plans(document, PHASE, "", TWO) is document


def test_in_real_roadmaps_only_lines_of_the_list_are_touched():
    count = 0
    for path, text in corpus_documents():
        if path.name != "ROADMAP.md":
            continue
        document = Document(text)
        changed = with_plans(document, PHASE, "", TWO).text
        count += changed != text
        gone = set(text.splitlines()) - set(changed.splitlines())
        kept = [line for line in gone if "Plans" not in line and "Wave" not in line]
        assert all("- [" in line for line in kept), (path, kept)

    assert count > 3
