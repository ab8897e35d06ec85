// Decoders and the models that they call, as Python sees them.
#include "base/bind.hpp"

#include <nanobind/operators.h>

#include <cstring>
#include <memory>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "base/stepper.hpp"
#include "decoding/category_stepper.hpp"
#include "decoding/mixture_stepper.hpp"
#include "decoding/model.hpp"
#include "decoding/ngram_stepper.hpp"
#include "decoding/state.hpp"
#include "mixture/gate_tables.hpp"

namespace stategram {
namespace {

nb::object pickled(const DecoderState& state) {
    if (state.of_python.is_valid()) return nb::make_tuple(nb::bytes("", 0), state.of_python);
    const std::string_view bytes = state.bytes();
    return nb::make_tuple(nb::bytes(bytes.data(), bytes.size()), nb::none());
}

void unpickle(DecoderState& state, const nb::tuple& values) {
    const auto bytes = nb::cast<nb::bytes>(values[0]);
    const nb::object of_python = values[1];
    new (&state) DecoderState;
    std::memcpy(state.resize(bytes.size()), bytes.c_str(), bytes.size());
    if (!of_python.is_none()) state.of_python = of_python;
}

Py_ssize_t hash(const DecoderState& state) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(state.data());
    std::uint64_t hash = hash_of(bytes, state.size(), state.size());
    if (state.of_python.is_valid()) hash ^= static_cast<std::uint64_t>(nb::hash(state.of_python)) >> 1;
    return static_cast<Py_ssize_t>(hash);
}

void bind_ngram_stepper(nb::module_& m) {
    nb::class_<NgramStepper, Stepper> stepper(m, "NgramStepper",
                                              "A back-off model; the arrays are those of its trie.");
    def_init<In<std::uint32_t>, In<std::int64_t>, Matrix<std::uint8_t>, In<std::uint8_t>, In<std::uint8_t>,
             In<std::uint32_t>, In<float>, bool>(stepper,
                                                 "numbers begins widths words records bases values closed");
}

void bind_category_stepper(nb::module_& m) {
    nb::class_<CategoryStepper, Stepper>(
        m, "CategoryStepper",
        "An n-gram model of categories.\n\n"
        "`ngrams`: the model of categories. `categories` and `word_probs`: of "
        "each word its category\nand its probability there.")
        .def(nb::init<std::shared_ptr<const Stepper>, In<std::uint32_t>, const In<double>&>(),
             nb::arg("ngrams"), nb::arg("categories"), nb::arg("word_probs"));
}

void bind_mixture_stepper(nb::module_& m) {
    nb::class_<MixtureStepper, Stepper>(
        m, "MixtureStepper",
        "A mixture.\n\n"
        "Of each part: `ids`, its id of each word; `shares`, what each word has of the probability of the\n"
        "part's word; both empty if all are the same. `gate`: the weights.")
        .def(nb::init<std::vector<std::shared_ptr<const Stepper>>, std::vector<In<std::uint32_t>>,
                      std::vector<In<double>>, const GateTables&>(),
             nb::arg("parts"), nb::arg("ids"), nb::arg("shares"), nb::arg("gate"));
}

void bind_model(nb::module_& m) {
    nb::class_<DecoderState>(
        m, "DecoderState",
        "What a model has to know of the words so far. Written by a model, equal where no future can differ.")
        .def(nb::init<>())
        .def("__copy__", [](const DecoderState& state) { return DecoderState(state); })
        .def(
            "__deepcopy__", [](const DecoderState& state, nb::handle) { return DecoderState(state); },
            nb::arg("memo"))
        .def(nb::self == nb::self, nb::sig("def __eq__(self, arg: object, /) -> bool"))
        .def("__lt__", [](const DecoderState& a, const DecoderState& b) { return a.bytes() < b.bytes(); })
        .def("__hash__", &hash)
        .def("__getstate__", &pickled, nb::sig("def __getstate__(self) -> tuple[bytes, object]"))
        .def("__setstate__", &unpickle,
             nb::sig("def __setstate__(self, state: tuple[bytes, object], /) -> None"));
    nb::class_<FullScore>(
        m, "FullScore",
        "The log10 probability of a word, the length of its n-gram, whether it is out of the vocabulary.")
        .def(nb::init<double, int, bool>(), nb::arg("log_prob"), nb::arg("ngram_length"), nb::arg("oov"))
        .def_ro("log_prob", &FullScore::log_prob)
        .def_ro("ngram_length", &FullScore::ngram_length)
        .def_ro("oov", &FullScore::oov)
        .def(nb::self == nb::self, nb::sig("def __eq__(self, arg: object, /) -> bool"))
        .def("__repr__", [](const FullScore& score) {
            return nb::str("FullScoreReturn({}, {}, {})")
                .format(score.log_prob, score.ngram_length, score.oov);
        });
    nb::class_<DecoderModel>(
        m, "DecoderModel",
        "A model as decoders call it.\n\n"
        "`letters` and `offsets`: its vocabulary. `stepper`: the model; or else `python`, "
        "which has\nto have `score`, `full_scores`, `start` and `full_score`. "
        "`damage_error` makes an exception of\na message.")
        .def(nb::init<In<std::uint8_t>, In<std::int64_t>, std::shared_ptr<const Stepper>, nb::object,
                      nb::object>(),
             nb::arg("letters"), nb::arg("offsets"), nb::arg("stepper").none(), nb::arg("python").none(),
             nb::arg("damage_error"))
        .def("score", &DecoderModel::score, nb::arg("sentence").none(), nb::arg("bos") = true,
             nb::arg("eos") = true,
             nb::sig("def score(self, sentence: str | bytes, bos: bool = True, eos: bool = True) -> float"),
             "Return the log10 probability of a sentence, with its beginning and its end by default.")
        .def("full_scores", &DecoderModel::full_scores, nb::arg("sentence").none(), nb::arg("bos") = true,
             nb::arg("eos") = true,
             nb::sig("def full_scores(self, sentence: str | bytes, bos: bool = True, eos: bool = True) "
                     "-> collections.abc.Iterator[tuple[float, int, bool]]"),
             "Return for each word: its log10 probability, the length of its n-gram, whether it is unknown.")
        .def("perplexity", &DecoderModel::perplexity, nb::arg("sentence").none(),
             nb::sig("def perplexity(self, sentence: str | bytes) -> float"),
             "Return the perplexity of a sentence and its end.")
        .def("__contains__", &DecoderModel::contains, nb::arg("word").none(),
             nb::sig("def __contains__(self, word: str | bytes) -> bool"))
        .def(
            "BeginSentenceWrite",
            [](const DecoderModel& model, DecoderState& state) { model.start(state, true); },
            nb::arg("state"), "Set a state to the beginning of a sentence.")
        .def(
            "NullContextWrite",
            [](const DecoderModel& model, DecoderState& state) { model.start(state, false); },
            nb::arg("state"), "Set a state to one that knows of no words.")
        .def(
            "BaseScore",
            [](DecoderModel& model, const DecoderState& state, nb::handle word, DecoderState& after) {
                return model.full_score(state, word, after).log_prob;
            },
            nb::arg("in_state"), nb::arg("word").none(), nb::arg("out_state"),
            nb::sig("def BaseScore(self, in_state: DecoderState, word: str | bytes, out_state: DecoderState) "
                    "-> float"),
            "Return the log10 probability of a word after a state and write the state after it.")
        .def("BaseFullScore", &DecoderModel::full_score, nb::arg("in_state"), nb::arg("word").none(),
             nb::arg("out_state"),
             nb::sig("def BaseFullScore(self, in_state: DecoderState, word: str | bytes, "
                     "out_state: DecoderState) -> FullScore"),
             "Return what `full_scores` has for a word after a state and write the state after it.");
}

}  // namespace

void register_decoding(nb::module_& m) {
    bind_ngram_stepper(m);
    bind_category_stepper(m);
    bind_mixture_stepper(m);
    bind_model(m);
}

}  // namespace stategram
