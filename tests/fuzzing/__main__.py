"""python -m tests.fuzzing --cases 10000 --seed 1: tries broken inputs and prints the counts."""

from __future__ import annotations

import argparse
import sys

from tests import forked
from tests.fuzzing.cases import carry_out_one, carry_out_planned, carry_out_sound
from tests.fuzzing.kinds import KINDS

parser = argparse.ArgumentParser(prog="python -m tests.fuzzing", description=__doc__)
parser.add_argument("--cases", type=int, default=1000)
parser.add_argument("--seed", type=int, default=0)
parser.add_argument("--done", type=int, default=0, help="leave out so many: they were tried before")
parser.add_argument("--only", action="append", default=[], choices=[kind.name for kind in KINDS])
parser.add_argument("--case", help="this one alone, with what it says: KIND/SEED/NUMBER")
parser.add_argument("--sound", action="store_true", help="the inputs as they are")
given = parser.parse_args()
if given.sound:
    process = forked.started(carry_out_sound)
elif given.case is None:
    process = forked.started(carry_out_planned, given.cases, given.seed, given.only, given.done)
else:
    process = forked.started(carry_out_one, given.case)
process.join()
sys.exit(process.exitcode)
