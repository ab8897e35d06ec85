"""Word trees in recipes: the keys, what is wrong with them, and what is trained."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from stategram import BadDataError, Corpus, UsageError, corpus_from_sentences, read_recipe, train_recipe
from stategram.models import WordTreeModel
from stategram.recipes import PARTS, Recipe
from stategram.recipes.word_tree_part import WordTreePart
from story import sentences

RECIPE = """
[[part]]
model = "word-tree"
trees = [6, 4]
classes = [5, 8]
states = ["g2-2,w-1 6", "w-1 4"]
chains = ["w-1 w-2", "counts: g1-1 g2-2", "s1-1 s2-1", "counts: r-1"]
caches = ["0.98", "w-1 0.995"]
rare = 0.01
events = 1000
"""


@pytest.fixture(scope="module")
def texts() -> tuple[Corpus, Corpus]:
    corpus = corpus_from_sentences(sentences(300, seed=1))
    return corpus, corpus_from_sentences(sentences(50, seed=2), vocabulary=corpus.vocabulary)


def test_word_trees_in_recipes(texts: tuple[Corpus, Corpus], tmp_path: Path) -> None:
    assert PARTS["word-tree"] is WordTreePart
    (tmp_path / "mine.toml").write_text(RECIPE)
    recipe = read_recipe(tmp_path / "mine.toml")
    assert recipe.part[0].title == "word tree model (2 trees, 4 chains)"
    model = train_recipe(*texts, recipe, checkpoint=tmp_path / "kept")
    assert isinstance(model, WordTreeModel)
    assert repr(model) == "WordTreeModel(2 trees, 4 chains)"
    assert model.histories == ("sentence", "document", "adaptive")
    assert model.metadata["chains"] == ["w-1 w-2", "counts: g1-1 g2-2", "s1-1 s2-1", "counts: r-1"]
    assert [len(set(model.evidence.sources.labels[name].tolist())) for name in ("g1", "g2")] >= [5, 8]
    assert len(model.evidence.sources.states) == 2
    resumed = train_recipe(*texts, recipe, checkpoint=tmp_path / "kept")
    assert resumed.score(texts[1]).log_probs.tolist() == model.score(texts[1]).log_probs.tolist()


def test_vector_states_in_recipes(texts: tuple[Corpus, Corpus], tmp_path: Path) -> None:
    """They stand among the clusterings, which keep their numbers."""
    lines = RECIPE.replace('["g2-2,w-1 6", "w-1 4"]', '["linear 32", "g2-2,w-1 6", "recurrent 64", "w-1 4"]')
    (tmp_path / "mine.toml").write_text(lines)
    model = train_recipe(*texts, read_recipe(tmp_path / "mine.toml"), checkpoint=tmp_path / "kept")
    assert isinstance(model, WordTreeModel)
    assert [str(one.shape) for one in model.evidence.vectors] == ["linear 32", "recurrent 64"]
    assert len(model.evidence.sources.states) == 2
    assert model.histories == ("sentence", "document", "adaptive")
    part = WordTreePart(states=["linear 32", "w-1 4", "recurrent 160"], chains=["w-1"], caches=[], classes=[])
    assert [str(one) for one in part.parsed_vectors] == ["linear 32", "recurrent 160"]
    assert len(part.parsed_states) == 1


def test_rare_words_are_by_their_fraction_of_the_text(texts: tuple[Corpus, Corpus]) -> None:
    part = WordTreePart(
        trees=[3], classes=[], states=[], chains=["w-1", "r-1"], caches=[], rare=0.02, events=100
    )
    model = train_recipe(*texts, Recipe(part=[part]))
    assert isinstance(model, WordTreeModel)
    corpus = texts[0]
    expected = [
        0 < count < 0.02 * corpus.n_events and word > 2
        for word, count in enumerate(corpus.word_counts.tolist())
    ]
    assert model.evidence.sources.is_rare.tolist() == expected
    assert any(expected)


def test_numbers_that_follow_from_the_text(texts: tuple[Corpus, Corpus]) -> None:
    corpus = texts[0]
    part = WordTreePart().resolve(corpus)
    assert part.events == corpus.n_events
    assert all(isinstance(one, int) for one in part.trees + part.classes)
    assert WordTreePart(events=7).resolve(corpus).events == 7


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"chains": []}, "chains: there are none; give at least one"),
        ({"chains": ["w-1 q-2"]}, "chains: the value 'q-2' cannot be read"),
        ({"chains": ["w-1 " * 9]}, "chains: a chain of 9 values"),
        ({"chains": ["g3-1"]}, "chains: the value g3-1: there are 2 sets of classes"),
        ({"chains": ["s3-1"]}, "chains: the value s3-1: there are 1 sets of states"),
        ({"states": [], "chains": ["s1-1"]}, "chains: the value s1-1: there are 0 sets of states"),
        ({"classes": [], "states": [], "chains": ["w-1"]}, "caches: the value g1-1: there are 0 sets"),
        ({"caches": ["w-1"]}, "caches: the cache 'w-1' has no decay"),
        ({"caches": ["w-1 2.0"]}, "caches: the cache 'w-1 2.0' has no decay"),
        ({"caches": ["r-9 0.5"]}, "caches: the value 'r-9': at most 8 rare words"),
        ({"states": ["w-1"]}, "states: 'w-1' is not a context and a number of states"),
        ({"states": ["w-1 0"]}, "states: 'w-1 0' is not a context"),
        ({"states": ["w-1 x"]}, "states: 'w-1 x' is not a context"),
        ({"states": ["w-1,z-2 5"]}, "states: the value 'z-2' cannot be read"),
        *(
            (
                {"states": [text]},
                f"states: '{text}' is no vector state: expected linear or recurrent and a mul",
            )
            for text in (
                "linear",
                "linear ",
                "linear 33",
                "linear 0",
                "recurrent 0",
                "recurrent 1056",
                "linear -32",
                "linear  32",
                "linear 032",
                "linear 32 32",
                "linear 3²",
                "recurrent " + "9" * 5000,
            )
        ),
        ({"states": ["cubic 32"]}, "states: 'cubic 32' is not a context|cannot be read"),
        ({"states": ["linear 32"]}, "chains: the value s1-1: there are 0 sets of states"),
        ({"states": ["g1-2,g2-1 5"]}, "several sets of classes"),
        ({"states": ["g3-1 5"]}, "states: the value g3-1: there are 2 sets of classes"),
        ({"states": ["s1-1 5"]}, "states: the value s1-1: there are 0 sets of states"),
        ({"states": ["linear 32", "linear 32"], "chains": ["w-1"]}, "two vector states are the same"),
        ({"states": ["r-1 5"]}, "states are possible of words w and classes g"),
    ],
)
def test_keys_that_cannot_be_used(keys: dict[str, Any], message: str) -> None:
    WordTreePart().check()
    with pytest.raises(UsageError, match=message):
        WordTreePart(**keys).check()


@pytest.mark.parametrize(
    "line",
    ["trees = []", "rare = 0", "rare = 1", "events = 0", "effort = 'huge'", "colour = 1"],
)
def test_values_that_are_not_possible(line: str, tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text(f'[[part]]\nmodel = "word-tree"\n{line}\n')
    with pytest.raises(BadDataError, match=line.partition(" ")[0]):
        read_recipe(tmp_path / "mine.toml")


def test_files_of_classes() -> None:
    part = WordTreePart(trees=["tree.txt", 5], classes=["g.txt"])
    assert part.files() == [("classes", "tree.txt"), ("classes", "g.txt")]
    assert part.efforts() == {5: "normal"}


def test_every_step_has_a_name_and_one_time_is_left(texts: tuple[Corpus, Corpus]) -> None:
    reported: list[tuple[float, str]] = []
    train_recipe(*texts, "best", progress=lambda fraction, message: reported.append((fraction, message)))
    fractions, messages = zip(*reported, strict=True)
    assert list(fractions) == sorted(fractions)
    names = ["word classes, set ", "word trees: ", "context states", "contexts: ", "vector state"]
    names += ["weights, pass ", "tuning: "]
    first = [next((name for name in names if one.startswith(name)), one) for one in messages]
    assert list(dict.fromkeys(first)) == names
    assert all(one.count(" left") - one.count("left-out") == 1 for one in messages if one != messages[0])
    assert all(
        "perplexity" not in one or "text" in one or "set" in one or "states" in one for one in messages
    )
