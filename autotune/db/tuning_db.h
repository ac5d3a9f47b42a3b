// The tuning database: a SQLite file of measurements (schema.sql). Opening never loses data and a
// database that cannot be used never stops work: a damaged file is moved aside and a new one begun,
// an unwritable place gives an in-memory database; notice() says what happened.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "autotune/db/key.h"
#include "dsl/base/result.h"

namespace tilewright::autotune {

enum class Outcome : uint8_t { kMeasured, kRejected, kWrong, kFailed };
std::string_view outcome_name(Outcome outcome);

struct Measurement {
  Key key;
  std::string config;  // config_key()
  Outcome outcome = Outcome::kMeasured;
  std::string reason;
  double median_ns = 0, minimum_ns = 0;  // of measured rows
  int samples = 0;
  double error = 0;
  int registers = 0, shared_bytes = 0, spills = 0;
  int64_t created = 0;  // 0: now
  std::string host;     // empty: this host's name
};

// $TILEWRIGHT_DB, else tilewright/tuning.db below $XDG_DATA_HOME or ~/.local/share.
std::string default_database_path();

class TuningDb {
 public:
  // Creates the file and its folder if need be (":memory:" is a database without a file). Errors
  // only for a database that is newer than this program ("database-version") or whose path cannot
  // exist; all else is recovered from.
  static Result<TuningDb> open(const std::string& path);
  // A shipped database: opened immutable, without locks; record() then fails.
  static Result<TuningDb> open_read_only(const std::string& path);
  TuningDb(TuningDb&&) noexcept;
  TuningDb& operator=(TuningDb&&) noexcept;
  ~TuningDb();

  // What was recovered from when opening, one line; empty when nothing.
  const std::string& notice() const;
  const std::string& path() const;

  // Inserts or replaces the row of (key, config). Safe beside other processes (waits up to 5 s).
  Status record(const Measurement& row);
  // The fastest measured row of the key, ties by config text.
  Result<std::optional<Measurement>> best(const Key& key) const;
  // All rows of the key, fastest first, those without a time last.
  Result<std::vector<Measurement>> rows(const Key& key) const;
  // Every row whose kernel key starts with `kernel_prefix` (all with ""), in key order.
  Result<std::vector<Measurement>> all(std::string_view kernel_prefix = "") const;

 private:
  struct Impl;
  explicit TuningDb(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace tilewright::autotune
