"""The methods whose findings hang on a graph, declared as backends are.

A package of somebody else's adds a method through the entry-point group ``biasgraph.methods``: the
entry's name is the method's, and its object is a `Method`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from biasgraph.data.options import Option

GROUP = "biasgraph.methods"
IMAGES, EMBEDDER, DESCRIBER, LANGUAGE_MODEL = "images", "embedder", "describer", "language model"
NEEDS = (IMAGES, EMBEDDER, DESCRIBER, LANGUAGE_MODEL)


@dataclass(frozen=True)
class Method:
    """What one paper finds about images.

    Attributes:
        about: One line for lists and ``--help``.
        function: ``module:function``, called with a `methods.base.MethodInput`; returns an
            `Annotation`.
        needs: What it cannot do without, of `NEEDS`.
        uses: What it takes where it is there, of `NEEDS`.
        options: Its own options by name; the command line has ``--name`` for each.
    """

    about: str
    function: str
    needs: Sequence[str] = ()
    uses: Sequence[str] = ()
    options: Mapping[str, Option] = field(default_factory=dict)


METHODS: dict[str, Method] = {
    "tibet": Method(
        about="which counterfactual the images resemble, and how unevenly (TIBET)",
        function="biasgraph.methods.tibet:annotate",
        uses=(DESCRIBER,),
    ),
    "openbias": Method(
        about="how far each axis lies from uniform (OpenBias)",
        function="biasgraph.methods.openbias:annotate",
        uses=(LANGUAGE_MODEL,),
    ),
    "minethegap": Method(
        about="how well the images span the variations of their prompt (MineTheGap)",
        function="biasgraph.methods.minethegap:annotate",
        needs=(IMAGES, EMBEDDER),
        uses=(LANGUAGE_MODEL,),
        options={
            "vary": Option(
                "The axes whose combinations minethegap holds the images against. Default: gender "
                "and ethnicity, where there are such axes.",
                metavar="AXIS,...",
            ),
            "null": Option(
                "For minethegap: make as many images of the variations as the prompt has, and "
                "score them, too: what this model can do.",
                flags=("--null/--no-null",),
            ),
        },
    ),
}


def find_methods() -> Mapping[str, Method]:
    """All methods by name: biasgraph's own, then those of plug-ins."""
    return METHODS


def method_options() -> Mapping[str, Option]:
    """The options of all methods by name."""
    return {name: one for method in find_methods().values() for name, one in method.options.items()}
