// Back-off models for Python: the arrays are checked once, then read.
#include <nanobind/stl/tuple.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "checks.hpp"
#include "ngram_check.hpp"
#include "ngram_scoring.hpp"
#include "ngram_trie.hpp"
#include "trie_builder.hpp"

namespace stategram {
namespace {

template <int Columns>
using Rows = nb::ndarray<const std::uint32_t, nb::shape<-1, Columns>, nb::c_contig, nb::device::cpu>;

class TrieReader {
 public:
    TrieReader(In<std::uint32_t> numbers, In<std::int64_t> begins, In<std::uint32_t> words, Rows<4> nodes,
               Rows<2> leaves)
        : numbers_(std::move(numbers)),
          begins_(std::move(begins)),
          words_(std::move(words)),
          nodes_(std::move(nodes)),
          leaves_(std::move(leaves)),
          trie_(checked_view()) {}

    void check(int threads) const {
        nb::gil_scoped_release release;
        ThreadPool pool(threads);
        check_ngrams(arrays(), pool);
    }

    auto score_events(In<std::uint32_t> ids, In<std::int64_t> sentence_starts, In<std::uint32_t> id_map,
                      std::uint32_t begin_state, std::uint32_t first_state, bool with_states,
                      int threads) const {
        const std::size_t size = ids.size(), n_states = with_states ? size : 0;
        check_state(begin_state);
        check_state(first_state);
        check_text(ids, sentence_starts, id_map);
        std::unique_ptr<double[]> log10_probs(new double[size]);
        std::unique_ptr<std::uint8_t[]> orders(new std::uint8_t[size]);
        std::unique_ptr<std::uint32_t[]> states(new std::uint32_t[n_states]);
        {
            nb::gil_scoped_release release;
            ThreadPool pool(threads);
            const ScoredText text{ids.data(),
                                  ids.size(),
                                  sentence_starts.data(),
                                  sentence_starts.size() - 1,
                                  id_map.data(),
                                  id_map.size(),
                                  begin_state,
                                  first_state};
            score_text(trie_, text, {log10_probs.get(), orders.get(), with_states ? states.get() : nullptr},
                       pool);
        }
        return std::tuple(to_numpy(std::move(log10_probs), size), to_numpy(std::move(orders), size),
                          to_numpy(std::move(states), n_states));
    }

    auto advance_state(std::uint32_t node, std::uint32_t number) const {
        check_state(node);
        const NgramStep step = advance(node, number);
        return std::tuple(step.log10_prob, step.next, step.order);
    }

    auto score_words(std::uint32_t node, In<std::uint32_t> numbers) const {
        check_state(node);
        std::vector<double> log10_probs;
        std::vector<std::uint8_t> orders;
        for (std::size_t i = 0; i < numbers.size(); ++i) {
            const NgramStep step = advance(node, numbers(i));
            log10_probs.push_back(step.log10_prob);
            orders.push_back(static_cast<std::uint8_t>(step.order));
            node = step.next;
        }
        return std::tuple(to_numpy(std::move(log10_probs)), to_numpy(std::move(orders)));
    }

    std::uint32_t history_state(In<std::uint32_t> numbers) const {
        std::uint32_t node = 0;
        for (std::size_t i = 0; i < numbers.size(); ++i) node = advance(node, numbers(i)).next;
        return node;
    }

    // From the root to the node: the probabilities of a shorter history times the back-off weight, but for
    // the words that the longer one has itself.
    Out<double> distribution(std::uint32_t node) const {
        check_state(node);
        const std::size_t size = trie_.vocabulary();
        std::vector<double> by_number(size), probabilities(size);
        {
            nb::gil_scoped_release release;
            std::vector<std::pair<std::uint32_t, int>> chain;
            for (int words = trie_.order_of(node); words > 0; words = trie_.order_of(node)) {
                chain.emplace_back(node, words);
                node = trie_.link(node, words);
            }
            for (std::uint32_t number = 0; number < trie_.vocabulary(); ++number)
                by_number[number] = std::pow(10.0, double{trie_.log_prob(1 + number, 1)});
            for (; !chain.empty(); chain.pop_back()) {
                const auto [longer, words] = chain.back();
                const double weight = std::pow(10.0, double{trie_.backoff(longer)});
                for (double& probability : by_number) probability *= weight;
                const ChildRange range = trie_.children(longer, words);
                for (std::uint32_t child = range.begin; child < range.end; ++child) {
                    if (trie_.word(child) >= size)
                        throw_damaged("the number of a word is not below the vocabulary");
                    by_number[trie_.word(child)] = std::pow(10.0, double{trie_.log_prob(child, words + 1)});
                }
            }
            for (std::size_t id = 0; id < size; ++id) probabilities[id] = by_number[trie_.number(id)];
        }
        return to_numpy(std::move(probabilities));
    }

 private:
    void check_text(const In<std::uint32_t>& ids, const In<std::int64_t>& sentence_starts,
                    const In<std::uint32_t>& id_map) const {
        check_offsets(sentence_starts, ids.size(), "the sentences do not cover the events");
        check_below(id_map, trie_.vocabulary(), "a number is not below the vocabulary");
    }
    TrieArrays arrays() const {
        return {numbers_.data(), numbers_.size(), begins_.data(),  begins_.size(), words_.data(),
                words_.size(),   nodes_.data(),   nodes_.shape(0), leaves_.data(), leaves_.shape(0)};
    }
    TrieView checked_view() const {
        check_shape(arrays());
        return TrieView(numbers_.data(), numbers_.size(), begins_.data(),
                        static_cast<int>(begins_.size()) - 2, words_.data(), nodes_.data(), leaves_.data());
    }
    void check_number(std::uint32_t number) const {
        require(number < trie_.vocabulary(), "a number is not below the vocabulary");
    }
    void check_state(std::uint32_t node) const {
        require(node < trie_.begin(trie_.order()), "no such state");
    }
    NgramStep advance(std::uint32_t node, std::uint32_t number) const {
        check_number(number);
        return trie_.advance(node, number);
    }

    In<std::uint32_t> numbers_;
    In<std::int64_t> begins_;
    In<std::uint32_t> words_;
    Rows<4> nodes_;
    Rows<2> leaves_;
    TrieView trie_;
};

// Sets the links of a trie whose other values are there.
void set_links(In<std::uint32_t> numbers, In<std::int64_t> begins, In<std::uint32_t> words,
               InOut<std::uint32_t> nodes, InOut<std::uint32_t> leaves, int threads) {
    nb::gil_scoped_release release;
    ThreadPool pool(threads);
    check_ngrams({numbers.data(), numbers.size(), begins.data(), begins.size(), words.data(), words.size(),
                  nodes.data(), nodes.size() / 4, leaves.data(), leaves.size() / 2},
                 pool);
    link_trie({begins.data(), begins.data() + begins.size()}, static_cast<std::uint32_t>(numbers.size()),
              words.data(), nodes.data(), leaves.data(), pool);
}

}  // namespace

void register_ngrams(nb::module_& m) {
    nb::exception<DamagedModel>(m, "DamagedModel", PyExc_ValueError);
    m.def("set_links", &set_links, nb::arg("numbers").noconvert(), nb::arg("begins").noconvert(),
          nb::arg("words").noconvert(), nb::arg("nodes").noconvert(), nb::arg("leaves").noconvert(),
          nb::arg("threads"), "Set the links of a trie whose other values are there.");
    nb::class_<TrieReader>(m, "TrieReader", "Reads the arrays of a back-off model; their shapes are checked.")
        .def(nb::init<In<std::uint32_t>, In<std::int64_t>, In<std::uint32_t>, Rows<4>, Rows<2>>(),
             nb::arg("numbers").noconvert(), nb::arg("begins").noconvert(), nb::arg("words").noconvert(),
             nb::arg("nodes").noconvert(), nb::arg("leaves").noconvert())
        .def("check", &TrieReader::check, nb::arg("threads"),
             "Check every n-gram; ValueError says what is wrong.")
        .def(
            "score_events", &TrieReader::score_events, nb::arg("ids").noconvert(),
            nb::arg("sentence_starts").noconvert(), nb::arg("id_map").noconvert(), nb::arg("begin_state"),
            nb::arg("first_state"), nb::arg("with_states"), nb::arg("threads"),
            "Return for each event its log10 probability, the length of its n-gram and, if wanted, the state "
            "before it.\n"
            "\n"
            "`id_map` has the trie's number of each id. The first sentence starts from `first_state`, the "
            "others "
            "from\n`begin_state`.")
        .def("advance", &TrieReader::advance_state, nb::arg("node"), nb::arg("number"),
             "Return the log10 probability of a word, the next state, the length of the n-gram.")
        .def("score_words", &TrieReader::score_words, nb::arg("node"), nb::arg("numbers").noconvert(),
             "Return the log10 probability and the length of the n-gram of each word after a state.")
        .def("history_state", &TrieReader::history_state, nb::arg("numbers").noconvert(),
             "Return the longest suffix of a history that can be continued.")
        .def("distribution", &TrieReader::distribution, nb::arg("node"),
             "Return the probability of each word after a state, by its id.");
}

}  // namespace stategram
