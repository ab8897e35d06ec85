#include "threads.hpp"

#include <stdexcept>

namespace stategram {

ThreadPool::ThreadPool(int threads) {
    if (threads < 1) throw std::invalid_argument("threads must be at least 1");
    for (int worker = 1; worker < threads; ++worker) workers_.emplace_back([this, worker] { work(worker); });
}

ThreadPool::~ThreadPool() {
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    start_.notify_all();
    for (auto& thread : workers_) thread.join();
}

void ThreadPool::run(std::size_t count, const std::function<void(std::size_t, int)>& task) {
    // One task, or one thread: waking the others would only cost time.
    const bool wake = count > 1 && !workers_.empty();
    {
        std::lock_guard lock(mutex_);
        task_ = &task;
        count_ = count;
        next_ = 0;
        failure_ = nullptr;
        busy_ = wake ? static_cast<int>(workers_.size()) : 0;
        if (wake) ++generation_;
    }
    if (wake) start_.notify_all();
    take_tasks(0);
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return busy_ == 0; });
    if (failure_) std::rethrow_exception(failure_);
}

void ThreadPool::work(int worker) {
    std::size_t seen = 0;
    for (;;) {
        {
            std::unique_lock lock(mutex_);
            start_.wait(lock, [&] { return stopping_ || generation_ != seen; });
            if (stopping_) return;
            seen = generation_;
        }
        take_tasks(worker);
        std::lock_guard lock(mutex_);
        if (--busy_ == 0) done_.notify_one();
    }
}

void ThreadPool::take_tasks(int worker) {
    for (;;) {
        std::size_t i = next_.fetch_add(1, std::memory_order_relaxed);
        if (i >= count_) return;
        try {
            (*task_)(i, worker);
        } catch (...) {
            std::lock_guard lock(mutex_);
            if (!failure_) failure_ = std::current_exception();
            next_ = count_;
        }
    }
}

}  // namespace stategram
