"""Recipes: what a file may say, what is made of it for a text, what is trained."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stategram
from stategram import (
    BadDataError,
    CategoryNgramModel,
    ClusteredModel,
    Corpus,
    Mixture,
    NgramModel,
    Recipe,
    StategramError,
    UsageError,
    Vocabulary,
    WordClasses,
    corpus_from_sentences,
    count_text,
    open_model,
    read_recipe,
    train_recipe,
)
from stategram.clustering import Clustering, by_size, cluster, cluster_tree, word_classes
from stategram.clustering.number_of_clusters import choose_numbers
from stategram.contexts import ContextTree, TagMap, parse_tags
from stategram.counts import BigramCounts, NgramCounts, ShardedText, count_bigrams, count_ngrams
from stategram.models import Model
from stategram.models.word_tree import model as word_tree_model
from stategram.recipes import (
    RECIPES,
    CachePart,
    CategoryNgramPart,
    ClusteredPart,
    NgramPart,
    clustered_part,
    training,
)
from stategram.recipes.training import ClassSource, Training
from stategram.resources import use_resources
from stategram.text import contains_text
from story import sentences


@pytest.fixture(scope="module")
def texts() -> tuple[Corpus, Corpus]:
    corpus = corpus_from_sentences(sentences(600, seed=1))
    return corpus, corpus_from_sentences(sentences(100, seed=2), vocabulary=corpus.vocabulary)


@pytest.mark.parametrize("name", RECIPES)
def test_built_in_recipes_train(name: str, texts: tuple[Corpus, Corpus]) -> None:
    with use_resources(threads=1):
        model = train_recipe(*texts, name)
    parts = len(RECIPES[name].resolve(texts[0]).part)
    assert len(model.parts) == (parts if parts > 1 else 0)
    if model.parts:
        alone = [part["perplexity"] for part in model.training_info["parts"]]
        assert model.training_info["perplexity"] <= min(alone) * (1 + 1e-6)
    assert abs(model.distribution("the cat").sum() - 1) < 1e-6  # logarithms of n-grams have 24 bits
    assert model.metadata["name"] == name
    assert model.metadata["seed"] == 0
    with use_resources(threads=2):
        again = train_recipe(*texts, name)
    np.testing.assert_array_equal(again.score(texts[1]).log_probs, model.score(texts[1]).log_probs)


def test_a_recipe_file(tmp_path: Path, texts: tuple[Corpus, Corpus]) -> None:
    (tmp_path / "classes.tsv").write_text("the\t1\na\t1\ncat\t2\ndog\t2\n")
    (tmp_path / "tags.tsv").write_text("the\tDT\ncat\tNN\n")
    path = tmp_path / "mine.toml"
    path.write_text(
        """
        [[part]]
        model = "ngram"
        order = 2
        smoothing = "witten-bell"
        min_counts = [1, 2]
        prune = 1e-9
        [[part]]
        model = "category-ngram"
        classes = "classes.tsv"
        order = 3
        [[part]]
        model = "clustered"
        context = "t-2,g-1"
        tags = "tags.tsv"
        context_classes = 5
        states = 4
        categories = "auto"
        criterion = "leave-one-out"
        tolerance = 0
        [mixture]
        buckets = "length"
        """
    )
    recipe = read_recipe(path)
    assert recipe.name == "mine"
    mixture = train_recipe(*texts, recipe)
    assert isinstance(mixture, Mixture)
    ngram, category, clustered = mixture.parts
    assert isinstance(ngram, NgramModel)
    assert isinstance(category, CategoryNgramModel)
    assert isinstance(clustered, ClusteredModel)
    assert (ngram.order, ngram.smoothing, category.n_categories, clustered.n_states) == (
        2,
        "witten-bell",
        3,
        4,
    )
    said = mixture.metadata["part"][2]
    assert isinstance(said["categories"], int)  # what auto came to
    assert (said["criterion"], said["min_count"], said["effort"]) == ("leave-one-out", 6, "normal")
    assert mixture.gate.kind in ("length", "none")


@pytest.mark.parametrize(
    ("text", "messages"),
    [
        (
            "",
            ["no parts", "[[part]]", "'ngram' or 'category-ngram' or 'cache' or 'word-tree' or 'clustered'"],
        ),
        ("[part]\nmodel = 'ngram'", ["no parts"]),
        ("[[part", ["invalid TOML"]),
        ("speed = 1\n[[part]]\nmodel = 'ngram'", ["no key 'speed'", "part, mixture"]),
        (
            "[[part]]\norder = 3",
            ["part 1", "no key model", "ngram, category-ngram, cache, word-tree, clustered"],
        ),
        (
            "[[part]]\nmodel = 'neural'",
            ["part 1", "'neural'", "ngram, category-ngram, cache, word-tree, clustered"],
        ),
        ("[[part]]\nmodel = ['ngram']", ["part 1", "model is ['ngram']"]),
        ("[[part]]\nmodel = 'ngram'\nordr = 3", ["part 1 (ngram)", "no key 'ordr'", "order, smoothing"]),
        ("[[part]]\nmodel = 'ngram'\norder = '3'", ["order is '3'", "1 to 9"]),
        ("[[part]]\nmodel = 'ngram'\norder = true", ["order is true"]),
        ("[[part]]\nmodel = 'ngram'\norder = 10", ["order is 10", "1 to 9"]),
        ("[[part]]\nmodel = 'ngram'\nsmoothing = 'x'", ["smoothing is 'x'", "kneser-ney, katz"]),
        ("[[part]]\nmodel = 'ngram'\norder = 2\nmin_counts = [2, 1]", ["min_counts", "2 numbers"]),
        ("[[part]]\nmodel = 'ngram'\nprune = nan", ["prune is nan"]),
        ("[[part]]\nmodel = 'category-ngram'\nclasses = 0", ["classes is 0", "a class file"]),
        ("[[part]]\nmodel = 'category-ngram'\nclasses = 'no.tsv'", ["classes", "no file", "no.tsv"]),
        ("[[part]]\nmodel = 'cache'\norder = 4", ["order is 4", "1 to 3"]),
        ("[[part]]\nmodel = 'cache'\ndecays = [0.9, 2, 1]", ["decays is [0.9, 2, 1]", "for each length"]),
        ("[[part]]\nmodel = 'cache'\ndecays = [0.9]", ["part 1 (cache)", "decays", "1 numbers; give 3"]),
        ("[[part]]\nmodel = 'category-ngram'\neffort = 'x'", ["effort is 'x'", "fast, normal, best"]),
        ("[[part]]\nmodel = 'clustered'\ncontext = 'w'", ["context", "expected for instance w-2,w-1"]),
        ("[[part]]\nmodel = 'clustered'\ntree_order = 'w-1'", ["tree_order", "does not have the values"]),
        ("[[part]]\nmodel = 'clustered'\ntree = false\ntree_order = 'w-2,w-1'", ["tree_order", "no tree"]),
        ("[[part]]\nmodel = 'clustered'\nstates = 'many'", ["states is 'many'", '"size"', '"auto"']),
        ("[[part]]\nmodel = 'clustered'\nstates = 1.5", ["states is 1.5"]),
        ("[[part]]\nmodel = 'clustered'\neffort = 'x'", ["effort is 'x'", "paper, fast, normal, best"]),
        ("[[part]]\nmodel = 'clustered'\ncriterion = 'x'", ["criterion is 'x'", "ml, leave-one-out"]),
        ("[[part]]\nmodel = 'clustered'\ntags = 'brill'", ["tags", "w-2,w-1 has none"]),
        ("[[part]]\nmodel = 'clustered'\ncontext = 't-1'\ntags = 'no'", ["tags", "no file", "brill"]),
        ("[[part]]\nmodel = 'clustered'\ncontext_classes = 9", ["context_classes", "has none"]),
        ("[[part]]\nmodel = 'ngram'\n[mixture]\nbuckets = 'x'", ["mixture: buckets is 'x'", "auto, none"]),
        ("[[part]]\nmodel = 'ngram'\n[mixture]\nweight = 1", ["mixture: no key 'weight'", "buckets"]),
        ('[[part]]\nmodel = "ngram"\nsmoothing = "katz\\n"', ["smoothing is 'katz\\n'"]),
        ('[[part]]\nmodel = "clustered"\nstates = "size\\n"', ["states is 'size\\n'"]),
        ('[[part]]\nmodel = "clustered"\nstates = "auto\\n"', ["states is 'auto\\n'"]),
        ('[[part]]\nmodel = "clustered"\neffort = "\\nfast"', ["effort is '\\nfast'"]),
        ("mixture = 3\n[[part]]\nmodel = 'ngram'", ["mixture is 3"]),
    ],
)
def test_wrong_files_are_refused(tmp_path: Path, text: str, messages: list[str]) -> None:
    path = tmp_path / "wrong.toml"
    path.write_text(text)
    with pytest.raises(BadDataError) as error:
        read_recipe(path)
    for message in ["wrong.toml: ", *messages]:
        assert message in str(error.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no recipe 'quick': there are fast, paper, best"):
        read_recipe("quick")
    with pytest.raises(StategramError, match="no such file"):
        read_recipe(tmp_path / "none.toml")
    with pytest.raises(BadDataError, match="expected a recipe"):
        read_recipe(tmp_path)
    (tmp_path / "latin.toml").write_bytes(b"# caf\xe9\n")
    with pytest.raises(BadDataError, match="not UTF-8"):
        read_recipe(tmp_path / "latin.toml")


def test_numbers_by_the_size_of_the_text() -> None:
    assert [by_size("size", n) for n in (1, 2_000_000, 40_000_000, 10**9)] == [25, 500, 2200, 4000]
    assert [by_size(f"{f} size", 2_000_000) for f in ("0.3", "2", ".5")] == [150, 1000, 250]


def test_numbers_are_never_more_than_half_of_the_words_and_contexts(texts: tuple[Corpus, Corpus]) -> None:
    words = len(np.unique(texts[0].ids))
    resolved = RECIPES["paper"].resolve(texts[0])
    assert isinstance(resolved.part[1], ClusteredPart)
    assert resolved.part[1].categories == words // 2
    mixture = train_recipe(*texts, "paper")
    contexts = {(0, 0)}
    for sentence in sentences(600, seed=1):
        before = ("<s>", "<s>")
        for word in [*sentence.split(), "</s>"]:
            contexts.add(before)  # type: ignore[arg-type]
            before = (before[1], word)
    assert mixture.metadata["part"][1]["states"] == (len(contexts) - 1) // 2


def test_what_parts_share_is_done_once(texts: tuple[Corpus, Corpus], monkeypatch: pytest.MonkeyPatch) -> None:
    learned = []

    class Counted(WordClasses):
        def fit_bigrams(self, *arguments: Any, **options: Any) -> WordClasses:
            learned.append((self.n_classes, self.effort))
            return super().fit_bigrams(*arguments, **options)

    monkeypatch.setattr(training, "WordClasses", Counted)
    tagged = []

    def counted(source: str, vocabulary: Vocabulary, *, guess: bool) -> TagMap:
        tagged.append(source)
        return parse_tags(source, vocabulary, guess=guess)

    monkeypatch.setattr(training, "parse_tags", counted)
    recipe = Recipe(
        part=[
            CategoryNgramPart(classes=6, effort="fast"),
            CategoryNgramPart(classes=6, effort="fast", order=2),
            ClusteredPart(context="g-2,w-1", context_classes=6),
            ClusteredPart(context="t-1"),
            ClusteredPart(context="t-2,t-1"),
        ]
    )
    train_recipe(*texts, recipe, tags="brill")
    assert learned == [(6, "fast")]
    assert tagged == ["brill"]


@pytest.mark.parametrize("name", ["fast", "best"])
def test_bigrams_are_counted_once(
    name: str, texts: tuple[Corpus, Corpus], monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = []

    def count(corpus: Corpus) -> BigramCounts:
        counted.append(corpus)
        return count_bigrams(corpus)

    for module in (training, word_classes, word_tree_model):
        monkeypatch.setattr(module, "count_bigrams", count)
    train_recipe(*texts, name)
    assert counted == [texts[0]]


def test_a_recipe_of_one_part_is_that_model(texts: tuple[Corpus, Corpus]) -> None:
    model = train_recipe(*texts, Recipe(part=[NgramPart(order=2)]), seed=3)
    assert isinstance(model, NgramModel)
    assert (model.metadata["order"], model.metadata["name"], model.metadata["seed"]) == (2, "recipe", 3)
    expected = NgramModel.train(texts[0], 2).score(texts[1]).log_probs
    np.testing.assert_array_equal(model.score(texts[1]).log_probs, expected)


def test_ngrams_are_trained_without_the_text(
    texts: tuple[Corpus, Corpus], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "text").write_text("\n".join(sentences(600, seed=1)) + "\n")
    counted = count_text(tmp_path / "text", tmp_path / "counts", order=3)
    recipe = Recipe(part=[NgramPart(order=3)])
    expected = NgramModel.train(texts[0], 3).score(texts[1]).log_probs

    def corpus(text: ShardedText) -> Corpus:
        raise AssertionError("the whole text is read")

    monkeypatch.setattr(ShardedText, "corpus", corpus)
    sources: list[ShardedText | NgramCounts] = [counted, count_ngrams(texts[0], 3)]
    for number, given in enumerate(sources):
        found = train_recipe(given, None, recipe, checkpoint=tmp_path / f"checkpoint{number}")
        np.testing.assert_array_equal(found.score(texts[1]).log_probs, expected)
    kept = train_recipe(counted, None, recipe, checkpoint=tmp_path / "checkpoint0")
    np.testing.assert_array_equal(kept.score(texts[1]).log_probs, expected)
    with pytest.raises(UsageError, match="another training"):
        train_recipe(count_ngrams(texts[1], 3), None, recipe, checkpoint=tmp_path / "checkpoint1")
    with pytest.raises(UsageError, match="up to 3 words were counted, not of 4; count the text with --order"):
        train_recipe(counted, None, Recipe(part=[NgramPart(order=4)]))
    with pytest.raises(UsageError, match="the counts were used up by a model; count again"):
        train_recipe(given, None, recipe)
    with pytest.raises(UsageError, match="counts without their text give an n-gram model of words only"):
        train_recipe(count_ngrams(texts[0], 3), None, Recipe(part=[CategoryNgramPart(classes=4)]))
    with pytest.raises(UsageError, match="the counts have n-grams of up to 3 words, not of 2"):
        train_recipe(count_ngrams(texts[0], 3), None, Recipe(part=[NgramPart(order=2)]))


def test_sentences_are_a_text_too(texts: tuple[Corpus, Corpus]) -> None:
    recipe = Recipe(part=[NgramPart(order=2)])
    found = train_recipe(sentences(600, seed=1), sentences(100, seed=2), recipe)
    expected = train_recipe(*texts, recipe)
    np.testing.assert_array_equal(found.score(texts[1]).log_probs, expected.score(texts[1]).log_probs)


def test_texts_that_cannot_be_used(texts: tuple[Corpus, Corpus]) -> None:
    corpus, _ = texts
    strange = corpus_from_sentences(["xyzzy plugh"], vocabulary=corpus.vocabulary)
    with pytest.raises(BadDataError, match="held-out text: the text has no word"):
        train_recipe(corpus, strange, "fast")
    with pytest.raises(BadDataError, match="the text has no words"):
        train_recipe(corpus_from_sentences([]), corpus, "fast")
    for piece in (corpus, corpus.sentences(200, 300), corpus.sentences(580, 600)):
        with pytest.raises(UsageError, match="the held-out text is in the training text"):
            train_recipe(corpus, piece, "fast")
    assert not contains_text(corpus, corpus.sentences(580, 599))  # it may be by chance
    almost = replace(corpus, ids=np.append(corpus.ids[:-2], corpus.ids[:2]))
    assert not contains_text(corpus, almost.sentences(100, 600))
    with pytest.raises(UsageError, match="part 1 has tags in its context"):
        train_recipe(*texts, Recipe(part=[ClusteredPart(context="t-1")]))


def test_a_checkpoint_of_another_training_is_refused(texts: tuple[Corpus, Corpus], tmp_path: Path) -> None:
    place = tmp_path / "run"
    recipe = Recipe(part=[NgramPart(order=2)])
    train_recipe(*texts, recipe, checkpoint=place)
    for change in ({"seed": 1}, {"recipe": "fast"}, {"corpus": texts[0].sentences(0, 500)}):
        given = {"corpus": texts[0], "heldout": texts[1], "recipe": recipe, **change}
        with pytest.raises(UsageError, match="another training"):
            train_recipe(**given, checkpoint=place)  # type: ignore[arg-type]
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "thesis.tex").touch()
    with pytest.raises(UsageError, match="choose another folder"):
        train_recipe(*texts, recipe, checkpoint=tmp_path / "thesis")


def _entries(place: Path) -> dict[str, Path]:
    """Return the entries of a store by what they are; there is one of each here."""
    return {entry.name.rpartition("-")[0]: entry for entry in place.iterdir()}


def test_what_is_damaged_is_trained_again(
    texts: tuple[Corpus, Corpus], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    place = tmp_path / "run"
    clustered = ClusteredPart(context="g-1", context_classes=5, states=4, categories=4)
    recipe = Recipe(part=[NgramPart(order=2), clustered, NgramPart(order=1)])
    before = train_recipe(*texts, recipe, checkpoint=place)
    kinds = {}
    for model in place.glob("model-*"):
        options = open_model(model).metadata
        kinds["clustered" if options.get("context") else str(options["order"])] = model
    for damaged, content in (("2", slice(None, -8)), ("clustered", slice(9))):
        kinds[damaged].write_bytes(kinds[damaged].read_bytes()[content])
    classes = _entries(place)["classes"]
    classes.write_bytes(b"x" + classes.read_bytes()[1:])
    caplog.set_level("INFO")
    caplog.clear()
    after = train_recipe(*texts, recipe, checkpoint=place)
    notes = [message for message in caplog.messages if "computed again" in message]
    assert [str(kinds["2"]) in notes[0], str(kinds["clustered"]) in notes[1], str(classes) in notes[2]] == [
        True
    ] * 3
    assert len(notes) == 3
    assert caplog.messages.count("kept") == 1
    np.testing.assert_array_equal(after.score(texts[1]).log_probs, before.score(texts[1]).log_probs)


def test_numbers_that_were_tried_are_kept(
    texts: tuple[Corpus, Corpus], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    searches = []

    def counted(*arguments: Any, **options: Any) -> Any:
        searches.append(arguments)
        return choose_numbers(*arguments, **options)

    monkeypatch.setattr("stategram.recipes.clustered_part.choose_numbers", counted)
    recipe = Recipe(part=[ClusteredPart(context="w-1", states="auto", categories=4, effort="fast")])
    models: list[Model] = []
    for n_searches, damaged in ((1, False), (1, False), (2, True)):
        if models:  # as if it had been killed before the part was trained
            entries = _entries(tmp_path / "run")
            entries["model"].unlink()
            if damaged:
                entries["numbers"].write_text("{")
        models.append(train_recipe(*texts, recipe, checkpoint=tmp_path / "run"))
        assert len(searches) == n_searches
    for model in models[1:]:
        np.testing.assert_array_equal(model.score(texts[1]).log_probs, models[0].score(texts[1]).log_probs)


def test_a_recipe_is_resolved_once(texts: tuple[Corpus, Corpus], monkeypatch: pytest.MonkeyPatch) -> None:
    resolved = []

    def resolve(self: NgramPart, corpus: Corpus) -> NgramPart:
        resolved.append(self)
        return self

    monkeypatch.setattr(NgramPart, "resolve", resolve)
    train_recipe(*texts, Recipe(part=[NgramPart(order=2, min_counts=[1, 1])]))
    assert len(resolved) == 1


def test_contexts_are_counted_once(texts: tuple[Corpus, Corpus], monkeypatch: pytest.MonkeyPatch) -> None:
    counted = []

    def build_tree(*arguments: Any, **options: Any) -> ContextTree:
        counted.append(arguments[1])
        return stategram.contexts.build_tree(*arguments, **options)

    monkeypatch.setattr(training, "build_tree", build_tree)
    flat, tree = (ClusteredPart(tree=tree, states=5, categories=5) for tree in (False, True))
    train_recipe(*texts, Recipe(part=[flat, tree, ClusteredPart(context="w-1", states=5)]))
    assert [str(definition) for definition in counted] == ["w-2,w-1", "w-1"]


def test_parts_that_turn_out_to_be_the_same_are_trained_once(texts: tuple[Corpus, Corpus]) -> None:
    words = int(np.count_nonzero(texts[0].word_counts))
    recipe = Recipe(part=[CategoryNgramPart(classes=number) for number in (words, 2, words + 5, 2)])
    found = recipe.resolve(texts[0]).part
    assert [part.classes for part in found if isinstance(part, CategoryNgramPart)] == [words // 2, 2]


def test_smoothed_and_strict_models_share_a_clustering(monkeypatch: pytest.MonkeyPatch) -> None:
    train, heldout = (
        corpus_from_sentences(sentences(60, seed=0)),
        corpus_from_sentences(sentences(20, seed=1)),
    )
    training = Training(train, heldout.in_vocabulary(train.vocabulary))
    made: list[object] = []

    def counted(*arguments: Any, **options: Any) -> Clustering:
        made.append(arguments)
        return cluster_tree(*arguments, **options)

    monkeypatch.setattr(clustered_part, "cluster_tree", counted)
    smoothed, strict = (
        ClusteredPart(states=9, categories=9, strict=strict).resolve(train).with_efforts({}).train(training)
        for strict in (False, True)
    )
    assert len(made) == 1
    assert isinstance(strict.model, ClusteredModel)
    assert (strict.model.level_weights[0] == 0).all()
    assert strict.model.perplexity(heldout) != smoothed.model.perplexity(heldout)


def test_classes_of_the_effort_paper_are_the_categories_of_a_clustering() -> None:
    train = corpus_from_sentences(sentences(60, seed=0))
    learned = Training(train, train).classes(ClassSource(7, "paper"))
    found = cluster(train, "w-1", states=7, categories=7, effort="paper")
    words = [word for word in train.vocabulary.words if word in learned]
    assert len(words) > 20
    pairs = {(learned[word], int(found.categories[train.vocabulary.id(word)])) for word in words}
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs}) == 7


@pytest.mark.parametrize("text", ["corpus", "counts"])
def test_ngrams_are_fitted_to_held_out_text(texts: tuple[Corpus, Corpus], text: str) -> None:
    heldout = ["peter sees a zebra", "the dog runs", *sentences(40, seed=5)]
    recipe = Recipe(part=[NgramPart(order=2)])
    source = texts[0] if text == "corpus" else count_ngrams(texts[0], 2)
    model = train_recipe(source, heldout, recipe)
    assert isinstance(model, NgramModel)
    alone = NgramModel.train(texts[0], 2)
    expected = alone.fit_unknown(heldout).distribution("peter")
    np.testing.assert_array_equal(model.distribution("peter"), expected)
    assert expected[0] > alone.distribution("peter")[0]
    # Without held-out text nothing changes.
    plain = train_recipe(texts[0], None, recipe).distribution("peter")
    np.testing.assert_array_equal(plain, alone.distribution("peter"))


def test_parts_of_recipes_are_fitted_to_held_out_text(texts: tuple[Corpus, Corpus]) -> None:
    heldout = ["peter sees a zebra", "the dog runs", *sentences(40, seed=5)]
    recipe = Recipe(part=[NgramPart(order=2), CachePart()])
    mixture = train_recipe(texts[0], heldout, recipe)
    expected = NgramModel.train(texts[0], 2).fit_unknown(heldout).distribution("peter")
    np.testing.assert_array_equal(mixture.parts[0].distribution("peter"), expected)
