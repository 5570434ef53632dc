"""Raw memory: what was said stays as it was said, once and for good."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairlead.errors import MalformedRecord
from fairlead.model.calls import Call
from fairlead.records.raw_answer import LONGEST, read_answer, storable, written
from fairlead.store.council import CouncilFiles
from fairlead.store.layout_council import RULINGS

KEY = "raw/r1/security"


@pytest.fixture
def files(tmp_path: Path) -> CouncilFiles:
    (tmp_path / ".planning").mkdir()
    return CouncilFiles(str(tmp_path), "j_20260101_0001")


@given(st.text(), st.text(), st.integers(0, 10**9))
def test_an_answer_survives_the_way_through_its_file(text: str, model: str, tokens: int) -> None:
    call = Call(KEY, "ballot", "ok", storable(text)[0], model=storable(model)[0], tokens_in=tokens)
    found = read_answer("x", written(call))
    assert (found.text, found.model, found.tokens_in) == (call.text, call.model, tokens)


@pytest.mark.parametrize(
    "text",
    ["---\nkey: 1\n---\n", "\r\nplain\r\n", "\x00\x1b[2J\ud800", "\u2028\x85", "x" * 3_000_000],
)
def test_whatever_a_model_says_can_be_kept_and_read_again(files: CouncilFiles, text: str) -> None:
    kept, is_cut = storable(text)
    call = files.keep(Call(KEY, "ballot", "ok", kept, is_cut=is_cut))
    fresh = CouncilFiles(files.folder, files.job).answer(KEY)
    assert fresh is not None
    assert (fresh.text, fresh.is_cut) == (call.text, len(text) > LONGEST)


def test_an_answer_is_written_once(files: CouncilFiles) -> None:
    files.keep(Call(KEY, "ballot", "ok", "first"))
    assert files.keep(Call(KEY, "ballot", "ok", "second")).text == "first"


def test_an_answer_that_somebody_changed_is_refused(files: CouncilFiles) -> None:
    files.keep(Call(KEY, "ballot", "ok", "VERDICT: REVISE"))
    path = Path(files.folder) / f".planning/jobs/{files.job}/{KEY}.md"
    path.write_text(path.read_text().replace("REVISE", "APPROVE"))
    with pytest.raises(MalformedRecord, match="changed"):
        CouncilFiles(files.folder, files.job).answer(KEY)


def test_decisions_that_are_no_list_are_refused(files: CouncilFiles) -> None:
    files.put({RULINGS: '{"version": 1, "rulings": "mine"}\n'})
    with pytest.raises(MalformedRecord, match="a list is needed here"):
        files.rulings()
