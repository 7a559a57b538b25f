"""Self-contained pages: template, styles, scripts and data in one file that asks for nothing.

A page may run only the scripts whose hashes stand in its content security policy, loads nothing
but pictures of the run it stands in, and gets its data as JSON that its scripts turn into text
nodes.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from biasgraph.data import findings
from biasgraph.io import resources
from biasgraph.report import words

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

FOLDER = "report"
FIRST = ("dom.js",)
"""What every page begins with."""
SCRIPTS = ("theme.js", "curves.js", "graph.js", "legend.js", "charts.js")
"""What pages draw graphs with; their own scripts come behind."""
STYLES = ("base.css",)
DIGEST = "biasgraph-digest"
DOCTYPE = b"<!doctype html>"
_SEPARATOR = re.compile(r"(?<=[:/_-])(?=\S)")
_NUMBER = re.compile(
    r"(\[[\d.,+% -]{1,30}\]|(?:\b[pV] = )?\d[\d.,]{0,9}(?:e-\d{2,3}| %)|\b[pV] = \d[\d.]{0,9})"
)
_HEAD = 4096  # bytes of a page in which its digest stands


def render(
    template: str,
    *,
    model: Mapping[str, Any],
    scripts: Sequence[str] = (),
    styles: Sequence[str] = (),
    digest: str = "",
    drawn: bool = True,
    files: bool = False,
    **context: Any,
) -> bytes:
    """One page: a template of templates/report/ that extends base.html, as UTF-8.

    Args:
        template: Its file.
        model: JSON types; the page's scripts find it in `biasgraph.model`.
        scripts: Files of templates/report/, behind those that every page has.
        styles: The same of style sheets.
        digest: What tells whether the page would come out the same; see `digest_in`.
        drawn: Whether the page draws a graph and needs what that takes.
        files: Whether the page may show pictures that lie beside it.
        context: What the template itself shows, escaped.
    """
    needed = (*FIRST, *(SCRIPTS if drawn else ()), *scripts)
    code = [resources.read_text(FOLDER, name) for name in needed]
    style = "\n".join(resources.read_text(FOLDER, name) for name in (*STYLES, *styles))
    page = _environment().get_template(template)
    text = page.render(
        policy=_policy(code, style, files),
        code=code,
        style=style,
        data=json_for_html(model),
        digest_name=DIGEST,
        digest=digest,
        **context,
    )
    return text.encode("utf-8", "replace")  # names of files may hold half a character


def render_parts(
    parts: Iterable[findings.ScreenPart], *, title: str, brand: str, note: str
) -> bytes:
    """A page of parts, without scripts: a section for each heading, with what follows it.

    Args:
        parts: What the page tells; those before the first heading stand at its top.
        title: What the page is about.
        brand: What made it.
        note: The last words.
    """
    sections: list[list[findings.ScreenPart]] = [[]]
    for part in parts:
        if isinstance(part, findings.Heading):
            sections.append([])
        if not findings.is_empty(part):
            sections[-1].append(part)
    top, *others = sections
    links = {part.text: f"#section-{number}" for number, (part, *_) in enumerate(others, start=1)
             if isinstance(part, findings.Heading)}  # fmt: skip
    return render(
        "parts.html",
        model={},
        styles=["parts.css", "marked_text.css"],
        drawn=False,
        title=title,
        brand=brand,
        top=top,
        sections=others,
        links=links,
        note=note,
    )


def render_fragment(template: str, *, styles: Sequence[str] = (), **context: Any) -> str:
    """HTML to stand in somebody else's page: no scripts, and its own styles.

    Args:
        template: A file of templates/report/.
        styles: Style sheets there.
        context: What the template shows, escaped.
    """
    style = "\n".join(resources.read_text(FOLDER, name) for name in styles)
    return _environment().get_template(template).render(style=style, **context)


def json_for_html(value: object) -> str:
    """`value` as JSON that can stand in a script element: nothing in it ends or opens one."""
    text = json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def digest_of(*parts: object) -> str:
    """A digest of JSON-able parts, and of the templates that would show them."""
    from biasgraph.io.version import __version__

    digest = hashlib.sha256(__version__.encode())
    for name in (*resources.names(FOLDER, ""),):
        digest.update(resources.read_text(FOLDER, name).encode())
    for part in parts:
        digest.update(json.dumps(part, ensure_ascii=True).encode())
    return f"sha256:{digest.hexdigest()}"


def digest_in(path: Path) -> str | None:
    """The digest that a written page carries; None when there is no such page."""
    if not path.is_file():
        return None
    try:
        with path.open("rb") as file:
            head = file.read(_HEAD).decode("utf-8", "replace")
    except OSError:
        return None
    _, name, rest = head.partition(f'<meta name="{DIGEST}" content="')
    return rest.partition('"')[0] if name else None


def is_page(path: Path) -> bool:
    """Whether a file is a page, as far as its beginning shows."""
    with suppress(OSError):
        if path.is_file():
            with path.open("rb") as file:
                return file.read(len(DOCTYPE)).lower() == DOCTYPE
    return False


@functools.cache
def _environment() -> Environment:
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    environment = Environment(
        loader=FunctionLoader(lambda name: resources.read_text(FOLDER, name)),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "visible": words.visible,
        "breakable": _breakable,
        "unbroken": _unbroken,
        "with_interval": _with_interval,
    }
    return environment


def _breakable(name: str) -> Markup:
    """A long name, escaped, that breaks behind its separators; dom.js has the same rule."""
    from markupsafe import Markup

    return Markup("<wbr>").join(_SEPARATOR.split(name))


def _unbroken(sentence: str) -> Markup:
    """A sentence, escaped, whose numbers stay in one line; dom.js has the same rule."""
    from markupsafe import Markup

    pieces = _NUMBER.split(sentence)
    whole = Markup('<span class="unbroken">{}</span>')
    return Markup("").join(whole.format(one) if i % 2 else one for i, one in enumerate(pieces))


def _with_interval(bar: findings.Bar | findings.Number) -> str:
    return words.with_interval(bar.value, bar.low, bar.high)


def _policy(code: Sequence[str], style: str, files: bool) -> str:
    images = "data: 'self' file:" if files else "data:"  # not every browser takes a disk for 'self'
    scripts = " ".join(_hash(script) for script in code)
    return (
        f"default-src 'none'; script-src {scripts}; style-src {_hash(style)}; img-src {images}; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    # An element's text begins and ends as the template puts it: right behind its tag.
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
