"""What every model must do, whatever its kind.

`models/test_contract.py` runs all checks on each of `model_kinds.CONTRACT`; a new kind of model is added
there and gets them all. They need nothing but the model: texts are made of its words and of some it lacks.
"""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pytest

from hostile import HostileFile, flips
from naive.entropy import entropy
from stategram import kenlm
from stategram.errors import BadDataError, StategramError, UsageError
from stategram.evaluation import evaluate, history_sums
from stategram.formats import model_info, open_model
from stategram.models import HISTORIES, Gate, Mixture, Model, Scores, State, generate
from stategram.models.model import Text
from stategram.resources import use_resources
from stategram.text import BEGIN, Corpus, Vocabulary, corpus_from_sentences

# Sums of the same numbers in another order.
CLOSE = 1e-12
UNKNOWN_WORDS = ("zebra", "visitor")
# Bytes are words too: none of these is known, and some are no words at all.
HOSTILE_WORDS: tuple[str | bytes, ...] = (
    "w3\0",
    "\0",
    "",
    " ",
    "w3 w4",
    "\ud800",
    "w3\udcff",
    b"\xff\xfe",
    "x" * 10**6,
    "été",
)


@dataclass(frozen=True, eq=False)
class Subject:
    """A model, what is asked of it, and a folder to write it to."""

    model: Model
    folder: Path
    names: list[str] = field(init=False)
    """The words that its texts are made of."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", [*self.model.vocabulary.words[3:], *UNKNOWN_WORDS])

    @cached_property
    def lines(self) -> list[list[str]]:
        """Sentences of its words, the first ones more often, some of which it lacks."""
        random = np.random.default_rng(4)
        weights = 1.0 / np.arange(2, len(self.names) + 2)
        lengths = random.integers(1, 9, 40).tolist()
        return [random.choice(self.names, n, p=weights / weights.sum()).tolist() for n in lengths]

    @cached_property
    def text(self) -> Corpus:
        """The sentences, of which each sixth starts a document, in the vocabulary of the model."""
        corpus = corpus_from_sentences(self.lines, vocabulary=self.model.vocabulary)
        return replace(corpus, document_starts=np.arange(0, corpus.n_sentences, 6))

    @cached_property
    def long_text(self) -> Corpus:
        """A text that several threads score."""
        n = 10_000 // self.text.n_events + 1
        lengths = np.tile(np.diff(self.text.sentence_starts), n)
        return Corpus(
            np.tile(self.text.ids, n), np.concatenate(([0], np.cumsum(lengths))), self.model.vocabulary
        )

    @cached_property
    def file(self) -> Path:
        self.model.save(self.folder / "model", manifest={"inputs": ["text"]})
        return self.folder / "model"

    @cached_property
    def opened(self) -> Model:
        return open_model(self.file)

    @cached_property
    def histories(self) -> list[list[str]]:
        """Histories of the text and random ones, up to longer than the model can see."""
        random = np.random.default_rng(1)
        drawn = [random.choice(self.names, n).tolist() for n in range(min(self.model.order, 8) + 2)]
        return [line[: len(line) // 2] for line in self.lines[:8]] + drawn

    @property
    def features(self) -> tuple[str, ...]:
        return self.model.feature_names

    @property
    def saved(self) -> Model:
        """The model as it opens: files do not hold how far it looks back."""
        return self.model.with_history("sentence")

    def damaged(self) -> HostileFile:
        """A copy of the file, to be damaged."""
        path = self.folder / "damaged"
        path.write_bytes(self.file.read_bytes())
        return HostileFile(path)


def cut(corpus: Corpus, begin: int, end: int) -> Corpus:
    """The events `begin` to `end - 1`, which may begin and end within a sentence."""
    starts = corpus.sentence_starts
    inner = [start - begin for start in starts.tolist() if begin < start < end]
    documents = [
        1 + inner.index(start - begin) if start > begin else 0
        for start in starts[corpus.document_starts].tolist()
        if begin <= start < end
    ]
    return Corpus(
        corpus.ids[begin:end],
        np.array([0, *inner, end - begin] if end > begin else [0]),
        corpus.vocabulary,
        document_starts=np.array(documents, np.int64),
    )


def assert_equal(found: Scores, expected: Scores, events: slice = slice(None)) -> None:
    assert found.log_probs.tobytes() == expected.log_probs[events].tobytes()
    assert set(found.features) == set(expected.features)
    for name, values in found.features.items():
        assert values.tobytes() == expected.features[name][events].tobytes(), name
    assert (found.orders is None) == (expected.orders is None)
    if found.orders is not None and expected.orders is not None:
        assert found.orders.tolist() == expected.orders[events].tolist()


def assert_same_future(model: Model, one: State, other: State) -> None:
    """Equal, or with the same distribution of the next word: some caches cannot be compared."""
    assert one == other or model.distribution(one).tobytes() == model.distribution(other).tobytes()


def assert_same_model(found: Model, expected: Model, text: Corpus) -> None:
    """To the last bit."""
    assert type(found) is type(expected)
    one, other = (model.score(text, features=model.feature_names) for model in (found, expected))
    assert one.log_probs.tobytes() == other.log_probs.tobytes()
    after = [
        model.distribution(scores.state).tobytes() for model, scores in ((found, one), (expected, other))
    ]
    assert after[0] == after[1]
    assert_equal(one, other)
    assert found.predict("", 3) == expected.predict("", 3)
    for name in ("title", "order", "parameters", "histories", "training_info", "metadata", "vocabulary"):
        assert getattr(found, name) == getattr(expected, name), name
    assert repr(found) == repr(expected)
    assert found.describe() == expected.describe()


# ---- probabilities


def check_distributions_sum_to_one(of: Subject) -> None:
    model, tolerance = of.model, of.model.sum_tolerance
    for sentence_start in (True, False):
        for history in of.histories:
            distribution = model.distribution(history, sentence_start=sentence_start)
            assert abs(distribution.sum() - 1) < tolerance, history
            assert distribution.min() >= 0
            assert distribution[BEGIN] == 0
    # After a whole text too: caches and documents remember it.
    assert abs(model.distribution(model.score(of.text).state).sum() - 1) < tolerance
    assert max(one.error for one in history_sums(model, 30)) < tolerance


def check_a_word_has_the_probability_of_the_distribution(of: Subject) -> None:
    state, model = of.model.start(), of.model
    for id in of.text.ids[:80].tolist():
        distribution = model.distribution(state)
        step = model.advance(state, model.vocabulary.word(id))
        # Where nothing is left for unknown words, they have a number all the same, as in KenLM.
        assert distribution[id] == pytest.approx(np.exp(step.log_prob), rel=1e-9, abs=1e-40)
        state = step.state


def check_word_by_word_is_the_text(of: Subject) -> None:
    model, lines = of.model, of.lines[:8]
    for sentence_start in (True, False):
        state = model.start(sentence_start=sentence_start)
        scores = model.score(lines, state=state)
        words = [word for line in lines for word in [*line, "</s>"]]
        for event, word in enumerate(words):
            step = model.advance(state, word)
            assert step.log_prob == pytest.approx(scores.log_probs[event], rel=CLOSE)
            assert step.order == (None if scores.orders is None else scores.orders[event])
            state = step.state
        assert_same_future(model, state, scores.state)


def check_pieces_are_the_whole(of: Subject) -> None:
    """Cut at any event: inside sentences and documents, and of no events at all."""
    model, text = of.model, of.text
    whole = model.score(text, features=of.features)
    random = np.random.default_rng(2)
    several = [0, 0, 1, *sorted(random.integers(1, text.n_events, 12).tolist()), text.n_events]
    for cuts in (several, *([0, at, text.n_events] for at in range(1, 30))):
        state = model.start()
        for begin, end in pairwise(cuts):
            piece = model.score(cut(text, begin, end), features=of.features, state=state)
            assert_equal(piece, whole, slice(begin, end))
            state = piece.state
        assert_same_future(model, state, whole.state)


def check_no_words_change_nothing(of: Subject) -> None:
    state = of.model.advance(of.model.start(), of.names[0]).state
    nothing = cut(of.text, 0, 0)
    texts: list[Text] = [nothing, [], replace(nothing, sentence_starts=np.array([0, 0]))]
    for text in texts:
        scores = of.model.score(text, features=of.features, state=state)
        assert_same_future(of.model, scores.state, state)
        assert len(scores.log_probs) == 0
        assert [len(values) for values in scores.features.values()] == [0] * len(of.features)
        assert scores.sentence_log_probs.sum() == scores.log_prob == 0
        with pytest.raises(BadDataError, match="the text has no words, so it has no perplexity"):
            of.model.perplexity(text)
        assert len(of.model.entropies(text)) == 0


def check_predictions_are_the_sorted_distribution(of: Subject) -> None:
    model, words = of.model, of.model.vocabulary.words
    for state in (model.start(), model.start(sentence_start=False), model.score(of.text).state):
        distribution = model.distribution(state)
        for top in (1, 7, 10_000):
            found = model.predict(state, top)
            best = sorted(range(len(words)), key=lambda id: (-distribution[id], id))
            expected = [id for id in best if id != BEGIN or distribution[id] == 0][: len(found)]
            assert [word for word, _ in found] == [words[id] for id in expected]
            assert [p for _, p in found] == pytest.approx(distribution[expected].tolist(), rel=CLOSE)
            assert len(found) in (min(top, len(words)), min(top, len(words) - 1))
    with pytest.raises(UsageError, match="top is 0"):
        model.predict("", 0)


def check_a_history_is_words_or_the_state_after_them(of: Subject) -> None:
    model = of.model
    for sentence_start in (True, False):
        for history in of.histories:
            state = model.start(sentence_start=sentence_start)
            for word in history:
                state = model.advance(state, word).state
            expected = model.distribution(state).tobytes()
            for one in (history, " ".join(history)):
                found = model.distribution(one, sentence_start=sentence_start)
                assert found.tobytes() == expected
            assert model.predict(history, 3, sentence_start=sentence_start) == model.predict(state, 3)
    # A sentence begins once.
    assert model.distribution(["<s>", *history]).tolist() == model.distribution(history).tolist()


def check_perplexity(of: Subject) -> None:
    model = of.model
    scores = model.score(of.text)
    counted = scores.log_probs[scores.predicts_unknown | ~scores.unknown]
    assert model.perplexity(of.text) == scores.perplexity == pytest.approx(np.exp(-counted.mean()))
    assert scores.log_prob == pytest.approx(scores.log_probs.sum())
    assert scores.log10_prob == pytest.approx(scores.log_probs.sum() / np.log(10))
    assert np.isfinite(scores.log_probs).all()
    assert evaluate(model, of.text).perplexity == pytest.approx(scores.perplexity)


def check_events_are_aligned(of: Subject) -> None:
    scores = of.model.score(of.lines)
    sentences = list(scores.sentences())
    known = of.model.vocabulary
    expected = [[word if word in known else "<unk>" for word in [*line, "</s>"]] for line in of.lines]
    assert [[event.word for event in sentence] for sentence in sentences] == expected
    events = [event for sentence in sentences for event in sentence]
    assert [event.log_prob for event in events] == scores.log_probs.tolist()
    assert [event.unknown for event in events] == scores.unknown.tolist()
    assert scores.unknown.tolist() == [event.word == "<unk>" for event in events]
    orders = [None] * len(events) if scores.orders is None else scores.orders.tolist()
    assert [event.order for event in events] == orders
    sums = [sum(event.log_prob for event in sentence) for sentence in sentences]
    assert scores.sentence_log_probs.tolist() == pytest.approx(sums, rel=CLOSE)


def check_parts(of: Subject) -> None:
    model = of.model
    scores = model.score(of.text)
    assert len(set(model.part_titles)) == len(model.parts)
    if model.parts:
        assert [part.name for part in scores.parts] == model.part_titles
    for part in scores.parts:
        assert part.weight >= 0
        assert part.perplexity > 1 or not np.isfinite(part.perplexity)
        assert len(part.sentence_log_probs) == of.text.n_sentences
    if scores.parts:
        assert sum(part.weight for part in scores.parts) == pytest.approx(1)


def check_another_vocabulary_is_mapped_by_its_words(of: Subject) -> None:
    backwards = Vocabulary.from_words(reversed(of.names))
    theirs = corpus_from_sentences(of.lines, vocabulary=backwards)
    expected = of.model.score(of.lines)
    for text in (theirs, corpus_from_sentences(of.lines)):
        found = of.model.score(text)
        assert found.log_probs.tobytes() == expected.log_probs.tobytes()
        assert found.unknown.tolist() == expected.unknown.tolist()
        assert found.corpus.vocabulary == of.model.vocabulary


def check_unknown_words_are_unk(of: Subject) -> None:
    model = of.model
    step = model.advance(model.start(), "<unk>")
    for word in UNKNOWN_WORDS:
        assert word not in model
        found = model.advance(model.start(), word)
        assert (found.log_prob, found.order) == (step.log_prob, step.order)
        assert_same_future(model, found.state, step.state)
        assert model.distribution([word]).tobytes() == model.distribution(["<unk>"]).tobytes()
    assert all(word in model for word in model.vocabulary.words[3:])
    assert 3 not in model


# ---- texts and words as arguments


def check_texts_may_be_split_or_not(of: Subject) -> None:
    model, lines = of.model, of.lines[:5]
    expected = model.score(lines).log_probs.tobytes()
    assert model.score([" ".join(line) for line in lines]).log_probs.tobytes() == expected
    assert model.score(corpus_from_sentences(lines)).log_probs.tobytes() == expected
    one = " ".join(lines[0])
    assert model.score(one).log_probs.tobytes() == model.score([one]).log_probs.tobytes()
    assert model.perplexity(one) == model.perplexity([lines[0]])
    assert model.entropies(one).tobytes() == model.entropies([lines[0]]).tobytes()


def check_a_word_holds_no_white_space(of: Subject) -> None:
    model, message = of.model, "'w3 w4' is empty or holds white space"
    asks: list[Callable[[], object]] = [
        lambda: model.score([["w3 w4"]]),
        lambda: model.perplexity([["w3 w4"]]),
        lambda: model.entropies([["w3 w4"]]),
        lambda: model.distribution(["w3 w4"]),
        lambda: model.predict(["w3 w4"]),
        lambda: model.advance(model.start(), "w3 w4"),
        lambda: list(generate(model, 1, prefix=["w3 w4"])),
    ]
    for ask in asks:
        with pytest.raises(StategramError, match=message):
            ask()


def check_wrong_arguments_are_refused(of: Subject) -> None:
    for wrong in (5, b"the cat", None):
        with pytest.raises(TypeError, match="list of sentences"):
            of.model.score(wrong)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="expected words"):
            of.model.predict(wrong)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="no feature 'colour'"):
        of.model.score(of.text, features=["colour"])


# ---- states


def check_a_wrong_state_is_refused(of: Subject) -> None:
    asks: list[Callable[[State], object]] = [
        lambda state: of.model.score(of.text, state=state),
        lambda state: of.model.entropies(of.text, state=state),
        lambda state: of.model.advance(state, "w3"),
    ]
    for ask in asks:
        with pytest.raises(UsageError, match="expected a State"):
            ask("w3")  # type: ignore[arg-type]


def check_a_sentence_ends_where_the_next_starts(of: Subject) -> None:
    """Unless the model looks farther back; what it remembers is not lost, and does not grow without need."""
    after = of.model.score(of.text).state
    assert (after == of.model.start()) == (not of.model.looks_back)
    sentence = of.model.with_history("sentence")
    if not sentence.looks_back:
        assert sentence.score(of.text).state == sentence.start()


def check_states_can_be_used_again(of: Subject) -> None:
    model, text = of.model, of.text
    state = model.score(cut(text, 0, 17)).state
    rest = cut(text, 17, text.n_events)
    first, before = model.score(rest, state=state), model.distribution(state).tobytes()
    for _ in range(2):
        assert model.score(rest, state=state).log_probs.tobytes() == first.log_probs.tobytes()
        model.advance(state, of.names[0])
        model.predict(state)
        assert model.distribution(state).tobytes() == before


def check_states_are_values(of: Subject) -> None:
    state, again = (of.model.score(cut(of.text, 0, 17)).state for _ in range(2))
    expected = of.model.distribution(state).tobytes()
    copies = [again, copy.copy(state), copy.deepcopy(state), pickle.loads(pickle.dumps(state))]
    for one in copies:
        assert (one, hash(one)) == (state, hash(state))
        assert of.model.distribution(one).tobytes() == expected
    assert len({state, *copies}) == 1
    assert all(state != other for other in ("w3", State("w3")))
    with pytest.raises(AttributeError):
        state.value = 3  # type: ignore[misc]


def check_features_say_nothing_of_the_event(of: Subject) -> None:
    assert len(set(of.features)) == len(of.features)
    state = of.model.score(cut(of.text, 0, 17)).state
    found = []
    for word in (*of.names[:2], "zebra", "</s>"):
        event = Corpus(
            np.array([of.model.vocabulary.id(word)], np.uint32), np.array([0, 1]), of.model.vocabulary
        )
        features = of.model.score(event, features=of.features, state=state).features
        found.append({name: float(values[0]) for name, values in features.items()})
    assert all(one == found[0] for one in found)
    for name in of.features:  # none is returned that was not asked for
        assert set(of.model.score(of.text, features=[name]).features) == {name}


def check_histories(of: Subject) -> None:
    model = of.model
    assert model.histories[0] == "sentence"
    assert [name for name in HISTORIES if name in model.histories] == list(model.histories)
    for name in HISTORIES:
        changed = model.with_history(name)
        assert changed.histories == model.histories
        assert_same_model(changed.with_history(name), changed, of.text)
        assert abs(changed.distribution(changed.score(of.text).state).sum() - 1) < model.sum_tolerance
    found = [model.with_history(name).score(of.text).log_probs.tobytes() for name in model.histories]
    assert len(set(found)) == len(found)
    with pytest.raises(UsageError, match="no history 'future': there are sentence, document, adaptive"):
        model.with_history("future")


# ---- entropies, samples


def check_entropies_are_those_of_the_distributions(of: Subject) -> None:
    model, state, expected = of.model, of.model.start(), []
    text = replace(cut(of.text, 0, 90), document_starts=np.zeros(0, np.int64))  # which distributions know not
    for begin in range(text.n_events):
        expected.append(entropy(model.distribution(state).tolist()))
        state = model.score(cut(text, begin, begin + 1), state=state).state
    progress: list[float] = []
    found = model.entropies(text, progress=lambda fraction, _: progress.append(fraction))
    assert found.tolist() == pytest.approx(expected, rel=1e-11, abs=1e-11)
    assert progress == sorted(progress)
    for at in (0, 1, 17, 50, 89):
        state = model.score(cut(text, 0, at)).state
        rest = model.entropies(cut(text, at, text.n_events), state=state)
        assert rest.tolist() == pytest.approx(expected[at:], rel=1e-11, abs=1e-11)


def check_sentences_are_drawn_again(of: Subject) -> None:
    few, more = (list(generate(of.model, n, seed=5, max_words=20)) for n in (2, 4))
    assert more[:2] == few
    known = set(of.model.vocabulary.words[3:])
    assert all(known.issuperset(one.words) for one in more)
    begun = generate(of.model, 2, prefix=of.names[:2], max_words=3)
    assert all(one.words[:2] == of.names[:2] and len(one.words) <= 3 for one in begun)


# ---- threads


def check_threads_change_nothing(of: Subject) -> None:
    found = []
    for threads in (1, 2, 3):
        with use_resources(threads=threads):
            scores = of.model.score(of.long_text, features=of.features)
            entropies = of.model.entropies(of.text)
        features = [scores.features[name].tobytes() for name in of.features]
        after = of.model.distribution(scores.state).tobytes()
        found.append((scores.log_probs.tobytes(), after, features, entropies.tobytes()))
    assert found[0] == found[1] == found[2]


# ---- files, copies


def check_what_is_saved_is_opened(of: Subject) -> None:
    for verify in (True, False):
        opened = open_model(of.file, type(of.model), verify=verify)
        for history in of.model.histories:
            assert_same_model(opened.with_history(history), of.model.with_history(history), of.text)
        opened.check()
    assert_same_model(open_model(str(of.file)), of.saved, of.text)


def check_a_file_is_written_again_byte_for_byte(of: Subject) -> None:
    for model in (of.model, of.opened):
        model.save(of.folder / "again", manifest={"inputs": ["text"]})
        assert (of.folder / "again").read_bytes() == of.file.read_bytes()


def check_files_are_replaced_or_not(of: Subject) -> None:
    path = of.folder / "there"
    of.model.save(path)
    of.model.save(path)
    with pytest.raises(StategramError, match="there-2"):
        of.model.save(path, overwrite=False)
    assert path.read_bytes() == (of.folder / "there-2").read_bytes()
    (of.folder / "there-2").unlink()


def check_files_know_what_they_hold(of: Subject) -> None:
    info = model_info(of.file)
    assert info.kind == of.model.kind
    manifest = HostileFile(of.file).manifest
    assert (manifest["model"], manifest["inputs"]) == (of.model.kind, ["text"])

    with pytest.raises(
        BadDataError, match=f"a model of the class {type(of.model).__name__}, expected Subject"
    ):
        open_model(of.file, Subject)  # type: ignore[type-var]


def check_a_flipped_bit_is_refused_with_the_name(of: Subject) -> None:
    path = of.damaged().path
    names = []
    for name in flips(path):
        names.append(name)
        with pytest.raises(BadDataError, match=f"damaged: damaged, the SHA-256 of its array {name} does"):
            open_model(path)
    assert set(names) == {name for name, array in HostileFile(path).arrays.items() if array.nbytes}
    open_model(path)


def check_missing_arrays_are_refused(of: Subject) -> None:
    file = of.damaged()
    # A part without a vocabulary has that of the whole.
    for name in [
        name for name, of_it in file.arrays.items() if of_it.nbytes and not name.endswith("/vocabulary")
    ]:
        file.write(arrays={other: array for other, array in file.arrays.items() if other != name})
        with pytest.raises(BadDataError, match="damaged: "):
            open_model(file.path)


def check_arrays_that_do_not_fit_are_refused(of: Subject) -> None:
    """Of another type, shape or length; a vocabulary is but bytes, and hash tables may be of any length."""
    file = of.damaged()
    for name, array in file.arrays.items():
        if array.size and not name.endswith("vocabulary"):
            other = np.int64 if array.dtype != np.int64 else np.int32
            changes = [array.astype(other), array.reshape(-1, 1, 1)]
            for changed in [*changes, *([] if "/entries-" in name else [array.reshape(-1)[:-1]])]:
                file.write(arrays={**file.arrays, name: changed})
                with pytest.raises(BadDataError):
                    open_model(file.path).check()


def check_numbers_that_are_none_are_found(of: Subject) -> None:
    file = of.damaged()
    for name, array in file.arrays.items():
        if array.dtype.kind == "f" and array.size:
            wrong = array.copy()
            wrong.flat[-1] = np.nan
            file.write(arrays={**file.arrays, name: wrong})
            with pytest.raises(BadDataError):
                open_model(file.path).check()


def check_models_can_be_pickled_and_copied(of: Subject) -> None:
    for one in (of.model, of.opened):
        for again in (pickle.loads(pickle.dumps(one)), copy.deepcopy(one), copy.copy(one)):
            assert_same_model(again, one, of.text)


# ---- descriptions


def check_descriptions(of: Subject) -> None:
    model = of.model
    assert repr(model).startswith(f"{type(model).__name__}(")
    assert model.title
    assert "\n" not in model.title
    assert model.order >= 1
    assert model.parameters > 0
    assert all(isinstance(note, str) for note in model.notes)
    described = model.describe()
    assert all(isinstance(value, str | int | float) for _, value in described.facts)
    for table in described.tables:
        assert all(len(row) == len(table.columns) for row in table.rows)


def check_the_model_is_consistent(of: Subject) -> None:
    of.model.check()
    assert of.model.leaves
    assert all(leaf.parts == () for leaf in of.model.leaves.values())


def check_fitting_unknown_words_keeps_sums(of: Subject) -> None:
    fitted = of.model.fit_unknown(of.text)
    assert fitted.vocabulary == of.model.vocabulary
    assert max(one.error for one in history_sums(fitted, 30)) < of.model.sum_tolerance
    if fitted is not of.model and not fitted.parts:  # weights of a mixture fit the parts as they were
        assert fitted.perplexity(of.text) < of.model.perplexity(of.text)


# ---- parts of mixtures


def check_twice_the_same_part_is_the_part(of: Subject) -> None:
    model = of.model
    twice = Mixture((model, model), Gate.constant([0.25, 0.75]))
    assert (twice.histories, twice.order) == (model.histories, model.order)
    assert twice.part_titles == [f"{model.title} (1)", f"{model.title} (2)"]
    np.testing.assert_allclose(twice.score(of.text).log_probs, model.score(of.text).log_probs, rtol=1e-9)
    np.testing.assert_allclose(twice.entropies(of.text), model.entropies(of.text), rtol=1e-9, atol=1e-12)
    for name in model.histories:
        one, other = (each.with_history(name).score(of.text).log_probs for each in (twice, model))
        np.testing.assert_allclose(one, other, rtol=1e-9)


# ---- decoders


def chain(decoder: kenlm.Model, words: list[str], *, bos: bool) -> tuple[list[float], kenlm.State]:
    """Score words one by one, as decoders do."""
    state, found = kenlm.State(), []
    (decoder.BeginSentenceWrite if bos else decoder.NullContextWrite)(state)
    for word in words:
        after = kenlm.State()
        found.append(decoder.BaseScore(state, word, after))
        state = after
    return found, state


def check_decoders_score_as_the_model(of: Subject) -> None:
    decoder = kenlm.Model(of.file)
    assert decoder.order == of.model.order
    null = kenlm.State()
    decoder.NullContextWrite(null)
    lines = [*of.lines[:20], [], [word for line in of.lines[:10] for word in line]]
    for words, bos in ((line, bos) for line in lines for bos in (True, False)):
        scores, state = [], of.saved.start(sentence_start=bos)
        for word in [*words, "</s>"]:
            scores.append(of.saved.advance(state, word))
            state = scores[-1].state
        expected = [step.log_prob / np.log(10) for step in scores]
        sentence = " ".join(words)
        full = list(decoder.full_scores(sentence, bos=bos))
        assert [event[0] for event in full] == pytest.approx(expected, rel=CLOSE)
        assert [event[1] for event in full] == [step.order or 0 for step in scores]
        assert [event[2] for event in full] == [*(word not in of.model for word in words), False]
        assert decoder.score(sentence, bos, True) == pytest.approx(sum(expected), rel=CLOSE)
        assert decoder.score(sentence, bos, False) == pytest.approx(sum(expected[:-1]), rel=CLOSE, abs=CLOSE)
        assert len(list(decoder.full_scores(sentence, bos=bos, eos=False))) == len(words)
        if bos:
            perplexity = 10 ** -(sum(expected) / len(expected))
            assert decoder.perplexity(sentence) == pytest.approx(perplexity, rel=1e-11)
        found, after = chain(decoder, [*words, "</s>"], bos=bos)
        assert found == pytest.approx(expected, rel=CLOSE)
        assert after == null  # a sentence that ends starts no other one


def check_states_of_decoders_are_values(of: Subject) -> None:
    decoder = kenlm.Model(of.file)
    word, other = of.names[0], of.names[-1]
    state = chain(decoder, [word, other], bos=True)[1]
    again = chain(decoder, [word, other], bos=True)[1]
    copies = [copy.copy(state), copy.deepcopy(state), pickle.loads(pickle.dumps(state)), again]
    expected = decoder.BaseScore(state, word, kenlm.State())
    for same in copies:
        assert same is not state
        assert (same, hash(same)) == (state, hash(state))
        assert decoder.BaseScore(same, word, kenlm.State()) == expected
    assert state != "w3 w6"
    assert len({state, *copies}) == 1
    # A state may be overwritten by the one after it, and one that was never set knows of no words.
    decoder.BaseScore(again, word, again)
    assert again == chain(decoder, [word, other, word], bos=True)[1]
    null, after = kenlm.State(), kenlm.State()
    decoder.NullContextWrite(null)
    full = decoder.BaseFullScore(null, word, again)
    assert decoder.BaseFullScore(kenlm.State(), word, after) == full
    assert after == again
    assert full.log_prob == decoder.BaseScore(null, word, after)


def check_words_of_decoders_that_are_none_are_unknown(of: Subject) -> None:
    decoder = kenlm.Model(of.file)
    null, after, expected = kenlm.State(), kenlm.State(), kenlm.State()
    decoder.NullContextWrite(null)
    unknown = decoder.BaseFullScore(null, "<unk>", expected)
    for word in HOSTILE_WORDS:
        assert word not in decoder
        assert decoder.BaseFullScore(null, word, after) == unknown
        assert after == expected
        space = b" " if isinstance(word, bytes) else " "
        found = list(decoder.full_scores(word, bos=False, eos=False))
        assert len(found) == len([part for part in word.split(space) if part])  # type: ignore[arg-type]
    for wrong in (3, None, ["w3"]):
        with pytest.raises(TypeError, match="Cannot convert"):
            decoder.BaseScore(null, wrong, after)  # type: ignore[arg-type]
        with pytest.raises(TypeError, match="Cannot convert"):
            decoder.score(wrong)  # type: ignore[arg-type]


Check: TypeAlias = Callable[[Subject], None]


def yield_checks() -> Iterator[Check]:
    """Yield every check of this file."""
    yield from (function for name, function in globals().items() if name.startswith("check_"))
