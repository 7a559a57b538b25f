"""What is read off configurations and diffusers' source is what diffusers itself would say."""

from __future__ import annotations

import ast
import inspect
import json
import re
from pathlib import Path
from typing import Any

import pytest

from biasgraph.errors import InputError, ModelError
from biasgraph.models import pipeline_card
from biasgraph.models.inference_options import Spec
from biasgraph.models.model_source import Source
from biasgraph.models.pipeline_card import OFF, Card, is_auto, schedulers, text_to_image

ALL = pytest.mark.slow(reason="imports all pipelines of diffusers; every sixth stays")


def card(pipeline: str = "StableDiffusionPipeline", name: str = "x", **index: Any) -> Card:
    defaults = pipeline_card._call_of(pipeline, None)
    assert defaults is not None
    return Card(Path("/nowhere"), name, pipeline, index, defaults)


def described(folder: Path, **index: Any) -> Source:
    folder.mkdir(exist_ok=True)
    (folder / "model_index.json").write_text(json.dumps(index))
    return Source.of(Spec(f"diffusers:{folder}"))


@pytest.mark.parametrize("step", [6, pytest.param(1, marks=ALL)])
def test_signatures_are_those_of_the_classes(step: int) -> None:
    from diffusers.pipelines import auto_pipeline

    for kind in list(auto_pipeline.AUTO_TEXT2IMAGE_PIPELINES_MAPPING.values())[::step]:
        read = pipeline_card._call_of(kind.__name__, None)
        parameters = [
            parameter
            for parameter in inspect.signature(kind.__call__).parameters.values()
            if parameter.name != "self" and parameter.kind is not parameter.VAR_KEYWORD
        ]
        assert read is not None
        assert list(read) == [parameter.name for parameter in parameters]
        for parameter in parameters:
            default = parameter.default
            if isinstance(default, (int, float, str, bool, type(None))):
                assert read[parameter.name] in (default, None), parameter
        assert is_auto(kind.__name__)


def test_a_pipeline_saved_for_another_task_makes_images_from_texts() -> None:
    from diffusers.pipelines import auto_pipeline

    for saved in ("StableDiffusionXLImg2ImgPipeline", "FluxInpaintPipeline", "KandinskyPipeline"):
        wanted = auto_pipeline._get_task_class(
            auto_pipeline.AUTO_TEXT2IMAGE_PIPELINES_MAPPING, saved
        )
        assert text_to_image(saved) == wanted.__name__
    assert text_to_image("HiDreamImagePipeline") == "HiDreamImagePipeline"


def test_every_switch_that_rewrites_prompts_is_known() -> None:
    """Fails when a new diffusers has one more: look at it, and add it to OFF or below."""
    harmless = re.compile(
        r"temperature|kwargs|seed|template|_head|^prompt_enhancer$|use_system_prompt|rewrite_prompt"
    )
    suspicious = re.compile(r"upsampl|enhanc|rewrit|use_pe\b|human_instruction|rewire|expan[ds]")
    found: dict[str, set[str]] = {}
    for path in (pipeline_card._library() / "pipelines").rglob("pipeline_*.py"):
        source = path.read_text("utf-8")
        calls = re.findall(r"def __call__\(.*?\n    \)", source, re.DOTALL)
        for node in ast.parse(source).body if any(map(suspicious.search, calls)) else ():
            if isinstance(node, ast.ClassDef):
                names = set(pipeline_card._signature(node))
                if "prompt" in names and "num_frames" not in names:
                    found[node.name] = {name for name in names if suspicious.search(name)}
    unknown = {
        name: left
        for name, names in found.items()
        if (left := {x for x in names if x not in OFF and not harmless.search(x)})
    }
    assert not unknown
    used = set().union(*found.values())
    assert {"use_pe", "enable_prompt_rewrite", "prompt_upsampling"} <= used


@pytest.mark.parametrize(
    ("pipeline", "name", "index", "steps", "guidance"),
    [
        ("StableDiffusionXLPipeline", "sdxl-base", {}, 50, 5.0),
        ("StableDiffusionXLPipeline", "sdxl-turbo", {}, 1, 0.0),
        ("FluxPipeline", "flux.1-dev", {}, 28, 3.5),
        ("FluxPipeline", "flux.1-schnell", {}, 4, 0.0),
        ("Flux2KleinPipeline", "mine", {"is_distilled": True}, 4, 1.0),
        ("Flux2KleinPipeline", "flux.2-klein-base-4b", {"is_distilled": False}, 50, 4.0),
        ("ZImagePipeline", "z-image-turbo", {}, 8, 0.0),
        ("LatentConsistencyModelPipeline", "lcm_dreamshaper_v7", {}, 4, 8.5),
        ("QwenImagePipeline", "qwen-image", {}, 50, 4.0),
        ("SanaPipeline", "sana", {}, 20, 4.5),
    ],
)
def test_steps_and_guidance_are_what_a_model_was_made_for(
    pipeline: str, name: str, index: dict[str, Any], steps: int, guidance: float
) -> None:
    made = card(pipeline, name, **index)
    assert (made.steps(None), made.guidance(None)) == (steps, guidance)
    assert (made.steps(7), made.guidance(1.5)) == (7, 1.5)


def test_a_distilled_model_that_is_not_known_wants_its_steps() -> None:
    with pytest.raises(InputError, match=r"distilled to few steps \('lightning'\): set --steps"):
        card(name="sdxl-lightning-mine").steps(None)
    assert card(name="sdxl-lightning-mine").steps(4) == 4


def test_rewriting_is_switched_off_where_there_is_a_switch() -> None:
    assert card("ErnieImagePipeline").switches == {"use_pe": False}
    assert card("LongCatImagePipeline").switches == {"enable_prompt_rewrite": False}
    assert card("Ideogram4Pipeline").switches == {"prompt_upsampling": False}
    assert card("SanaPipeline").switches == {"complex_human_instruction": None}
    assert card("Flux2Pipeline").switches == {"caption_upsample_temperature": None}
    assert card("FluxPipeline").switches == {}


def test_options_that_a_pipeline_has_not_are_refused() -> None:
    with pytest.raises(InputError, match="does not take --negative-prompt"):
        card("LatentConsistencyModelPipeline").negative("blurry")
    with pytest.raises(InputError, match="multiples of 8"):
        card().size((100, 64))
    assert card().size((64, 128)) == {"width": 64, "height": 128}
    assert card("QwenImagePipeline").negative(None) == " "
    assert card("QwenImagePipeline").guidance_parameter == "true_cfg_scale"
    assert card("FluxPipeline").negative(None) is None


def test_schedulers_are_exchanged_within_their_kind() -> None:
    import diffusers

    kinds = schedulers()
    assert "DPMSolverSDEScheduler" not in kinds and len(kinds) > 20
    for name, kind in kinds.items():
        if kind == "diffusion" and hasattr(getattr(diffusers, name), "_compatibles"):
            family = getattr(diffusers, name)._compatibles
            assert "EulerDiscreteScheduler" in family or name in ("LCMScheduler", "TCDScheduler")


def test_what_is_no_pipeline_is_refused(tmp_path: Path) -> None:
    with pytest.raises(
        InputError, match=r"is not a diffusers pipeline: it has no model_index\.json"
    ):
        Card.of(Source.of(Spec(f"diffusers:{tmp_path}")))
    with pytest.raises(InputError, match="has no NewestPipeline; `pip install -U diffusers`"):
        Card.of(described(tmp_path / "new", _class_name="NewestPipeline"))
    with pytest.raises(InputError, match="does not make images from text"):
        Card.of(described(tmp_path / "old", _class_name="DDPMPipeline"))
    damaged = described(tmp_path / "damaged")
    (tmp_path / "damaged" / "model_index.json").write_text("{")
    with pytest.raises(ModelError, match="cannot read"):
        Card.of(damaged)


def test_code_of_a_models_own_does_not_run_unasked(tmp_path: Path) -> None:
    source = described(tmp_path / "own", _class_name=["pipeline", "MyPipeline"])
    (tmp_path / "own" / "pipeline.py").write_text(
        "raise SystemExit\nclass MyPipeline:\n"
        "    def __call__(self, prompt=None, num_inference_steps=3, generator=None): ...\n"
    )
    with pytest.raises(InputError, match="read the code, then add --trust-remote-code"):
        Card.of(source)
    trusting = Source.of(Spec(source.spec), trust_remote_code=True)
    assert Card.of(trusting).steps(None) == 3
    component = described(tmp_path / "part", _class_name="FluxPipeline", unet=["mine", "MyUNet"])
    (tmp_path / "part" / "unet").mkdir()
    (tmp_path / "part" / "unet" / "mine.py").write_text("raise SystemExit")
    with pytest.raises(InputError, match="--trust-remote-code"):
        Card.of(component)


def test_code_that_is_none_and_configurations_too_deep_are_one_line(tmp_path: Path) -> None:
    source = described(tmp_path / "x", _class_name="OwnPipeline")
    (tmp_path / "x" / "a.py").write_bytes(b"class OwnPipeline\xff")
    (tmp_path / "x" / "b.py").write_text("class OwnPipeline(")
    trusting = Source.of(Spec(source.spec), trust_remote_code=True)
    with pytest.raises(InputError, match="has no OwnPipeline"):
        Card.of(trusting)
    (tmp_path / "x" / "model_index.json").write_text("[" * 100_000)
    with pytest.raises(ModelError, match=r"cannot read .*model_index.json"):
        Card.of(source)
