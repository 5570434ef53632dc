"""What a test runner says when there was nothing to run.

Many of them end with success then, which proves nothing. Only what they say of a whole run
counts: one empty file among full ones is no news.
"""

import re

_NOTHING = re.compile(
    r"""(?im)^\s*=*\s*(?:
        no\ tests\ ran\b.*                                  # pytest
      | collected\ 0\ items\b.*                             # pytest --exitfirst and plugins
      | ran\ 0\ tests\b.*                                   # unittest
      | 0\ passing\b.*                                      # mocha
      | (?:no\ tests\ found|no\ test\ files?\ found)\b.*    # jest, vitest, playwright
      | tests:\s+0\ total.*                                 # jest
      | 0\ examples,\ 0\ failures.*                         # rspec
      | 0\ runs,\ 0\ assertions\b.*                         # minitest
      | no\ tests\ executed.*                               # phpunit
      | 1\.\.0\b.*                                          # the TAP protocol
      | testing:\ warning:\ no\ tests\ to\ run              # go, for one package
      | \?\s+\S+\s+\[no\ test\ files\]                      # go, for one package
      | running\ 0\ tests                                   # cargo, for one target
    )$""",
    re.VERBOSE,
)
_SOMETHING = re.compile(
    r"""(?im)\b[1-9][0-9]*\ (?:passed|failed|passing|failing|tests?\ (?:passed|ok)|examples?)\b
      | ^\s*running\ [1-9][0-9]*\ tests? | ^\s*ran\ [1-9][0-9]*\ tests?
      | ^ok\s+\S+\s+(?:\(cached\)|[0-9.]+s)(?!.*no\ tests) | ^\s*(?:not\ )?ok\ [1-9]
      | ^\s*tests:\s.*[1-9][0-9]*\ total | ^--- (?:PASS|FAIL):""",
    re.VERBOSE,
)


_SKIPPED = re.compile(
    r"""(?im)^[ \t=]*[1-9][0-9]*\ (?:skipped|deselected|todo)[^\n]*\bin\ [0-9.]+s.*   # pytest
      | ^ok\ \(.*\bskipped=(?P<skipped>[0-9]+).*                                      # unittest
      | ^[ \t]*tests:?[ \t]+(?:[0-9]+\ (?:skipped|todo)[, ]*)+(?:[0-9]+\ total|\([0-9]+\)).*   # jest, vitest
      | ^test\ result:\ ok\.\ 0\ passed;\ 0\ failed;\ [1-9][0-9]*\ ignored.*            # cargo
      | ^\#\ pass\ 0$                                                              # node
    """,
    re.VERBOSE,
)
_RAN = re.compile(r"(?im)^ran ([0-9]+) tests?")
_PASSED = re.compile(r"(?i)\b[1-9][0-9]* (?:passed|passing|failed)\b")


def ran_no_test(output: str) -> str:
    """The line in which a test runner says that nothing ran; empty when anything did."""
    skipped = _SKIPPED.search(output)
    if skipped and not _PASSED.search(output):
        ran = sum(map(int, _RAN.findall(output)))
        if ran <= int(skipped["skipped"] or ran):
            return skipped[0].strip(" =")
    found = _NOTHING.search(output)
    if found is None or _SOMETHING.search(output):
        return ""
    return found[0].strip(" =")
