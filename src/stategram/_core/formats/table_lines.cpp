// A table of columns as lines: tab-separated, comma-separated or JSON.
#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/arrays.hpp"
#include "base/checks.hpp"
#include "base/threads.hpp"
#include "formats/kernels.hpp"
#include "formats/line_buffer.hpp"
#include "formats/table_text.hpp"

namespace stategram {
namespace {

constexpr std::size_t rows_a_task = std::size_t{1} << 14;
// Readers look at no fewer rows than these to find out what a column holds.
constexpr std::int64_t rows_a_look = 64;
constexpr const char* unfit = "the columns do not fit together";

struct Texts {
    In<std::uint32_t> ids;
    In<std::uint8_t> letters;
    In<std::int64_t> offsets;
    std::vector<std::uint8_t> marks;  // of each different text
    bool verbatim = true, is_number = false;
    // Rows from the last one that every reader takes for text, to the first of each task.
    std::vector<std::int64_t> rows_since_text;

    std::string_view text(std::size_t id) const {
        return {reinterpret_cast<const char*>(letters.data()) + offsets[id],
                static_cast<std::size_t>(offsets[id + 1] - offsets[id])};
    }
};

struct Column {
    char kind = 0;
    std::size_t place = 0;  // among those of its kind
    const std::uint8_t* missing = nullptr;
    std::string key;  // as JSON, with what stands before the value
};

class TableLines {
 public:
    TableLines(const std::string& kinds, const std::vector<std::string>& names,
               const std::vector<In<std::int64_t>>& integers, const std::vector<In<double>>& floats,
               const std::vector<In<std::uint8_t>>& bools, const std::vector<In<std::uint32_t>>& ids,
               const std::vector<In<std::uint8_t>>& letters, const std::vector<In<std::int64_t>>& offsets,
               const std::vector<In<std::uint8_t>>& missing, std::size_t rows, LineFormat format)
        : integers_(integers), floats_(floats), bools_(bools), rows_(rows), format_(format) {
        require(!kinds.empty() && names.size() == kinds.size() && missing.size() == kinds.size() &&
                    letters.size() == ids.size() && offsets.size() == ids.size(),
                unfit);
        require(fit(integers) && fit(floats) && fit(bools) && fit(ids), unfit);
        std::size_t n_integers = 0, n_floats = 0, n_bools = 0, n_texts = 0;
        for (std::size_t i = 0; i < kinds.size(); ++i) {
            Column column;
            column.kind = kinds[i];
            switch (column.kind) {
                case 'i':
                    column.place = n_integers++;
                    break;
                case 'f':
                    column.place = n_floats++;
                    break;
                case 'b':
                    column.place = n_bools++;
                    break;
                default:
                    require(column.kind == 't', "a kind of column that is not known");
                    column.place = n_texts++;
            }
            require(missing[i].size() == 0 || missing[i].size() == rows, unfit);
            if (missing[i].size() > 0) column.missing = missing[i].data();
            column.key.resize(longest_text(names[i].size()) + 2);
            char* p = column.key.data();
            *p++ = i == 0 ? '{' : ',';
            p = put_json_text(p, names[i]);
            *p++ = ':';
            column.key.resize(static_cast<std::size_t>(p - column.key.data()));
            longest_numbers_ += longest_cell_number + column.key.size();
            columns_.push_back(std::move(column));
        }
        require(n_integers == integers.size() && n_floats == floats.size() && n_bools == bools.size() &&
                    n_texts == ids.size(),
                unfit);
        for (std::size_t i = 0; i < ids.size(); ++i) {
            check_offsets(offsets[i], letters[i].size(), unfit);
            check_below(ids[i], offsets[i].size() - 1, unfit);
            Texts texts;
            texts.ids = ids[i];
            texts.letters = letters[i];
            texts.offsets = offsets[i];
            texts_.push_back(std::move(texts));
        }
    }

    std::size_t tasks() const { return (rows_ + rows_a_task - 1) / rows_a_task; }

    // `rows_since_text` has a number for each column of text: -1 at the start of a file, -2 if it is written
    // verbatim, -3 if its texts are numbers besides. It is brought up to date for the rows that come after
    // these.
    void look_at_texts(InOut<std::int64_t>& rows_since_text, ThreadPool& pool) {
        for (std::size_t i = 0; i < texts_.size(); ++i) {
            Texts& texts = texts_[i];
            std::int64_t& since = rows_since_text[i];
            require(since >= -3, unfit);
            texts.verbatim = since <= -2;
            texts.is_number = since == -3;
            texts.marks.resize(texts.offsets.size() - 1);
            for_slices(pool, 0, texts.marks.size(), [&](std::size_t first, std::size_t last) {
                for (std::size_t id = first; id < last; ++id)
                    texts.marks[id] = text_marks(texts.text(id), format_, texts.verbatim);
            });
            if (!texts.verbatim && rows_ > 0) since = count_rows_since_text(i, since, pool);
        }
    }

    void put_rows(LineBuffer& out, std::size_t task) const {
        std::vector<std::int64_t> since(texts_.size());
        for (std::size_t i = 0; i < since.size(); ++i)
            if (!texts_[i].verbatim) since[i] = texts_[i].rows_since_text[task];
        for (std::size_t row = task * rows_a_task, last = std::min(rows_, row + rows_a_task); row < last;
             ++row) {
            char* const p = out.room(longest_row(row));
            out.end(format_ == LineFormat::jsonl ? put_json_row(p, row) : put_delimited_row(p, row, since));
        }
    }

 private:
    template <typename T>
    bool fit(const std::vector<In<T>>& arrays) const {
        return std::all_of(arrays.begin(), arrays.end(),
                           [&](const In<T>& one) { return one.size() == rows_; });
    }

    const std::uint8_t* missing_texts(std::size_t place) const {
        for (const Column& column : columns_)
            if (column.kind == 't' && column.place == place) return column.missing;
        return nullptr;
    }

    // The last row of [first, last) that is text to every reader; -1 if there is none.
    std::int64_t last_text(std::size_t place, std::size_t first, std::size_t last) const {
        const Texts& texts = texts_[place];
        const std::uint8_t* const missing = missing_texts(place);
        for (std::size_t row = last; row-- > first;)
            if (!(texts.marks[texts.ids[row]] & looks_like_value) && !(missing && missing[row]))
                return static_cast<std::int64_t>(row);
        return -1;
    }

    std::int64_t first_there(std::size_t place, std::size_t last) const {
        const std::uint8_t* const missing = missing_texts(place);
        return missing ? std::find(missing, missing + last, std::uint8_t{0}) - missing : 0;
    }

    std::int64_t count_rows_since_text(std::size_t place, std::int64_t since, ThreadPool& pool) {
        std::vector<std::int64_t> last(tasks());
        pool.run(tasks(), [&](std::size_t task, int) {
            last[task] = last_text(place, task * rows_a_task, std::min(rows_, (task + 1) * rows_a_task));
        });
        if (since == -1) {
            const auto look = std::min(rows_, static_cast<std::size_t>(rows_a_look));
            // As if text came before the first row; without any to come, the first that is there is due.
            since = last_text(place, 0, look) >= 0 ? 1 : rows_a_look - first_there(place, look);
        }
        std::vector<std::int64_t>& of_tasks = texts_[place].rows_since_text;
        of_tasks.resize(tasks());
        for (std::size_t task = 0; task < tasks(); ++task) {
            of_tasks[task] = since;
            const auto end = static_cast<std::int64_t>(std::min(rows_, (task + 1) * rows_a_task));
            since = last[task] >= 0 ? end - last[task]
                                    : since + end - static_cast<std::int64_t>(task * rows_a_task);
        }
        return since;
    }

    // What a row takes at most.
    std::size_t longest_row(std::size_t row) const {
        std::size_t size = longest_numbers_;
        for (const Texts& texts : texts_) size += longest_text(texts.text(texts.ids[row]).size());
        return size;
    }

    char* put_delimited_row(char* p, std::size_t row, std::vector<std::int64_t>& since) const {
        const char delimiter = format_ == LineFormat::csv ? ',' : '\t';
        for (const Column& column : columns_) {
            const bool is_missing = column.missing && column.missing[row];
            if (column.kind == 't')
                p = put_cell(p, texts_[column.place], row, is_missing, since[column.place]);
            else if (!is_missing)
                p = put_number(p, column, row);
            if (is_missing && columns_.size() == 1) p = put(p, "\"\"");  // or readers would skip the line
            *p++ = delimiter;
        }
        p[-1] = '\n';
        return p;
    }

    char* put_cell(char* p, const Texts& texts, std::size_t row, bool is_missing, std::int64_t& since) const {
        const std::size_t id = texts.ids[row];
        const std::uint8_t marks = is_missing ? std::uint8_t{looks_like_value} : texts.marks[id];
        const bool is_due = since % rows_a_look == 0;
        since = marks & looks_like_value ? since + 1 : 1;
        if (is_missing) return p;
        const std::string_view text = texts.text(id);
        if (marks == 0) return put(p, text);
        return put_text(p, text, marks & needs_quotes,
                        (marks & needs_backslash) || (is_due && (marks & looks_like_value)));
    }

    char* put_number(char* p, const Column& column, std::size_t row) const {
        if (column.kind == 'i') return put(p, integers_[column.place][row]);
        if (column.kind == 'b') return put(p, bools_[column.place][row] ? "1" : "0");
        const double value = floats_[column.place][row];
        // Spelled so that pandas, R, polars and Arrow all read them as numbers.
        if (!std::isfinite(value)) return put(p, std::isnan(value) ? "NaN" : value < 0 ? "-inf" : "inf");
        return put_finite(p, value);
    }

    char* put_json_row(char* p, std::size_t row) const {
        for (const Column& column : columns_) {
            p = put(p, column.key);
            if (column.missing && column.missing[row]) {
                p = put(p, "null");
            } else if (column.kind == 't') {
                const Texts& texts = texts_[column.place];
                const std::string_view text = texts.text(texts.ids[row]);
                p = texts.is_number ? put(p, text) : put_json_text(p, text);
            } else {
                p = put_json_number(p, column, row);
            }
        }
        return put(p, "}\n");
    }

    // JSON has neither infinite numbers nor NaN.
    char* put_json_number(char* p, const Column& column, std::size_t row) const {
        if (column.kind == 'i') return put(p, integers_[column.place][row]);
        if (column.kind == 'b') return put(p, bools_[column.place][row] ? "true" : "false");
        const double value = floats_[column.place][row];
        return std::isfinite(value) ? put_finite(p, value) : put(p, "null");
    }

    const std::vector<In<std::int64_t>>& integers_;
    const std::vector<In<double>>& floats_;
    const std::vector<In<std::uint8_t>>& bools_;
    std::vector<Column> columns_;
    std::vector<Texts> texts_;
    std::size_t longest_numbers_ = 2;  // of a row without its texts: with keys, and the end of the line
    std::size_t rows_;
    LineFormat format_;
};

LineFormat line_format(const std::string& name) {
    require(name == "tsv" || name == "csv" || name == "jsonl", "a format that is not known");
    return name == "tsv" ? LineFormat::tsv : name == "csv" ? LineFormat::csv : LineFormat::jsonl;
}

}  // namespace

OutBytes<LineBuffer> table_lines(
    const std::string& format, const std::string& kinds, const std::vector<std::string>& names,
    std::size_t rows, const std::vector<In<std::int64_t>>& integers, const std::vector<In<double>>& floats,
    const std::vector<In<std::uint8_t>>& bools, const std::vector<In<std::uint32_t>>& ids,
    const std::vector<In<std::uint8_t>>& letters, const std::vector<In<std::int64_t>>& offsets,
    const std::vector<In<std::uint8_t>>& missing, InOut<std::int64_t> rows_since_text, int threads) {
    TableLines table(kinds, names, integers, floats, bools, ids, letters, offsets, missing, rows,
                     line_format(format));
    require(rows_since_text.size() == ids.size(), unfit);
    ThreadPool pool(threads);
    table.look_at_texts(rows_since_text, pool);
    OutBytes<LineBuffer> parts;
    parts.resize(table.tasks());
    pool.run(parts.size(), [&](std::size_t task, int) { table.put_rows(parts[task], task); });
    return parts;
}

}  // namespace stategram
