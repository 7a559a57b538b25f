"""What a folder of photographs costs beyond decoding them: time per picture, and memory.

    python benchmarks/bench_pictures.py [--pictures 100] [--megapixels 24]

Writes JPEG photographs (noise over soft colours, so that they are as hard to decode as real ones),
decodes one of them again and again at full size, which is the floor, and audits the folder in a
process of its own: inspection, copies of at most 1 megapixel, the sandbox's judge, the analysis.
A second audit of a few of the pictures tells what does not depend on their number. Each time stands
beside what it took of processors, which says more on a machine that is not idle. The target is a
ratio of at most 1 with at most 1.5 GB in memory.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
from PIL import Image, ImageChops

SETS = ("initial", "gender/male", "gender/female", "age/young", "age/old")
FEW = len(SETS)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pictures", type=int, default=100)
    parser.add_argument("--megapixels", type=float, default=24.0)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        photograph = write_photograph(Path(scratch) / "photograph.jpg", wanted.megapixels)
        floor, floor_cpu = map(min, zip(*(decode(photograph) for _ in range(5)), strict=True))
        seconds, cpu, peak = {}, {}, 0.0
        for count in (FEW, wanted.pictures):
            folder = write_folder(Path(scratch) / str(count), photograph, count)
            seconds[count], cpu[count], peak = audit(folder, Path(scratch) / f"run-{count}")
        each, each_cpu = (
            (times[wanted.pictures] - times[FEW]) / (wanted.pictures - FEW)
            for times in (seconds, cpu)
        )
        print(
            f"decoding one of {wanted.megapixels:g} megapixels: {1000 * floor:.0f} ms, "
            f"{1000 * floor_cpu:.0f} ms of a processor"
        )
        print(
            f"each picture of an audit: {1000 * each:.0f} ms, {each / floor:.2f} times as long; "
            f"{1000 * each_cpu:.0f} ms of processors, {each_cpu / floor_cpu:.2f} times as much"
        )
        print(f"{wanted.pictures} pictures: {seconds[wanted.pictures]:.1f} s, {peak:.2f} GB")


def write_photograph(path: Path, megapixels: float) -> Path:
    rng = np.random.default_rng(0)
    height = round((megapixels * 1e6 / 1.5) ** 0.5)
    size = (height * 3 // 2, height)
    soft = Image.fromarray(rng.integers(0, 255, (60, 90, 3), dtype=np.uint8)).resize(size)
    noise = Image.fromarray(rng.integers(0, 40, (size[1], size[0], 3), dtype=np.uint8))
    ImageChops.add(soft, noise).save(path, quality=88)
    return path


def write_folder(folder: Path, photograph: Path, count: int) -> Path:
    """`count` files that differ in their last bytes, which no decoder reads."""
    content = photograph.read_bytes()
    for number in range(count):
        path = folder / SETS[number % len(SETS)] / f"{number}.jpg"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content + f"{number:06}".encode())
    return folder


def decode(path: Path) -> tuple[float, float]:
    """Seconds, and seconds of a processor."""
    start = time.perf_counter(), time.process_time()
    with Image.open(path) as image:
        image.load()
    return time.perf_counter() - start[0], time.process_time() - start[1]


def audit(folder: Path, directory: Path) -> tuple[float, float, float]:
    """Seconds, seconds of processors and peak memory (GB) of an audit."""
    command = [
        *(sys.executable, "-m", "biasgraph", "build", "--model", f"folder:{folder}"),
        *("--prompt", "a librarian", "--vqa", "sandbox", "--only", "gender,age"),
        *("--min-valid", "1", "--quiet", "-o", str(directory)),
    ]
    start = time.perf_counter()
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit("the audit failed")
    seconds = time.perf_counter() - start
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 / 1e9


if __name__ == "__main__":
    main()
