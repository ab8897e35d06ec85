"""`stategram.surprisal`: each column is what its definition says, for every kind of model."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import stategram
from model_kinds import ALL_KINDS, DOCUMENT, VECTORS, model_of
from naive.entropy import entropy, entropy_reduction
from stategram import Model, UsageError, surprisal, write_arpa
from stategram.errors import UnknownWordsWarning
from stategram.text import TextFormat

# Sums of a few hundred terms, each rounded a few times.
CLOSE = 1e-11
# Words of the models and others, in scripts of one to four bytes; an item of no words keeps its number.
ITEMS = ["w3 w4 w5 w3", "", "w9 日本 w4 naïve w7", "  ", "𝒘 w5 w4"]


def naive_table(model: Model, items: Sequence[str]) -> list[dict[str, Any]]:
    """Each row by its definition, in bits."""
    rows: list[dict[str, Any]] = []
    state = model.start()
    unigram = model.distribution(model.start(sentence_start=False))
    frequencies = (model.vocabulary.counts if model.vocabulary.counts[2] else unigram).tolist()
    for number, item in enumerate(items, 1):
        if item.split():
            words = [*item.split(), "</s>"]
            found: list[dict[str, Any]] = []
            for position, word in enumerate(words, 1):
                id = model.vocabulary.id(word)
                step = model.advance(state, word)
                found.append(
                    {
                        "sentence": number,
                        "position": position,
                        "word": word,
                        "log10_prob": step.log_prob / math.log(10),
                        "surprisal_bits": -step.log_prob / math.log(2),
                        "order": step.order or 0,
                        "unknown": word not in model and word != "</s>",
                        "log10_frequency": math.log10(frequencies[id] / sum(frequencies)) if id else None,
                        "length": len(word) if word != "</s>" else None,
                        "entropy_bits": entropy(model.distribution(state).tolist()) / math.log(2),
                    }
                )
                state = step.state
            entropies = [row["entropy_bits"] for row in found]
            for row, after in zip(found, [*entropies[1:], None], strict=True):
                row["entropy_reduction_bits"] = entropy_reduction(row["entropy_bits"], after)
            rows += found
    return rows


def assert_rows(table: stategram.Table, expected: list[dict[str, Any]]) -> None:
    assert len(table) == len(expected)
    for name in expected[0]:
        for found, row in zip(table[name].tolist(), expected, strict=True):
            if isinstance(row[name], float):
                assert found == pytest.approx(row[name], rel=CLOSE, abs=CLOSE), name
            else:
                assert found == row[name], name


@pytest.mark.parametrize("kind", [*ALL_KINDS, DOCUMENT, *VECTORS[:3]])
def test_columns_are_those_of_the_definitions(kind: str) -> None:
    model = model_of(kind)
    # Blank items start documents, which a model word by word does not see.
    items = ITEMS if DOCUMENT not in kind else [item for item in ITEMS if item.strip()]
    table = surprisal(model, items, columns=["all"])
    assert_rows(table, naive_table(model, items))


def test_the_default_has_what_costs_nothing() -> None:
    cheap = ("sentence", "position", "word", "log10_prob", "surprisal_bits", "order", "unknown")
    more = ("log10_frequency", "length")
    assert surprisal(model_of("ngram"), "w3 w4").columns == (*cheap, *more)
    assert surprisal(model_of("clustered"), "w3 w4").columns == (*cheap, "state", *more)
    chosen = surprisal(model_of("ngram"), "w3 w4", columns=["word", "surprisal", "entropy_nats"], base="e")
    assert chosen.columns == ("word", "surprisal_nats", "entropy_nats")


def test_bases_are_units_of_the_same() -> None:
    model = model_of("mixture")
    tables = [
        surprisal(model, ITEMS, columns=["surprisal", "entropy", "entropy_reduction", "parts"], base=base)
        for base in (2, "e", 10, math.e)
    ]
    for bits, nats, log10, e in zip(*(map(table.__getitem__, table) for table in tables), strict=True):
        np.testing.assert_allclose(bits * math.log(2), nats)
        np.testing.assert_allclose(log10 * math.log(10), nats)
        assert nats.tolist() == e.tolist()
    assert tables[2].columns[:2] == ("surprisal_log10", "entropy_log10")


def test_states_and_parts() -> None:
    mixture = model_of("mixture")
    table = surprisal(mixture, "w3 w4 w5", columns=["state", "parts"])
    scores = mixture.score("w3 w4 w5", features=["state"])
    assert table["state"].tolist() == scores.features["state"].tolist()
    assert len(table.columns) == 1 + len(mixture.parts)
    for number, part in enumerate(mixture.parts, 1):
        expected = -part.score("w3 w4 w5").log_probs / math.log(2)
        np.testing.assert_allclose(table[f"part_{number}_bits"], expected, rtol=CLOSE)


def test_models_by_name_know_how_words_were_normalized(tmp_path: Path) -> None:
    corpus = stategram.corpus_from_sentences(
        ["The cat sat on 3 mats"] * 3, TextFormat(lowercase=True, digits="N")
    )
    model = stategram.NgramModel.train(corpus, 2)
    replace(model, training_format=TextFormat(lowercase=True, digits="N")).save(tmp_path / "model")
    table = surprisal(tmp_path / "model", ["THE Cat 17"])
    assert table["word"].tolist() == ["THE", "Cat", "17", "</s>"]
    assert table["unknown"].tolist() == [False] * 4
    assert surprisal(tmp_path / "model", ["THE Cat 17"], text_format={"lowercase": False})[
        "unknown"
    ].tolist() == [
        True,
        True,
        False,
        False,
    ]


def test_frequencies_are_those_of_the_training_text() -> None:
    model = stategram.NgramModel.train(["the cat sat", "the dog sat", "the end"], 2)
    table = surprisal(model, "the cat slept", columns=["log10_frequency"])
    # Eight words and three sentence ends; no word of the text was unknown.
    expected = [math.log10(3 / 11), math.log10(1 / 11), None, math.log10(3 / 11)]
    assert table["log10_frequency"].tolist() == pytest.approx(expected)


def test_without_counts_frequencies_are_unigram_probabilities(tmp_path: Path) -> None:
    model = model_of("ngram")
    assert isinstance(model, stategram.NgramModel)
    write_arpa(model, tmp_path / "model.arpa")
    found = surprisal(tmp_path / "model.arpa", "w3 w4")["log10_frequency"]
    expected = model.distribution(model.start(sentence_start=False))
    ids = [model.vocabulary.id(word) for word in ("w3", "w4", "</s>")]
    np.testing.assert_allclose(found, np.log10(expected[ids] / expected.sum()), atol=1e-5)


def test_items_may_be_many_things() -> None:
    model = model_of("ngram")
    one = surprisal(model, "w3 w4")["surprisal_bits"].tolist()
    for items in (["w3 w4"], [["w3", "w4"]], ("w3 w4",), np.array(["w3 w4"])):
        assert surprisal(model, items)["surprisal_bits"].tolist() == one


def test_wrong_arguments_are_refused() -> None:
    model = model_of("ngram")
    with pytest.raises(UsageError, match="no column 'bits': there are sentence, position"):
        surprisal(model, "w3", columns=["bits"])
    with pytest.raises(UsageError, match=r"no column 'state': NgramModel.* has no states"):
        surprisal(model, "w3", columns=["state"])
    with pytest.raises(UsageError, match=r"no column 'parts'.*not a mixture"):
        surprisal(model, "w3", columns=["parts"])
    with pytest.raises(UsageError, match="base is 3"):
        surprisal(model, "w3", base=3)
    with pytest.raises(UsageError, match="white space"):
        surprisal(model, [["w3 w4", "w5"]])
    with pytest.raises(stategram.BadDataError, match="NUL"):
        surprisal(model, ["w3", "w\0"])


TABLE = {"id": ["a", "b", "c"], "age": [3, 4, 5], "text": ['w3 " w4', "", "NA w5 w6"]}


def frames() -> list[Any]:
    pandas, polars, arrow = map(pytest.importorskip, ("pandas", "polars", "pyarrow"))
    return [TABLE, pandas.DataFrame(TABLE), polars.DataFrame(TABLE), arrow.table(TABLE)]


@pytest.mark.parametrize("number", range(4))
def test_tables_in_and_out(number: int) -> None:
    found = surprisal(model_of("ngram"), frames()[number], text_column="text", id_column="id")
    assert found.columns[:3] == ("id", "age", "sentence")
    for name, expected in {
        "id": [*"aaaa", *"cccc"],
        "age": [3] * 4 + [5] * 4,
        "sentence": [1] * 4 + [3] * 4,
        "word": ["w3", '"', "w4", "</s>", "NA", "w5", "w6", "</s>"],
    }.items():
        assert found[name].tolist() == expected
        assert found.to_pandas()[name].tolist() == expected
        assert found.to_polars()[name].to_list() == expected
        assert found.to_arrow()[name].to_pylist() == expected


def test_missing_values_are_null_and_not_nan() -> None:
    pytest.importorskip("pyarrow")
    chosen = ["word", "surprisal", "log10_prob", "parts"]
    table = surprisal(model_of("mixture"), ["w3 zebra"], columns=chosen, unknown="exclude")
    for name in table.columns[1:]:
        assert [value is None for value in table[name].tolist()] == [False, True, False]
        assert table.to_arrow()[name].null_count == 1
    with pytest.warns(UnknownWordsWarning, match="only 22 words to learn from"):
        spelled = surprisal(model_of("mixture"), ["w3 zebra"], columns=chosen, unknown="spell")
    plain = surprisal(model_of("mixture"), ["w3 zebra"], columns=chosen)
    more = [spelled[name][1] - plain[name][1] for name in table.columns if name.endswith("bits")]
    # The same spelling, whichever part it is.
    assert more == pytest.approx([more[0]] * len(more))
    assert more[0] > 1


def test_regions_are_sums_of_their_words() -> None:
    model = model_of("mixture")
    regions = {
        "item": [1, 1, 1, 2, 3],
        "region": ["a", "b", "c", "a", "a"],
        "text": ["w3 w4", "", "zebra w6 w7", "", "w8"],
    }
    names = [
        "sentence",
        "position",
        "surprisal",
        "unknown",
        "length",
        "entropy",
        "entropy_reduction",
        "parts",
    ]
    table = surprisal(
        model, regions, text_column="text", id_column="item", region_column="region", columns=names
    )
    words = surprisal(model, ["w3 w4 zebra w6 w7", "", "w8"], columns=names)
    assert table["region"].tolist() == regions["region"]
    assert table["sentence"].tolist() == [1, 1, 1, 2, 3]
    assert table["tokens"].tolist() == [2, 0, 3, 0, 1]
    assert table["position"].tolist() == [1, 2, 3, 1, 1]
    assert table["unknown"].tolist() == [0, None, 1, None, 0]
    entropies = words["entropy_bits"].tolist()
    assert table["entropy_bits"].tolist() == [entropies[0], None, entropies[2], None, entropies[6]]
    falls = [max(0.0, entropies[a] - entropies[b]) for a, b in ((0, 2), (2, 5), (6, 7))]
    found = table["entropy_reduction_bits"].tolist()
    assert found == pytest.approx([falls[0], None, falls[1], None, falls[2]])
    for name in words.columns[2:]:
        if not name.startswith("entropy"):
            values = words[name].tolist()
            sums = [sum(values[:2]), None, sum(values[2:5]), None, +values[6]]  # without the sentence ends
            assert table[name].tolist() == pytest.approx(sums)
    # What is not known of one word is not known of its region.
    found = surprisal(
        model, regions, text_column="text", id_column="item", region_column="region", unknown="exclude"
    )
    assert [value is None for value in found["surprisal_bits"].tolist()] == [False, True, True, True, False]
    with pytest.raises(UsageError, match="'order' is one of tokens"):
        surprisal(
            model, regions, text_column="text", id_column="item", region_column="region", columns=["order"]
        )
    with pytest.raises(UsageError, match="have a column 'length'"):
        surprisal(model, {"text": ["w3"], "length": [1]}, text_column="text")


def test_most_words_unknown_is_warned_of() -> None:
    with pytest.warns(UnknownWordsWarning, match="2 of 2 words are unknown"):
        surprisal(model_of("ngram"), "zebra giraffe")
