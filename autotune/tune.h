// The sweep: build the candidates of a space in parallel, check each, time each, keep every outcome
// as a row with its reason, and choose the fastest. What it needs of a kernel and a device is the
// Trial interface, so that the sweep itself can be tested without either.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "autotune/db/tuning_db.h"
#include "autotune/space.h"

namespace tilewright::autotune {

// A built candidate. What is behind it belongs to the Trial.
struct Built {
  std::shared_ptr<void> handle;
  int registers = 0, shared_bytes = 0, spills = 0;
};

class Trial {
 public:
  virtual ~Trial() = default;
  // Compiles a config. Called from several threads at once.
  virtual Result<Built> build(const Config& config) = 0;
  // Runs once on poisoned outputs; the largest relative error against the reference. Called from
  // one thread. A wrong result is an error of kind `wrong-result`.
  virtual Result<double> check(const Built& built) = 0;
  // Nanoseconds of each of several launches, after warm-up. Called from one thread.
  virtual Result<std::vector<double>> time(const Built& built) = 0;
};

struct Progress {
  int done = 0, total = 0;
  std::string config;       // just finished
  std::string outcome;      // "123.4 us" or the reason
  std::string best_config;  // empty until one was measured
  double best_ns = 0;
};

struct TuneOptions {
  int threads = 0;      // for building; 0: one a hardware thread
  int max_spills = -1;  // candidates with more spill instructions are rejected unmeasured; -1: none
  bool force = false;   // measure again what the database already has
  std::function<void(const Progress&)> progress;  // called from the calling thread
  std::stop_token stop;  // checked between candidates; what was measured stays recorded
};

struct TuneResult {
  Measurement best;
  Config config;                  // of the best row
  std::vector<Measurement> rows;  // this key's rows, fastest first
  int measured = 0;  // candidates built by this call; 0: everything was in the database
};

// Rows of `key` that the database has already are not measured again (so an interrupted sweep
// resumes). Errors: `no-config` when no candidate works, with each one's reason; `interrupted` when
// stopped before one did.
Result<TuneResult> tune(const Key& key, const std::vector<Config>& space, Trial& trial,
                        TuningDb& db, const TuneOptions& options = {});

// Median; the input is not empty.
double median(std::vector<double> samples);

}  // namespace tilewright::autotune
