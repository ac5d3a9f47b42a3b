#include "codegen/cpu/thread_pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>

namespace tilewright::cpu {
namespace {

// One call of parallel_ranges. Helpers that come late find nothing left and go.
struct Job {
  uint64_t count, grain;
  const std::function<bool(uint64_t, uint64_t)>* body;
  std::atomic<uint64_t> next{0};

  std::mutex mutex;
  std::condition_variable idle;
  int helpers = 0;      // inside work()
  bool closed = false;  // the caller has seen the end; `body` may be gone

  void work() {
    while (true) {
      uint64_t begin = next.fetch_add(grain);
      if (begin >= count) return;
      if (!(*body)(begin, std::min(count, begin + grain))) next.store(count);
    }
  }
};

class Pool {
 public:
  // Never destroyed: its threads may be running when the process ends.
  static Pool& instance() {
    static Pool* pool = new Pool;
    return *pool;
  }

  void offer(const std::shared_ptr<Job>& job, int helpers) {
    std::lock_guard lock(mutex_);
    for (int i = 0; i < helpers; ++i) jobs_.push_back(job);
    int wanted = std::min(helpers, kMaxThreads);
    // A system that refuses a thread leaves the work to those there are, the caller at least.
    try {
      for (; threads_ < wanted; ++threads_) std::thread([this] { run(); }).detach();
    } catch (const std::system_error&) {
    }
    wake_.notify_all();
  }

 private:
  static constexpr int kMaxThreads = 512;

  void run() {
    while (true) {
      std::shared_ptr<Job> job;
      {
        std::unique_lock lock(mutex_);
        wake_.wait(lock, [&] { return !jobs_.empty(); });
        job = std::move(jobs_.front());
        jobs_.pop_front();
      }
      {
        std::lock_guard lock(job->mutex);
        if (job->closed) continue;
        ++job->helpers;
      }
      job->work();
      std::lock_guard lock(job->mutex);
      if (--job->helpers == 0) job->idle.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<Job>> jobs_;
  int threads_ = 0;
};

}  // namespace

void parallel_ranges(uint64_t count, int threads,
                     const std::function<bool(uint64_t, uint64_t)>& body) {
  if (count == 0) return;
  if (threads <= 0) threads = std::max(1u, std::thread::hardware_concurrency());
  threads = static_cast<int>(std::min<uint64_t>(static_cast<uint64_t>(threads), count));
  auto job = std::make_shared<Job>();
  job->count = count;
  // Small enough that the last ranges end at about the same time.
  job->grain = std::max<uint64_t>(1, count / (static_cast<uint64_t>(threads) * 16));
  job->body = &body;
  if (threads > 1) Pool::instance().offer(job, threads - 1);
  job->work();
  std::unique_lock lock(job->mutex);
  job->closed = true;
  job->idle.wait(lock, [&] { return job->helpers == 0; });
}

}  // namespace tilewright::cpu
