"""Decode noisy letters with pyctcdecode, once without a language model and once with each of the given ones.

pyctcdecode (`pip install pyctcdecode`) asks the module `kenlm` for words one by one. Here that module is
`stategram.kenlm`, so that any model of stategram can be used: n-gram models, or word trees, which are better.

The letters stand for what a recognizer makes of speech or handwriting: at each place the true letter has the
greatest score, but for noise.

    stategram train train.txt --order 5 -o ngrams
    stategram train train.txt --heldout heldout.txt --recipe fast -o tree
    python examples/noisy_letters.py test.txt ngrams tree
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from stategram import kenlm, open_model

sys.modules["kenlm"] = kenlm

from pyctcdecode import build_ctcdecoder  # noqa: E402  that imports kenlm

BLANK = ""


def main() -> None:
    """Print the word error rate with each model."""
    options = _options()
    texts = list(phrases(options.text, options.phrases))
    labels = [BLANK, *sorted(set("".join(texts)) | {" "})]
    random = np.random.default_rng(options.seed)
    scores = [letter_scores(text, labels, options.noise, random) for text in texts]
    print("language model\tword error rate")
    for model in [None, *options.models]:
        if model is None:
            decoder = build_ctcdecoder(labels)
        else:
            vocabulary = open_model(model, verify=False).vocabulary
            words = [word for word in vocabulary.words if set(word) <= set(labels)]
            decoder = build_ctcdecoder(labels, model, words, alpha=options.alpha, beta=options.beta)
        found = [decoder.decode(of_text, beam_width=options.beam) for of_text in scores]
        print(f"{model or 'none'}\t{100 * word_error_rate(texts, found):.1f}%")


def phrases(path: str, n: int) -> Iterator[str]:
    """Return the first phrases of 5 to 20 words, all of them known, of a text."""
    for line in Path(path).read_text(encoding="utf-8").split("\n"):
        for phrase in line.split(" . "):
            words = phrase.split()
            if n > 0 and 5 <= len(words) <= 20 and "<unk>" not in words:
                n -= 1
                yield " ".join(words)


def letter_scores(
    text: str, labels: Sequence[str], noise: float, random: np.random.Generator
) -> NDArray[np.float32]:
    """Return the log-probability of each label, for each letter and for the blank after it."""
    places = [place for letter in text for place in (labels.index(letter), labels.index(BLANK))]
    scores = random.normal(0.0, noise, (len(places), len(labels)))
    scores[np.arange(len(places)), places] += 5.0
    scores[1::2, 1:] -= 100.0  # blanks are clear
    log_sums = np.log(np.exp(scores).sum(axis=1, keepdims=True))
    return np.asarray(scores - log_sums, np.float32)


def word_error_rate(texts: Sequence[str], found: Sequence[str]) -> float:
    """Return the words that have to be changed, added or removed, as a fraction of all words."""
    errors = sum(_distance(one.split(), other.split()) for one, other in zip(texts, found, strict=True))
    return errors / sum(len(text.split()) for text in texts)


def _distance(expected: Sequence[str], found: Sequence[str]) -> int:
    row = list(range(len(found) + 1))
    for i, word in enumerate(expected, 1):
        before, row[0] = row[0], i
        for j, other in enumerate(found, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (word != other))
    return row[-1]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("text", help="the text whose letters become noisy")
    parser.add_argument("models", nargs="+", help="model files")
    parser.add_argument("--phrases", type=int, default=200, help="how many phrases of it")
    parser.add_argument(
        "--noise", type=float, default=1.6, help="standard deviation; the true letter has 5 more"
    )
    parser.add_argument("--alpha", type=float, default=0.7, help="weight of the language model")
    parser.add_argument("--beta", type=float, default=1.0, help="bonus of each word")
    parser.add_argument("--beam", type=int, default=50, help="how many hypotheses are kept")
    parser.add_argument("--seed", type=int, default=0, help="of the noise")
    return parser.parse_args()


if __name__ == "__main__":
    main()
