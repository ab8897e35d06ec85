"""Models of a given size: the file is no larger, what pays least is left out, too little is refused."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

from command_line import run
from planted import planted_text
from stategram import Budget, Model, Recipe, UsageError, open_model, train_recipe
from stategram.models import Chain, WordTreeModel, model_size
from stategram.models.word_tree.max_size import Extent, extents
from stategram.recipes import CategoryNgramPart, ClusteredPart, NgramPart, WordTreePart
from stategram.recipes.part import Part
from story import sentences
from word_tree_models import texts

TREE = WordTreePart(
    trees=[8, 5, 3],
    classes=[4, 6],
    states=["g1-1 4"],
    chains=["w-1 w-2 w-3", "counts: g1-1 w-1", "s1-1 s1-2", "counts: r-1"],
    caches=["0.98"],
    events=600,
    effort="fast",
)


def train(parts: Sequence[Part], max_size: int | None = None) -> Model:
    corpus, heldout, _ = texts()
    return train_recipe(
        corpus, heldout, Recipe(name="mine", part=list(parts)), budget=Budget(max_size=max_size)
    )


def tree_within(max_size: int) -> WordTreeModel:
    model = train([TREE], max_size)
    assert isinstance(model, WordTreeModel)
    return model


def file_size(model: Model, place: Path) -> int:
    model.save(place / "model")
    return (place / "model").stat().st_size


def smallest(error: pytest.ExceptionInfo[UsageError]) -> int:
    """Return the size that an error says is possible."""
    return int(re.findall(r"[\d,]*\d{3}", str(error.value))[1].replace(",", ""))


# ---- what is left out


def test_each_extent_is_smaller_than_the_one_before() -> None:
    chains = tuple(map(Chain.parse, ("w-1 w-2 w-3", "g1-1 g1-2", "w-2", "counts: r-1")))
    found = list(extents(chains, 3))
    assert found[0] == Extent(chains, 3)
    assert found[-1] == Extent((Chain.parse("w-1"),), 1)
    assert len(set(found)) == len(found)

    def amount(extent: Extent) -> tuple[int, ...]:
        return (
            extent.n_trees,
            len(extent.chains),
            sum(len(chain.values) for chain in extent.chains),
        )

    for larger, smaller in pairwise(found):
        assert all(a >= b for a, b in zip(amount(larger), amount(smaller), strict=True))


def test_word_trees_of_a_size(tmp_path: Path) -> None:
    _, _, test = texts()
    whole = train([TREE])
    size = model_size(whole)
    found = []
    for number, fraction in enumerate((1.2, 0.6)):
        model = tree_within(int(size * fraction))
        (tmp_path / str(number)).mkdir()
        assert file_size(model, tmp_path / str(number)) <= size * fraction
        found.append((len(model.evidence.trees), len(model.evidence.chains)))
        loaded = open_model(tmp_path / str(number) / "model", WordTreeModel)
        assert loaded.score(test).log_probs.tobytes() == model.score(test).log_probs.tobytes()
    assert found[0] == (3, 4)
    assert found[1] < found[0]


@pytest.mark.parametrize("fraction", [1.01, 0.8, 0.5, 0.2])
def test_vector_states_within_a_size(fraction: float, tmp_path: Path) -> None:
    """They are counted to the byte; of few bytes they would need more than half."""
    _, _, test = texts()
    part = msgspec.structs.replace(TREE, states=["g1-1 4", "linear 64", "recurrent 32"])
    whole = train([part])
    assert isinstance(whole, WordTreeModel)
    size = model_size(whole)
    limit = int(size * fraction) + 9000  # what a manifest may have besides
    model = train([part], limit)
    assert isinstance(model, WordTreeModel)
    assert file_size(model, tmp_path) <= limit
    shapes = [str(one.shape) for one in model.evidence.vectors]
    assert shapes == ["linear 64", "recurrent 32"][: len(shapes)]
    found = len(shapes), len(model.evidence.trees), len(model.evidence.chains)
    assert found == {1.01: (2, 3, 4), 0.8: (2, 3, 3), 0.5: (2, 2, 2), 0.2: (0, 1, 2)}[fraction]
    if fraction > 1:
        assert model.evidence.vectors[0].n_bytes == whole.evidence.vectors[0].n_bytes
    loaded = open_model(tmp_path / "model", WordTreeModel)
    assert loaded.score(test).log_probs.tobytes() == model.score(test).log_probs.tobytes()


def test_large_vector_states_are_kept_where_all_fits() -> None:
    part = msgspec.structs.replace(TREE, states=["g1-1 4", "recurrent 256"])
    whole = train([part])
    for limit, n_vectors in ((model_size(whole) + 9000, 1), (model_size(whole) - 1, 0)):
        model = train([part], limit)
        assert isinstance(model, WordTreeModel)
        assert len(model.evidence.vectors) == n_vectors
        assert len(model.evidence.chains) == 4


def test_too_little_for_a_word_tree_is_refused_with_what_is_possible(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="too few: the smallest word tree model") as error:
        train([TREE], 20_000)
    least = smallest(error)
    model = tree_within(least + 40_000)
    assert file_size(model, tmp_path) <= least + 40_000
    assert len(model.evidence.trees) == 1


# ---- several parts

PARTS = (
    NgramPart(order=4),
    CategoryNgramPart(classes=6, effort="fast", order=4),
    ClusteredPart(states=6, categories=6),
)


def test_parts_are_pruned_or_left_out(tmp_path: Path) -> None:
    _, _, test = texts()
    whole = train(PARTS)
    size = model_size(whole)
    perplexities = []
    for number, fraction in enumerate((1.01, 0.7, 0.4)):
        mixture = train(PARTS, int(size * fraction))
        (tmp_path / str(number)).mkdir()
        assert file_size(mixture, tmp_path / str(number)) <= size * fraction
        perplexities.append(mixture.perplexity(test))
    assert perplexities[0] == whole.perplexity(test)
    # What pays least was left out.
    assert perplexities[-1] < 1.1 * whole.perplexity(test)


def test_one_part_is_pruned(tmp_path: Path) -> None:
    size = model_size(train(PARTS[:1]))
    model = train(PARTS[:1], int(0.7 * size))
    assert 0.7 * size - 10_000 < file_size(model, tmp_path) <= 0.7 * size


@pytest.mark.parametrize("parts", [PARTS[:1], PARTS[2:], PARTS])
def test_too_little_for_parts_is_refused(parts: Sequence[Part]) -> None:
    with pytest.raises(UsageError, match="bytes are too few"):
        train(parts, 5_000)


# ---- the command


def test_train_max_size(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = planted_text()
    (tmp_path / "text.txt").write_text("\n".join(lines[:500]) + "\n")
    (tmp_path / "heldout.txt").write_text("\n".join(lines[500:600]) + "\n")
    recipe = "".join(f'[[part]]\nmodel = "ngram"\norder = {order}\n' for order in (2, 4))
    (tmp_path / "recipe.toml").write_text(recipe)
    arguments = [
        "train",
        "text.txt",
        "--heldout",
        "heldout.txt",
        "--recipe",
        "recipe.toml",
        "--force",
        "-o",
        "m",
    ]
    assert run(*arguments, capfd=capfd)[0] == 0
    size = (tmp_path / "m").stat().st_size
    assert run(*arguments, "--max-size", size // 2, capfd=capfd)[0] == 0
    assert (tmp_path / "m").stat().st_size <= size // 2
    code, _, err = run(*arguments, "--max-size", "5k", capfd=capfd)
    assert code == 2
    assert "too few" in err


@pytest.mark.parametrize("options", [(), ("--compact",), ("--recipe", "best", "--heldout", "heldout.txt")])
def test_a_size_that_is_too_small_is_that_of_the_user_and_the_one_named_is_enough(
    options: tuple[str, ...],
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    lines = planted_text()
    (tmp_path / "text.txt").write_text("\n".join(lines[:500]) + "\n")
    (tmp_path / "heldout.txt").write_text("\n".join(lines[500:600]) + "\n")
    command = ["train", "text.txt", *options, "-o", "m"]
    code, _, err = run(*command, "--max-size", "3k", capfd=capfd)
    assert code == 2
    match = re.search(r"error: 3,072 bytes are too few: .* (?:has|takes) ([\d,]+);", err)
    assert match, err
    enough = int(match[1].replace(",", ""))
    assert run(*command, "--max-size", enough, capfd=capfd)[0] == 0
    assert (tmp_path / "m").stat().st_size <= enough


def test_a_fitted_model_is_within_its_size(tmp_path: Path) -> None:
    text = sentences(600, seed=1)
    heldout = ["peter sees a zebra", *sentences(40, seed=5)]
    budget = Budget(max_size=25_000)
    model = train_recipe(text, heldout, Recipe(part=[NgramPart(order=4)]), budget=budget)
    model.save(tmp_path / "model")
    assert 15_000 < (tmp_path / "model").stat().st_size <= 25_000
    plain = train_recipe(text, None, Recipe(part=[NgramPart(order=4)]), budget=budget)
    assert model.distribution("peter")[0] > 1.2 * plain.distribution("peter")[0]
