"""agreement.json: what it must hold to be used again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from biasgraph.data.agreement_model import AgreementDocument
from biasgraph.errors import InputError, printable, show_path
from biasgraph.io.json_files import check, parse_json
from biasgraph.io.text_files import read_bytes, refuse_pipe

SCHEMA_NAME = "biasgraph-agreement"
SCHEMA = f"{SCHEMA_NAME}/1"

Record = dict[str, Any]


def read(path: Path) -> Record:
    """The agreement in a file.

    Raises InputError: it is none, is damaged, or was made by a newer biasgraph.
    """
    record = parse_json(read_bytes(path), show_path(path))
    schema = str(record.get("schema")) if isinstance(record, dict) else ""
    if schema.partition("/")[0] != SCHEMA_NAME:
        raise InputError(f"{show_path(path)} is not an agreement of biasgraph's")
    if schema != SCHEMA:
        raise InputError(
            f"{show_path(path)} has schema {printable(schema)}; this biasgraph reads {SCHEMA}: "
            "install a newer one"
        )
    check(AgreementDocument, record, show_path(path))
    return dict(record)


def is_agreement(path: Path) -> bool:
    """Whether a file holds an agreement; people's labels, of all files, stand beside it."""
    try:
        refuse_pipe(path)
        read(path)
    except InputError:
        return False
    return True
