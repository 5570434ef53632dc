"""The body: headings, fields, lists and tables, found and changed in place."""

import pytest

from fairlead.text.document import Document
from fairlead.text.errors import UnwritableValue
from fairlead.text.inline import one_line, plain_text, table_cell
from fairlead.text.lists import items_of, set_checked
from fairlead.text.tables import append_row, set_cell, tables_of

BODY = """\
# Title

## Current Position

Phase: 1 of 4 (API)
**Status:** Executing  \n\
- Total plans completed: 3
| Owner | Ann |

### Decisions ##

- [ ] one
  more of one

  and more
- [x] two
* three

```
## Not a heading
Status: not a field
- [ ] not a task
```

<!-- ## Hidden
Status: hidden
-->
## Table

| Phase | Plans | Note |
|-------|:-----:|------|
| 1 | 2/3 | a \\| b |
| 2 |  | - |

After.
"""


@pytest.mark.parametrize(
    "before",
    [
        "Run:\n\n    ```\n",  # code by its indentation
        "Run:\n\n    <!--\n",
        "- one\n\nRun:\n\n\t```\n",
        "```\n    ```\n```\n",  # a fence that shows one
        "- one\ntwo\n    ```\n    three\n    ```\n",
        "10. one\n\n    ```\n    # two\n     ```\n",
    ],
)
def test_a_fence_in_indented_code_ends_with_that_code(before: str) -> None:
    sections = Document(f"{before}## Real\n").sections
    assert [section.title for section in sections] == ["Real"]


def test_headings_in_fences_and_comments_are_not_structure() -> None:
    titles = [(section.level, section.title) for section in Document(BODY).sections]
    assert titles == [(1, "Title"), (2, "Current Position"), (3, "Decisions"), (2, "Table")]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Phase", "1 of 4 (API)"),
        ("status", "Executing"),
        ("Total plans completed", "3"),
        ("Owner", "Ann"),
    ],
)
def test_a_field_is_found_in_every_form(name: str, value: str) -> None:
    field = Document(BODY).field(name)
    assert field is not None
    assert field.value == value


@pytest.mark.parametrize(
    ("name", "value", "line"),
    [
        ("Phase", "2 of 4", "Phase: 2 of 4"),
        ("Status", "Ready", "**Status:** Ready  "),
        ("Owner", "a | b", "| Owner | a \\| b |"),
    ],
)
def test_setting_a_field_keeps_the_label_and_trailing_spaces(
    name: str, value: str, line: str
) -> None:
    document = Document(BODY)
    field = document.field(name)
    assert field is not None
    new = document.set_field(field, value).text
    assert line in new.split("\n")
    assert len(new.split("\n")) == len(BODY.split("\n"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("Status:\n", "Status: x\n"), ("**A:**\n", ""), ("Status:  \n", "Status: x \n")],
)
def test_an_empty_field_gets_one_space_before_its_value(text: str, expected: str) -> None:
    document = Document(text)
    field = document.field("Status")
    if expected:
        assert field is not None
        assert document.set_field(field, "x").text == expected
    else:
        assert field is None


def test_an_item_includes_its_continuation_lines() -> None:
    items = items_of(Document(BODY).lines)
    assert [item.text for item in items if item.box >= 0 or item.bullet == "*"] == [
        "one",
        "two",
        "three",
    ]
    one = next(item for item in items if item.text == "one")
    assert one.last.text == "  and more"


def test_checking_a_box_changes_one_character() -> None:
    one = next(item for item in items_of(Document(BODY).lines) if item.text == "one")
    assert set_checked(BODY, one, True) == BODY.replace("- [ ] one", "- [x] one", 1)
    assert set_checked(BODY, one, False) == BODY


def test_a_cell_is_changed_in_place_and_a_row_is_appended() -> None:
    (table,) = tables_of(Document(BODY).lines[22:])
    assert [cell.text for cell in table.rows[0]] == ["1", "2/3", "a \\| b"]
    assert table.column("plans") == 1
    assert "| 2 | 1/1 | - |" in set_cell(BODY, table.rows[1][1], "1/1").replace("  |", " |")
    assert append_row(BODY, table, ("3", "x|y", "-"), "\n").split("\n")[33] == "| 3 | x\\|y | - |"


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("two\nlines", "two lines"),
        ("  wide   gap ", "wide gap"),
        ("Use Vec<T>", "Use Vec\\<T>"),
        ("`Vec<T>` stays", "`Vec<T>` stays"),
        ("odd ` tick <b>", "odd \\` tick \\<b>"),
        ("a\\\\<b>x", "a\\\\\\<b>x"),
        ("```a``<b>`c", "\\`\\`\\`a\\`\\`\\<b>\\`c"),
        ("``a`<b>`` <c>", "``a`<b>`` \\<c>"),
        ("![i](http://x.example)", "!\\[i](http://x.example)"),
        ("<!-- hide", "\\<!-- hide"),
        ("a < b", "a < b"),
        ("# not a heading", "# not a heading"),
    ],
)
def test_a_value_is_written_as_one_line_and_reads_back(value: str, written: str) -> None:
    assert one_line(value) == written
    assert plain_text(written).replace(" ", "") == "".join(value.split())


def test_escaped_backticks_hide_no_tag() -> None:
    assert one_line("\\`<img src=x>\\`") == "\\`\\<img src=x>\\`"


def test_a_pipe_cannot_end_a_cell() -> None:
    assert table_cell("a|b \\| c") == "a\\|b \\| c"


@pytest.mark.parametrize("value", ["\x1b[31m", "a\x07", "\u202eabc", "x\x9b", "", "  \n "])
def test_control_characters_and_empty_values_are_refused(value: str) -> None:
    with pytest.raises(UnwritableValue):
        one_line(value)
