import pytest
from tests.crash.conftest import *
from tests.support.sweep import kill_points, try_point
from tests.support.trials import findings_of
@pytest.mark.parametrize("command", ["phase-complete","milestone-complete","phase-remove"])
def test_kill(rig_of, command):
    rig=rig_of(command)
    assert rig.unsafe == ()
    tried, found = findings_of(kill_points(rig.calls_from_the_lock), lambda point: try_point(rig, point))
    print(command, tried, len(found)); 
    for f in found[:10]: print(f)
    assert found == []
