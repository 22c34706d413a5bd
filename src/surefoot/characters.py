"""Characters that do something where they are shown: they move the cursor, break lines, or turn text around.

Text that people type is refused if it has them. But a database can be edited and a file can be made up, and what is
found there is shown with such characters spelled out, so that it cannot forge what a terminal shows.
"""

import re

# Control characters, line and paragraph separators and lone surrogates break tables, logs or files.
_UNPRINTABLE = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_ACTIVE = "\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff"
_IN_TEXT, _IN_LINE = re.compile(f"[{_ACTIVE}]"), re.compile(f"[\t\n{_ACTIVE}]")


def is_printable(value: str) -> bool:
    """Whether a text can be stored and shown anywhere: no control characters, line breaks or lone surrogates."""
    return _UNPRINTABLE.search(value) is None


def visible(value: str) -> str:
    """The text with every character that would act on a terminal spelled out; lines and tabs stay."""
    return _IN_TEXT.sub(_spelled, value) if _IN_TEXT.search(value) else value


def in_one_line(value: str) -> str:
    """The same for a text that has to stay on its line."""
    return _IN_LINE.sub(_spelled, value)


def _spelled(found: re.Match[str]) -> str:
    code = ord(found[0])
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"
