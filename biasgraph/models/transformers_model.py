"""What all models of transformers have in common: how they are found, loaded and decoded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from biasgraph.errors import ModelError, printable
from biasgraph.models.devices import device_of, dtype_of
from biasgraph.models.inference_options import ModelOptions, Spec
from biasgraph.models.library_loading import explain_loading_errors, silence_libraries
from biasgraph.models.model_source import Source, SourcedModel


@dataclass(frozen=True)
class TransformersModel(SourcedModel):
    """A model in a folder that ``save_pretrained`` wrote; nothing is loaded before it is needed.

    Attributes:
        source: Where the model's files are.
        device: Where it runs, as torch names it.
        dtype: The number format of its weights, as torch names it.
    """

    device: str
    dtype: str

    def _load(self, kind: str, **options: Any) -> Any:
        """What a class of transformers makes of the model's files.

        Args:
            kind: The class: "AutoTokenizer".
            options: What its ``from_pretrained`` is given beside the folder.

        Raises:
            ModelError: It does not load.
        """
        with explain_loading_errors(self.spec), silence_libraries():
            import transformers

            return getattr(transformers, kind).from_pretrained(
                self.source.folder(),
                local_files_only=True,
                trust_remote_code=self.source.trust_remote_code,
                **options,
            )

    def _load_weights(self, kind: str) -> Any:
        """The model itself, on its device, of safetensors only. Raises ModelError."""
        import torch

        model = self._load(kind, dtype=getattr(torch, self.dtype), use_safetensors=True)
        with explain_loading_errors(self.spec):
            return model.to(self.device).eval()

    def _loader(self, *kinds: str, wanted: str) -> str:
        """The first of some auto classes that loads such a model.

        Args:
            kinds: Auto classes of transformers by name.
            wanted: What they load, for the error.

        Raises:
            ModelError: None of them does.
        """
        import transformers

        config = self._load("AutoConfig")
        remote = getattr(config, "auto_map", None) or {}
        for kind in kinds:
            if kind in remote or type(config) in getattr(transformers, kind)._model_mapping:
                return kind
        raise self._other_kind(config, wanted)

    def _other_kind(self, config: Any, wanted: str) -> ModelError:
        return ModelError(
            f"{printable(self.spec)} is not {wanted}: transformers knows "
            f"'{printable(str(config.model_type))}' as another kind of model"
        )


def locate(spec: Spec, options: ModelOptions) -> tuple[Source, str, str]:
    """Where a spec's model is, its device and its number format. Raises InputError."""
    source = Source.of(spec, trust_remote_code=options.trust_remote_code)
    device = device_of(options)
    return source, device, dtype_of(options, device)


def greedy_decoding(model: Any, tokenizer: Any, **more: Any) -> Any:
    """A configuration that takes the likeliest token each time, so that texts can be had again.

    The model's own may ask for sampling, beams or penalties: of it only what ends a text is taken.

    Args:
        model: Of transformers, loaded.
        tokenizer: Its tokenizer.
        more: Further settings of `transformers.GenerationConfig`.
    """
    from transformers import GenerationConfig

    own = model.generation_config
    ends = tokenizer.eos_token_id if own.eos_token_id is None else own.eos_token_id
    first = ends[0] if isinstance(ends, list) else ends
    return GenerationConfig(
        do_sample=False,
        bos_token_id=own.bos_token_id,
        eos_token_id=ends,
        pad_token_id=first if own.pad_token_id is None else own.pad_token_id,
        **more,
    )


def whole_tokens(tokenizer: Any, *texts: str) -> list[int]:
    """The tokens that say one of some texts by themselves, with and without a space before it."""
    spelt = tokenizer([*texts, *(f" {text}" for text in texts)], add_special_tokens=False)
    return sorted({tokens[0] for tokens in spelt["input_ids"] if len(tokens) == 1})


def place_tensors(tensors: Any, model: Any) -> dict[str, Any]:
    """Tensors by name, moved to a model's device, and pixels to its number format."""
    return {
        name: tensor.to(model.device, model.dtype)
        if tensor.is_floating_point()
        else tensor.to(model.device)
        for name, tensor in tensors.items()
    }
