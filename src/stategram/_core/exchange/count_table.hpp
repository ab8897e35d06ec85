// The counts N[row][column] of a clustering, and the rows that make scoring a plain sum.
//
// Beside the counts the table keeps H_n[row][column] = f(N + n) - f(N) for n = 1..4 as rows of floats:
// most counts of an element are that small, and adding an element with count n in this row to every
// possible column costs one pass over one contiguous row.
//
// Counts have 32 bits, as they are read at random and should stay in the caches, or 64 if there are so many
// events. A row that can only ever have a few columns is kept as a short list of them instead.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "base/big_array.hpp"
#include "exchange/count_term.hpp"
#include "exchange/rows.hpp"

namespace stategram {

class CountTable {
 public:
    // A list costs about this many times more for each of its columns than a dense row.
    static constexpr std::size_t sparse_factor = 8;
    static constexpr std::int64_t largest_in_list = UINT32_MAX;

    CountTable() = default;

    // Every row dense. No count is ever above `largest`.
    CountTable(std::size_t rows, std::size_t columns, std::int64_t largest)
        : CountTable(columns, std::vector<std::size_t>(rows, columns), largest) {}

    // `widths[r]`: how many different columns row r can have at the most; a row with a count above
    // `largest_in_list` must be able to have all.
    CountTable(std::size_t columns, const std::vector<std::size_t>& widths, std::int64_t largest)
        : columns_(columns),
          stride_((columns + 15) / 16 * 16),
          totals_(widths.size(), 0),
          places_(widths.size()) {
        std::size_t dense = 0, sparse = 0;
        for (std::size_t r = 0; r < widths.size(); ++r) {
            Place& place = places_[r];
            place.dense = widths[r] * sparse_factor >= columns;
            if (place.dense) {
                place.begin = dense++ * stride_;
            } else {
                place.begin = sparse;
                place.capacity = widths[r];
                sparse += widths[r];
            }
        }
        is_wide_ = largest > INT32_MAX;
        if (is_wide_)
            wide_counts_ = BigArray<std::int64_t>(dense * stride_, 0);
        else
            counts_ = BigArray<std::int32_t>(dense * stride_, 0);
        small_ = BigArray<float>(dense * stride_ * CountTerm::small, 0.0f);
        for (const Place& place : places_)
            for (std::size_t column = 0; place.dense && column < stride_; ++column)
                refresh(place.begin, column);
        list_.resize(sparse);
    }

    // Replaces f; the new one has to live as long as the table uses it.
    void use(const CountTerm& f) {
        f_ = &f;
        for (const Place& place : places_)
            for (std::size_t column = 0; place.dense && column < stride_; ++column)
                refresh(place.begin, column);
    }
    const CountTerm& f() const { return *f_; }

    // How many cells of dense rows hold 1, 2 and more than 0.
    struct Filled {
        std::int64_t ones = 0, twos = 0, any = 0;
    };
    Filled filled() const {
        Filled found;
        for (const Place& place : places_)
            for (std::size_t i = place.begin; place.dense && i < place.begin + columns_; ++i) {
                const std::int64_t count = dense_count(i);
                found.ones += count == 1;
                found.twos += count == 2;
                found.any += count > 0;
            }
        return found;
    }

    std::size_t rows() const { return places_.size(); }
    std::size_t columns() const { return columns_; }
    std::int64_t total(std::size_t row) const { return totals_[row]; }

    std::int64_t get(std::size_t row, std::size_t column) const {
        const Place& place = places_[row];
        if (place.dense) return dense_count(place.begin + column);
        for (std::size_t i = place.begin; i < place.begin + place.size; ++i)
            if (list_[i].column == column) return list_[i].count;
        return 0;
    }

    void add(std::size_t row, std::size_t column, std::int64_t change) {
        totals_[row] += change;
        Place& place = places_[row];
        if (place.dense) {
            const std::size_t i = place.begin + column;
            if (is_wide_)
                wide_counts_[i] += change;
            else
                counts_[i] = static_cast<std::int32_t>(counts_[i] + change);
            refresh(place.begin, column);
        } else {
            add_to_list(place, column, change);
        }
    }

    // The sum of f(N[row][c] + n_c) - f(N[row][c]) over some columns.
    double gains(std::size_t row, const std::uint32_t* columns, const std::int64_t* n, std::size_t size,
                 std::int64_t sum_of_n) const {
        const Place& place = places_[row];
        const CountTerm& f = *f_;
        double sum = 0.0;
        if (place.dense && !is_wide_ && totals_[row] + sum_of_n < CountTerm::table_size) {
            const double* table = f.table();
            const std::int32_t* counts = &counts_[place.begin];
            for (std::size_t i = 0; i < size; ++i) {
                const std::int64_t count = counts[columns[i]];
                sum += table[count + n[i]] - table[count];
            }
        } else {
            for (std::size_t i = 0; i < size; ++i) sum += f.gain(get(row, columns[i]), n[i]);
        }
        return sum;
    }

    // out[b] += H_n[row][b] for every target b < targets. Rows of small counts wait in `pending`, so that
    // four of them share one pass over `out`; flush() must follow.
    struct Pending {
        const float* rows[4];
        int size = 0;
        double everywhere = 0.0;
    };

    void accumulate(std::size_t row, std::int64_t n, float* out, std::size_t targets,
                    Pending& pending) const {
        const Place& place = places_[row];
        if (!place.dense) {
            const CountTerm& f = *f_;
            const double alone = f(n);
            pending.everywhere += alone;
            for (std::size_t i = place.begin; i < place.begin + place.size; ++i)
                if (list_[i].column < targets)
                    out[list_[i].column] += static_cast<float>(f.gain(list_[i].count, n) - alone);
        } else if (n <= CountTerm::small) {
            pending.rows[pending.size++] =
                &small_[place.begin * CountTerm::small + static_cast<std::size_t>(n - 1) * stride_];
            if (pending.size == 4) {
                add_four_rows(out, pending.rows[0], pending.rows[1], pending.rows[2], pending.rows[3],
                              targets);
                pending.size = 0;
            }
        } else {
            add_large_gains(row, n, 1.0f, out, targets);
        }
    }

    static void flush(float* out, std::size_t targets, Pending& pending) {
        while (pending.size > 0) add_row(out, pending.rows[--pending.size], 1.0f, targets);
    }

    // out[b] += factor * H_n[row][b], at once; dense rows only.
    void accumulate_scaled(std::size_t row, std::int64_t n, float factor, float* out,
                           std::size_t targets) const {
        const Place& place = places_[row];
        if (n <= CountTerm::small)
            add_row(out, &small_[place.begin * CountTerm::small + static_cast<std::size_t>(n - 1) * stride_],
                    factor, targets);
        else
            add_large_gains(row, n, factor, out, targets);
    }

    // The sum of f over all cells; of the f in use, or of another one.
    double sum_of_terms() const { return sum_of_terms(*f_); }
    double sum_of_terms(const CountTerm& f) const {
        double sum = 0.0;
        for (const Place& place : places_) {
            if (place.dense)
                for (std::size_t i = place.begin; i < place.begin + columns_; ++i) sum += f(dense_count(i));
            else
                for (std::size_t i = place.begin; i < place.begin + place.size; ++i) sum += f(list_[i].count);
        }
        return sum;
    }

 private:
    struct Place {
        std::size_t begin = 0;
        std::size_t size = 0;
        std::size_t capacity = 0;
        bool dense = false;
    };
    struct Cell {
        std::uint32_t column;
        std::uint32_t count;
    };

    std::int64_t dense_count(std::size_t i) const { return is_wide_ ? wide_counts_[i] : counts_[i]; }

    void add_large_gains(std::size_t row, std::int64_t n, float factor, float* out,
                         std::size_t targets) const {
        const std::size_t begin = places_[row].begin;
        if (is_wide_)
            add_gains(*f_, out, &wide_counts_[begin], totals_[row], n, factor, targets);
        else
            add_gains(*f_, out, &counts_[begin], totals_[row], n, factor, targets);
    }

    void refresh(std::size_t begin, std::size_t column) {
        f_->small_gains(dense_count(begin + column), &small_[begin * CountTerm::small + column], stride_);
    }

    void add_to_list(Place& place, std::size_t column, std::int64_t change) {
        Cell* cells = &list_[place.begin];
        for (std::size_t i = 0; i < place.size; ++i) {
            if (cells[i].column != column) continue;
            cells[i].count = static_cast<std::uint32_t>(cells[i].count + change);
            if (cells[i].count == 0) cells[i] = cells[--place.size];
            return;
        }
        if (place.size == place.capacity) throw std::logic_error("a sparse row of counts has overflowed");
        cells[place.size++] = {static_cast<std::uint32_t>(column), static_cast<std::uint32_t>(change)};
    }

    const CountTerm* f_ = &CountTerm::n_log_n();
    std::size_t columns_ = 0, stride_ = 0;
    std::vector<std::int64_t> totals_;
    std::vector<Place> places_;
    bool is_wide_ = false;
    BigArray<std::int32_t> counts_;  // unless they are wide
    BigArray<std::int64_t> wide_counts_;
    BigArray<float> small_;
    std::vector<Cell> list_;
};

}  // namespace stategram
