"""Options that list names, as in ``--only gender,age``."""

from __future__ import annotations


def names_in(option: str, text: str | None) -> tuple[str, ...]:
    """The names in an option's value; none where it is not given.

    Raises InputError for a value that names nothing: "" must not stand for everything.
    """
    from biasgraph.errors import InputError

    if text is None:
        return ()
    names = tuple(name for part in text.split(",") if (name := part.strip()))
    if not names:
        raise InputError(f"{option} is empty: name something, or leave it out")
    return names
