"""Learned networks and scores have the same bytes on every instruction set."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from naive.word_tree import Cache
from stategram import _core
from vector_problems import DECAYS, Network, VectorProblem, random_bias, random_resets, score, words_of
from word_tree_problems import random_paths, tree_of

QEMU = shutil.which("qemu-x86_64")
# Processors and what they lack; natively the tests use the widest vectors there are.
PROCESSORS = {"SandyBridge": "no AVX2", "Haswell-noTSX": "AVX2, no AVX-512"}


def digest() -> str:
    """Learn a linear and a recurrent network, score a text with two others in all histories; hash it all."""
    found = hashlib.sha256()
    paths = random_paths(12, 1)
    trees, bias = [tree_of(paths)], [random_bias(paths, 1)]
    words, resets = np.array(words_of(2000, 5), np.uint32), random_resets(2000, 3)
    linear = _core.LinearLearner(trees, bias, 64, 3, list(DECAYS), 7)
    linear.learn(words, resets, 0, 2000, 0.1, 0.05)
    recurrent = _core.RecurrentLearner(trees, bias, 64, 0.1, 0.2, 7)
    recurrent.learn(words, resets, 0, recurrent.n_batches(2000), (4e-3, 0.1), (1e-3, 0.05))
    arrays = [*linear.near_vectors(), linear.positions(), *recurrent.word_vectors(), recurrent.matrix()]
    for learner in (linear, recurrent):
        arrays += [one for nodes in learner.nodes() for one in nodes]
    problem = VectorProblem(
        [Network.random("linear", 1), Network.random("recurrent", 2)], caches=[Cache((), 0.9)]
    )
    kernel = problem.kernel()
    for history in range(3):
        weights = problem.weights_of(kernel, history, range(2, kernel.n_inputs(history)))
        arrays.append(score(kernel, words_of(100, 9), [0] * 100, history, weights))
    for one in arrays:
        found.update(np.ascontiguousarray(one).tobytes())
    return found.hexdigest()


@pytest.mark.slow
@pytest.mark.skipif(QEMU is None, reason="qemu-x86_64 is not installed")
@pytest.mark.parametrize("processor", PROCESSORS)
def test_other_instruction_sets_make_the_same_bytes(processor: str) -> None:
    here = Path(__file__)
    folders = [str(here.parent), str(here.parents[1]), str(here.parents[1] / "problems")]
    code = f"import sys; sys.path[:0] = {folders}; from {here.stem} import digest; print(digest())"
    done = subprocess.run(
        [str(QEMU), "-cpu", processor, sys.executable, "-c", code],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == digest()
