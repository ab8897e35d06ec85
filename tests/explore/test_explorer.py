"""The answers of the explorer are those of the models."""

from __future__ import annotations

import math
from collections.abc import Callable

import msgspec
import numpy as np
import pytest
from numpy.typing import NDArray

from explorers import HOSTILE, bigram, explorer, mixture, training_text
from model_kinds import ALL_KINDS, DOCUMENT, KINDS, VECTORS, model_of
from stategram import (
    CategoryNgramModel,
    ClusteredModel,
    Corpus,
    Model,
    UsageError,
    cluster,
    compare,
    corpus_from_sentences,
    surprisal,
)
from stategram.explore.app import ExploredModel, Explorer
from stategram.explore.app.explorer import ENDPOINTS
from stategram.explore.content import class_set, class_sources, word_fractions
from word_tree_models import model as word_tree
from word_tree_models import texts as word_tree_texts

HISTORY = "the old"
TEXT = "the old king sees a zebra\n\nthe dog finds anna\n" + HOSTILE


def test_scores_are_those_of_surprisal() -> None:
    answer = explorer().answer("score", {"text": TEXT})
    expected = surprisal(mixture(), TEXT.split("\n"), columns=["word", "surprisal", "unknown"])
    for name, column in (("words", "word"), ("unknown", "unknown"), ("surprisal", "surprisal_bits")):
        found = [value for sentence in answer["sentences"] for value in sentence[name]]
        wanted = list(expected[column])
        if name == "surprisal":
            np.testing.assert_allclose(found, wanted, atol=5e-5)
        else:
            assert found == wanted
    assert answer["perplexity"] == pytest.approx(mixture().perplexity(TEXT.split("\n")), abs=0.01)
    for sentence in answer["sentences"]:
        for shares in sentence["shares"]:
            assert sum(shares) == pytest.approx(1.0, abs=1e-3)


def test_ranks_and_predictions_are_those_of_the_distribution() -> None:
    model = mixture()
    probabilities = model.distribution(HISTORY)
    predicted = explorer().answer("predict", {"history": HISTORY, "top": 7})["words"]
    assert [(one["word"], one["probability"]) for one in predicted] == [
        (word, pytest.approx(p)) for word, p in model.predict(HISTORY, 7)
    ]
    explained = explorer().answer("explain", {"history": HISTORY, "word": "king"})
    own = probabilities[model.vocabulary.id("king")]
    assert explained["rank"] == 1 + int((probabilities > own).sum())
    assert explained["surprisal"] == pytest.approx(-math.log2(own), abs=1e-4)
    # The parts add up to the probability.
    rows = explorer().answer("ladder", {"history": HISTORY, "watched": ["king"]})["rows"]
    parts = [one["weight"] * one["watched"][0]["probability"] for one in rows if one["kind"] == "part"]
    assert [one["share"] * own for one in explained["parts"]] == pytest.approx(parts)
    ranks = explorer().answer("ranks", {"text": "the old king"})
    assert ranks["sentences"][0][2] == explained["rank"]


def test_completions_begin_with_the_letters() -> None:
    found = explorer().answer("predict", {"history": HISTORY, "prefix": "k", "top": 5})["words"]
    assert found
    assert all(one["word"].startswith("k") for one in found)
    probabilities = [one["probability"] for one in found]
    assert probabilities == sorted(probabilities, reverse=True)
    words = explorer().answer("words", {"prefix": "<script", "top": 3})["words"]
    assert [one["word"] for one in words] == ["<script>alert(1)</script>"]


def test_the_ladder_ends_with_the_whole_model() -> None:
    rows = explorer().answer("ladder", {"history": HISTORY, "watched": ["king", "zebra"]})["rows"]
    kinds = [row["kind"] for row in rows]
    assert kinds == ["order", "order", "part", "part", "part", "whole"]
    assert rows[0]["watched"][0]["probability"] == pytest.approx(
        float(mixture().parts[0].distribution("", sentence_start=False)[mixture().vocabulary.id("king")])
    )
    whole = mixture().distribution(HISTORY)[mixture().vocabulary.id("king")]
    assert rows[-1]["watched"][0]["probability"] == pytest.approx(whole)
    weighted = sum(row["weight"] * row["watched"][0]["probability"] for row in rows if row["kind"] == "part")
    assert weighted == pytest.approx(whole)


def test_classes_partition_the_words() -> None:
    for source, (_, classes) in class_sources(mixture()).items():
        found = class_set(mixture(), source)
        assert sum(map(len, found.members)) == len(mixture().vocabulary)
        assert found.tokens.sum() == pytest.approx(1.0)
        assert found.followers.sum() == pytest.approx(1.0)
        assert found.n == classes.n
        answer = explorer().answer("classes", {"source": source})
        assert all(0 <= one["x"] <= 1 and 0 <= one["y"] <= 1 for one in answer["classes"])
        details = explorer().answer("class", {"source": source, "number": answer["classes"][0]["number"]})
        assert sum(one["probability"] for one in details["members"]) == pytest.approx(1.0)
        tree = explorer().answer("tree", {"source": source})
        assert len(tree["merges"]) == len(tree["losses"]) == found.n - 1
        # All that the classes know of each other is lost when one is left.
        cells = found.followers
        expected = cells.sum(axis=1, keepdims=True) * cells.sum(axis=0, keepdims=True)
        seen = cells > 0
        information = float((cells[seen] * np.log2(cells[seen] / expected[seen])).sum())
        assert sum(tree["losses"]) == pytest.approx(information, abs=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_every_view_counts_the_same_classes(kind: str) -> None:
    one = Explorer([ExploredModel("it", model_of(kind))])
    for source, (leaf, _) in class_sources(model_of(kind)).items():
        map_, tree = (one.answer(name, {"source": source}) for name in ("classes", "tree"))
        assert map_["n"] == tree["n"] - len(tree["special"])
        assert map_["special"] == tree["special"]
        if isinstance(leaf, CategoryNgramModel | ClusteredModel):
            assert map_["n"] == leaf.n_categories


def test_classes_that_follow_are_those_of_the_training_text() -> None:
    """In a bigram model of categories, followers are close to the counted ones."""
    found = class_set(mixture(), "2")
    text = corpus_from_sentences(
        ["the cat sees the dog", "a dog likes the cat"], vocabulary=mixture().vocabulary
    )
    labels = found.labels[text.ids[:2]]
    assert found.after[labels[0], labels[1]] > 0.05


def test_states_have_their_contexts_and_concordance() -> None:
    (source,) = (one["source"] for one in explorer().answer("info", {})["models"][0]["states"])
    states = explorer().answer("states", {"source": source})["states"]
    assert [one["events"] for one in states] == sorted((one["events"] for one in states), reverse=True)
    lines = 0
    for one in states:
        details = explorer().answer("state", {"source": source, "number": one["number"]})
        assert details["contexts"] == one["contexts"]
        assert sum(of["probability"] for of in details["next"]) <= 1.0 + 1e-4
        assert one["number"] not in [near["number"] for near in details["nearest"]]
        for line in details["concordance"]:
            lines += 1
            history = f"{line['left']} {line['context']}".strip()
            explained = explorer().answer("explain", {"history": history, "word": line["word"]})
            # A line may begin within a long sentence: only the last words decide about the state.
            if line["context"].count(" ") == 1:
                assert explained["states"][0]["number"] == one["number"]
    assert lines > 20


def test_the_context_tree_of_a_word() -> None:
    answer = explorer().answer("context_tree", {"source": "3", "word": "the"})
    first, second = answer["levels"]
    assert [node["context"] for node in first["nodes"]] == ["the"]
    assert all(node["context"].endswith(" the") and node["parent"] == 0 for node in second["nodes"])
    clustered = mixture().parts[2]
    assert isinstance(clustered, ClusteredModel)
    group = int(clustered.tree.levels[1].inherited[first["nodes"][0]["state"]])
    assert all(node["moved"] == (node["state"] != group) for node in second["nodes"])
    assert explorer().answer("context_tree", {"source": "3", "word": "zebra"})["word"] == "zebra"


def check_words_after_nodes(
    model: Model,
    source: str,
    text: Corpus | None,
    words: list[str],
    probs_after: Callable[[int, int], NDArray[np.float64]],
) -> None:
    """Check the next words of each node of context trees by the word probabilities after (level, state)."""
    one, unlike = Explorer([ExploredModel("one", model, text)]), 0
    for word in words:
        for level in one.answer("context_tree", {"source": source, "word": word})["levels"]:
            for node in level["nodes"]:
                probs, last = (probs_after(of, node["state"]) for of in (level["level"], 2))
                ids = list(map(model.vocabulary.id, node["next"]))
                assert len(set(ids)) == min(3, np.count_nonzero(probs))
                np.testing.assert_allclose(probs[ids], np.sort(probs)[::-1][: len(ids)])
                unlike += not np.allclose(last[ids], np.sort(last)[::-1][: len(ids)])
    assert unlike > 0  # the table of the last level has other words


def test_a_context_tree_has_the_next_words_of_each_level() -> None:
    found = cluster(training_text(), "w-2,w-1", states=12, categories=10, free_states=0.85)
    model = ClusteredModel.train(found)

    def probs_after(level: int, state: int) -> NDArray[np.float64]:
        row = model.counts[level - 1].row(state)
        probs: NDArray[np.float64] = row[model.categories] / max(row.sum(), 1) * model.word_probs
        return probs

    check_words_after_nodes(model, "0", None, ["the", "a", "king", "anna"], probs_after)


def test_states_of_word_trees_have_the_next_words_of_the_text_on_each_level() -> None:
    model, text = word_tree(), word_tree_texts()[0]
    (tree,), labels = model.evidence.sources.states, model.evidence.sources.labels["g1"]
    fractions = word_fractions(model)

    def probs_after(level: int, state: int) -> NDArray[np.float64]:
        events = np.flatnonzero(tree.find(text)[level - 1][0] == state)
        probs = np.zeros(len(labels))
        for label, count in zip(*np.unique(labels[text.ids[events]], return_counts=True), strict=True):
            own = labels == label
            probs[own] = count / len(events) * fractions[own] / fractions[own].sum()
        return probs

    check_words_after_nodes(model, "0:s1", text, ["c0w0", "c1w0", "c2w0"], probs_after)


def test_two_models_are_compared_word_by_word() -> None:
    text = TEXT.split("\n")[0]
    answer = explorer().answer("compare", {"text": text})
    assert answer["models"] == ["mixture", "bigram"]
    for letter, model in (("a", mixture()), ("b", bigram())):
        expected = surprisal(model, [text], columns=["surprisal"])["surprisal_bits"]
        np.testing.assert_allclose(answer["sentences"][0][letter], expected, atol=5e-5)
    found = compare({"mixture": mixture(), "bigram": bigram()}, [text])
    assert answer["perplexity"] == pytest.approx([one.perplexity for one in found.models], abs=5e-3)
    assert answer["left_out"] == found.left_out
    assert [table["title"] for table in answer["tables"]] == ["All events", "Known words only"]
    assert [row[0] for row in answer["tables"][1]["rows"]] == ["mixture", "bigram"]
    events = sum(one["events"] for one in answer["by_class"])
    assert events == 6  # without the unknown word
    assert sum(one["events"] for one in answer["by_frequency"]) == events
    with pytest.raises(UsageError, match="but one model"):
        Explorer([ExploredModel("one", bigram())]).answer("compare", {"text": text})


@pytest.mark.parametrize("kind", [*ALL_KINDS, DOCUMENT, *VECTORS])
def test_every_kind_of_model_answers_everything(kind: str) -> None:
    model = model_of(kind)
    words = [model.vocabulary.word(id) for id in range(3, min(9, len(model.vocabulary)))]
    lines = [" ".join(words), " ".join(words[::-1]) + " stranger"]
    for text in (None, corpus_from_sentences(lines)):
        explorer = Explorer([ExploredModel("a", model, text), ExploredModel("b", model, text)])
        explorer.prepare()
        assert explorer.answer("overview", {})["title"] == model.title
        assert explorer.sample.count("\n") == 2
        info = explorer.answer("info", {})["models"][0]
        requests: dict[str, dict[str, object]] = {
            "score": {"text": lines[0]},
            "ranks": {"text": lines[0]},
            "predict": {"history": words[0]},
            "explain": {"history": words[0], "word": "stranger"},
            "ladder": {"history": lines[0], "watched": words[:2]},
            "words": {"prefix": "w"},
            "word": {"word": words[1]},
            "compare": {"text": "\n".join(lines)},
        }
        for name, request in requests.items():
            msgspec.json.encode(explorer.answer(name, request))
        for source in info["classes"]:
            for name in ("classes", "tree"):
                explorer.answer(name, {"source": source["source"]})
            explorer.answer("class", {"source": source["source"], "number": source["n"] - 1})
        for source in info["states"]:
            explorer.answer("states", {"source": source["source"]})
            for number in range(source["n"]):
                explorer.answer("state", {"source": source["source"], "number": number})
            explorer.answer("context_tree", {"source": source["source"], "word": words[0]})


def test_bad_requests_are_refused_with_a_reason() -> None:
    cases: list[tuple[str, dict[str, object], str]] = [
        ("class", {"source": "2", "number": 99}, "no class 99"),
        ("state", {"source": "3", "number": 99}, "no state 99"),
        ("classes", {"source": "7"}, "no classes '7'"),
        ("explain", {"history": "", "word": "<s>"}, "never predicted"),
        ("score", {"text": "a " * 20_001}, "more than 20,000 words"),
    ]
    for name, request, reason in cases:
        with pytest.raises(UsageError, match=reason):
            explorer().answer(name, request)
    for name in ENDPOINTS:
        with pytest.raises(msgspec.ValidationError):
            explorer().answer(name, {"nonsense": 1})
