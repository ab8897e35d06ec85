#include "word_tree/stepper.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/checks.hpp"
#include "base/damaged_model.hpp"

namespace stategram {
namespace {

constexpr int history = 0;  // the sentence

// In the place of words: the sentence has not begun, or what was there is not known.
constexpr std::uint32_t before_sentence = UINT32_MAX - 1, not_known = UINT32_MAX;

constexpr float max_number = 1e9F;  // of a network's state

bool are_numbers(const float* values, std::size_t n) {
    bool all = true;
    for (std::size_t i = 0; i < n; ++i) all &= std::fabs(values[i]) < max_number;
    return all;
}

void copy_bytes(const float* values, std::size_t n, std::byte* to) {
    std::copy_n(reinterpret_cast<const std::byte*>(values), n * sizeof(float), to);
}

}  // namespace

class TreeStepper::Lease {
 public:
    explicit Lease(const TreeStepper& stepper) : stepper_(stepper) {
        {
            const std::lock_guard guard(stepper.mutex_);
            if (!stepper.free_.empty()) {
                scratch_ = std::move(stepper.free_.back());
                stepper.free_.pop_back();
            }
        }
        if (!scratch_) scratch_ = std::make_unique<Scratch>(stepper);
    }
    ~Lease() {
        const std::lock_guard guard(stepper_.mutex_);
        stepper_.free_.push_back(std::move(scratch_));
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    Scratch& operator*() const { return *scratch_; }

 private:
    const TreeStepper& stepper_;
    std::unique_ptr<Scratch> scratch_;
};

TreeStepper::Scratch::Scratch(const TreeStepper& stepper)
    : state(stepper.state_size()),
      words(stepper.reach_),
      networks(stepper.model().vectors().state_size()),
      values(stepper.n_streams_, no_value),
      rows(stepper.model(), history) {
    for (const std::uint32_t& value : values) streams.push_back(&value);
}

TreeStepper::TreeStepper(std::shared_ptr<const TreeModelKernel> kernel, Labels labels, States states,
                         const Streams& streams, In<std::uint32_t> classes, std::vector<In<float>> weights,
                         In<double> tree_weights)
    : kernel_(std::move(kernel)),
      labels_(std::move(labels)),
      states_(std::move(states)),
      n_streams_(streams.size()),
      classes_(std::move(classes)),
      weights_(std::move(weights)),
      tree_weights_(std::move(tree_weights)) {
    const TreeEvidence& evidence = model().evidence();
    n_words_ = evidence.tree(0).n_words();
    require(n_words_ > end_id, "the vocabulary has no special words");
    require(n_streams_ == evidence.n_streams(), "each stream needs its source");
    for (const In<std::uint32_t>& of : labels_)
        require(of.size() == n_words_, "each word needs a label of each set");
    for (const auto& tree : states_)
        require(tree && tree->n_words() == n_words_, "the states are not those of contexts of the words");
    require(classes_.size() == 0 || classes_.size() == n_words_, "each word needs its class");
    require(model().n_classes() > 0, "the last word needs a class");
    require(weights_.size() == evidence.n_trees() && tree_weights_.size() == evidence.n_trees(),
            "each tree needs weights");
    for (const In<float>& of : weights_)
        require(of.size() == model().shape(history).size(), "there are too few or too many weights");
    std::vector<bool> used(n_streams_);
    for (std::size_t c = 0; c < evidence.n_chains(false); ++c)
        for (const std::uint32_t stream : evidence.chains()[c].streams) used[stream] = true;
    for (std::size_t i = 0; i < n_streams_; ++i) {
        const auto [source, distance] = streams[i];
        require(source < static_cast<std::int64_t>(labels_.size() + states_.size()) && distance >= 1 &&
                    distance <= INT16_MAX,
                "a stream has no source");
        if (source < 0 || !used[i]) continue;
        const Value value{i, static_cast<std::size_t>(source), static_cast<std::size_t>(distance)};
        values_.push_back(value);
        const std::size_t width =
            value.source < labels_.size() ? 1 : states_[value.source - labels_.size()]->width();
        reach_ = std::max(reach_, value.distance - 1 + width);
    }
    const std::size_t n_numbers = model().vectors().state_size();
    std::vector<float> numbers(n_numbers);
    const auto make = [&](std::uint32_t place, std::vector<std::byte>& state) {
        state.resize(words_size() + n_numbers * sizeof(float));
        for (std::size_t at = 0; at < words_size(); at += sizeof place) store(state.data() + at, place);
        copy_bytes(numbers.data(), numbers.size(), state.data() + words_size());
    };
    model().vectors().start(numbers.data());
    make(before_sentence, begin_state_);
    model().vectors().clear(numbers.data());
    make(not_known, null_state_);
}

void TreeStepper::start(bool sentence_start, std::byte* state) const {
    const std::vector<std::byte>& from = sentence_start ? begin_state_ : null_state_;
    std::copy(from.begin(), from.end(), state);
}

Step TreeStepper::advance(const std::byte* state, std::uint32_t id, std::byte* after) const {
    const Lease lease(*this);
    Scratch& scratch = *lease;
    double log10_prob = -std::numeric_limits<double>::infinity();  // of <s>, which is never predicted
    if (!scratch.is_ready || std::memcmp(scratch.state.data(), state, state_size()) != 0)
        prepare(state, scratch);
    if (id != begin_id) log10_prob = this->log10_prob(id, scratch);
    if (id == end_id) {
        start(true, after);
        return {log10_prob, 0};
    }
    store(after, id);
    std::memcpy(after + sizeof id, state, words_size() - sizeof id);
    copy_bytes(scratch.networks.data(), scratch.networks.size(), after + words_size());
    return {log10_prob, 0};
}

void TreeStepper::prepare(const std::byte* state, Scratch& scratch) const {
    scratch.is_ready = false;
    std::memcpy(scratch.state.data(), state, state_size());
    std::memcpy(scratch.words.data(), state, words_size());
    std::copy_n(state + words_size(), state_size() - words_size(),
                reinterpret_cast<std::byte*>(scratch.networks.data()));
    for (const std::uint32_t word : scratch.words)
        require(word < n_words_ || word >= before_sentence, "the state is none of this model");
    require(are_numbers(scratch.networks.data(), scratch.networks.size()), "the state is none of this model");
    if (const std::uint32_t last = scratch.words[0]; last < n_words_)
        model().vectors().read(last == begin_id ? unknown_id : last, scratch.networks.data());
    find_values(scratch);
    const TreeEvidence& evidence = model().evidence();
    EventContexts& contexts = scratch.rows.contexts[0];
    evidence.hash(scratch.streams.data(), 0, evidence.n_chains(false), contexts);
    evidence.prefetch_directories(contexts);
    scratch.vectors = model().vectors().vectors_of(scratch.networks.data());
    evidence.prefetch_buckets(contexts);
    try {
        evidence.find(contexts);
    } catch (const std::invalid_argument& error) {
        throw_damaged(error.what());
    }
    scratch.is_ready = true;
}

// As ValueSources.streams (models/word_tree/values.py) finds them.
void TreeStepper::find_values(Scratch& scratch) const {
    const std::vector<std::uint32_t>& words = scratch.words;
    const auto is_word = [&](std::uint32_t word) { return word < n_words_; };
    const auto n_known =
        static_cast<std::size_t>(std::find_if_not(words.begin(), words.end(), is_word) - words.begin());
    // The label of the word `distance` positions back; in front of the first word is <s>.
    const auto label = [&](const In<std::uint32_t>& labels, std::size_t distance) {
        if (distance <= n_known) return labels[words[distance - 1]];
        const bool is_begin = distance == n_known + 1 && words[n_known] == before_sentence;
        return is_begin ? labels[begin_id] : no_value;
    };
    const auto state_of = [&](const StateTree& tree, std::size_t distance) {
        const std::size_t first = distance - 1;  // of the words of the context
        if (first > n_known || words[first + tree.width() - 1] == not_known) return no_value;
        std::array<ContextState, StateTree::most_levels> levels;
        tree.find(
            [&](std::size_t back) {
                const std::uint32_t word = words[first + back - 1];
                return is_word(word) ? word : begin_id;
            },
            levels.data());
        return levels[tree.depth() - 1].state;
    };
    for (const auto& [stream, source, distance] : values_)
        scratch.values[stream] = source < labels_.size()
                                     ? label(labels_[source], distance)
                                     : state_of(*states_[source - labels_.size()], distance);
    const auto none = static_cast<std::uint32_t>(model().n_classes() - 1);
    scratch.of_class = classes_.size() == 0 ? 0 : std::min(label(classes_, 1), none);
}

double TreeStepper::log10_prob(std::uint32_t word, Scratch& scratch) const {
    const TreeEvidence& evidence = model().evidence();
    EventContexts& contexts = scratch.rows.contexts[0];
    require_sound(evidence.tree(0).length(word) > 0, "a word is not in its trees");
    for (std::size_t t = 0; t < evidence.n_trees(); ++t)
        model().vectors().prefetch(t, evidence.tree(t).path(word), evidence.tree(t).length(word));
    double prob = 0;
    try {
        evidence.walk(word, contexts);
        evidence.collect(word, contexts, evidence.n_chains(false), nullptr, scratch.rows.rows.data());
    } catch (const std::invalid_argument& error) {
        throw_damaged(error.what());
    }
    const TextEvents text{&word, {}, &scratch.of_class, nullptr};
    for (std::size_t t = 0; t < evidence.n_trees(); ++t) {
        const EvidenceRows& rows = scratch.rows.rows[t];
        const WordTree& tree = evidence.tree(t);
        model().vectors().write(t, tree.path(word), tree.length(word), scratch.vectors, 0,
                                rows.x + n_root_inputs, rows.stride);
        prob += tree_weights_[t] *
                std::exp(model().log_prob(t, text, 0, rows, model().shape(history), weights_[t].data()));
    }
    require_sound(!std::isnan(prob), "a score is not a number");
    return std::log10(prob);
}

}  // namespace stategram
