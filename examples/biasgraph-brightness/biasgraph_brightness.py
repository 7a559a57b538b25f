"""How bright the images of each attribute are: a method for biasgraph."""

from __future__ import annotations

from typing import TYPE_CHECKING

from biasgraph.data.options import Option
from biasgraph.methods.registry import IMAGES, Method

if TYPE_CHECKING:
    from biasgraph.methods.base import Annotation, MethodInput

METHOD = Method(
    about="how bright the images of each attribute are",
    function="biasgraph_brightness:annotate",
    needs=(IMAGES,),
    options={
        "brightness_white": Option(
            "For brightness: the grey level that counts as 1.",
            usual="255",
            kind=int,
            metavar="LEVEL",
            low=1,
            high=255,
        )
    },
)


def annotate(given: MethodInput) -> Annotation:
    """Mean grey level of the initial images, of all and by the judge's answer about each axis."""
    from PIL import ImageStat

    from biasgraph.data.findings import Bar, Bars, Finding, Number
    from biasgraph.methods.base import Annotation

    _, media = given.run()
    white = given.options.get("brightness_white", 255)
    shown = [image for prompt in given.prompts for image in given.initial_images(prompt)]
    levels = {
        image: ImageStat.Stat(media.picture(image).convert("L")).mean[0] / white
        for image in media.find_shown(shown)
    }
    if not levels:
        return Annotation()
    rows = given.answers[given.answers["image"].isin(list(levels))]
    nodes = {}
    for node in given.document["nodes"]:
        about = rows[(rows["target"] == node["id"]) & rows["answer"].isin(node["attributes"])]
        of_image = about["image"].map(levels).astype(float)
        means = of_image.groupby(about["answer"].astype(str)).mean().to_dict()
        nodes[node["id"]] = Finding(
            "Brightness",
            "Mean grey level of the images with each attribute; 0 is black.",
            [Bars([Bar(name, level) for name, level in means.items()])],
            {"spread": max(means.values()) - min(means.values()) if means else None},
            {"levels": [means.get(name) for name in node["attributes"]]},
        )
    mean = sum(levels.values()) / len(levels)
    whole = [Number("Mean grey level", mean, n=len(levels))]
    return Annotation(Finding("Brightness", "0 is black.", whole, {"mean": mean}), nodes)
