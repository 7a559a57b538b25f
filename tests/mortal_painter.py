"""A plug-in's generator whose process dies over every second batch or so, as often as it is told.

``mortal:FOLDER@TIMES``: each death leaves a file in the folder, so that who comes after it knows.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

from biasgraph.models.base import Picture
from biasgraph.models.inference_options import ModelOptions, Spec
from biasgraph.models.registry import GENERATOR, Backend, Role
from tests.fake_models import FakeGenerator


@dataclass
class MortalPainter(FakeGenerator):
    folder: Path = Path()
    times: int = 0

    def generate(self, prompts: Sequence[str], seeds: Sequence[int]) -> list[Picture]:
        if seeds[0] % 2 and len(list(self.folder.iterdir())) < self.times:
            (self.folder / uuid4().hex).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return super().generate(prompts, seeds)


def generator(spec: Spec, options: ModelOptions) -> MortalPainter:
    return MortalPainter(spec=spec.text, folder=Path(spec.name), times=int(spec.revision or 0))


BACKEND = Backend(about="dies", roles={GENERATOR: Role(generator, "mortal:folder@1")})
