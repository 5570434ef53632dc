"""Chromium for walks: opens a page at several widths, light and dark, and checks it with axe."""

import json
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from tests.support.programs import ROOT

LOOKS = tuple((width, scheme) for width in (1440, 1024, 390) for scheme in ("light", "dark"))
SECONDS = 300


class Look(NamedTuple):
    """What a browser found on a page at one width, in one colour scheme."""

    width: int
    scheme: str
    requests: list[str]
    messages: list[str]  # of the console: refused by the policy, failed, or written by a script
    violations: list[dict[str, Any]]
    passed: int  # the rules of axe that held
    overflow: int  # pixels by which the page is wider than the window

    @property
    def grave(self) -> list[dict[str, Any]]:
        """The findings of axe that are serious or critical."""
        return [each for each in self.violations if each["impact"] in ("serious", "critical")]


@cache
def browser_modules() -> str:
    """The folder of playwright-core and axe-core; the test is skipped where it cannot be had."""
    done = subprocess.run([str(ROOT / "tools/browser")], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(done.stderr.strip())
    return done.stdout.strip()


def look_at(
    url: str, looks: Sequence[tuple[int, str]] = LOOKS, screenshots: Path | None = None
) -> list[Look]:
    """Open a page at several widths and schemes, with every fold opened."""
    asked = {
        "modules": browser_modules(),
        "url": url,
        "looks": [
            {
                "width": width,
                "height": 900,
                "scheme": scheme,
                "screenshot": str(screenshots / f"{width}-{scheme}.png") if screenshots else "",
            }
            for width, scheme in looks
        ],
    }
    done = subprocess.run(
        ["node", str(Path(__file__).with_name("browser.mjs"))],
        input=json.dumps(asked),
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return [
        Look(width, scheme, **each)
        for (width, scheme), each in zip(looks, json.loads(done.stdout), strict=True)
    ]
