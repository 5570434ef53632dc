"""A lazy pattern does what a compiled one does, and is compiled on first use."""

import importlib
import pkgutil
import re

import pytest

import fairlead
from fairlead.core.patterns import lazy_pattern


def test_it_answers_like_a_compiled_pattern():
    given = r"(?P<word>\w)x", re.IGNORECASE
    lazy, compiled = lazy_pattern(*given), re.compile(*given)

    assert lazy.sub(r"\g<word>", "aXbx") == compiled.sub(r"\g<word>", "aXbx") == "ab"
    assert lazy.groupindex == compiled.groupindex
    assert lazy.flags == compiled.flags
    assert lazy.pattern == compiled.pattern


def test_it_reads_bytes_too():
    assert lazy_pattern(rb"a+").findall(b"aab a") == [b"aa", b"a"]


def test_it_is_compiled_on_first_use_and_kept():
    broken = lazy_pattern("(")
    used = lazy_pattern("a")

    with pytest.raises(re.error):
        broken.match("a")
    assert used.match("a")
    # The compiled pattern's own method, so that using it costs no more.
    assert used.match is used.match


def test_every_pattern_of_the_product_can_be_compiled():
    kind = type(lazy_pattern(""))
    modules = [
        importlib.import_module(each.name)
        for each in pkgutil.walk_packages(fairlead.__path__, "fairlead.")
        if not each.name.endswith("__main__")
    ]
    found = [value for module in modules for value in vars(module).values() if type(value) is kind]

    assert len(found) > 100
    assert all(pattern.groups >= 0 for pattern in found)
