"""Brown bits as features of a tagger: word classes of much plain text help where few words have a tag.

Classes are found in unlabelled text. The path of a class in their hierarchy is a string of bits, and its
prefixes are features: a short one stands for a coarse class (verbs), a long one for a fine class (verbs of
seeing). Here a perceptron learns the tags of a few sentences, once from the words alone and once with these
features, and is asked for the tags of sentences full of words that it has never seen with a tag.

    python examples/class_features.py
    python examples/class_features.py --classes 100 --plain my-text.txt
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

import stategram

PREFIXES = (2, 3, 4, 6, 8)
LEXICON = {
    "DET": "the a this every".split(),
    "NOUN": [
        first + last for first in "bar cor del fan gol".split() for last in "do ka mi su ten vor".split()
    ],
    "VERB": [first + last for first in "lum nar pel rit".split() for last in "es ims ons uts".split()],
    "ADJ": [first + last for first in "sil tov zun".split() for last in "ack ept ib oy".split()],
    "PREP": "in on under behind".split(),
}
PATTERNS = ("DET NOUN VERB DET NOUN", "DET ADJ NOUN VERB", "DET NOUN VERB PREP DET ADJ NOUN")

Tagged: TypeAlias = list[tuple[str, str]]


def main() -> None:
    """Print the accuracy of the tagger with and without word classes."""
    options = _options()
    draw = random.Random(options.seed)
    plain = [" ".join(word for word, _ in sentence(draw)) for _ in range(options.sentences)]
    for name in options.plain:
        plain += Path(name).read_text(encoding="utf-8").splitlines()
    labelled = [sentence(draw) for _ in range(options.labelled)]
    test = [sentence(draw) for _ in range(500)]

    classes = stategram.WordClasses(options.classes, random_state=options.seed).fit(plain)
    bits = bit_features(classes)
    seen = {word for one in labelled for word, _ in one}
    print("features\taccuracy\tof words without a tag in training")
    for name, paths in (("words", {}), ("words and classes", bits)):
        weights = train_perceptron(labelled, paths, draw)
        right = [(word in seen, tag(word, paths, weights) == true) for one in test for word, true in one]
        unseen = [fine for was_seen, fine in right if not was_seen]
        print(f"{name}\t{_mean([fine for _, fine in right]):.1%}\t{_mean(unseen):.1%}")


def bit_features(classes: stategram.WordClasses) -> dict[str, list[str]]:
    """Return prefixes of the path of each word's class."""
    paths = classes.hierarchy_.bit_paths()
    return {
        word: [f"bits={paths[label][:length]}" for length in PREFIXES]
        for word, label in zip(classes.words_, classes.labels_.tolist(), strict=True)
    }


def features(word: str, bits: dict[str, list[str]]) -> Iterator[str]:
    """Yield what the tagger knows of a word; of an unknown one its class, if it has any."""
    yield "always"
    yield f"word={word}"
    yield from bits.get(word, ())


def tag(word: str, bits: dict[str, list[str]], weights: dict[tuple[str, str], float]) -> str:
    """Return the tag with the greatest sum of weights."""
    known = list(features(word, bits))
    return max(LEXICON, key=lambda label: sum(weights[one, label] for one in known))


def train_perceptron(
    labelled: Sequence[Tagged], bits: dict[str, list[str]], draw: random.Random, rounds: int = 10
) -> dict[tuple[str, str], float]:
    """Return weights of features and tags: after each mistake those of the true tag rise, the others fall."""
    weights: dict[tuple[str, str], float] = defaultdict(float)
    words = [one for words in labelled for one in words]
    for _ in range(rounds):
        draw.shuffle(words)
        for word, true in words:
            found = tag(word, bits, weights)
            if found != true:
                for one in features(word, bits):
                    weights[one, true] += 1
                    weights[one, found] -= 1
    return weights


def sentence(draw: random.Random) -> Tagged:
    """Return a sentence of invented words with their tags."""
    return [(draw.choice(LEXICON[label]), label) for label in draw.choice(PATTERNS).split()]


def _mean(values: Sequence[bool]) -> float:
    return sum(values) / len(values) if values else float("nan")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--plain", nargs="*", default=[], help="more unlabelled text")
    parser.add_argument("--classes", type=int, default=12, help="how many word classes")
    parser.add_argument("--sentences", type=int, default=3000, help="how many unlabelled sentences are made")
    parser.add_argument("--labelled", type=int, default=8, help="how many sentences have tags")
    parser.add_argument("--seed", type=int, default=0, help="of sentences and classes")
    return parser.parse_args()


if __name__ == "__main__":
    main()
