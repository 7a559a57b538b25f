"""The judges: the CLIP with its tokenizer, which also conditions the generators, and a ResNet.

Text and vision are trained together until every axis is told apart, and only then is the text
tower frozen and handed to the UNet: a tower frozen too early makes attributes uncontrollable.
The second judge is of another architecture and seed, with one softmax an axis.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from biasgraph.sandbox.scene_captions import GATE_CAPTIONS
from biasgraph.sandbox.training.caption_writing import choice_caption
from biasgraph.sandbox.training.data import NOBODY, Drawings, pixels
from biasgraph.sandbox.training.loop import Schedule, fit
from biasgraph.sandbox.world import AXES, CONTEXTS, OCCUPATIONS

if TYPE_CHECKING:
    import torch
    from transformers import CLIPModel, CLIPTokenizer, ResNetForImageClassification

LENGTH = 32
OF_CLIP = Schedule(steps=2400, batch=64, rate=1.5e-3, seed=11, decay=0.05)
OF_JUDGE2 = Schedule(steps=2000, batch=64, rate=3e-3, seed=15, warmup=100, ema=0.99)
FORMS = 8
ASKED = (
    ("ethnicity", "gender", "bodytype", "emotion", "age", "gate"),
    ("disability", "emotion", "environment", "clothing", "occupation"),
)
"""What a training step asks about: one of these groups."""
LABELS = (
    *(f"{axis}:{value}" for axis, values in AXES.items() for value in values),
    "person:yes",
    "person:no",
)
"""The second judge's outputs: a softmax over the labels that share a name before the colon."""


def train_tokenizer(captions: Sequence[str]) -> CLIPTokenizer:
    """A byte-pair CLIP tokenizer learnt from captions; any text can be written in its tokens."""
    from tokenizers import pre_tokenizers, trainers
    from transformers import CLIPTokenizer

    blank = CLIPTokenizer()
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    trainer = trainers.BpeTrainer(
        vocab_size=1024,
        min_frequency=2,
        special_tokens=["<|startoftext|>"],
        initial_alphabet=alphabet,
        end_of_word_suffix="</w>",
        show_progress=False,
    )
    backend = blank.backend_tokenizer
    backend.train_from_iterator(captions, trainer)
    model = json.loads(backend.to_str())["model"]
    vocab: dict[str, int] = model["vocab"]
    pieces = [token for token in sorted(vocab, key=vocab.__getitem__) if token[:2] != "<|"]
    pieces += [f"{letter}</w>" for letter in alphabet if f"{letter}</w>" not in vocab]
    pieces += ["<|startoftext|>", "<|endoftext|>"]
    return CLIPTokenizer(
        vocab={token: index for index, token in enumerate(pieces)},
        merges=[tuple(pair) for pair in model["merges"]],
        model_max_length=LENGTH,
    )


def new_clip(tokenizer: CLIPTokenizer, seed: int) -> CLIPModel:
    """An untrained CLIP of the sandbox's size."""
    import torch
    from transformers import CLIPConfig, CLIPModel

    torch.manual_seed(seed)
    shape = {"hidden_size": 128, "intermediate_size": 512, "num_attention_heads": 4}
    return CLIPModel(
        CLIPConfig(
            text_config={
                **shape,
                "num_hidden_layers": 3,
                "vocab_size": len(tokenizer),
                "max_position_embeddings": LENGTH,
                "bos_token_id": tokenizer.bos_token_id,
                "eos_token_id": tokenizer.eos_token_id,
                "pad_token_id": tokenizer.pad_token_id,
            },
            vision_config={**shape, "num_hidden_layers": 4, "image_size": 64, "patch_size": 16},
            projection_dim=96,
            logit_scale_init_value=float(np.log(10)),
        )
    )


def roughen(batch: torch.Tensor, rng: np.random.Generator) -> torch.Tensor:
    """Blur and noise, so that a judge of drawings also reads what a decoder made of them."""
    import torch
    from torch.nn import functional

    kind = rng.integers(3)
    if kind == 0:
        return batch
    smooth = functional.avg_pool2d(functional.pad(batch, (1, 1, 1, 1), mode="replicate"), 3, 1)
    mixed = torch.lerp(batch, smooth, float(rng.uniform(0.2, 0.9)))
    return mixed + torch.randn_like(batch) * float(rng.uniform(0.0, 0.12))


def train_clip(tokenizer: CLIPTokenizer, pictures: Drawings, work: Path) -> CLIPModel:
    """Train text and vision together.

    The loss adds: matching captions to pictures (a caption matches every picture that shows what
    it says), choosing each axis' attribute, the occupation and the gate among captions, telling
    each disability from "fit" alone, and reading the caption's own content off its embedding
    through heads that are thrown away.
    """
    import torch
    from torch import nn

    clip = new_clip(tokenizer, OF_CLIP.seed)
    read = (*AXES.values(), OCCUPATIONS)
    readers = nn.ModuleList(nn.Linear(96, len(values) + 1) for values in read)
    context_reader = nn.Linear(96, len(CONTEXTS))
    both = nn.ModuleDict({"clip": clip, "readers": readers, "contexts": context_reader})
    ids = _tokenize(tokenizer, pictures.captions)
    options = {
        asked: [_tokenize(tokenizer, wordings) for wordings in choices]
        for asked, choices in _options().items()
    }

    def loss(rng: np.random.Generator) -> torch.Tensor:
        rows = rng.integers(len(pictures), size=OF_CLIP.batch)
        asked = ASKED[int(rng.integers(len(ASKED)))]
        drawn = [rng.choice(wordings) for name in asked for wordings in options[name]]
        batch = torch.cat([ids[rows], torch.from_numpy(np.stack(drawn))])
        length = int((batch != tokenizer.pad_token_id).sum(1).max()) + 1
        embedded = unit(clip.get_text_features(batch[:, :length]))
        shots = unit(clip.get_image_features(roughen(pixels(pictures.images[rows]), rng)))
        scale = clip.logit_scale.exp().clamp(max=40.0)
        captions, choices = embedded[: len(rows)], embedded[len(rows) :]
        against = (scale * shots @ choices.T).split([len(options[name]) for name in asked], dim=1)
        matching = 0.5 * _matching(scale * captions @ shots.T, _matches(pictures, rows))
        total = sum(_choice_losses(asked, against, pictures, rows), start=matching)
        return total + 0.5 * _reading(readers, context_reader, captions, pictures, rows)

    fit("clip", both, loss, OF_CLIP, work)
    return clip


def _options() -> dict[str, list[list[str]]]:
    """The captions that are chosen among: axis, gate or occupation -> choices -> wordings."""
    jobs = [f"a photo of {'an' if job[0] in 'aeiou' else 'a'} {job}" for job in OCCUPATIONS]
    return {
        **{
            axis: [[choice_caption(axis, value, form) for form in range(FORMS)] for value in values]
            for axis, values in AXES.items()
        },
        "gate": [[caption] for caption in GATE_CAPTIONS],
        "occupation": [[caption] for caption in jobs],
    }


def _tokenize(tokenizer: CLIPTokenizer, texts: Sequence[str]) -> torch.Tensor:
    """(n, LENGTH) token ids."""
    ids: torch.Tensor = tokenizer(
        list(texts), padding="max_length", truncation=True, return_tensors="pt"
    ).input_ids
    return ids


def _choice_losses(
    asked: Sequence[str], against: Sequence[torch.Tensor], pictures: Drawings, rows: np.ndarray
) -> Iterator[torch.Tensor]:
    """Of choosing each axis's attribute, the gate or the occupation, among captions."""
    import torch
    from torch.nn.functional import cross_entropy

    shown = dict(zip(AXES, pictures.shown[rows].T, strict=True))
    labels = {**shown, "occupation": pictures.occupation[rows]}
    present = torch.from_numpy(labels["occupation"] != NOBODY)
    for name, table in zip(asked, against, strict=True):
        if name == "gate":
            yield cross_entropy(table, (~present).long())
            continue
        truth, scores = torch.from_numpy(labels[name])[present], table[present]
        yield cross_entropy(scores, truth)
        if name == "disability":
            for which in (1, 2, 3):
                yield 0.3 * cross_entropy(scores[:, [0, which]], (truth == which).long())


def unit(features: Any) -> torch.Tensor:
    """The projected features of a CLIP tower, scaled to length one; (n, 96)."""
    from torch.nn import functional

    tensor = features if not hasattr(features, "pooler_output") else features.pooler_output
    return functional.normalize(tensor, dim=-1)


def _matches(pictures: Drawings, rows: np.ndarray) -> torch.Tensor:
    """(n, n) bool: caption i is true of picture j."""
    import torch

    shown, revealed = pictures.shown[rows], pictures.revealed[rows]
    same = (shown[:, None] == shown[None]) | ~revealed[:, None]
    job = pictures.occupation[rows]
    fits = same.all(2) & ((job[:, None] == job[None]) | ~pictures.named[rows][:, None])
    fits &= (~pictures.context[rows][:, None] | pictures.context[rows][None]).all(2)
    fits &= (job[:, None] == NOBODY) == (job[None] == NOBODY)
    np.fill_diagonal(fits, True)
    return torch.from_numpy(fits)


def _matching(logits: torch.Tensor, positive: torch.Tensor) -> torch.Tensor:
    """Contrastive loss with several right answers, both ways."""
    sides = [
        (table.logsumexp(1) - table.masked_fill(~right, -1e4).logsumexp(1)).mean()
        for table, right in ((logits, positive), (logits.T, positive.T))
    ]
    return (sides[0] + sides[1]) / 2


def _reading(
    readers: Any,
    context_reader: Any,
    captions: torch.Tensor,
    pictures: Drawings,
    rows: np.ndarray,
) -> torch.Tensor:
    """What a caption reveals, read off its embedding; the last class is "not said"."""
    import torch
    from torch.nn import functional

    labels = np.column_stack([pictures.shown, pictures.occupation])[rows]
    said = np.column_stack([pictures.revealed, pictures.named])[rows]
    total = torch.zeros(())
    for reader, label, told in zip(readers, labels.T, said.T, strict=True):
        truth = torch.from_numpy(np.where(told, label, reader.out_features - 1))
        total = total + functional.cross_entropy(10 * reader(captions), truth)
    context = torch.from_numpy(pictures.context[rows]).float()
    return total + 5 * functional.binary_cross_entropy_with_logits(
        10 * context_reader(captions), context
    )


def train_judge2(pictures: Drawings, work: Path) -> ResNetForImageClassification:
    """Train on drawings, blurred and noised."""
    import torch
    from torch.nn import functional
    from transformers import ResNetConfig, ResNetForImageClassification

    torch.manual_seed(OF_JUDGE2.seed)
    model = ResNetForImageClassification(
        ResNetConfig(
            embedding_size=24,
            hidden_sizes=[24, 48, 96],
            depths=[1, 1, 1],
            layer_type="basic",
            num_labels=len(LABELS),
            id2label=dict(enumerate(LABELS)),
        )
    )
    sizes = [*(len(values) for values in AXES.values()), 2]

    def loss(rng: np.random.Generator) -> torch.Tensor:
        rows = rng.integers(len(pictures), size=OF_JUDGE2.batch)
        logits = model(roughen(pixels(pictures.images[rows]), rng)).logits.split(sizes, dim=1)
        present = torch.from_numpy(pictures.occupation[rows] != NOBODY)
        total = functional.cross_entropy(logits[-1], (~present).long())
        for truth, table in zip(pictures.shown[rows].T, logits[:-1], strict=True):
            total = total + functional.cross_entropy(
                table[present], torch.from_numpy(truth)[present]
            )
        return total

    fit("judge2", model, loss, OF_JUDGE2, work)
    return model
