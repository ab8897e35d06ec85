// Models as decoders call them, with the names and the meaning of KenLM's Python module (kenlm.py).
//
// A call is often shorter than what Python needs for the call itself: so nothing here goes through Python
// unless a model has no stepper.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/bind.hpp"
#include "base/checks.hpp"
#include "base/damaged_model.hpp"
#include "base/stepper.hpp"
#include "decoding/state.hpp"
#include "text/word_table.hpp"

namespace stategram {

// Scoring a shorter sentence is done before another thread could have taken the lock and given it back.
constexpr std::size_t bytes_for_release = 1000;

constexpr double log10_of_zero = -99.0;  // as in ARPA files

inline double finite(double log10_prob) { return log10_prob > -HUGE_VAL ? log10_prob : log10_of_zero; }

// The UTF-8 of a str, or bytes as they are, for as long as the Python object lives.
class Letters {
 public:
    explicit Letters(nb::handle given) {
        Py_ssize_t size = 0;
        if (PyUnicode_Check(given.ptr())) {
            const char* letters = PyUnicode_AsUTF8AndSize(given.ptr(), &size);
            if (letters != nullptr) {
                view_ = {letters, static_cast<std::size_t>(size)};
                return;
            }
            // Half of a surrogate pair: no word of a vocabulary has one.
            if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) throw nb::python_error();
            PyErr_Clear();
            encoded_ = nb::steal(PyUnicode_AsEncodedString(given.ptr(), "utf-8", "surrogatepass"));
            if (!encoded_.is_valid()) throw nb::python_error();
            given = encoded_;
        } else if (!PyBytes_Check(given.ptr())) {
            const std::string type = nb::str(given.type()).c_str();
            throw nb::type_error(("Cannot convert " + type + " to string").c_str());
        }
        char* letters = nullptr;
        if (PyBytes_AsStringAndSize(given.ptr(), &letters, &size) != 0) throw nb::python_error();
        view_ = {letters, static_cast<std::size_t>(size)};
    }
    std::string_view view() const { return view_; }

 private:
    nb::object encoded_;
    std::string_view view_;
};

// As bytes.split() sees it.
inline bool is_ascii_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

struct FullScore {
    double log_prob;
    int ngram_length;
    bool oov;
    bool operator==(const FullScore&) const = default;
};

struct ScoredSentence {
    std::vector<std::uint32_t> ids;
    std::vector<Step> steps;
};

class DecoderModel {
 public:
    DecoderModel(In<std::uint8_t> letters, In<std::int64_t> offsets, std::shared_ptr<const Stepper> stepper,
                 nb::object python, nb::object damage_error)
        : letters_(std::move(letters)),
          offsets_(std::move(offsets)),
          stepper_(std::move(stepper)),
          python_(std::move(python)),
          damage_error_(std::move(damage_error)) {
        check_offsets(offsets_, letters_.size(), "the words do not cover their letters");
        require(offsets_.size() > end_id + 1, "the vocabulary has no special words");
        require(!stepper_ || stepper_->n_words() == offsets_.size() - 1,
                "the vocabulary is not that of the model");
        require(stepper_ || !python_.is_none(), "a model needs a stepper, or one in Python");
    }

    double score(nb::handle sentence, bool bos, bool eos) {
        if (!stepper_) return nb::cast<double>(python_.attr("score")(sentence, bos, eos));
        double sum = 0;
        for (const Step& step : score_words(sentence, bos, eos).steps) sum += finite(step.log10_prob);
        return sum;
    }

    nb::iterator full_scores(nb::handle sentence, bool bos, bool eos) {
        if (!stepper_) return nb::iter(python_.attr("full_scores")(sentence, bos, eos));
        const auto [ids, steps] = score_words(sentence, bos, eos);
        nb::list list = nb::steal<nb::list>(PyList_New(static_cast<Py_ssize_t>(ids.size())));
        if (!list.is_valid()) throw nb::python_error();
        for (std::size_t i = 0; i < ids.size(); ++i) {
            nb::object one =
                nb::make_tuple(finite(steps[i].log10_prob), steps[i].order, ids[i] == unknown_id);
            PyList_SetItem(list.ptr(), static_cast<Py_ssize_t>(i), one.release().ptr());
        }
        return nb::iter(list);
    }

    double perplexity(nb::handle sentence) {
        const Letters letters(sentence);
        std::size_t words = 1;
        char before = ' ';
        for (const char c : letters.view()) {
            words += is_ascii_space(before) && !is_ascii_space(c);
            before = c;
        }
        return std::pow(10.0, -score(sentence, true, true) / static_cast<double>(words));
    }

    bool contains(nb::handle word) { return id_of(Letters(word).view()) != unknown_id; }

    void start(DecoderState& state, bool sentence_start) const {
        if (!stepper_) {
            state.of_python = python_.attr("start")(sentence_start);
            state.resize(0);
            return;
        }
        stepper_->start(sentence_start, state.resize(stepper_->state_size()));
    }

    FullScore full_score(const DecoderState& state, nb::handle word, DecoderState& after) {
        if (!stepper_) return python_full_score(state, word, after);
        const std::size_t size = stepper_->state_size();
        const std::uint32_t id = id_of(Letters(word).view());
        const std::byte* from = state.data();
        std::optional<StateMemory> copy;  // of a state that is overwritten, or that was never set
        if (&state == &after || state.size() != size) {
            require(state.size() == size || state.size() == 0, "the state is none of this model");
            copy.emplace(size);
            if (state.size() == 0)
                stepper_->start(false, copy->data());
            else
                std::copy_n(state.data(), size, copy->data());
            from = copy->data();
        }
        std::byte* to = after.resize(size);
        const Step step = guarded([&] { return stepper_->advance(from, id, to); });
        if (id == end_id) stepper_->start(false, to);  // KenLM does not start a sentence by itself
        return {finite(step.log10_prob), step.order, id == unknown_id};
    }

 private:
    // Scores the words of a sentence, without the lock of Python if it is long.
    ScoredSentence score_words(nb::handle sentence, bool bos, bool eos) {
        const Letters letters(sentence);
        const WordTable& table = words();
        ScoredSentence scored;
        const auto all = [&] {
            find_all(table, letters.view(), scored.ids);
            if (eos) scored.ids.push_back(end_id);
            scored.steps.resize(scored.ids.size());
            stepper_->score_words(bos, scored.ids.data(), scored.ids.size(), scored.steps.data());
        };
        guarded([&] {
            if (letters.view().size() < bytes_for_release) return all();
            nb::gil_scoped_release release;
            all();
        });
        return scored;
    }

    FullScore python_full_score(const DecoderState& state, nb::handle word, DecoderState& after) const {
        const nb::object before = state.of_python.is_valid() ? state.of_python : nb::none();
        const nb::object found = python_.attr("full_score")(before, word);
        after.resize(0);
        after.of_python = found[1];
        return {nb::cast<double>(found[0]), nb::cast<int>(found[2]), nb::cast<bool>(found[3])};
    }

    // Runs what may find the model damaged, which then is an error of Python that names its file.
    template <typename Run>
    std::invoke_result_t<Run> guarded(const Run& run) const {
        try {
            return run();
        } catch (const DamagedModel& damage) {
            const nb::object error = damage_error_(damage.what());
            PyErr_SetObject(error.type().ptr(), error.ptr());
            throw nb::python_error();
        }
    }

    std::uint32_t id_of(std::string_view word) { return find(words(), word); }

    static std::uint32_t find(const WordTable& table, std::string_view word) {
        const std::uint64_t key = key_of(word);
        return find(table, {word, key, spread(key)});
    }

    struct Lookup {
        std::string_view word;
        std::uint64_t key, spread_key;
    };

    static std::uint32_t find(const WordTable& table, const Lookup& of) {
        // The keys of words are filled up with NULs, of which no word has one.
        if (of.word.empty() || of.word.back() == '\0') return unknown_id;
        const std::uint32_t id = table.find(of.word, of.key, of.spread_key);
        return id == WordTable::absent ? unknown_id : id;
    }

    // The ids of the words of a text. Each is looked up some words after its place was asked for.
    static void find_all(const WordTable& table, std::string_view text, std::vector<std::uint32_t>& ids) {
        constexpr std::size_t ahead = 8;
        std::array<Lookup, ahead> waiting;
        std::size_t met = 0;
        ids.reserve(text.size() / 4 + 2);
        const char *at = text.data(), *end = at + text.size();
        for (;;) {
            while (at < end && is_ascii_space(*at)) ++at;
            if (at == end) break;
            const char* begin = at;
            while (at < end && !is_ascii_space(*at)) ++at;
            const std::string_view word(begin, static_cast<std::size_t>(at - begin));
            Lookup& place = waiting[met % ahead];
            if (met >= ahead) ids.push_back(find(table, place));
            const std::uint64_t key = key_of(word);
            place = {word, key, spread(key)};
            table.prefetch(place.spread_key);
            ++met;
        }
        for (std::size_t i = met - std::min(met, ahead); i < met; ++i)
            ids.push_back(find(table, waiting[i % ahead]));
    }

    // Built when the first word is looked up: a model that is only opened stays as it was mapped.
    const WordTable& words() {
        if (!table_) {
            auto table = std::make_unique<WordTable>();
            const auto* letters = reinterpret_cast<const char*>(letters_.data());
            for (std::size_t i = 0; i + 1 < offsets_.size(); ++i)
                require(table->find_or_add({letters + offsets_[i],
                                            static_cast<std::size_t>(offsets_[i + 1] - offsets_[i])}) == i,
                        "a word is twice in the vocabulary");
            table_ = std::move(table);
        }
        return *table_;
    }

    In<std::uint8_t> letters_;
    In<std::int64_t> offsets_;
    std::shared_ptr<const Stepper> stepper_;
    nb::object python_, damage_error_;
    std::unique_ptr<const WordTable> table_;
};

}  // namespace stategram
