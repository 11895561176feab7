"""Text from outside stays on its line of the log."""

import pytest

from towpath.core.log_lines import indented, one_line


@pytest.mark.parametrize(
    "mark", ["\n", "\r", "\x00", "\x1b", "\x7f", "\x85", "\x9b", "\u2028", "\u2029", "\u202e", "\u2066"]
)
def test_what_could_begin_a_line_or_drive_a_terminal_is_escaped(mark):
    shown = one_line(f"a{mark}b")
    assert shown.startswith("a\\")
    assert shown.endswith("b")
    assert shown.isprintable()


def test_other_text_stays_as_it_is():
    assert one_line("Grüße, 世界 👋 \\n") == "Grüße, 世界 👋 \\n"


def test_lines_of_a_traceback_cannot_pass_for_lines_of_their_own():
    assert indented("Error: a\n2026 [info] forged\x1b[2K\u2028x") == (
        "    Error: a\n    2026 [info] forged\\x1b[2K\\u2028x\n"
    )
