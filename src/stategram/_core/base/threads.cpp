#include "base/threads.hpp"

#include <stdexcept>

#if !defined(_WIN32)
#include <pthread.h>
#include <signal.h>
#endif

namespace stategram {
namespace {

// Threads that are started while one of these lives get no signals. Python is not told of a signal that a
// thread of ours has taken, and Ctrl-C would be lost.
class SignalsBlocked {
 public:
#if defined(_WIN32)
    SignalsBlocked() {}
#else
    SignalsBlocked() {
        sigset_t all;
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before_);
    }
    ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
    SignalsBlocked(const SignalsBlocked&) = delete;
    SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
    sigset_t before_;
#endif
};

}  // namespace

ThreadPool::ThreadPool(int threads) {
    if (threads < 1) throw std::invalid_argument("threads must be at least 1");
    try {
        const SignalsBlocked blocked;
        for (int worker = 1; worker < threads; ++worker)
            workers_.emplace_back([this, worker] { work(worker); });
    } catch (...) {
        // The machine gives no more threads. Those that run must end first, or C++ ends the whole process.
        stop();
        throw;
    }
}

ThreadPool::~ThreadPool() { stop(); }

void ThreadPool::stop() {
    {
        std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    start_.notify_all();
    for (auto& thread : workers_) thread.join();
}

void ThreadPool::run(std::size_t count, const std::function<void(std::size_t, int)>& task) {
    // One task, or one thread: waking the others would only cost time.
    const bool together = count > 1 && !workers_.empty();
    {
        std::lock_guard lock(mutex_);
        task_ = &task;
        count_ = count;
        next_ = 0;
        failure_ = nullptr;
        open_ = together;
        if (together) ++generation_;
    }
    if (together) start_.notify_all();
    take_tasks(0);
    // A worker that is still asleep is not waited for: its share is done.
    std::unique_lock lock(mutex_);
    open_ = false;
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
            if (!open_) continue;
            ++busy_;
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
