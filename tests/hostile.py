"""Texts that break careless writers: markup, quotes, formulas, escapes, marks, control characters.

Every writer and every screen is tried with them. None is empty and none is only white space, so
that each can be a prompt, an axis, an attribute or an image id.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd

from biasgraph.data.result import Result
from biasgraph.data.result_tables import KnownTables

MARKUP = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "</title><script>alert(3)</script>",
    "</style><img src=x onerror=alert(4)>",
    "<img src=x onerror=alert`5`>",
    "<svg/onload=alert(6)>",
    "<iframe src=javascript:alert(7)>",
    "<a href='javascript:alert(8)'>href</a>",
    "<!-- comment -->",
    "-->",
    "<![CDATA[ x ]]>",
    "]]>",
    "<?xml version='1.0'?>",
    "<!DOCTYPE x [<!ENTITY a 'b'>]>",
    "&lt;b&gt;",
    "&amp;amp;",
    "&#x3c;script&#x3e;",
    "&nosuchentity;",
    "a & b < c > d",
    "{{ 7 * 7 }}",
    "{% raw %}",
    "${7*7}",
    "#{7*7}",
    "`whoami`",
    "$(whoami)",
    "javascript:alert(9)",
    "data:text/html,<script>alert(10)</script>",
    "\\u003cscript\\u003e",
]
QUOTES = [
    "'",
    '"',
    '""',
    "''",
    "' OR '1'='1",
    '"; DROP TABLE images; --',
    '" onmouseover="alert(1)',
    "' onmouseover='alert(1)",
    "it's",
    'say "cheese"',
    "back\\slash",
    "trailing\\",
    '\\"',
    "\u201ccurly\u201d \u2018quotes\u2019",
    "a,b",
    "a;b",
    "a\tb",
    "a|b",
    '"a","b"',
    "'=1+1",
    "''=1+1",
    "'quoted'",
]
FORMULAS = [
    "=1+1",
    "=cmd|'/C calc'!A0",
    '=HYPERLINK("http://example.com","x")',
    "+1",
    "+SUM(1,1)",
    "-1",
    "-2+3+cmd|' /C calc'!A0",
    "@SUM(1+1)",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    " =1+1",
    "=",
    "-",
    "@",
    "0x10",
    "1e5",
    "007",
    "1.50",
    "TRUE",
    "None",
    "NA",
    "null",
    "#N/A",
]
TERMINAL = [
    "\x1b[31mred\x1b[0m",
    "\x1b]0;title\x07",
    "\x1b]8;;http://example.com\x1b\\link\x1b]8;;\x1b\\",
    "\x1b[2J\x1b[H",
    "\x9b31m",
    "\x07bell",
    "back\x08space",
    "over\rwrite",
    "two\nlines",
    "dos\r\nlines",
    "form\x0cfeed",
    "vertical\x0btab",
    "delete\x7f",
    "next\x85line",
    "line\u2028separator",
    "paragraph\u2029separator",
    "[bold]rich[/bold]",
    "[/]",
    "[link=http://example.com]x[/link]",
    "[red",
    "\\[escaped]",
    ":smile:",
    "%s %d %n",
    "{0} {name}",
]
UNICODE = [
    "\u202eright-to-left override",
    "\u202dleft-to-right override",
    "\u2066isolate\u2069",
    "\u200fmark",
    "\u200eleft mark",
    "\u061cArabic mark",
    "zero\u200bwidth",
    "non\u200djoiner",
    "\ufeffBOM",
    "soft\u00adhyphen",
    "\u05e9\u05dc\u05d5\u05dd",
    "\u0645\u0643\u062a\u0628\u0629",
    "\u56fe\u4e66\u9986\u5458",
    "\U0001f469\u200d\U0001f4bb",
    "\U0001f9d1\U0001f3fd\u200d\U0001f680",
    "\U0001f1e9\U0001f1ea",
    "e\u0301",
    "\u00e9",
    "\ufb01",
    "\u0130stanbul",
    "Z\u0351\u036b\u0343\u036a\u0302a\u033b\u030cl\u0352g\u0321o",
    "\u212b",
    "\U0010ffff",
    "\ue000private",
    "\ufffd",
    "\ufffe",
    "\u00a0no-break\u00a0spaces\u00a0",
    " leading",
    "trailing ",
    "a" * 2000,
    "../../etc/passwd",
    "..\\..\\windows",
    "CON",
    "a/b:c*d?e",
]
UNWRITABLE = [
    "nul\0byte",
    "\0",
    "start\x01of heading",
    "unit\x1fseparator",
    "file\x1cseparator",
    "\ud800lone surrogate",
    "\udfff",
]
"""NUL and lone surrogates fit in no CSV file; most control characters fit in no XML file."""

HOSTILE = [*MARKUP, *QUOTES, *FORMULAS, *TERMINAL, *UNICODE, *UNWRITABLE]

NAME = "NAME"
"""What stands in a result until it is named."""


def named(value: Any, name: str) -> Any:
    """A result, a table or plain data with a name wherever it says NAME, as if it were analyzed so.

    What draws results can so be tried with many names after one analysis.
    """
    if isinstance(value, str):
        return value.replace(NAME, name)
    if isinstance(value, dict):
        return {named(key, name): named(one, name) for key, one in value.items()}
    if isinstance(value, list):
        return [named(one, name) for one in value]
    if isinstance(value, pd.DataFrame):
        return value.map(lambda cell: named(cell, name))
    if isinstance(value, Result):
        frames = (named(frame, name) for frame in (value.pairs, value.tables, value.answers))
        return replace(value, document=named(value.document, name), frames=KnownTables(*frames))
    return value
