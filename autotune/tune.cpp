#include "autotune/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>

#include "dsl/base/check.h"

namespace tilewright::autotune {
namespace {

// One line for a row: the message and the kind of an error.
std::string reason_of(const ErrorInfo& error) {
  std::string first = error.message.substr(0, error.message.find('\n'));
  return fmt::format("{} [{}]", first, diag_name(error.kind));
}

// A defect of ours in one candidate must not lose the sweep: it becomes that candidate's reason.
template <class T, class F>
Result<T> guarded(F&& call) {
  try {
    return call();
  } catch (const std::exception& error) {
    return make_error(DiagKind::kInternal, error.what());
  }
}

// Builds candidates on a few threads, at most `kAhead` before they are taken, in order.
class BuildQueue {
 public:
  BuildQueue(const std::vector<const Config*>& configs, Trial& trial, int threads)
      : configs_(configs), trial_(trial), results_(configs.size()) {
    size_t count = threads > 0 ? threads : std::max(1u, std::thread::hardware_concurrency());
    for (size_t i = 0; i < std::min(count, configs.size()); ++i)
      threads_.emplace_back([this] { work(); });
  }
  BuildQueue(const BuildQueue&) = delete;
  BuildQueue& operator=(const BuildQueue&) = delete;
  ~BuildQueue() {
    {
      std::lock_guard lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  Result<Built> take(size_t index) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return results_[index].has_value(); });
    Result<Built> result = std::move(*results_[index]);
    results_[index].reset();
    taken_ = index + 1;
    changed_.notify_all();
    return result;
  }

 private:
  static constexpr size_t kAhead = 32;

  void work() {
    for (;;) {
      size_t index;
      {
        std::unique_lock lock(mutex_);
        changed_.wait(
            lock, [&] { return stopped_ || next_ >= configs_.size() || next_ < taken_ + kAhead; });
        if (stopped_ || next_ >= configs_.size()) return;
        index = next_++;
      }
      auto built = guarded<Built>([&] { return trial_.build(*configs_[index]); });
      std::lock_guard lock(mutex_);
      results_[index] = std::move(built);
      changed_.notify_all();
    }
  }

  const std::vector<const Config*>& configs_;
  Trial& trial_;
  std::vector<std::optional<Result<Built>>> results_;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t next_ = 0, taken_ = 0;
  bool stopped_ = false;
};

bool spills_too_much(int spills, const TuneOptions& options) {
  return options.max_spills >= 0 && spills > options.max_spills;
}

Measurement evaluate(const Key& key, const Config& config, Result<Built> built, Trial& trial,
                     const TuneOptions& options) {
  Measurement row;
  row.key = key;
  row.config = config.key();
  auto fail = [&](Outcome outcome, const ErrorInfo& error) {
    row.outcome = outcome;
    row.reason = reason_of(error);
    return row;
  };
  if (!built) return fail(Outcome::kRejected, built.error());
  row.registers = built->registers;
  row.shared_bytes = built->shared_bytes;
  row.spills = built->spills;
  if (spills_too_much(built->spills, options))
    return fail(Outcome::kRejected, make_error(DiagKind::kOutOfResources,
                                               fmt::format("{} spill instructions, {} are allowed",
                                                           built->spills, options.max_spills)));
  auto error = guarded<double>([&] { return trial.check(*built); });
  if (!error)
    return fail(error.error().kind == DiagKind::kWrongResult ? Outcome::kWrong : Outcome::kFailed,
                error.error());
  row.error = *error;
  auto samples = guarded<std::vector<double>>([&] { return trial.time(*built); });
  if (!samples) return fail(Outcome::kFailed, samples.error());
  TW_CHECK(!samples->empty(), "a trial timed no launch");
  row.samples = static_cast<int>(samples->size());
  row.median_ns = median(*samples);
  row.minimum_ns = *std::min_element(samples->begin(), samples->end());
  return row;
}

// A row that an earlier sweep rejected for spills counts only while it would be rejected again.
bool is_known(const Measurement& row, const Config& config, const TuneOptions& options) {
  if (row.config != config.key()) return false;
  bool for_spills = row.outcome == Outcome::kRejected && row.spills > 0;
  return !for_spills || spills_too_much(row.spills, options);
}

std::vector<const Config*> unmeasured(const std::vector<Config>& space,
                                      const std::vector<Measurement>& rows,
                                      const TuneOptions& options) {
  std::vector<const Config*> pending;
  for (const Config& config : space) {
    bool known = std::any_of(rows.begin(), rows.end(), [&](const Measurement& row) {
      return is_known(row, config, options);
    });
    if (options.force || !known) pending.push_back(&config);
  }
  return pending;
}

ErrorInfo no_config(const Key& key, const std::vector<Measurement>& rows) {
  std::string reasons;
  for (const Measurement& row : rows)
    reasons += fmt::format("  {}: {} ({})\n", row.config, row.reason, outcome_name(row.outcome));
  ErrorInfo error = make_error(
      DiagKind::kNoConfig,
      fmt::format("none of {} configs of {} works on {}", rows.size(), key.kernel, key.device),
      "give a space with smaller tiles or fewer stages");
  error.details = fmt::format("error: {} [no-config]\n{}", error.message, reasons);
  return error;
}

}  // namespace

double median(std::vector<double> samples) {
  TW_CHECK(!samples.empty(), "median of nothing");
  size_t middle = samples.size() / 2;
  std::nth_element(samples.begin(), samples.begin() + static_cast<long>(middle), samples.end());
  double upper = samples[middle];
  if (samples.size() % 2 == 1) return upper;
  return (upper + *std::max_element(samples.begin(), samples.begin() + static_cast<long>(middle))) /
         2;
}

Result<TuneResult> tune(const Key& key, const std::vector<Config>& space, Trial& trial,
                        TuningDb& db, const TuneOptions& options) {
  TW_ASSIGN(auto known, db.rows(key));
  std::vector<const Config*> pending = unmeasured(space, known, options);
  TuneResult result;
  Progress progress;
  progress.total = static_cast<int>(pending.size());
  if (!pending.empty()) {
    BuildQueue queue(pending, trial, options.threads);
    for (size_t i = 0; i < pending.size() && !options.stop.stop_requested(); ++i) {
      Measurement row = evaluate(key, *pending[i], queue.take(i), trial, options);
      TW_TRY(db.record(row));
      ++result.measured;
      bool measured = row.outcome == Outcome::kMeasured;
      if (measured && (progress.best_ns == 0 || row.median_ns < progress.best_ns)) {
        progress.best_ns = row.median_ns;
        progress.best_config = row.config;
      }
      progress.done = static_cast<int>(i) + 1;
      progress.config = row.config;
      progress.outcome = measured ? fmt::format("{:.1f} us", row.median_ns / 1000) : row.reason;
      if (options.progress) options.progress(progress);
    }
  }
  TW_ASSIGN(result.rows, db.rows(key));
  for (const Measurement& row : result.rows) {
    if (row.outcome != Outcome::kMeasured) break;  // measured rows come first
    const Config* config = find_config(space, row.config);
    if (!config) continue;  // measured earlier, from a wider space
    if (spills_too_much(row.spills, options)) continue;
    result.best = row;
    result.config = *config;
    return result;
  }
  if (options.stop.stop_requested())
    return make_error(DiagKind::kInterrupted, "the sweep was stopped before a config was measured",
                      "run it again; it resumes");
  return no_config(key, result.rows);
}

}  // namespace tilewright::autotune
