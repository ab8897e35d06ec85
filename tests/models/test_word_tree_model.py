"""Word tree models: training, scoring in all histories, files, damaged ones too."""

from __future__ import annotations

import mmap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from hostile import HostileFile
from stategram import BadDataError, NgramModel, UsageError, _core, corpus_from_sentences, open_model
from stategram.models import HISTORIES, Cache, Chain, ValueSources, WordTreeModel
from stategram.resources import use_resources
from texts import endless_corpus
from word_tree_models import CACHES, CHAINS, model, sources_of, texts, train_word_tree, trees_of


def test_training() -> None:
    train, _, test = texts()
    assert model().histories == HISTORIES
    assert [model().history, model().order] == ["sentence", 4]
    assert repr(model()) == "WordTreeModel(2 trees, 6 chains)"
    assert repr(model().with_history("adaptive")) == "WordTreeModel(2 trees, 6 chains, adaptive)"
    assert model().title == "word tree model (2 trees, 6 chains)"
    assert [str(chain) for chain in model().evidence.chains] == list(CHAINS)
    ngram = NgramModel.train(train, 3)
    for history in HISTORIES:
        scores = model().with_history(history).score(test)
        assert scores.perplexity < ngram.perplexity(test)
        assert [part.name for part in scores.parts] == ["tree 1", "tree 2"]
        assert sum(part.weight for part in scores.parts) == pytest.approx(1.0)
        # Two trees are no worse than the better one, up to what held-out text is unlike the test text.
        assert scores.perplexity < 1.01 * min(part.perplexity for part in scores.parts)
    info = model().training_info
    assert set(info["left_out_perplexity"]) == set(HISTORIES)
    assert info["events"] >= 3000
    model().check()


def arrays_of(trained: WordTreeModel) -> dict[tuple[str, str], bytes]:
    return {
        (name, key): np.ascontiguousarray(array).tobytes()
        for name, group in trained._to_files().arrays.items()
        for key, array in group.items()
    }


def test_the_same_bytes_for_any_number_of_threads_and_others_for_another_seed() -> None:
    train, heldout, test = texts()
    train, heldout = train.sentences(0, 200), heldout.sentences(0, 40)
    found = []
    for threads in (1, 2, 4):
        with use_resources(threads=threads):
            trained = train_word_tree(train, heldout)
            scores = [trained.with_history(name).score(test).log_probs.tobytes() for name in HISTORIES]
            found.append((arrays_of(trained), trained._to_files().manifest, scores))
    assert found[0] == found[1] == found[2]
    other = arrays_of(train_word_tree(train, heldout, seed=1))
    different = {name for name, data in other.items() if data != found[0][0][name]}
    assert {name for name, _ in different} == {f"weights-{history}" for history in HISTORIES}


def test_the_same_bytes_where_memory_is_scarce(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    train, heldout, test = texts()
    train, heldout = train.sentences(0, 200), heldout.sentences(0, 40)
    expected = train_word_tree(train, heldout)
    monkeypatch.setattr("stategram.counts.workspace._MIN_MOVED", 1)
    with use_resources(memory=1, tmp=tmp_path):
        found = train_word_tree(train, heldout)
    bases = [level.entries.base for levels in found.evidence.counts for level in levels if level.entries.size]
    assert all(isinstance(memoryview(cast("memoryview", base)).obj, mmap.mmap) for base in bases)
    assert arrays_of(found) == arrays_of(expected)
    assert found.score(test).log_probs.tobytes() == expected.score(test).log_probs.tobytes()


# ---- scoring


def test_histories_know_what_they_should() -> None:
    """After other sentences: documents remember rare words, until one starts; caches remember all."""
    _, _, test = texts()
    sources = model().evidence.sources
    rare = [word for word in range(3, len(test.vocabulary)) if sources.is_rare[word]]
    before = [test.vocabulary.word(word) for word in rare[:3]]
    line = corpus_from_sentences(["c0w0 c1w1 c2w2"], vocabulary=test.vocabulary)
    new = replace(line, document_starts=np.array([0]))
    for history, is_remembered, is_remembered_in_new_document in (
        ("sentence", False, False),
        ("document", True, False),
        ("adaptive", True, True),
    ):
        one = model().with_history(history)
        state = one.score([" ".join(before)]).state
        alone = one.score(line)
        assert (one.score(line, state=state).log_probs.tolist() != alone.log_probs.tolist()) == is_remembered
        in_new = one.score(new, state=state).log_probs.tolist()
        assert (in_new != alone.log_probs.tolist()) == is_remembered_in_new_document


def test_a_sentence_whose_start_is_not_known() -> None:
    one = model()
    state = one.start(sentence_start=False)
    unknown = one.score("c0w0 c1w1 c2w2 c3w3 c4w4 c5w5", state=state).log_probs
    known = one.score("c0w0 c1w1 c2w2 c3w3 c4w4 c5w5").log_probs
    differ = (unknown != known).tolist()
    assert differ[0]
    # No context reaches farther back than three words: from the fourth on the start is not seen.
    assert one.order == 4
    assert differ[3:] == [False] * 4


def test_histories() -> None:
    train, _, _ = texts()
    short = train.sentences(0, 50)
    plain = train_word_tree(short, chains=["w-1"], caches=[], n_events=100)
    assert plain.histories == ("sentence",)
    assert plain.with_history("adaptive").history == "sentence"
    cached = train_word_tree(short, chains=["w-1"], caches=["0.9"], n_events=100)
    assert cached.histories == ("sentence", "adaptive")
    assert cached.with_history("document").history == "sentence"
    assert cached.with_history("adaptive").perplexity(short) < 1000


def test_what_cannot_be_trained() -> None:
    train, _, _ = texts()
    trees, sources = trees_of(train, [4]), sources_of(train, rare=0.01, with_states=False)
    chains = [Chain.parse("w-1")]
    for of_trees, of_chains in (([], chains), (trees, [])):
        with pytest.raises(UsageError, match="at least one tree and one chain"):
            WordTreeModel.train(train, None, of_trees, sources, of_chains)
    for text in ("g3-1", "s1-1"):
        with pytest.raises(UsageError, match=f"the value {text}: there is no {text[:-2]}"):
            WordTreeModel.train(train, None, trees, sources, [Chain.parse(text)])
        with pytest.raises(UsageError, match=f"the value {text}: there is no {text[:-2]}"):
            WordTreeModel.train(train, None, trees, sources, chains, [Cache.parse(f"{text} 0.9")])


def test_a_text_that_is_too_large_is_refused_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    train, _, _ = texts()
    trees, sources = trees_of(train, [4]), sources_of(train, rare=0.01, with_states=False)
    chains = [Chain.parse("w-1")]
    advice = r"give a part of it, or count it \(stategram count\)"
    with pytest.raises(UsageError, match=f"has 2,147,483,648 events, .*{advice}"):
        WordTreeModel.train(endless_corpus(), None, trees, sources, chains)

    def overflow(*_: object) -> None:
        raise OverflowError("a level of a chain is larger than 16 GB")

    monkeypatch.setattr(_core, "count_chain_level", overflow)
    with pytest.raises(UsageError, match=f"for the chain w-1 .*larger than 16 GB.*{advice}"):
        WordTreeModel.train(train, None, trees, sources, chains)


@pytest.mark.parametrize(
    ("parse", "text", "message"),
    [
        (Chain.parse, "", "a chain of 0 values; 1 to 8"),
        (Chain.parse, "w-1 " * 9, "a chain of 9 values; 1 to 8"),
        (Chain.parse, "w-0", "the value 'w-0' cannot be read; expected for instance w-1"),
        (Chain.parse, "w1", "cannot be read"),
        (Chain.parse, "g0-1", "cannot be read"),
        (Chain.parse, "count: w-1", "'count:' cannot be read"),
        (Chain.parse, "r-9", "at most 8 rare words"),
        (Chain.parse, "w-100", "cannot be read"),
        (Cache.parse, "", "has no decay from 0.01 to 1"),
        (Cache.parse, "w-1", "has no decay from 0.01 to 1"),
        (Cache.parse, "w-1 1.0", "has no decay from 0.01 to 1"),
        (Cache.parse, "0.0", "has no decay from 0.01 to 1"),
        (Cache.parse, "0.9 w-1", "has no decay from 0.01 to 1"),
        (Cache.parse, "x-1 0.9", "the value 'x-1' cannot be read"),
    ],
)
def test_chains_and_caches_that_cannot_be_read(
    parse: Callable[[str], object], text: str, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        parse(text)


@pytest.mark.parametrize("text", [*CHAINS, *CACHES])
def test_chains_and_caches_are_written_as_they_are_read(text: str) -> None:
    parse: Callable[[str], object] = Cache.parse if text in CACHES else Chain.parse
    assert str(parse(text)) == text
    assert parse(str(parse(text))) == parse(text)


@pytest.mark.parametrize("decay", [0.010001, 0.9999123, 0.9999999, 0.999999999])
def test_decays_are_written_in_full(decay: float) -> None:
    cached = Cache((), decay)
    assert Cache.parse(str(cached)) == cached


# ---- files


@pytest.fixture
def file(tmp_path: Path) -> Path:
    model().save(tmp_path / "model")
    return tmp_path / "model"


Change = Callable[[HostileFile], None]


def in_array(group: str, name: str, change: Callable[[Any], Any]) -> Change:
    return lambda file: file.write(
        arrays={**file.arrays, f"{group}/{name}": change(file.arrays[f"{group}/{name}"])}
    )


def in_manifest(name: str, value: object) -> Change:
    return lambda file: file.change(**{name: value})


@pytest.mark.parametrize(
    "change",
    [
        in_array("words", "counts", lambda of: of[:-1]),
        in_array("words", "contexts", lambda of: of[:-1]),
        in_array("words", "is_rare", lambda of: of[:-1]),
        in_array("words", "labels-g1", lambda of: of[:-1]),
        in_array("words", "counts", lambda of: of.astype(np.int64)),
        in_array("trees", "codes-0", lambda of: of[:-1]),
        in_array("trees", "codes-1", lambda of: of * 0),
        in_array("trees", "lengths-0", lambda of: of.astype(np.int32)),
        in_array("chain-0", "directory-0", lambda of: of[:-1]),
        in_array("chain-0", "directory-0", lambda of: of.astype(np.int64)),
        in_array("chain-0", "entries-1", lambda of: of.astype(np.int8)),
        in_array("chain-0", "discounts-0", lambda of: of[:, :2]),
        in_array("chain-1", "bytes-0-0", lambda of: of[:-1]),
        in_array("chain-1", "begins-0-1", lambda of: of + 1),
        in_array("states-0", "states-0", lambda of: of[:-1]),
        in_array("states-0", "map-1", lambda of: of[:-1]),
        in_array("weights-document", "tree-1", lambda of: of[:-1]),
        in_array("weights-sentence", "tree-0", lambda of: of.astype(np.float64)),
        in_array("weights-adaptive", "trees", lambda of: of * 2),
        in_array("weights-adaptive", "trees", lambda of: of[:1]),
        in_manifest("trees", 3),
        in_manifest("trees", "x"),
        in_manifest("labels", ["g9"]),
        in_manifest("chains", []),
        in_manifest("chains", [{"chain": "z-1", "levels": []}]),
        in_manifest("chains", 5),
        in_manifest("caches", ["w-1"]),
        in_manifest("caches", ["g9-1 0.9"]),
        in_manifest("states", []),
        in_manifest("states", [{"tree_order": "w-1"}]),
    ],
)
def test_a_file_that_does_not_fit_together(file: Path, change: Change) -> None:
    change(HostileFile(file))
    with pytest.raises(BadDataError):
        open_model(file)
    # What is not compared with checksums is found when it is used.
    with pytest.raises(ValueError, match=r"\w"):
        score_in_all_histories(file)


def score_in_all_histories(file: Path) -> None:
    opened = open_model(file, verify=False)
    for history in HISTORIES:
        opened.with_history(history).score("c0w0 c1w1")


def test_inconsistent_models_are_found() -> None:
    weights = {name: [one.copy() for one in of] for name, of in model().weights.items()}
    weights["document"][1][7] = np.nan
    with pytest.raises(BadDataError, match="a weight is not a number"):
        replace(model(), weights=weights).check()
    first, *others = model().evidence.counts
    level = replace(first[0], entries=first[0].entries | np.uint8(128))
    evidence = replace(model().evidence, counts=((level, *first[1:]), *others))
    with pytest.raises(BadDataError, match="counts are inconsistent"):
        replace(model(), evidence=evidence).check()


def test_states_of_another_model_are_refused() -> None:
    train, _, _ = texts()
    other = train_word_tree(train.sentences(0, 50), chains=["w-1"], caches=["0.9"], n_events=100)
    state = other.with_history("adaptive").start()
    with pytest.raises(ValueError, match="state is not one of"):
        model().with_history("adaptive").score("c0w0", state=state)


def test_a_model_without_its_first_classes_has_states_all_the_same() -> None:
    train, heldout, _ = texts()
    train, heldout = train.sentences(0, 200), heldout.sentences(0, 40)
    known = sources_of(train, rare=0.002)
    sources = replace(known, labels={"": known.labels["g1"]})  # as in a file that was tampered with
    chains = [Chain.parse("w-1 w-2"), Chain.parse("s1-1")]
    trained = WordTreeModel.train(train, heldout, trees_of(train, (5,)), sources, chains)
    trained = replace(trained, evidence=replace(trained.evidence, sources=sources))
    assert trained.class_sets == ()
    (states,) = trained.state_sets
    assert set(states.categories.tolist()) == {0}


def test_sources_know_how_far_back_values_reach() -> None:
    sources: ValueSources = model().evidence.sources
    for chain, reach in (("w-3", 3), ("r-5", 1), ("s1-1", 2), ("s1-2 w-1", 3), ("g1-5", 5)):
        assert sources.reach(Chain.parse(chain).values) == reach
