"""Every rule on its smallest example project, compared with the reference tool."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from conformance.compared import Tree, comparisons, look, wrong_answers
from conformance.reference import Reference
from conformance.rules import RULES, Causes
from fairlead.project.derive.scan import scan
from tests.support.differences import EXAMPLES, put_example
from tests.support.hook import require_hook

require_hook()


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reference]:
    with Reference(tmp_path_factory.mktemp("home")) as running:
        yield running


def tree_of(example: str, folder: Path, reference: Reference) -> Tree:
    put_example(folder, example)
    answers = reference.ask(folder, scan(str(folder)).milestone)
    return look(folder, answers, partial(reference.line, folder))


def rule_of(example: str) -> str:
    return example.partition(",")[0]


def test_every_rule_has_an_example():
    assert {rule_of(example) for example in EXAMPLES} == set(RULES)


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_rule_explains_its_example(example: str, tmp_path: Path, reference: Reference):
    tree = tree_of(example, tmp_path, reference)
    found = {each.field: Causes(tree).of(each) for each in comparisons(tree) if not each.is_equal}

    assert rule_of(example) in found.values(), found
    assert "" not in found.values(), found


@pytest.mark.parametrize("example", EXAMPLES)
def test_an_answer_that_is_wrong_by_one_is_explained_by_no_rule(
    example: str, tmp_path: Path, reference: Reference
):
    tree = tree_of(example, tmp_path, reference)
    causes = Causes(tree)
    planted = [wrong for each in comparisons(tree) for wrong in wrong_answers(each)]

    assert planted
    assert [(each, causes.of(each)) for each in planted if causes.of(each)] == []
