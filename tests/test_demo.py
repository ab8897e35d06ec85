"""The demo, whole, and how it chooses the classes it shows."""

from __future__ import annotations

import re

import pytest

from stategram.cli import main
from stategram.clustering import WordClasses
from stategram.inspection import representative_classes


def test_the_demo_shows_classes_and_perplexity(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["demo"])
    out, err = capfd.readouterr()
    assert end.value.code == 0
    assert len(re.findall(r"^ +\d+  \S+ \S+ \S+", out, re.MULTILINE)) == 12
    found = re.search(r"Perplexity of the class bigram on it: ([\d.]+)", out)
    assert found is not None
    # Half the perplexity of a unigram model, and not that of a text it has seen.
    assert 130 < float(found[1]) < 200
    assert "stategram classes text.txt -k 500" in out
    assert "[3/3]" in err


def test_representative_classes_are_those_that_determine_their_neighbours() -> None:
    # x is always between a and b; u, v, w come in any order.
    noise = ["u v w", "v u u", "w w v", "u w v", "v v u", "w u w"]
    words = WordClasses(4).fit([*noise, "a1 x b1", "a2 x b2", "a1 x b2", "a2 x b1"])
    first = representative_classes(words, 1, min_words=1.5)[0]
    assert set(words.classes_[first]) in ({"a1", "a2"}, {"b1", "b2"})
    assert representative_classes(words, 9, min_words=100) == []
