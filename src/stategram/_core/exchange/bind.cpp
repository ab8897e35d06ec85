// Exchange and hierarchies, as Python sees them.
#include "base/bind.hpp"

#include <string>
#include <vector>

#include "exchange/hierarchy.hpp"
#include "exchange/tied.hpp"
#include "exchange/two_sided.hpp"

namespace stategram {
namespace {

void bind_tied(nb::module_& m) {
    nb::class_<TiedExchange> kernel(m, "TiedExchange",
                                    "Moves words between the classes of a class bigram model.");
    def_init<In<std::int64_t>, In<std::uint32_t>, In<std::uint32_t>, In<std::int64_t>, In<std::uint32_t>,
             In<std::uint32_t>, In<std::uint32_t>, std::size_t, std::size_t, int, std::size_t>(
        kernel,
        "successor_offsets successors successor_counts predecessor_offsets predecessors predecessor_counts "
        "labels classes targets threads",
        nb::arg("shortlist") = 0);
    def_kernel(kernel, "visit", entering<&TiedExchange::visit>, "elements scales temperature seed",
               nb::arg("shortlisted") = false,
               "Propose and apply moves of the words of a batch; return the number of moves.");
    def_kernel(kernel, "propose", entering<&TiedExchange::propose>, "elements scales temperature seed",
               nb::arg("shortlisted") = false,
               "Return the target of each word by the present tables, and the noise in its favour.");
    def_kernel(kernel, "apply", entering<&TiedExchange::apply>, "elements targets noise",
               "Make the proposed moves that gain, noise included, in order; return their number.");
    def_kernel(kernel, "scores", entering<&TiedExchange::scores>, "word",
               "Return, for each class, the gain of putting the word, first taken out, into it.");
    def_kernel(kernel, "labels", entering<&TiedExchange::labels>, "", "Return the class of each word.");
    kernel.def_prop_ro("criterion", entering<&TiedExchange::criterion>,
                       "The criterion, kept up to date move by move.");
    def_kernel(
        kernel, "recompute_criterion", entering<&TiedExchange::recompute_criterion>, "",
        "Compute the criterion from the tables, without the rounding errors of many moves; return it.");
}

template <Which which>
void bind_side(nb::class_<TwoSidedExchange>& kernel, const std::string& elements, const std::string& element,
               const char* labels) {
    using Kernel = TwoSidedExchange;
    def_kernel(kernel, ("visit_" + elements).c_str(), entering<&Kernel::visit<which>>,
               "elements scales temperature seed", nb::arg("shortlisted") = false,
               "Propose and apply moves of the elements of a batch; return the number of moves.");
    def_kernel(kernel, ("propose_" + elements).c_str(), entering<&Kernel::propose<which>>,
               "elements scales temperature seed", nb::arg("shortlisted") = false,
               "Return the target of each element by the present tables, and the noise in its favour.");
    def_kernel(kernel, ("apply_" + elements).c_str(), entering<&Kernel::apply<which>>,
               "elements targets noise",
               "Make the proposed moves that gain, noise included, in order; return their number.");
    def_kernel(kernel, (element + "_scores").c_str(), entering<&Kernel::scores<which>>, "element",
               "Return, for each cluster, the gain of putting the element, first taken out, into it; up to a "
               "constant.");
    def_kernel(kernel, (element + "_gains").c_str(), entering<&Kernel::gains<which>>, "target",
               "Return, for each element, the gain of moving it, and no other, to the target.");
    def_kernel(kernel, labels, entering<&Kernel::labels<which>>, "", "Return the cluster of each element.");
}

void bind_two_sided(nb::module_& m) {
    m.attr("SPARSE_FACTOR") = CountTable::sparse_factor;
    nb::class_<TwoSidedExchange> kernel(m, "TwoSidedExchange",
                                        "Moves contexts between states and words between categories.");
    def_init<In<std::int64_t>, In<std::uint32_t>, In<std::uint32_t>, In<std::int64_t>, In<std::uint32_t>,
             In<std::uint32_t>, In<std::uint32_t>, In<std::uint32_t>, std::size_t, std::size_t, std::size_t,
             std::size_t, bool, int, std::size_t>(
        kernel,
        "word_offsets words word_counts context_offsets contexts context_counts states categories n_states "
        "state_targets n_categories category_targets states_move threads",
        nb::arg("shortlist") = 0);
    bind_side<Which::words>(kernel, "words", "word", "categories");
    bind_side<Which::contexts>(kernel, "contexts", "context", "states");
    def_kernel(kernel, "leave_one_out", entering<&TwoSidedExchange::leave_one_out>, "",
               "Switch to the criterion of leaving-one-out, with b of the present counts; return it.");
    kernel.def_prop_ro("b", entering<&TwoSidedExchange::b>, "The b of leaving-one-out.");
    kernel.def_prop_ro("criterion", entering<&TwoSidedExchange::criterion>,
                       "The criterion, kept up to date move by move.");
    def_kernel(
        kernel, "recompute_criterion", entering<&TwoSidedExchange::recompute_criterion>, "",
        "Compute the criterion from the tables, without the rounding errors of many moves; return it.");
    kernel.def_prop_ro("likelihood", entering<&TwoSidedExchange::likelihood>,
                       "The criterion of maximum likelihood; under leaving-one-out, when b was last taken.");
}

Out<std::int64_t> merges(const HierarchyBuilder& builder) { return std::vector(builder.merges); }
Out<double> losses(const HierarchyBuilder& builder) { return std::vector(builder.losses); }

void bind_hierarchy(nb::module_& m) {
    nb::class_<HierarchyBuilder> builder(
        m, "HierarchyBuilder",
        "Merges classes two by two, each time with the least loss of average mutual information.");
    def_init<Matrix<std::int64_t>, std::size_t>(builder, "counts mergeable");
    def_kernel(builder, "run", entering<&HierarchyBuilder::run>, "most",
               "Do up to `most` mergers; return the number still to be done.");
    def_kernel(builder, "merges", entering<&merges>, "",
               "Return the names of the two clusters of each merger, one after the other.");
    def_kernel(builder, "losses", entering<&losses>, "",
               "Return the fall of the criterion, in nats, of each merger.");
}

}  // namespace

void register_exchange(nb::module_& m) {
    bind_tied(m);
    bind_two_sided(m);
    bind_hierarchy(m);
}

}  // namespace stategram
