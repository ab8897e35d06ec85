// Back-off models word by word. A state is a node of the trie.
#include <utility>

#include "arrays.hpp"
#include "checks.hpp"
#include "ngram_check.hpp"
#include "ngram_trie.hpp"
#include "stepper.hpp"

namespace stategram {
namespace {

template <int Columns>
using Rows = nb::ndarray<const std::uint32_t, nb::shape<-1, Columns>, nb::c_contig, nb::device::cpu>;

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
        return {step.log10_prob, step.order};
    }

    Feature feature(const std::string& name) const override {
        if (name == "length")
            return [this](const std::byte* state) { return static_cast<float>(trie_.order_of(node(state))); };
        if (name == "backoff")
            return [this](const std::byte* state) { return trie_.backoff(node(state)); };
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
    nb::class_<NgramStepper, Stepper>(m, "NgramStepper", "A back-off model; the arrays are those of its trie.")
        .def(nb::init<In<std::uint32_t>, In<std::int64_t>, In<std::uint32_t>, Rows<4>, Rows<2>>(),
             nb::arg("numbers").noconvert(), nb::arg("begins").noconvert(), nb::arg("words").noconvert(),
             nb::arg("nodes").noconvert(), nb::arg("leaves").noconvert());
}

}  // namespace stategram
