"""Todos: which of two say the same."""

import pytest

from fairlead.project.todos import is_same, new_todo


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("Python 3.11", "Python 3.12", False),
        ("Set the timeout to -1", "Set the timeout to 1", False),
        ("Support Python <= 3.11", "Support Python >= 3.11", False),
        ("Read $HOME first", "Read HOME first", False),
        ("Ship the reader!", "Ship the reader?", True),
        ("Ship the reader - now", "Ship the reader, now", True),
        ("Learn Go", "Learn JS", False),
        ("Support C", "Support C++", False),
        ("Move the whole user data store layer from files to MySQL",
         "Move the whole user data store layer from files to Postgres", False),
        ("Cache the results of the search page", "Do not cache the results of the search page", False),
        ("Drop support for release 1 of the public web interface",
         "Drop support for release 2 of the public web interface", False),
        ("The login page forgets the language", "the Login page forgets language!", True),
        ("Write more tests for reader and writer", "Write tests for reader and writer, more", True),
        ("?", "!", True),
    ],
)  # fmt: skip
def test_todos_are_the_same_only_if_no_word_is_replaced(
    one: str, other: str, expected: bool
) -> None:
    assert is_same(new_todo(one), new_todo(other)) is expected
    assert is_same(new_todo(other), new_todo(one)) is expected
