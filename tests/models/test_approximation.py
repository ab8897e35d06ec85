"""Any model as a back-off n-gram model."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kenlm
import numpy as np
import pytest
from numpy.typing import NDArray

from command_line import run
from naive.backoff import expected_visits
from stategram import (
    Budget,
    CacheModel,
    Mixture,
    Model,
    NgramModel,
    UsageError,
    approximate,
    corpus_from_sentences,
    read_recipe,
    train_recipe,
    use_resources,
    write_arpa,
)
from stategram.evaluation.normalisation import history_sums
from stategram.models.approximation.approximate import cut_ngrams
from stategram.models.approximation.histories import expected_counts
from story import RECIPE, WORD_TREE, sentences

TRAIN, HELDOUT, TEST = (sentences(n, seed=seed) for n, seed in ((300, 1), (100, 2), (300, 3)))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Model]:
    corpus = corpus_from_sentences(TRAIN)
    heldout = corpus_from_sentences(HELDOUT, vocabulary=corpus.vocabulary)
    models: dict[str, Model] = {}

    def train(recipe: str) -> Model:
        if recipe not in models:
            place = tmp_path_factory.mktemp("recipe") / "recipe.toml"
            place.write_text(recipe)
            models[recipe] = train_recipe(corpus, heldout, read_recipe(place))
        return models[recipe]

    return train


def test_a_mixture_as_an_arpa_file(trained: Callable[[str], Model], tmp_path: Path) -> None:
    mixture = trained(RECIPE)
    ngram = mixture.parts[0]
    assert isinstance(ngram, NgramModel)
    found = approximate(mixture)
    assert sum(found.trie.sizes) <= sum(ngram.trie.sizes)
    assert max(one.error for one in history_sums(found)) < 1e-6
    found.check()
    place = tmp_path / "mixture.arpa"
    write_arpa(found, place)
    read = kenlm.Model(str(place))
    for sentence in TEST[:50]:
        assert read.score(sentence) * np.log(10) == pytest.approx(
            found.score(sentence).log_probs.sum(), abs=1e-3
        )
    perplexities = [model.perplexity(TEST) for model in (ngram, found, mixture)]
    assert perplexities[0] - perplexities[1] > 0.4 * (perplexities[0] - perplexities[2]) > 0


def test_limits(trained: Callable[[str], Model]) -> None:
    mixture = trained(RECIPE)
    n_words = len(mixture.vocabulary)
    sizes = []
    for limit in (n_words, n_words + 100, 600):
        sizes.append(sum(approximate(mixture, Budget(max_ngrams=limit)).trie.sizes))
        assert 0.97 * limit <= sizes[-1] <= limit
    out = io.BytesIO()
    write_arpa(approximate(mixture, Budget(max_size=12_000)), out)
    assert 9_000 < len(out.getvalue()) <= 12_000
    ngrams = mixture.parts[0]
    for limit in (n_words + 1, n_words + 20, sum(ngrams.trie.sizes) - 1):  # type: ignore[attr-defined]
        assert sum(approximate(ngrams, Budget(max_ngrams=limit)).trie.sizes) <= limit
    few, many = (sum(approximate(mixture, Budget(prune=prune)).trie.sizes) for prune in (1e-3, 1e-5))
    assert n_words < few < many


def test_the_number_of_threads_does_not_matter(trained: Callable[[str], Model]) -> None:
    written = []
    for threads in (1, 3):
        with use_resources(threads=threads):
            out = io.BytesIO()
            write_arpa(approximate(trained(RECIPE), Budget(max_ngrams=500)), out)
            written.append(out.getvalue())
    assert written[0] == written[1]


def test_models_without_ngrams_need_the_text(trained: Callable[[str], Model]) -> None:
    tree = trained(WORD_TREE)
    with pytest.raises(UsageError, match=r"give the training text"):
        approximate(tree)
    found = approximate(tree, order=2, text=TRAIN)
    assert max(one.error for one in history_sums(found)) < 1e-6
    bigram = NgramModel.train(TRAIN, 2)
    assert found.perplexity(TEST) < bigram.perplexity(TEST)
    clustered = trained(RECIPE).parts[2]
    assert approximate(clustered, order=3, text=TRAIN).perplexity(TEST) < 1.1 * clustered.perplexity(TEST)


def test_caches_are_left_out(trained: Callable[[str], Model]) -> None:
    ngram = trained(RECIPE).parts[0]
    both = Mixture.fit([ngram, CacheModel.train(corpus_from_sentences(TRAIN))], HELDOUT)
    wide = approximate(both, Budget(max_ngrams=5_000))
    assert wide.perplexity(TEST) == pytest.approx(ngram.perplexity(TEST), rel=0.02)


def test_ngrams_as_they_are() -> None:
    model = NgramModel.train(TRAIN, 3)
    assert approximate(model) is model
    assert approximate(model, order=3) is model
    pruned = approximate(model, Budget(max_ngrams=sum(model.trie.sizes) // 2))
    assert sum(pruned.trie.sizes) <= sum(model.trie.sizes) // 2
    assert pruned.perplexity(TEST) < 1.1 * model.perplexity(TEST)


def test_a_lower_order_has_the_right_probabilities() -> None:
    model = NgramModel.train(TRAIN, 4)
    cut = cut_ngrams(model, 2)
    assert cut.trie.sizes == model.trie.sizes[:2]
    assert max(one.error for one in history_sums(cut)) < 1e-6
    found, expected = (_visits_by_last_word(one) for one in (cut, model))
    assert np.abs(found - expected).sum() < 0.01
    assert cut.perplexity(TEST) < NgramModel.train(TRAIN, 2).perplexity(TEST)


def _visits_by_last_word(model: NgramModel) -> NDArray[np.float64]:
    index = model.trie.plain()
    visits: NDArray[Any] = np.bincount(index.words[: index.n_histories], expected_counts(index).visits)
    return visits


def test_expected_visits_are_those_of_the_chain() -> None:
    model = NgramModel.train(["a b a c", "b a b", "c a b c", "a a b"], 3)
    index = model.trie.plain()
    words = [model.vocabulary.word(int(id)) for id in np.argsort(index.numbers)]
    nodes = np.arange(index.n_histories, dtype=np.uint32)
    rows = index.words_of(nodes, 2)
    names = [
        tuple(words[number] for number in row[2 - int(length) :])
        for row, length in zip(rows, index.lengths[nodes], strict=True)
    ]

    def distribution(history: tuple[str, ...]) -> dict[str, float]:
        probs = model.distribution(history, sentence_start=False)
        return {word: float(probs[model.vocabulary.id(word)]) for word in words if word != "<s>"}

    expected = expected_visits(distribution, set(names), 30)
    found = dict(zip(names, expected_counts(index).visits.tolist(), strict=True))
    assert found == pytest.approx({name: expected.get(name, 0.0) for name in names}, abs=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"order": 1}, "at least 2"),
        ({"order": 9}, "no n-gram model of order 9"),
        ({"budget": Budget(compact=True)}, "not compact"),
        ({"budget": Budget(max_ngrams=3)}, "words of the vocabulary alone"),
    ],
)
def test_what_is_refused(options: dict[str, Any], message: str, trained: Callable[[str], Model]) -> None:
    with pytest.raises(UsageError, match=message):
        approximate(trained(RECIPE), **options)


def test_export(trained: Callable[[str], Model], tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    trained(RECIPE).save(tmp_path / "mixture")
    out = tmp_path / "out.arpa"
    status, _, err = run(
        "export", tmp_path / "mixture", "--arpa", out, "--order", 2, "--max-ngrams", 300, capfd=capfd
    )
    assert (status, "[2/2] writing" in err, kenlm.Model(str(out)).order) == (0, True, 2)
    status, _, err = run("export", tmp_path / "mixture", "--arpa", out, "--part", 2, "--force", capfd=capfd)
    assert (status, "give the training text (--train)" in err) == (2, True)
    (tmp_path / "text.txt").write_text("\n".join(TRAIN))
    arguments = ("--part", 2, "--train", tmp_path / "text.txt", "--max-size", "20k", "--force")
    assert run("export", tmp_path / "mixture", "--arpa", out, *arguments, capfd=capfd)[0] == 0
    assert out.stat().st_size <= 20 * 1024
    status, _, err = run("export", tmp_path / "mixture", "--states", out, "--prune", 0.1, capfd=capfd)
    assert (status, "--prune goes with --arpa" in err) == (2, True)
