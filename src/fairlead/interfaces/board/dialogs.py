"""What the terminal board asks a person, and pages that cover it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from fairlead.interfaces.board.text import one_row, safe_text
from fairlead.jobs.model import IN_WORDS, OVERRIDE


class PageDialog(ModalScreen[None]):
    """A page that covers the board until it is closed."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape,q,enter", "dismiss", "Close")]

    def __init__(self, title: str, page: Text) -> None:
        super().__init__()
        self._heading, self._page = title, page

    def compose(self) -> ComposeResult:
        """The title, and the page below it, which scrolls."""
        with Vertical(classes="dialog page"):
            yield Static(one_row(self._heading, "bold"), classes="title")
            with VerticalScroll(can_focus=True):
                yield Static(self._page)
            yield Static(one_row("Esc closes; arrows scroll", "dim"))


class ConfirmDialog(ModalScreen[bool]):
    """A question with yes or no."""

    BINDINGS: ClassVar[list[BindingType]] = [
        ("y", "dismiss(True)", "Yes"),
        ("n,escape", "dismiss(False)", "No"),
    ]

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def compose(self) -> ComposeResult:
        """The question and its keys."""
        with Vertical(classes="dialog"):
            with VerticalScroll(classes="question"):
                yield Static(safe_text(self._text))
            yield Static(one_row("y: yes   n: no", "dim"))


class TextDialog(ModalScreen[str]):
    """Asks for a text, or for one of some answers; the result is empty if the person gives up."""

    AUTO_FOCUS = "OptionList, Input"
    BINDINGS: ClassVar[list[BindingType]] = [("escape", "dismiss('')", "Cancel")]

    def __init__(
        self, title: str, text: str = "", options: Sequence[str] = (), *, is_choice: bool = False
    ) -> None:
        super().__init__()
        self._is_choice = is_choice  # one of the options, and no other text
        self._heading, self._text, self._options = title, text, tuple(options)

    def compose(self) -> ComposeResult:
        """The text, the possible answers, and a field."""
        with Vertical(classes="dialog"):
            yield Static(one_row(self._heading, "bold"), classes="title")
            if self._text:
                with VerticalScroll(classes="details"):
                    yield Static(safe_text(self._text))
            if self._options:
                yield OptionList(*(Option(one_row(option)) for option in self._options))
            if self._is_choice:
                yield Static(one_row("Enter: choose   Esc: cancel", "dim"))
                return
            hint = "write the answer, then Enter" if self._options else ""
            yield Input(placeholder=hint, select_on_focus=False)
            keys = "Enter: choose   Tab: write instead   Esc: cancel"
            yield Static(one_row(keys if self._options else "Enter: record   Esc: cancel", "dim"))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Take an option; some continue with words of the person, in the field."""
        chosen = self._options[event.option_index]
        lead = next((each for each in (*IN_WORDS, OVERRIDE) if chosen.startswith(each)), "")
        if not lead or self._is_choice:
            self.dismiss(chosen)
            return
        field = self.query_one(Input)
        field.value = f"{lead} "
        field.focus()
        self.call_after_refresh(field.action_end)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        """Take the text of the field."""
        if event.value.strip():
            self.dismiss(event.value.strip())
