"""How Sphinx builds the documentation as a site: `make site`."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

import biasgraph

project = "biasgraph"
author = "the authors of biasgraph"
version = release = biasgraph.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.graphviz", "sphinx.ext.napoleon"]
nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"[\s\S]*")
]  # types of other packages; this site links to no other
default_role = "py:obj"
smartquotes = False  # "--" begins an option

# Markdown
myst_heading_anchors = 4
nb_execution_mode = "off"  # notebooks keep what they showed; a test runs them
nb_merge_streams = True

# The reference of the Python functions
autodoc_typehints = "none"
autodoc_member_order = "bysource"
python_maximum_signature_line_length = 88

# The pages: no file of them comes from elsewhere
html_theme = "pydata_sphinx_theme"
html_title = "biasgraph"
html_context = {"default_mode": "auto"}
html_theme_options = {
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "footer_start": [],
    "footer_end": [],
    "show_prev_next": False,
    "secondary_sidebar_items": ["page-toc"],
}
html_extra_path = ["../build/gallery"]  # docs/build_gallery.py
html_show_sourcelink = False
html_show_copyright = False
graphviz_output_format = "svg"

MERMAID = re.compile(r"```mermaid\nflowchart TD\n(.*?)```", re.DOTALL)


def add_readme(app: Sphinx, name: str, source: list[str]) -> None:
    """Begin the first page with the README."""
    if name == "index":
        readme = (Path(app.srcdir).parent / "README.md").read_text("utf-8")
        readme = re.sub(r"\]\((?:docs/)?(CHANGELOG|CONTRIBUTING)\.md", _in_lower_case, readme)
        source[0] = (
            readme.replace("](docs/", "](").replace("](LICENSE)", "](../LICENSE)") + source[0]
        )


def _in_lower_case(link: re.Match[str]) -> str:
    return f"]({link[1].lower()}.md"


def hand_out_examples(app: Sphinx, name: str, source: list[str]) -> None:
    """Let links to files of examples, which are no pages, lead to the files."""
    links = source[0].replace("](../examples/", "](path:../examples/")
    source[0] = links.replace("](../README.md", "](index.md")


def escape_bars(
    app: Sphinx, what: str, name: str, thing: object, _: object, lines: list[str]
) -> None:
    """Keep the bars of |IS| in docstrings from being read as a substitution."""
    lines[:] = [line.replace("|", r"\|") for line in lines]


def draw_flowcharts(app: Sphinx, name: str, source: list[str]) -> None:
    """Let Graphviz, where it is installed, draw the flowcharts that GitHub draws with Mermaid."""
    if shutil.which("dot"):
        source[0] = MERMAID.sub(_as_dot, source[0])


def _as_dot(flowchart: re.Match[str]) -> str:
    arrows = re.sub(
        r"(\w+(?: & \w+)+)", lambda names: f"{{{names[1].replace('&', '')}}}", flowchart[1]
    )
    return f"```{{graphviz}}\ndigraph {{ node [shape=box]\n{arrows.replace('-->', '->')}}}\n```"


def setup(app: Sphinx) -> None:
    """Connect what belongs to this documentation alone."""
    app.add_lexer("mermaid", TextLexer)
    app.connect("source-read", add_readme)
    app.connect("source-read", draw_flowcharts)
    app.connect("source-read", hand_out_examples)
    app.connect("autodoc-process-docstring", escape_bars)
