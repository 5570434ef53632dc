"""Every known defect and complaint has a test with its number in the test's name."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
NAMES = "\n".join(
    name
    for path in sorted(TESTS.rglob("test_*.py"))
    for name in re.findall(r"^def (test_\w+)", path.read_text("utf-8"), re.MULTILINE)
)

DEFECTS = range(1, 27)
COMPLAINTS = (
    # The 25 most important, then the rest of the list.
    *(4210, 4129, 4213, 3583, 4186, 4551, 4419, 4763, 4564, 4862, 4010, 4243, 3818, 3311, 1531),
    *(1540, 2202, 3257, 4053, 549, 3354, 2199, 3162, 2754, 2850),
    *(4629, 3853, 3612, 4078, 4824, 4884, 464, 905, 1230, 2567, 2444, 1514, 3573, 2828, 1591),
    *(2787, 875, 1588, 3569, 2400, 1070, 944, 1101, 1760, 3578, 3231, 2348, 4697, 2833, 1194),
    *(2219, 4844, 692, 657, 1570, 1756, 956, 1589),
)


@pytest.mark.parametrize("number", DEFECTS)
def test_a_known_defect_is_a_test(number: int) -> None:
    assert f"defect_{number}_" in NAMES


@pytest.mark.parametrize("number", COMPLAINTS)
def test_a_complaint_is_a_test(number: int) -> None:
    assert f"issue_{number}_" in NAMES
