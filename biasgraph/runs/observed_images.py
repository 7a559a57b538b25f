"""What the denoiser's middle gave on the way to a run's images, kept in the run.

An image is made once more for it, from its seed, as far as the last step that is looked at; what
came of it stands in the ledger beside embeddings, so that it is never done again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from biasgraph.errors import InputError, printable
from biasgraph.models.base import ObservableGenerator
from biasgraph.runs.batches import batches_to_do
from biasgraph.runs.progress import showing

if TYPE_CHECKING:
    from biasgraph.models.base import ImageGenerator
    from biasgraph.models.middle_activations import MiddleActivations
    from biasgraph.runs.directory import Run
    from biasgraph.runs.ledger_rows import ImageRow
    from biasgraph.runs.progress import Progress

VERSION = 1
"""To be raised whenever the numbers change."""


def refuse_unobservable(generator: ImageGenerator) -> None:
    """Raise InputError for a generator whose denoiser cannot be watched."""
    if not isinstance(generator, ObservableGenerator):
        raise InputError(
            f"{printable(generator.spec)} shows no activations: probes need a generator whose "
            "denoiser runs here, as pipelines of diffusers: and the sandbox's do"
        )


def observe(
    run: Run,
    generator: ImageGenerator,
    images: Sequence[ImageRow],
    every: int | None,
    progress: Progress | None = None,
) -> MiddleActivations:
    """The activations of images of a run; only what the run lacks is computed.

    Args:
        run: Keeps them.
        generator: The run's own.
        images: At least one.
        every: Look at each so many-th step; None for about ten in all.
        progress: What shows where the work stands.

    Raises:
        InputError: The generator shows none.
        ModelError: It failed.
        Interrupted: The user stopped it.
    """
    import torch

    from biasgraph.models.middle_activations import MiddleActivations, examined_steps

    refuse_unobservable(generator)
    watched = cast("ObservableGenerator", generator)
    name = json.dumps({"middle activations": VERSION, "every": every})
    known = run.ledger.vectors(name)
    done = sum(row.id in known for row in images)
    if done < len(images):
        batches = batches_to_do(images, generator.batch_size, is_done=lambda row: row.id in known)
        with showing(progress, "Activations", total=len(images), done=done) as shown:
            for batch in batches:
                seen = watched.middle_activations(
                    [row.text for row in batch.items], [row.seed for row in batch.items], every
                )
                blobs = [np.r_[seen.of, one.flatten().numpy()] for one in seen.values]
                found = [(row.id, blob.astype("<f4").tobytes()) for row, blob in batch.keep(blobs)]
                run.ledger.add_vectors(name, found)
                known |= dict(found)
                shown.advance(len(found))
    # The number of steps leads what is kept of an image.
    kept = np.stack([np.frombuffer(known[row.id], dtype="<f4") for row in images])
    of = int(kept[0, 0])
    steps = examined_steps(of, every)
    values = kept[:, 1:].reshape(len(images), len(steps), -1)
    return MiddleActivations(torch.from_numpy(values.astype(np.float32)), steps, of)
