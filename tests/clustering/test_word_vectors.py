"""Word vectors: their distances are those of the profiles of the naive twin; the file is word2vec's."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from command_line import run
from naive import word_vectors as naive
from stategram import corpus_from_sentences
from stategram.clustering import word_vectors
from stategram.errors import UsageError
from story import sentences as story

SENTENCES = story(200, seed=1)


def test_all_dimensions_keep_the_distances_of_profiles() -> None:
    corpus = corpus_from_sentences(SENTENCES)
    words = corpus.vocabulary.words[3:]
    classes = {word: word[0] for word in words if word[0] != "k"}
    expected = naive.profiles([sentence.split() for sentence in SENTENCES], classes)
    profiles = np.array([list(expected[word].values()) for word in words])
    vectors = word_vectors(corpus, classes, 1000)[3:].astype(np.float64)
    assert vectors.shape[1] == 2 * (len(set(classes.values())) + 1)
    for vector, profile in zip(vectors[:10], profiles, strict=False):
        np.testing.assert_allclose(
            np.linalg.norm(vectors - vector, axis=1), np.linalg.norm(profiles - profile, axis=1), atol=1e-4
        )
    # Fewer dimensions are the first ones, which vary most.
    np.testing.assert_allclose(word_vectors(corpus, classes, 3)[3:], vectors[:, :3], atol=1e-4)
    weights = np.sqrt(corpus.vocabulary.counts[3:])
    spread = np.average(
        (vectors - np.average(vectors, axis=0, weights=weights)) ** 2, axis=0, weights=weights
    )
    assert spread[:3].min() > spread[10:].max()


def test_the_file_is_that_of_word2vec(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text, out = tmp_path / "text", tmp_path / "vectors.txt"
    text.write_text("\n".join(SENTENCES))
    given = ("classes", text, "-k", "8", "-o", tmp_path / "classes.tsv", "--vectors", out, "--dimensions", 5)
    status, _, err = run(*given, capfd=capfd)
    assert status == 0, err
    assert "[3/3] computing word vectors" in err
    head, *lines = out.read_text().splitlines()
    rows = {word: np.array(numbers, float) for word, *numbers in (line.split(" ") for line in lines)}
    assert head == f"{len(rows)} 5"
    assert {row.shape for row in rows.values()} == {(5,)}

    def nearest(word: str) -> set[str]:
        unit = {other: row / np.linalg.norm(row) for other, row in rows.items()}
        return set(sorted(unit, key=lambda other: -float(unit[other] @ unit[word]))[1:4])

    assert nearest("anna") == {"peter", "maria", "john"}
    assert nearest("red") < {"old", "new", "small", "great", "dark"}
    for arguments, message in (
        (["--dimensions", 5], "--dimensions requires --vectors"),
        (["-o", out, "--vectors", out], "choose two places"),
    ):
        status, _, err = run("classes", text, *arguments, capfd=capfd)
        assert status == 2
        assert message in " ".join(err.split())


def test_what_is_refused() -> None:
    corpus = corpus_from_sentences(["a b"])
    with pytest.raises(UsageError, match="no word of the text has a class"):
        word_vectors(corpus, {"c": 0})
    with pytest.raises(UsageError, match="at least 1"):
        word_vectors(corpus, {"a": 0}, 0)
