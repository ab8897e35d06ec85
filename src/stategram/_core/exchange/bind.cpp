// Exchange and hierarchies, as Python sees them.
#include <stdexcept>
#include <vector>

#include "base/arrays.hpp"
#include "base/threads.hpp"
#include "exchange/hierarchy.hpp"

namespace stategram {

// In tied.cpp and two_sided.cpp, beside their classes: a sweep and all that it calls are compiled together.
void bind_tied_exchange(nb::module_& m);
void bind_two_sided_exchange(nb::module_& m);

namespace {

using Square = nb::ndarray<const std::int64_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void bind_hierarchy(nb::module_& m) {
    nb::class_<HierarchyBuilder>(
        m, "HierarchyBuilder",
        "Merges classes two by two, each time with the least loss of average mutual information.")
        .def(
            "__init__",
            [](HierarchyBuilder* self, Square counts, std::size_t mergeable) {
                if (counts.shape(0) != counts.shape(1))
                    throw std::invalid_argument("the class bigram counts are not a square");
                if (mergeable > counts.shape(0))
                    throw std::invalid_argument("more mergeable classes than rows");
                nb::gil_scoped_release release;
                new (self) HierarchyBuilder(counts.data(), counts.shape(0), mergeable);
            },
            nb::arg("counts").noconvert(), nb::arg("mergeable"))
        .def(
            "run",
            [](HierarchyBuilder& self, std::size_t most) {
                nb::gil_scoped_release release;
                BusyGuard guard(self.busy);
                return self.run(most);
            },
            nb::arg("most"), "Do up to `most` mergers; return the number still to be done.")
        .def(
            "merges",
            [](HierarchyBuilder& self) {
                BusyGuard guard(self.busy);
                return to_numpy(std::vector(self.merges));
            },
            "Return the names of the two clusters of each merger, one after the other.")
        .def(
            "losses",
            [](HierarchyBuilder& self) {
                BusyGuard guard(self.busy);
                return to_numpy(std::vector(self.losses));
            },
            "Return the fall of the criterion, in nats, of each merger.")
        .def_prop_ro(
            "evaluations",
            [](HierarchyBuilder& self) {
                BusyGuard guard(self.busy);
                return self.evaluations;
            },
            "How many exact losses were computed.");
}

}  // namespace

void register_exchange(nb::module_& m) {
    bind_tied_exchange(m);
    bind_two_sided_exchange(m);
    bind_hierarchy(m);
}

}  // namespace stategram
