#include "runtime/cache/disk_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <vector>

namespace fs = std::filesystem;

namespace tilewright::cache {
namespace {

constexpr char kMagic[8] = {'T', 'W', 'C', 'A', 'C', 'H', 'E', '\n'};
constexpr uint32_t kFormatVersion = 1;
constexpr std::string_view kSuffix = ".twk";
constexpr std::string_view kTemporary = ".tmp-";
constexpr long kStaleTemporarySeconds = 3600;

// What precedes the payload. The key guards against renamed files, the checksum against the rest.
struct Header {
  char magic[8];
  uint32_t version;
  uint32_t header_bytes;
  uint64_t payload_bytes;
  uint64_t key_high, key_low;
  uint64_t checksum_high, checksum_low;
};
static_assert(sizeof(Header) == 56);

// A file descriptor that closes itself.
class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return fd_; }
  bool ok() const { return fd_ >= 0; }

 private:
  int fd_;
};

bool read_all(int fd, char* to, size_t bytes) {
  while (bytes > 0) {
    ssize_t got = read(fd, to, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    to += got;
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

bool write_all(int fd, const char* from, size_t bytes) {
  while (bytes > 0) {
    ssize_t put = write(fd, from, bytes);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    from += put;
    bytes -= static_cast<size_t>(put);
  }
  return true;
}

Header header_for(const Hash128& key, std::string_view payload) {
  Header header{};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  header.version = kFormatVersion;
  header.header_bytes = sizeof header;
  header.payload_bytes = payload.size();
  Hash128 checksum = hash_of(payload);
  header.key_high = key.high;
  header.key_low = key.low;
  header.checksum_high = checksum.high;
  header.checksum_low = checksum.low;
  return header;
}

// The payload of an open entry, or nothing if it is not exactly what store() wrote for this key.
std::optional<std::string> read_entry(int fd, const Hash128& key) {
  struct stat status;
  Header header;
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  if (status.st_size < static_cast<off_t>(sizeof header)) return std::nullopt;
  if (!read_all(fd, reinterpret_cast<char*>(&header), sizeof header)) return std::nullopt;
  if (header.payload_bytes != static_cast<uint64_t>(status.st_size) - sizeof header)
    return std::nullopt;
  std::string payload(header.payload_bytes, '\0');
  if (!read_all(fd, payload.data(), payload.size())) return std::nullopt;
  Header expected = header_for(key, payload);
  if (std::memcmp(&header, &expected, sizeof header) != 0) return std::nullopt;
  return payload;
}

struct Entry {
  std::string path;
  uint64_t bytes;
  fs::file_time_type used;
};

// Our entries, and only those; temporaries that a crash left behind are removed on the way.
std::vector<Entry> scan(const std::string& directory) {
  std::vector<Entry> entries;
  std::error_code error;
  fs::recursive_directory_iterator it(directory, fs::directory_options::skip_permission_denied,
                                      error);
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    std::error_code ignored;
    if (!it->is_regular_file(ignored)) continue;
    std::string name = it->path().filename().string();
    if (name.starts_with(kTemporary)) {
      struct stat status;
      if (stat(it->path().c_str(), &status) == 0 &&
          time(nullptr) - status.st_mtime > kStaleTemporarySeconds)
        unlink(it->path().c_str());
    } else if (name.ends_with(kSuffix)) {
      uint64_t bytes = it->file_size(ignored);
      if (!ignored) entries.push_back({it->path().string(), bytes, it->last_write_time(ignored)});
    }
  }
  return entries;
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace

CacheOptions CacheOptions::from_environment() {
  CacheOptions options;
  std::string named = environment("TILEWRIGHT_CACHE");
  if (named == "off" || named == "0") return options;
  if (!named.empty()) {
    options.directory = named;
  } else if (std::string xdg = environment("XDG_CACHE_HOME"); xdg.starts_with('/')) {
    options.directory = xdg + "/tilewright";
  } else if (std::string home = environment("HOME"); home.starts_with('/')) {
    options.directory = home + "/.cache/tilewright";
  }
  std::string megabytes = environment("TILEWRIGHT_CACHE_MB");
  if (!megabytes.empty() && megabytes.size() < 10 &&
      megabytes.find_first_not_of("0123456789") == megabytes.npos)
    options.max_bytes = std::stoull(megabytes) << 20;
  return options;
}

DiskCache::DiskCache(CacheOptions options) : options_(std::move(options)) {}

std::string DiskCache::path_of(const Hash128& key) const {
  std::string hex = key.hex();
  return options_.directory + "/" + hex.substr(0, 2) + "/" + hex.substr(2) + std::string(kSuffix);
}

std::optional<std::string> DiskCache::load(const Hash128& key) {
  if (!enabled()) return std::nullopt;
  std::string path = path_of(key);
  File file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.ok()) {
    ++misses_;
    return std::nullopt;
  }
  std::optional<std::string> payload = read_entry(file.get(), key);
  if (!payload) {
    ++misses_;
    ++damaged_;
    unlink(path.c_str());
    return std::nullopt;
  }
  ++hits_;
  futimens(file.get(), nullptr);  // fails on read-only images, where nothing is evicted either
  return payload;
}

bool DiskCache::store(const Hash128& key, std::string_view payload) {
  if (!enabled()) return false;
  static std::atomic<uint64_t> serial{0};
  std::string path = path_of(key);
  std::string folder = path.substr(0, path.rfind('/'));
  std::error_code error;
  fs::create_directories(folder, error);
  std::string temporary = fmt::format("{}/{}{}-{}", folder, kTemporary, getpid(), ++serial);
  Header header = header_for(key, payload);
  bool written = false;
  {
    File file(open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
    written = file.ok() &&
              write_all(file.get(), reinterpret_cast<const char*>(&header), sizeof header) &&
              write_all(file.get(), payload.data(), payload.size());
  }
  if (!written || rename(temporary.c_str(), path.c_str()) != 0) {
    unlink(temporary.c_str());
    ++failed_stores_;
    return false;
  }
  ++stores_;
  account(sizeof header + payload.size());
  return true;
}

void DiskCache::remove(const Hash128& key) {
  if (enabled()) unlink(path_of(key).c_str());
}

// The size is an estimate between scans: other processes write too, and every process that writes
// scans once at its first store.
void DiskCache::account(uint64_t added) {
  uint64_t estimate = size_estimate_ += added;
  if (size_known_.load() && estimate <= options_.max_bytes) return;
  evict();
}

void DiskCache::evict() {
  std::unique_lock lock(eviction_mutex_, std::try_to_lock);
  if (!lock) return;
  std::vector<Entry> entries = scan(options_.directory);
  uint64_t total = 0;
  for (const Entry& entry : entries) total += entry.bytes;
  if (total > options_.max_bytes) {
    // Least recently used first, down to nine tenths so that not every store scans.
    std::sort(entries.begin(), entries.end(),
              [](const Entry& a, const Entry& b) { return a.used < b.used; });
    uint64_t goal = options_.max_bytes / 10 * 9;
    for (const Entry& entry : entries) {
      if (total <= goal) break;
      if (unlink(entry.path.c_str()) == 0) ++evicted_;
      total -= entry.bytes;
    }
  }
  size_estimate_ = total;
  size_known_ = true;
}

CacheCounters DiskCache::counters() const {
  return {hits_, misses_, damaged_, stores_, failed_stores_, evicted_};
}

}  // namespace tilewright::cache
