// A pool of threads that stays alive between the many small parallel steps of a sweep.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>

namespace stategram {

class ThreadPool {
 public:
    // The calling thread works too: `threads` = 1 starts no other thread.
    explicit ThreadPool(int threads);
    ~ThreadPool();
    ThreadPool(const ThreadPool&) = delete;
    ThreadPool& operator=(const ThreadPool&) = delete;

    int size() const { return static_cast<int>(workers_.size()) + 1; }

    // Calls task(i, worker) once for every i < count, in no particular order, and returns when all are
    // done. `worker` < size() names the thread, so that a task can use scratch memory of its own. The
    // first exception of a task is thrown again here.
    void run(std::size_t count, const std::function<void(std::size_t, int)>& task);

 private:
    void stop();
    void work(int worker);
    void take_tasks(int worker);

    std::vector<std::thread> workers_;
    std::mutex mutex_;
    std::condition_variable start_, done_;
    std::size_t generation_ = 0;
    int busy_ = 0;       // workers that have joined the present run
    bool open_ = false;  // whether a worker that wakes up may still join it
    bool stopping_ = false;
    std::atomic<std::size_t> next_{0};
    std::size_t count_ = 0;
    const std::function<void(std::size_t, int)>* task_ = nullptr;
    std::exception_ptr failure_;
};

// A kernel lets other Python threads run while it works; this throws if one of them enters the same object.
// Hold one in every method that changes the object, uses its ThreadPool, or reads what another changes.
class BusyGuard {
 public:
    explicit BusyGuard(std::atomic<bool>& busy) : busy_(busy) {
        if (busy_.exchange(true)) throw std::logic_error("this kernel is in use by another thread");
    }
    ~BusyGuard() { busy_ = false; }
    BusyGuard(const BusyGuard&) = delete;
    BusyGuard& operator=(const BusyGuard&) = delete;

 private:
    std::atomic<bool>& busy_;
};

// What only one thread at a time may use.
class Exclusive {
 public:
    BusyGuard enter() const { return BusyGuard(busy_); }

 private:
    mutable std::atomic<bool> busy_{false};
};

// Calls use(first, last) for slices of [begin, end) that cover it, none of them empty. Where work is uneven,
// many small slices keep all threads busy.
template <typename Use>
void for_slices(ThreadPool& pool, std::size_t begin, std::size_t end, const Use& use) {
    const std::size_t size = end - begin;
    const std::size_t slices = pool.size() == 1 ? 1 : static_cast<std::size_t>(pool.size()) * 16;
    pool.run(slices, [&](std::size_t slice, int) {
        const std::size_t first = begin + size * slice / slices, last = begin + size * (slice + 1) / slices;
        if (first < last) use(first, last);
    });
}

}  // namespace stategram
