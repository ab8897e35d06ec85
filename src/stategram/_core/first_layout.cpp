// Levels of chains as the first version of word tree models stored them, brought to the layout of today.
//
// An entry was 24 bits of the hash, the length of its list in bytes, and the list, also of contexts seen
// once; longer contexts had entries of their own. A long list was records of five numbers: a node, or none
// for a short list; records to its right side, or bytes of the short list; words on its left side, or where
// the short list begins; their counts and their contexts.
#include <nanobind/stl/tuple.h>

#include <bit>
#include <vector>

#include "chain_level_writer.hpp"
#include "checks.hpp"

namespace stategram {
namespace {

constexpr std::size_t record_width = 5;

class FirstLayout {
 public:
    FirstLayout(In<std::int64_t> begins, In<std::uint32_t> records, In<std::uint8_t> bytes, bool is_last)
        : begins_(begins.data()),
          n_lists_(begins.size() - 1),
          records_(records.data()),
          bytes_(bytes.data()),
          n_bytes_(bytes.size()),
          is_last_(is_last) {}

    void read_list(const std::uint8_t* at, std::size_t size, std::vector<Follower>& followers) const {
        const std::uint8_t* end = at + size;
        std::uint32_t word = 0;
        while (at != end) {
            std::uint32_t number;
            at = read_number(at, end, number);
            word += number >> 1;
            Follower one{word, 1, 1};
            if ((number & 1U) != 0) {
                at = read_number(at, end, one.count);
                one.contexts = one.count += 2;
                if (!is_last_) {
                    at = read_number(at, end, one.contexts);
                    ++one.contexts;
                }
            }
            followers.push_back(one);
        }
    }

    void read_long_list(std::uint32_t number, std::vector<Follower>& followers) const {
        require(number < n_lists_, "a long list is missing");
        for (std::int64_t i = begins_[number] + 1; i < begins_[number + 1]; ++i) {
            const std::uint32_t* record = records_ + static_cast<std::size_t>(i) * record_width;
            if (record[0] != no_value) continue;
            require(std::size_t{record[2]} + record[1] <= n_bytes_, "a part of a long list is missing");
            read_list(bytes_ + record[2], record[1], followers);
        }
        std::sort(followers.begin(), followers.end(),
                  [](const Follower& a, const Follower& b) { return a.word < b.word; });
    }

 private:
    const std::int64_t* begins_;
    std::size_t n_lists_;
    const std::uint32_t* records_;
    const std::uint8_t* bytes_;
    std::size_t n_bytes_;
    bool is_last_;
};

auto convert_first_layout(In<std::uint32_t> directory, In<std::uint8_t> entries, In<std::int64_t> begins,
                          In<std::uint32_t> records, In<std::uint8_t> bytes, bool is_last, bool has_longer) {
    const int bits = static_cast<int>(std::bit_width(directory.size() - 1)) - 1;
    require(directory.size() >= 3 && directory.size() == (std::size_t{1} << bits) + 1,
            "a directory does not have its size");
    require(records.size() % record_width == 0, "a long list is cut off");
    check_offsets(begins, records.size() / record_width, "the long lists do not follow each other");
    LevelArrays arrays;
    {
        nb::gil_scoped_release release;
        const FirstLayout lists(begins, records, bytes, is_last);
        LevelWriter writer(bits, has_longer, 0);
        std::vector<CountedContexts> parts(1, CountedContexts(0));
        CountedContexts& counted = parts[0];
        std::vector<Follower> followers;
        for (std::size_t bucket = 0; bucket < std::size_t{1} << bits; ++bucket) {
            std::size_t at = std::size_t{directory.data()[bucket]} * 4;
            const std::size_t end = std::size_t{directory.data()[bucket + 1]} * 4;
            require(at <= end && end <= entries.size(), "a directory does not rise");
            while (at + 4 <= end) {
                std::uint32_t header, number = 0;
                std::memcpy(&header, entries.data() + at, 4);
                std::size_t size = header >> 24;
                if (size == 0) break;  // zeros filled the bucket up
                const bool is_long = size == long_list_mark;
                if (is_long) size = 4;
                require(at + 4 + size <= end, "a list reaches beyond its bucket");
                followers.clear();
                if (is_long) {
                    std::memcpy(&number, entries.data() + at + 4, 4);
                    lists.read_long_list(number, followers);
                } else {
                    lists.read_list(entries.data() + at + 4, size, followers);
                }
                require(!followers.empty(), "a long list has no words");
                for (Follower& one : followers) {
                    require(one.word < max_words && one.contexts > 0, "a follower is not a word");
                    if (!has_longer) one.contexts = one.count;
                }
                // What the layout of today takes from the hash is known.
                writer.add(std::uint64_t{bucket} << (64 - bits) | std::uint64_t{header & 0xFFFFFFU} << 4,
                           followers, nullptr, counted);
                at += 4 + size;
            }
            writer.end_bucket(counted);
        }
        CountedLevel level(0, directory.size() - 1);
        level.add(std::move(parts));
        arrays = level.take_arrays();
    }
    return to_numpy(std::move(arrays));
}

}  // namespace

void register_first_layout(nb::module_& m) {
    m.def("convert_first_layout", &convert_first_layout, nb::arg("directory").noconvert(),
          nb::arg("entries").noconvert(), nb::arg("begins").noconvert(), nb::arg("records").noconvert(),
          nb::arg("bytes").noconvert(), nb::arg("is_last"), nb::arg("has_longer"),
          "Return a level of the first version of word tree models as `count_chain_level` returns levels:\n"
          "directory, entries, beginnings of the long lists, their words, counts and longer contexts.");
}

}  // namespace stategram
