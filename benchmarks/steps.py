"""What is measured: each step of stategram as a program, so that its time and its memory are its own.

The results go to stdout as JSON.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any


class _Timer:
    """Processor and wall seconds of each part of a step."""

    def __init__(self) -> None:
        self.parts: dict[str, dict[str, float]] = {}

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        wall, cpu = time.perf_counter(), _cpu()
        yield
        self.parts[name] = {"cpu": _cpu() - cpu, "wall": time.perf_counter() - wall}


def _cpu() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _answer(value: object) -> None:
    json.dump(value, sys.stdout)


def read(text: str) -> None:
    """Read the bytes of a text and do nothing with them."""
    from stategram.text.files import read_blocks

    timer = _Timer()
    with timer.part("read"):
        for _ in read_blocks(text):
            pass
    _answer(timer.parts)


def encode(text: str, vocabulary_size: str, threads: str) -> None:
    """Read and encode a text."""
    from stategram import use_resources
    from stategram.text import read_corpus

    timer = _Timer()
    with use_resources(threads=int(threads)), timer.part("encode"):
        read_corpus(text, vocabulary_size=int(vocabulary_size))
    _answer(timer.parts)


def count(text: str, vocabulary_size: str, threads: str) -> None:
    """Read and encode a text, and count its bigrams."""
    from stategram import use_resources
    from stategram.counts import count_bigrams
    from stategram.text import read_corpus

    timer = _Timer()
    with use_resources(threads=int(threads)), timer.part("encode"):
        corpus = read_corpus(text, vocabulary_size=int(vocabulary_size))
    with use_resources(threads=int(threads)), timer.part("bigrams"):
        count_bigrams(corpus)
    _answer(timer.parts)


def evaluate(train: str, test: str, *class_files: str) -> None:
    """Measure class files, whoever wrote them, in the same way."""
    from dataclasses import asdict

    import numpy as np

    from stategram.counts import count_bigrams
    from stategram.evaluation import class_bigram_perplexity
    from stategram.formats import read_classes
    from stategram.text import dense_ids, read_corpus

    corpus = read_corpus(train)
    vocabulary = corpus.vocabulary
    test_ids = read_corpus(test, vocabulary=vocabulary).ids
    bigrams = count_bigrams(corpus)
    seen = bigrams.word_counts > 0
    seen[bigrams.boundary] = False
    answers = []
    for file in class_files:
        class_of = read_classes(file)
        number = dense_ids(class_of.values())
        labels = np.array([number.get(class_of.get(word, ""), -1) for word in vocabulary.words])
        figures = class_bigram_perplexity(bigrams, labels, test_ids)
        answers.append({**asdict(figures), "classed": int((seen & (labels >= 0)).sum())})
    _answer(answers)


def score_ngrams(train: str, test: str, order: str, repeats: str) -> None:
    """Train a model, then score a text with it in every way; words per second."""
    import tempfile
    from statistics import median

    from stategram import NgramModel, kenlm, read_corpus, use_resources, write_arpa

    model = NgramModel.train(read_corpus(train), int(order))
    corpus = read_corpus(test, vocabulary=model.vocabulary)
    sentences = [line for line in Path(test).read_text(encoding="utf-8").split("\n") if line.split()]
    ways: dict[str, Callable[[], object]] = {
        "stategram score": lambda: use_resources(threads=1)(model.score)(corpus),
        "stategram score, 2 threads": lambda: use_resources(threads=2)(model.score)(corpus),
    }
    with tempfile.TemporaryDirectory() as folder:
        model.save(f"{folder}/model")
        ours = kenlm.Model(f"{folder}/model")
        ways["stategram.kenlm score"] = lambda: [ours.score(sentence) for sentence in sentences]
        try:
            from kenlm import Model
        except ImportError:
            pass
        else:
            write_arpa(model, f"{folder}/model.arpa")
            theirs = Model(f"{folder}/model.arpa")
            ways["kenlm score"] = lambda: [theirs.score(sentence) for sentence in sentences]
            ways["kenlm full_scores"] = lambda: [list(theirs.full_scores(one)) for one in sentences]
        seconds: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(int(repeats)):
            for name, way in ways.items():
                timer = _Timer()
                with timer.part(name):
                    way()
                clock = "wall" if "threads" in name else "cpu"
                seconds[name].append(timer.parts[name][clock])
    _answer({name: corpus.n_events / max(median(found), 1e-9) for name, found in seconds.items()})


def decode_ngrams(train: str, test: str, order: str, repeats: str) -> None:
    """Train a model, then call it as decoders do, and PyPI's kenlm in turn; CPU seconds of each round."""
    import tempfile

    import kenlm as pypi

    from stategram import NgramModel, kenlm, read_corpus, write_arpa

    model = NgramModel.train(read_corpus(train), int(order))
    sentences = [line for line in Path(test).read_text(encoding="utf-8").split("\n") if line.split()]
    with tempfile.TemporaryDirectory() as folder:
        model.save(f"{folder}/model")
        write_arpa(model, f"{folder}/model.arpa")
        config = pypi.Config()
        config.show_progress = False
        sides: list[tuple[str, Any, Any]] = [
            ("kenlm", pypi, pypi.Model(f"{folder}/model.arpa", config)),
            ("stategram", kenlm, kenlm.Model(f"{folder}/model")),
        ]
        seconds: dict[str, dict[str, list[float]]] = {}
        for _ in range(int(repeats)):
            for call, way in _DECODER_CALLS.items():
                of_call = seconds.setdefault(call, {})
                for name, module, one in sides:
                    of_call.setdefault(name, []).append(_seconds(way, module, one, sentences))
    _answer({"events": sum(len(line.split()) + 1 for line in sentences), "seconds": seconds})


def decode_mixture(train: str, test: str, repeats: str) -> None:
    """Train eight models and mix them, then score a text in bulk and word by word; CPU seconds."""
    import tempfile

    from stategram import Mixture, Recipe, kenlm, read_corpus, train_recipe, use_resources
    from stategram.recipes import CategoryNgramPart, ClusteredPart, NgramPart

    parts = [
        NgramPart(order=5),
        NgramPart(order=3),
        *(CategoryNgramPart(classes=k, effort="fast") for k in (200, 500, 1000, 2000)),
        ClusteredPart(effort="fast"),
        ClusteredPart(effort="fast", context="w-1"),
    ]
    corpus = read_corpus(train)
    text = read_corpus(test, vocabulary=corpus.vocabulary)
    models = train_recipe(corpus, text, Recipe(part=parts)).parts
    sentences = [line for line in Path(test).read_text(encoding="utf-8").split("\n") if line.split()]
    seconds: dict[str, dict[str, list[float]]] = {}
    with tempfile.TemporaryDirectory() as folder:
        for gate in ("none", "all"):
            mixture = Mixture.fit(models, text, buckets=gate)
            mixture.save(f"{folder}/{gate}")
            decoder = kenlm.Model(f"{folder}/{gate}")
            of_gate: dict[str, list[float]] = {"bulk": [], "BaseScore": []}
            for _ in range(int(repeats)):
                with use_resources(threads=1):
                    of_gate["bulk"].append(_seconds(mixture.score, text))
                of_gate["BaseScore"].append(_seconds(_base_score, kenlm, decoder, sentences))
            seconds[gate] = of_gate
    _answer({"events": text.n_events, "parts": len(models), "seconds": seconds})


def _seconds(call: Callable[..., object], *arguments: object) -> float:
    begin = _cpu()
    call(*arguments)
    return _cpu() - begin


def _base_score(module: Any, model: Any, sentences: list[str]) -> None:
    for sentence in sentences:
        state = module.State()
        model.BeginSentenceWrite(state)
        for word in sentence.split():
            after = module.State()
            model.BaseScore(state, word, after)
            state = after
        model.BaseScore(state, "</s>", module.State())


def _score(module: Any, model: Any, sentences: list[str]) -> None:
    for sentence in sentences:
        model.score(sentence)


def _full_scores(module: Any, model: Any, sentences: list[str]) -> None:
    for sentence in sentences:
        for _ in model.full_scores(sentence):
            pass


_DECODER_CALLS: dict[str, Callable[[Any, Any, list[str]], None]] = {
    "score": _score,
    "full_scores": _full_scores,
    "BaseScore": _base_score,
}


def train_trees(train: str, test: str, vocabulary_size: str, trees: str, threads: str) -> None:
    """Train a word tree model and an n-gram model, and score a text with both."""
    from stategram import NgramModel, Recipe, read_corpus, train_recipe, use_resources
    from stategram.recipes import WordTreePart

    corpus = read_corpus(train, vocabulary_size=int(vocabulary_size) or None)
    text = read_corpus(test, vocabulary=corpus.vocabulary)
    timer = _Timer()
    # Trees of different classes.
    part = WordTreePart(trees=[1000 - 100 * number for number in range(int(trees))])
    with use_resources(threads=int(threads)):
        with timer.part("train"):
            model = train_recipe(corpus, text, Recipe(part=[part]))
        ngrams = NgramModel.train(corpus, 5)
        with timer.part("ngram"):
            ngrams.score(text)
        for history in model.histories:
            chosen = model.with_history(history)
            with timer.part(history):
                chosen.score(text)
    chains = model.training_info["chains"]
    _answer(
        {
            **timer.parts,
            "events": corpus.n_events,
            "test_events": text.n_events,
            "histories": model.histories,
            "ngrams": sum(chain["ngrams"] for chain in chains),
            "bytes": sum(chain["bytes"] for chain in chains),
        }
    )


def cluster_contexts(
    train: str,
    test: str,
    vocabulary_size: str,
    context: str,
    clusters: str,
    tree: str,
    candidates: str,
    threads: str,
) -> None:
    """Cluster the contexts and the words of a text, and measure the model on another one."""
    from stategram import ClusteredModel, cluster, evaluate, read_corpus, use_resources
    from stategram.contexts import ContextDefinition, build_tree

    timer = _Timer()
    corpus = read_corpus(train, vocabulary_size=int(vocabulary_size) or None)
    with use_resources(threads=int(threads)), timer.part("tree"):
        contexts = build_tree(corpus, ContextDefinition.parse(context))
    size = len(contexts.levels[-1])
    del contexts
    with use_resources(threads=int(threads)), timer.part("all"):
        found = cluster(
            corpus,
            context,
            states=int(clusters),
            categories=int(clusters),
            tree=tree == "1",
            candidates=int(candidates),
        )
    # The tree is built there once more.
    timer.parts["cluster"] = {
        clock: timer.parts["all"][clock] - timer.parts["tree"][clock] for clock in ("cpu", "wall")
    }
    figures = evaluate(ClusteredModel.train(found), read_corpus(test, vocabulary=corpus.vocabulary))
    _answer(
        {
            **timer.parts,
            "events": corpus.n_events,
            "contexts": size,
            "test_events": figures.events,
            "unknown": figures.unknown,
            "perplexity": figures.perplexity,
            "perplexity_known": figures.perplexity_known,
        }
    )


def describe(*texts: str) -> None:
    """Return the sizes of texts."""
    from stategram.text import read_corpus

    answers = []
    for text in texts:
        corpus = read_corpus(text)
        answers.append(
            {
                "bytes": Path(text).stat().st_size,
                "sentences": corpus.n_sentences,
                "events": corpus.n_events,
                "words": len(set(corpus.vocabulary.words) - {"<unk>", "<s>", "</s>"}),
            }
        )
    _answer(answers)


def cut_vocabulary(text: str, vocabulary_size: str, place: str) -> None:
    """Write a text with all but its most frequent words as ``<unk>``."""
    from stategram.text import read_corpus

    corpus = read_corpus(text, vocabulary_size=int(vocabulary_size))
    words = [*corpus.vocabulary.words]
    words[corpus.vocabulary.id("</s>")] = "\n"
    spaced = " ".join(words[i] for i in corpus.ids.tolist())
    Path(place).write_text(spaced.replace(" \n ", "\n").replace(" \n", "\n"), encoding="utf-8")
    _answer(place)


def write_sotu(train: str, test: str) -> None:
    """Write the State of the Union addresses, one sentence per line."""
    from stategram.text.sotu import load_sotu

    corpus = load_sotu()
    Path(train).write_text("\n".join([*filter(None, corpus.train), ""]), encoding="utf-8")
    Path(test).write_text("\n".join([*filter(None, corpus.test), ""]), encoding="utf-8")
    _answer(None)


def enlarge(text: str, copies: str, place: str) -> None:
    """Write a text several times: its sentences in another order, an eighth of the words drawn anew."""
    import numpy as np

    from stategram.text import END, read_corpus

    corpus = read_corpus(text)
    words = np.array([word.encode() for word in corpus.vocabulary.words], object)
    words[END] = b"\n"
    drawable = corpus.ids[corpus.ids != END]
    with Path(place).open("wb") as file:
        for copy in range(int(copies)):
            random = np.random.default_rng(copy)
            order = random.permutation(corpus.n_sentences)
            for begin in range(0, len(order), 100_000):
                some = order[begin : begin + 100_000]
                starts, ends = corpus.sentence_starts[some], corpus.sentence_starts[some + 1]
                lengths = ends - starts
                places = np.repeat(ends - np.cumsum(lengths), lengths) + np.arange(lengths.sum())
                ids = corpus.ids[places]
                redrawn = (random.random(len(ids)) < 1 / 8) & (ids != END)
                ids[redrawn] = random.choice(drawable, int(redrawn.sum()))
                file.write(b" ".join(words[ids].tolist()).replace(b" \n ", b"\n"))
    _answer(None)


_STEPS: list[Callable[..., None]] = [
    read,
    encode,
    count,
    evaluate,
    score_ngrams,
    decode_ngrams,
    decode_mixture,
    cluster_contexts,
    train_trees,
    describe,
    cut_vocabulary,
    write_sotu,
    enlarge,
]


def main(name: str, *arguments: str) -> None:
    from stategram.errors import StategramError

    try:
        {step.__name__: step for step in _STEPS}[name](*arguments)
    except StategramError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(*sys.argv[1:])
