"""kill -9 during an approval: a sample here, every call in `make prove`."""

from pathlib import Path

import pytest

from tests.support import strace
from tests.support.approval_sweep import ApprovalRig, sampled
from tests.support.figures import record_quick

SAMPLE = 2


@pytest.mark.usefixtures("installed_command")
def test_a_kill_at_any_moment_leaves_one_issue_a_module_in_the_end(tmp_path: Path) -> None:
    if strace.why_not():
        pytest.skip(strace.why_not())
    rig = ApprovalRig(tmp_path)
    calls = sampled(rig.calls, SAMPLE)

    tried = {call.place: rig.killed_at(call.name, call.number) for call in calls}

    assert {place: each.wrong for place, each in tried.items() if each.wrong} == {}
    struck = sum(each.has_struck for each in tried.values())
    assert struck > len(calls) / 2
    record_quick(
        "kill-approve",
        "kill -9 at any call of an approval: exactly one issue a module in the end",
        {"kill points": len(calls), "struck": struck, "calls in all": len(rig.calls)},
    )
