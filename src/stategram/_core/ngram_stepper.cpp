// Back-off models word by word. A state is a node of the trie.
#include <algorithm>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "checks.hpp"
#include "ngram_check.hpp"
#include "ngram_scoring.hpp"
#include "ngram_trie.hpp"
#include "stepper.hpp"

namespace stategram {
namespace {

template <int Columns>
using Rows = nb::ndarray<const std::uint32_t, nb::shape<-1, Columns>, nb::c_contig, nb::device::cpu>;

constexpr std::size_t words_a_piece = 10;

struct Piece {
    std::size_t begin, end;
};

class NgramStepper final : public Stepper {
 public:
    NgramStepper(In<std::uint32_t> numbers, In<std::int64_t> begins, In<std::uint32_t> words, Rows<4> nodes,
                 Rows<2> leaves)
        : numbers_(std::move(numbers)),
          begins_(std::move(begins)),
          words_(std::move(words)),
          nodes_(std::move(nodes)),
          leaves_(std::move(leaves)),
          trie_(checked_view()) {
        begin_node_ = trie_.advance(0, trie_.number(begin_id)).next;
    }

    std::size_t n_words() const override { return trie_.vocabulary(); }
    std::size_t state_size() const override { return sizeof(std::uint32_t); }

    void start(bool sentence_start, std::byte* state) const override {
        store<std::uint32_t>(state, sentence_start ? begin_node_ : 0);
    }

    Step advance(const std::byte* state, std::uint32_t id, std::byte* after) const override {
        const NgramStep step = trie_.advance(node(state), trie_.number(id));
        store(after, step.next);
        prefetch_state(step.next, step.order);
        return {step.log10_prob, step.order};
    }

    // A sentence is cut into pieces, which are scored all at once: the state before a word depends on no more
    // than the order - 1 words before it, with which each piece begins.
    void score_words(bool sentence_start, const std::uint32_t* ids, std::size_t n,
                     Step* steps) const override {
        const auto lead = static_cast<std::size_t>(trie_.order() - 1);
        if (n < 2 * words_a_piece || lead > words_a_piece)
            return Stepper::score_words(sentence_start, ids, n, steps);
        std::vector<std::uint32_t> text;
        std::vector<std::int64_t> starts;
        std::vector<Piece> pieces;
        text.reserve(n + n / words_a_piece * lead);
        std::size_t known_from = 0;  // no words before this one are known
        for (std::size_t begin = 0; begin < n; begin = pieces.back().end) {
            const std::uint32_t* last = ids + std::min(begin + words_a_piece, n);
            const std::uint32_t* stop = std::find(ids + begin, last, end_id);
            const auto end = static_cast<std::size_t>((stop == last ? last : stop + 1) - ids);
            const std::size_t from = begin - std::min(begin - known_from, lead);
            starts.push_back(static_cast<std::int64_t>(text.size()));
            text.insert(text.end(), ids + from, ids + end);
            pieces.push_back({begin, end});
            if (stop != last) known_from = end;
        }
        starts.push_back(static_cast<std::int64_t>(text.size()));
        std::vector<double> log10_probs(text.size());
        std::vector<std::uint8_t> orders(text.size());
        ThreadPool pool(1);
        score_text(trie_,
                   {text.data(), text.size(), starts.data(), pieces.size(), numbers_.data(), numbers_.size(),
                    0, sentence_start ? begin_node_ : 0},
                   {log10_probs.data(), orders.data(), nullptr}, pool);
        for (std::size_t piece = 0; piece < pieces.size(); ++piece) {
            const auto [begin, end] = pieces[piece];
            const std::size_t from = static_cast<std::size_t>(starts[piece + 1]) - (end - begin);
            for (std::size_t i = begin; i < end; ++i)
                steps[i] = {log10_probs[from + i - begin], orders[from + i - begin]};
        }
    }

    Feature feature(const std::string& name) const override {
        if (name == "length")
            return [this](const std::byte* state) { return static_cast<float>(trie_.order_of(node(state))); };
        if (name == "backoff") return [this](const std::byte* state) { return trie_.backoff(node(state)); };
        return {};
    }

 private:
    TrieView checked_view() const {
        check_shape({numbers_.data(), numbers_.size(), begins_.data(), begins_.size(), words_.data(),
                     words_.size(), nodes_.data(), nodes_.shape(0), leaves_.data(), leaves_.shape(0)});
        require(numbers_.size() > end_id, "the vocabulary has no special words");
        return TrieView(numbers_.data(), numbers_.size(), begins_.data(),
                        static_cast<int>(begins_.size()) - 2, words_.data(), nodes_.data(), leaves_.data());
    }
    // A decoder has work to do before it asks for the next word: by then what is read first should be near.
    // The row of an n-gram of `order` words was just read, that of its suffix was not.
    void prefetch_state(std::uint32_t node, int order) const {
        const int words = trie_.order_of(node);
        if (words < order) return trie_.prefetch_row(node, words);
        const ChildRange range = trie_.children(node, words);
        trie_.prefetch_window(range, range.begin);
        const std::uint32_t link = trie_.link(node, words);
        trie_.prefetch_row(link, trie_.order_of(link));
    }
    std::uint32_t node(const std::byte* state) const {
        const auto node = load<std::uint32_t>(state);
        require(node < trie_.begin(trie_.order()), "the state is none of this model");
        return node;
    }

    In<std::uint32_t> numbers_;
    In<std::int64_t> begins_;
    In<std::uint32_t> words_;
    Rows<4> nodes_;
    Rows<2> leaves_;
    TrieView trie_;
    std::uint32_t begin_node_ = 0;
};

}  // namespace

void register_ngram_stepper(nb::module_& m) {
    nb::class_<NgramStepper, Stepper>(m, "NgramStepper",
                                      "A back-off model; the arrays are those of its trie.")
        .def(nb::init<In<std::uint32_t>, In<std::int64_t>, In<std::uint32_t>, Rows<4>, Rows<2>>(),
             nb::arg("numbers").noconvert(), nb::arg("begins").noconvert(), nb::arg("words").noconvert(),
             nb::arg("nodes").noconvert(), nb::arg("leaves").noconvert());
}

}  // namespace stategram
