// A cache of small files on disk, shared by threads, processes and machines with one file system.
//
// A cache may never fail a compile: entries that are damaged, truncated, foreign or of another
// version are misses and are removed; a directory that cannot be written, a full disk or a missing
// home are the same as an empty cache. Entries are written to a temporary name and renamed, so a
// reader sees a whole entry or none. There is no fsync: what a crash leaves behind fails its
// checksum.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "runtime/cache/hash.h"

namespace tilewright::cache {

struct CacheOptions {
  std::string directory;  // empty: the cache is off
  uint64_t max_bytes = uint64_t{1} << 30;

  // TILEWRIGHT_CACHE (a directory, or `off`), else $XDG_CACHE_HOME/tilewright, else
  // $HOME/.cache/tilewright, else off. TILEWRIGHT_CACHE_MB bounds the size.
  static CacheOptions from_environment();
};

struct CacheCounters {
  uint64_t hits = 0, misses = 0, damaged = 0, stores = 0, failed_stores = 0, evicted = 0;
};

class DiskCache {
 public:
  explicit DiskCache(CacheOptions options);

  bool enabled() const { return !options_.directory.empty(); }
  const CacheOptions& options() const { return options_; }
  // The stored payload, checked; marks the entry as recently used.
  std::optional<std::string> load(const Hash128& key);
  // True if the entry is on disk now.
  bool store(const Hash128& key, std::string_view payload);
  void remove(const Hash128& key);
  CacheCounters counters() const;
  // Where the entry of a key lives (tests, tools).
  std::string path_of(const Hash128& key) const;

 private:
  void account(uint64_t added);
  void evict();

  CacheOptions options_;
  std::mutex eviction_mutex_;
  std::atomic<uint64_t> size_estimate_{0};
  std::atomic<bool> size_known_{false};
  std::atomic<uint64_t> hits_{0}, misses_{0}, damaged_{0}, stores_{0}, failed_stores_{0},
      evicted_{0};
};

}  // namespace tilewright::cache
