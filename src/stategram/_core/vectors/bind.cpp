// Vector states, as Python sees them.
#include "base/bind.hpp"

#include <nanobind/stl/pair.h>

#include "vectors/kernels.hpp"

namespace stategram {
namespace {

template <typename Learner>
auto nodes_of(const Learner& learner) {
    return learner.nodes();
}

}  // namespace

void register_vectors(nb::module_& m) {
    m.attr("VECTOR_PADDING") = vector_padding;
    m.attr("BLOCK_BYTES") = bytes_per_block;  // of so many numbers in 4 bits
    nb::class_<VectorNetwork> network(m, "VectorNetwork", "What maps the words so far to a vector.");
    nb::class_<LinearNetwork, VectorNetwork> of_linear(m, "LinearNetwork", "A linear state.");
    def_init<std::size_t, In<std::uint8_t>, In<float>, In<std::uint8_t>, In<float>, In<float>, In<float>,
             In<float>>(of_linear,
                        "n_words near_vectors near_scales far_vectors far_scales positions sums decays");
    nb::class_<RecurrentNetwork, VectorNetwork> of_recurrent(m, "RecurrentNetwork", "A recurrent state.");
    def_init<std::size_t, In<std::uint8_t>, In<float>, In<float>, In<float>>(
        of_recurrent, "n_words word_vectors word_scales matrix bias");
    using Linear = LinearLearnerKernel;
    nb::class_<Linear> linear(m, "LinearLearner", "A linear state while it is learned.");
    def_init<TreeArrays, std::vector<In<float>>, std::size_t, std::size_t, std::vector<double>,
             std::uint64_t>(linear, "trees bias width n_positions decays seed");
    def_kernel(linear, "learn", entering<&Linear::learn>, "words resets begin end first_rate last_rate",
               "Learn events of a text; return the sum of their log-probabilities by each tree.");
    linear.def("nodes", entering<&nodes_of<Linear>>);
    linear.def("near_vectors", entering<&Linear::near_vectors>);
    linear.def("far_vectors", entering<&Linear::far_vectors>);
    linear.def("positions", entering<&Linear::positions>);
    linear.def("sums", entering<&Linear::sums>);
    using Recurrent = RecurrentLearnerKernel;
    nb::class_<Recurrent> recurrent(m, "RecurrentLearner", "A recurrent state while it is learned.");
    def_init<TreeArrays, std::vector<In<float>>, std::size_t, double, double, std::uint64_t>(
        recurrent, "trees bias width input_dropout output_dropout seed");
    recurrent.def_static("n_batches", &Recurrent::n_batches, nb::arg("n_events"));
    recurrent.attr("EVENTS_PER_BATCH") = RecurrentLearner::n_streams * RecurrentLearner::n_steps;
    def_kernel(recurrent, "learn", entering<&Recurrent::learn>,
               "words resets begin end first_rates last_rates",
               "Learn batches of a text; return the sum of their log-probabilities by each tree.");
    recurrent.def("nodes", entering<&nodes_of<Recurrent>>);
    recurrent.def("word_vectors", entering<&Recurrent::word_vectors>);
    recurrent.def("matrix", entering<&Recurrent::matrix>);
    recurrent.def("bias", entering<&Recurrent::bias>);
}

}  // namespace stategram
