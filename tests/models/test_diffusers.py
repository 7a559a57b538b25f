"""Tiny pipelines of five architectures through the generator, and what may go wrong with them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

from biasgraph.commands import main
from biasgraph.errors import InputError, MissingExtra, ModelError
from biasgraph.models import pipeline_loading as loading
from biasgraph.models.base import Picture
from biasgraph.models.diffusers import SAFETY_CHECKER, DiffusersGenerator, read_pictures
from biasgraph.models.inference_options import ModelOptions
from biasgraph.models.library_loading import silence_libraries as quiet
from biasgraph.models.model_source import Source
from biasgraph.models.registry import load_generator
from biasgraph.models.token_windows import find_window
from biasgraph.sandbox.backends import WEIGHTS
from tests.models import tiny_pipelines

PROMPTS = ("a photo of a nurse", "a photo of an old doctor", "a photo of a nurse", "a young nurse")
SEEDS = (1, 2, 3, 1)
TOLERANCE = 2
"""Levels of 255 by which an image may differ with its batch, in float32; docs/models.md says so."""
JUDGE = f"clip:{WEIGHTS / 'clip'}"

Loader = Callable[..., DiffusersGenerator]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], Path]]:
    """The folder of a tiny pipeline, made when it is first asked for."""
    made: dict[str, Path] = {}

    def folder(name: str) -> Path:
        if name not in made:
            made[name] = tiny_pipelines.save(name, tmp_path_factory.mktemp("tiny") / name)
        return made[name]

    yield folder


@pytest.fixture(scope="module")
def load(tiny: Callable[[str], Path]) -> Loader:
    def loaded(name: str | Path, **options: Any) -> DiffusersGenerator:
        folder = tiny(name) if isinstance(name, str) else name
        how = ModelOptions(**{"steps": 2, "size": "32", "device": "cpu", **options})
        generator = load_generator(f"diffusers:{folder}", how)
        assert isinstance(generator, DiffusersGenerator)
        return generator

    return loaded


def pixels(pictures: list[Picture]) -> np.ndarray:
    return np.stack([np.asarray(picture.image, dtype=int) for picture in pictures])


@pytest.mark.parametrize("name", tiny_pipelines.BUILDERS)
def test_an_image_depends_on_its_prompt_and_seed_alone(name: str, load: Loader) -> None:
    generator = load(name, batch_size=4)
    together = pixels(generator.generate(PROMPTS, SEEDS))
    alone = [generator.generate([p], [s])[0] for p, s in zip(PROMPTS, SEEDS, strict=True)]
    assert together.shape == (4, 32, 32, 3)
    assert np.abs(together - pixels(alone)).max() <= TOLERANCE
    again = pixels(generator.generate(PROMPTS[::-1], SEEDS[::-1]))[::-1]
    assert np.abs(together - again).max() <= TOLERANCE
    assert (together[0] != together[2]).mean() > 0.5  # the same prompt with another seed
    assert (together[0] != together[3]).any()  # another prompt with the same seed


@pytest.mark.parametrize("name", tiny_pipelines.BUILDERS)
def test_images_are_those_of_the_bare_pipeline(name: str, load: Loader) -> None:
    """Remembered encodings, portions and options give what diffusers gives without them."""
    import torch
    from diffusers import AutoPipelineForText2Image

    generator = load(name, guidance=4.0, negative_prompt="old", batch_size=3)
    first = generator.generate(PROMPTS, SEEDS)  # fills the memory of encodings
    del first
    bare = AutoPipelineForText2Image.from_pretrained(generator.source.name)
    bare.set_progress_bar_config(disable=True)
    with quiet():
        wanted = bare(
            prompt=list(PROMPTS),
            negative_prompt=["old"] * 4,
            guidance_scale=4.0,
            num_inference_steps=2,
            width=32,
            height=32,
            generator=[torch.Generator().manual_seed(seed) for seed in SEEDS],
        ).images
    made = pixels(generator.generate(PROMPTS, SEEDS))
    assert np.abs(made - pixels([Picture(image) for image in wanted])).max() <= TOLERANCE


@pytest.mark.parametrize(
    ("name", "encoders"), [("sdxl", ["", "_2"]), ("flux", ["", "_2"]), ("z-image", [""])]
)
def test_each_prompt_is_encoded_once(name: str, encoders: list[str], load: Loader) -> None:
    generator = load(name, batch_size=4)
    generator.generate(PROMPTS, SEEDS)
    calls: list[int] = []
    for encoder in encoders:
        getattr(generator._pipeline, f"text_encoder{encoder}").register_forward_pre_hook(
            lambda *_: calls.append(1)
        )
    generator.generate(PROMPTS, (5, 6, 7, 8))
    assert calls == []
    generator.generate(["an old librarian"], [1])
    assert len(calls) >= len(encoders)


def test_what_fills_a_batch_is_not_drawn_again(load: Loader) -> None:
    generator = load("sdxl", batch_size=4)
    sizes: list[int] = []
    generator._pipeline.vae.register_forward_pre_hook(lambda *_: sizes.append(0))
    decode = generator._pipeline.vae.decode
    generator._pipeline.vae.decode = lambda z, *a, **k: (sizes.append(len(z)), decode(z, *a, **k))[
        1
    ]
    made = generator.generate([PROMPTS[0], PROMPTS[1]] * 2, [1, 2] * 2)
    assert sizes == [2] and len(made) == 4
    assert (pixels(made[:2]) == pixels(made[2:])).all()


@pytest.mark.slow(reason="a build of its own")
def test_a_batch_that_does_not_fit_is_halved_and_the_work_goes_on(load: Loader) -> None:
    import torch

    generator = load("sdxl", batch_size=8, guidance=1.0)
    wanted = pixels(generator.generate(PROMPTS * 2, range(8)))
    sizes: list[int] = []

    def no_room(module: Any, arguments: tuple[Any, ...]) -> None:
        sizes.append(len(arguments[0]))
        if len(arguments[0]) > 3:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 20.00 GiB")

    generator._pipeline.unet.register_forward_pre_hook(no_room)
    made = pixels(generator.generate(PROMPTS * 2, range(8)))
    assert np.abs(made - wanted).max() <= TOLERANCE
    assert sizes[:3] == [8, 4, 2] and set(sizes[2:]) == {2}
    generator._pipeline.unet.register_forward_pre_hook(
        lambda *_: (_ for _ in ()).throw(torch.OutOfMemoryError("CUDA out of memory"))
    )
    with pytest.raises(ModelError, match=r"not enough memory for an image .* --offload"):
        generator.generate(PROMPTS, SEEDS)


def test_settings_name_what_decides_the_pixels(load: Loader) -> None:
    settings = dict(load("sdxl", guidance=2.5, negative_prompt="blurry", dtype="bfloat16").settings)
    config = json.loads(str(settings.pop("scheduler_config")))
    assert config["num_train_timesteps"] == 1000
    assert settings == {
        "pipeline": "StableDiffusionXLPipeline",
        "steps": 2,
        "guidance": 2.5,
        "scheduler": "EulerDiscreteScheduler",
        "size": "32x32",
        "negative_prompt": "blurry",
        "lora": None,
        "dtype": "bfloat16",
        "device": "cpu",
    }
    assert load("sdxl").fingerprint == load("sdxl", steps=5).fingerprint
    assert load("sdxl").fingerprint != load("sd15").fingerprint


def test_another_scheduler(load: Loader) -> None:
    other = load("sdxl", scheduler="DPMSolverMultistepScheduler")
    assert other.settings["scheduler"] == "DPMSolverMultistepScheduler"
    made = pixels(other.generate(PROMPTS, SEEDS))
    assert type(other._pipeline.scheduler).__name__ == "DPMSolverMultistepScheduler"
    assert (made != pixels(load("sdxl").generate(PROMPTS, SEEDS))).mean() > 0.1
    with pytest.raises(InputError, match=r"Did you mean 'DPMSolverMultistepScheduler'\?"):
        load("sdxl", scheduler="DPMSolverMultistep")
    with pytest.raises(InputError, match="does not fit sdxl, which was made for EulerDiscrete"):
        load("sdxl", scheduler="FlowMatchHeunDiscreteScheduler")
    flow = load("flux", scheduler="FlowMatchHeunDiscreteScheduler")
    assert flow.settings["scheduler"] == "FlowMatchHeunDiscreteScheduler"


@pytest.mark.parametrize(
    ("name", "tokens"), [("sd15", 77), ("sdxl", 77), ("sd3", 256), ("flux", 512), ("z-image", 512)]
)
def test_a_prompt_that_would_be_cut_off_is_refused(name: str, tokens: int, load: Loader) -> None:
    generator = load(name)
    start = 2 if tokens == 77 else 0 if name == "z-image" else 1  # what marks start and end
    generator.check_prompts([" ".join(["nurse"] * (tokens - start))])
    with pytest.raises(InputError, match=rf"has {tokens + 1} tokens, and .* reads {tokens}: "):
        generator.check_prompts(["a nurse", " ".join(["nurse"] * (tokens - start + 1))])


def test_tokens_are_counted_as_transformers_does(load: Loader, tmp_path: Path) -> None:
    from transformers import CLIPTokenizer

    folder = tiny_pipelines.clip_tokenizer_files(tmp_path / "tokenizer")
    ours = find_window(tmp_path, {"tokenizer": ["transformers", "CLIPTokenizer"]}, None, "x")
    theirs = CLIPTokenizer.from_pretrained(folder)
    assert ours is not None and ours.tokens == 77
    for text in ("a photo of a NURSE", "it's  old, isn't it?", "naïve 咖啡 42!!", "x" * 90, ""):
        assert ours.count(text) == len(theirs(text).input_ids)


def test_a_safety_checker_withholds_its_images(
    tiny: Callable[[str], Path], load: Loader, tmp_path: Path
) -> None:
    import torch
    from safetensors.torch import load_file, save_file

    folder = shutil.copytree(tiny("sd15"), tmp_path / "prudish")
    weights = folder / "safety_checker" / "model.safetensors"
    state = load_file(weights)
    state["concept_embeds_weights"] = torch.full_like(state["concept_embeds_weights"], -2.0)
    save_file(state, weights, {"format": "pt"})
    assert [p.withheld for p in load("sd15").generate(PROMPTS, SEEDS)] == [None] * 4
    made = load(folder).generate(PROMPTS, SEEDS)
    assert [picture.withheld for picture in made] == [SAFETY_CHECKER] * 4
    assert not pixels(made).any()
    arguments = ["build", "--prompt", "a photo of a librarian", "--model", f"diffusers:{folder}"]
    arguments += ["--vqa", JUDGE, "--images", "2", "--only", "gender", "--steps", "1"]
    arguments += ["--size", "32", "--controls", "0", "-o", str(tmp_path / "run"), "--json"]
    assert main(arguments) == 0
    graph = json.loads((tmp_path / "run" / "graph.json").read_text("utf-8"))["graph"]
    assert graph["withheld"] == {SAFETY_CHECKER: 6}
    assert "withheld" in (tmp_path / "run" / "report.html").read_text("utf-8")
    answers = (tmp_path / "run" / "answers.csv").read_text("utf-8")
    assert answers.count("gated") == 6


def test_an_adapter_changes_the_images_and_is_recorded(
    load: Loader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch
    from peft import LoraConfig
    from peft.utils import get_peft_model_state_dict

    bare = load("sdxl")
    unet = load("sdxl")._pipeline.unet
    unet.add_adapter(LoraConfig(r=2, init_lora_weights=False, target_modules=["to_q", "to_v"]))
    torch.manual_seed(0)
    state = {key: torch.randn_like(value) for key, value in get_peft_model_state_dict(unet).items()}
    type(bare._pipeline).save_lora_weights(tmp_path, unet_lora_layers=state)
    file = tmp_path / "pytorch_lora_weights.safetensors"
    with_it = load("sdxl", lora=(str(file),))
    assert str(with_it.settings["lora"]).startswith("sha256:")
    assert with_it.settings["lora"] == load("sdxl", lora=(str(tmp_path),)).settings["lora"]
    made = pixels(with_it.generate(PROMPTS, SEEDS))
    assert (made != pixels(bare.generate(PROMPTS, SEEDS))).mean() > 0.5
    pickled = tmp_path / "lora.bin"
    torch.save(state, pickled)
    with pytest.raises(InputError, match="is not a safetensors file; other formats can run code"):
        load("sdxl", lora=(str(pickled),))
    with pytest.raises(InputError, match="no such file"):
        load("sdxl", lora=("/nowhere/lora.safetensors",))
    monkeypatch.setattr(loading, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install 'biasgraph\[lora\]'"):
        load("sdxl", lora=(str(file),))


def test_pickled_weights_are_not_loaded(
    tiny: Callable[[str], Path], load: Loader, tmp_path: Path
) -> None:
    import torch
    from safetensors.torch import load_file

    folder = shutil.copytree(tiny("sdxl"), tmp_path / "pickled")
    weights = folder / "unet" / "diffusion_pytorch_model.safetensors"
    torch.save(load_file(weights), folder / "unet" / "diffusion_pytorch_model.bin")
    weights.unlink()
    with pytest.raises(ModelError, match=r"^cannot load diffusers:.*safetensors"):
        load(folder).generate(PROMPTS, SEEDS)


def test_weights_that_are_damaged_are_one_line(
    tiny: Callable[[str], Path], load: Loader, tmp_path: Path
) -> None:
    folder = shutil.copytree(tiny("sdxl"), tmp_path / "cut")
    weights = folder / "vae" / "diffusion_pytorch_model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(ModelError) as failed:
        load(folder).generate(PROMPTS, SEEDS)
    assert str(failed.value).startswith("cannot load diffusers:") and "\n" not in str(failed.value)


def test_what_a_pipeline_cannot_do_is_one_line(load: Loader) -> None:
    broken = load("sdxl")
    broken._pipeline.vae = None
    with pytest.raises(ModelError, match="failed to make images: "):
        broken.generate(PROMPTS, SEEDS)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"offload": "model"}, "--offload has no effect on a CPU"),
        ({"size": "33"}, "multiples of 8"),
        ({"device": "cuda:7"}, "not available on this machine"),
        ({"dtype": "float8"}, "--dtype"),
    ],
)
def test_options_that_cannot_be_are_refused(
    options: dict[str, Any], said: str, load: Loader
) -> None:
    with pytest.raises(InputError, match=said):
        load("sdxl", **options)


def test_offload_needs_accelerate(load: Loader, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("biasgraph.models.diffusers.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"pip install 'biasgraph\[offload\]'"):
        load("sdxl", offload="layers")


def test_a_finished_run_is_read_without_torch(tiny: Callable[[str], Path]) -> None:
    code = f"""
import sys
from biasgraph.models.inference_options import ModelOptions
from biasgraph.models.library_loading import silence_libraries as quiet
from biasgraph.models.registry import load_generator
for folder in {[str(tiny(name)) for name in ("sd15", "sdxl", "sd3", "flux")]}:
    generator = load_generator(f"diffusers:{{folder}}", ModelOptions(device="cpu"))
    generator.check_prompts(["a photo of a nurse"])
    generator.settings, generator.fingerprint, generator.batch_size
print([name for name in ("torch", "diffusers", "transformers") if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.slow(reason="a build of its own")
def test_a_run_goes_on_and_refuses_other_settings(
    tiny: Callable[[str], Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base = ["build", "--prompt", "a photo of a nurse", "--model", f"diffusers:{tiny('flux')}"]
    base += ["--vqa", JUDGE, "--only", "gender", "--size", "32", "-o", str(tmp_path), "--steps"]
    assert main([*base, "1", "--images", "1"]) == 0
    files = {path.name for path in (tmp_path / "images").rglob("*.png")}
    assert main([*base, "1", "--images", "2"]) == 0
    assert files < {path.name for path in (tmp_path / "images").rglob("*.png")}
    capsys.readouterr()
    assert main([*base, "2", "--images", "2"]) == 2
    assert "steps" in capsys.readouterr().err


def test_rewritten_prompts_and_flags_of_other_pipelines_are_read() -> None:
    image = Image.new("RGBA", (8, 8))
    made = SimpleNamespace(
        images=[image, image], nsfw_detected=[False, True], revised_prompts=["a nurse, 4k", "b"]
    )
    first, second = read_pictures(made, 2, "diffusers:x")
    assert (first.withheld, second.withheld) == (None, SAFETY_CHECKER)
    assert (first.revised_prompt, first.image.mode) == ("a nurse, 4k", "RGB")
    with pytest.raises(ModelError, match="did not return the 3 images"):
        read_pictures(made, 3, "diffusers:x")


@pytest.mark.parametrize(
    ("names", "dtype", "variant"),
    [
        (["unet/w.safetensors"], "float16", None),
        (["unet/w.safetensors", "unet/w.fp16.safetensors"], "float16", "fp16"),
        (["unet/w.safetensors", "unet/w.fp16.safetensors"], "float32", None),
        (["unet/w.fp16.safetensors"], "float32", "fp16"),
        (["unet/w.safetensors", "all.fp16.safetensors"], "float16", None),
    ],
)
def test_half_precision_files_are_taken_where_they_give_the_same(
    tmp_path: Path, names: list[str], dtype: str, variant: str | None
) -> None:
    (tmp_path / "unet").mkdir()
    for name in names:
        (tmp_path / name).touch()
    source = Source("diffusers:x", str(tmp_path), None, True)
    assert loading._variant(source, dtype) == variant
