// Kernels of evaluation, as Python sees them.

#include "base/bind.hpp"

#include "evaluation/kernels.hpp"

namespace stategram {
namespace {

void bind_bootstrap(nb::module_& m) {
    def_kernel(
        m, "bootstrap_sums", &bootstrap_sums, "values width resamples seed threads",
        "Return the sum of each column over as many units as there are, drawn with replacement.\n"
        "\n"
        "`values` has a row of `width` numbers for each unit, the result one for each resample. Units are\n"
        "drawn alike whatever the columns are: sums of several calls with the same seed and number of units\n"
        "are those of the same resamples.");
}

void bind_distribution_rows(nb::module_& m) {
    def_kernel(m, "add_backoff_rows", &add_backoff_rows, "trie probs backoffs nodes weights rows threads",
               "Add to each row the weighted distribution of a back-off model after a node.");
    const auto def_category_rows = [&](auto function) {
        m.def("add_category_rows", function, nb::arg("of_categories").noconvert(),
              nb::arg("categories").noconvert(), nb::arg("word_probs").noconvert(), nb::arg("n_categories"),
              nb::arg("rows").noconvert(), nb::arg("threads"),
              "Add to each row the distribution over words that follows from one over categories.");
    };
    def_category_rows(&add_category_rows<float>);
    def_category_rows(&add_category_rows<double>);
    def_kernel(
        m, "row_entropies", &row_entropies, "rows masses entropies threads",
        "Return sum_i (e_i p_i - m_i p_i ln p_i) of each row p; `masses` has m and `entropies` e by column.\n"
        "\n"
        "With m = 1 and e = 0 it is the entropy in nats.");
}

}  // namespace

void register_evaluation(nb::module_& m) {
    bind_bootstrap(m);
    bind_distribution_rows(m);
}

}  // namespace stategram
