// The disk cache: whatever happens to its files is a miss at worst.
#include "runtime/cache/disk_cache.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>
#include <vector>

namespace fs = std::filesystem;

namespace tilewright::cache {
namespace {

class DiskCacheTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "tw-cache-XXXXXX").string();
    directory_ = mkdtemp(pattern.data());
  }
  void TearDown() override {
    fs::permissions(directory_, fs::perms::owner_all);
    fs::remove_all(directory_);
  }
  DiskCache open(uint64_t max_bytes = 1 << 20) { return DiskCache({directory_, max_bytes}); }
  static Hash128 key(int i) { return Hasher().add(int64_t{i}).finish(); }
  void overwrite(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  }
  static std::string slurp(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  std::string directory_;
};

TEST(Hash, FieldsDoNotRunTogether) {
  EXPECT_NE(Hasher().add("ab").add("c").finish(), Hasher().add("a").add("bc").finish());
  EXPECT_EQ(Hasher().add("ab").finish(), Hasher().add("ab").finish());
  EXPECT_EQ(hash_of("").hex(), "99aa06d3014798d86001c324468d497f");  // XXH3's published value
}

TEST_F(DiskCacheTest, StoresAndLoads) {
  DiskCache cache = open();
  EXPECT_FALSE(cache.load(key(1)));
  std::string payload("bytes\0and more", 14);
  EXPECT_TRUE(cache.store(key(1), payload));
  EXPECT_EQ(cache.load(key(1)), payload);
  EXPECT_FALSE(cache.load(key(2)));
  DiskCache other = open();
  EXPECT_EQ(other.load(key(1)), payload);
  CacheCounters counters = cache.counters();
  EXPECT_EQ(counters.hits, 1u);
  EXPECT_EQ(counters.misses, 2u);
  EXPECT_EQ(counters.stores, 1u);
  cache.remove(key(1));
  EXPECT_FALSE(cache.load(key(1)));
}

TEST_F(DiskCacheTest, EveryTruncationAndEveryFlippedByteIsAMiss) {
  DiskCache cache = open();
  cache.store(key(1), "payload");
  std::string path = cache.path_of(key(1)), good = slurp(path);
  for (size_t length = 0; length < good.size(); ++length) {
    overwrite(path, good.substr(0, length));
    EXPECT_FALSE(cache.load(key(1))) << "cut to " << length;
    EXPECT_FALSE(fs::exists(path)) << "a damaged entry is removed";
  }
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    overwrite(path, bad);
    EXPECT_FALSE(cache.load(key(1))) << "byte " << i;
  }
  overwrite(path, good + "x");
  EXPECT_FALSE(cache.load(key(1)));
  EXPECT_EQ(cache.counters().damaged, 2 * good.size() + 1);
  overwrite(path, good);
  EXPECT_EQ(cache.load(key(1)), "payload");
}

TEST_F(DiskCacheTest, AnEntryUnderAnotherNameIsAMiss) {
  DiskCache cache = open();
  cache.store(key(1), "one");
  cache.store(key(2), "two");
  fs::copy_file(cache.path_of(key(1)), cache.path_of(key(2)), fs::copy_options::overwrite_existing);
  EXPECT_FALSE(cache.load(key(2)));
  EXPECT_EQ(cache.load(key(1)), "one");
}

TEST_F(DiskCacheTest, ADirectoryInPlaceOfAnEntryIsAMiss) {
  DiskCache cache = open();
  fs::create_directories(cache.path_of(key(1)));
  EXPECT_FALSE(cache.load(key(1)));
  EXPECT_FALSE(cache.store(key(1), "one"));
  EXPECT_EQ(cache.counters().failed_stores, 1u);
}

TEST_F(DiskCacheTest, UnwritablePlacesOnlyCostTheCaching) {
  overwrite(directory_ + "/file", "");
  DiskCache inside_a_file({directory_ + "/file/cache", 1 << 20});
  EXPECT_FALSE(inside_a_file.store(key(1), "one"));
  EXPECT_FALSE(inside_a_file.load(key(1)));
  DiskCache nowhere({"/proc/no/such/place", 1 << 20});
  EXPECT_FALSE(nowhere.store(key(1), "one"));
  EXPECT_EQ(nowhere.counters().failed_stores, 1u);
}

TEST_F(DiskCacheTest, AFullDiskLeavesNothingBehind) {
  if (access("/dev/full", W_OK) != 0) GTEST_SKIP() << "no /dev/full";
  // A file size limit makes writes fail half way, as a full disk does.
  pid_t child = fork();
  if (child == 0) {
    signal(SIGXFSZ, SIG_IGN);
    rlimit limit{100, 100};
    setrlimit(RLIMIT_FSIZE, &limit);
    DiskCache cache = open();
    bool stored = cache.store(key(1), std::string(1000, 'x'));
    _exit(!stored && !cache.load(key(1)) && cache.counters().failed_stores == 1 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  for (auto& entry : fs::recursive_directory_iterator(directory_))
    EXPECT_FALSE(entry.is_regular_file()) << entry.path();
}

TEST_F(DiskCacheTest, ReadOnlyImagesServe) {
  { open().store(key(1), "one"); }
  fs::permissions(directory_, fs::perms::owner_read | fs::perms::owner_exec);
  DiskCache cache = open();
  EXPECT_EQ(cache.load(key(1)), "one");
}

TEST_F(DiskCacheTest, EvictsTheLeastRecentlyUsedAndOnlyItsOwn) {
  overwrite(directory_ + "/notes.txt", std::string(5000, 'n'));
  std::string payload(1000, 'x');
  DiskCache cache = open(20'000);
  for (int i = 0; i < 15; ++i) {
    cache.store(key(i), payload);
    timespec times[2] = {{1'000'000 + i, 0}, {1'000'000 + i, 0}};
    utimensat(AT_FDCWD, cache.path_of(key(i)).c_str(), times, 0);
  }
  EXPECT_TRUE(cache.load(key(0))) << "makes it the most recently used";
  for (int i = 15; i < 22; ++i) cache.store(key(i), payload);
  EXPECT_GT(cache.counters().evicted, 0u);
  EXPECT_TRUE(cache.load(key(0)));
  EXPECT_FALSE(cache.load(key(1)));
  EXPECT_TRUE(cache.load(key(21)));
  EXPECT_TRUE(fs::exists(directory_ + "/notes.txt"));
  uint64_t total = 0;
  for (auto& entry : fs::recursive_directory_iterator(directory_))
    if (entry.path().extension() == ".twk") total += entry.file_size();
  EXPECT_LE(total, 20'000u);
}

TEST_F(DiskCacheTest, StaleTemporariesGo) {
  DiskCache cache = open();
  std::string stale = directory_ + "/.tmp-1-1", fresh = directory_ + "/.tmp-1-2";
  overwrite(stale, "x");
  overwrite(fresh, "x");
  timespec times[2] = {{1000, 0}, {1000, 0}};
  utimensat(AT_FDCWD, stale.c_str(), times, 0);
  cache.store(key(1), "one");  // the first store of a process scans
  EXPECT_FALSE(fs::exists(stale));
  EXPECT_TRUE(fs::exists(fresh)) << "another process may be writing it";
}

TEST_F(DiskCacheTest, ManyProcessesAndThreads) {
  std::vector<pid_t> children;
  for (int p = 0; p < 4; ++p) {
    pid_t child = fork();
    if (child != 0) {
      children.push_back(child);
      continue;
    }
    DiskCache cache = open(100'000);
    bool good = true;
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t)
      threads.emplace_back([&cache, &good, p] {
        for (int i = 0; i < 200; ++i) {
          int k = (i * 7 + p) % 20;
          std::string payload(static_cast<size_t>(100 * k + 1), static_cast<char>('a' + k));
          if (auto loaded = cache.load(key(k)); loaded && *loaded != payload) good = false;
          cache.store(key(k), payload);
        }
      });
    for (std::thread& thread : threads) thread.join();
    _exit(good && cache.counters().damaged == 0 ? 0 : 1);
  }
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }
}

TEST(CacheOptions, FollowTheEnvironment) {
  auto with = [](const char* cache, const char* xdg, const char* home) {
    auto set = [](const char* name, const char* value) {
      value ? setenv(name, value, 1) : unsetenv(name);
    };
    std::string old_home = getenv("HOME") ? getenv("HOME") : "";
    std::string old_cache = getenv("TILEWRIGHT_CACHE") ? getenv("TILEWRIGHT_CACHE") : "";
    set("TILEWRIGHT_CACHE", cache);
    set("XDG_CACHE_HOME", xdg);
    set("HOME", home);
    std::string directory = CacheOptions::from_environment().directory;
    set("TILEWRIGHT_CACHE", old_cache.empty() ? nullptr : old_cache.c_str());
    set("XDG_CACHE_HOME", nullptr);
    set("HOME", old_home.empty() ? nullptr : old_home.c_str());
    return directory;
  };
  EXPECT_EQ(with("/a/b", "/x", "/h"), "/a/b");
  EXPECT_EQ(with("off", "/x", "/h"), "");
  EXPECT_EQ(with(nullptr, "/x", "/h"), "/x/tilewright");
  EXPECT_EQ(with(nullptr, "relative", "/h"), "/h/.cache/tilewright");
  EXPECT_EQ(with(nullptr, nullptr, nullptr), "");
  DiskCache off({"", 100});
  EXPECT_FALSE(off.enabled());
  EXPECT_FALSE(off.store({1, 2}, "x"));
  EXPECT_FALSE(off.load({1, 2}));
  setenv("TILEWRIGHT_CACHE_MB", "3", 1);
  EXPECT_EQ(CacheOptions::from_environment().max_bytes, 3u << 20);
  setenv("TILEWRIGHT_CACHE_MB", "many", 1);
  EXPECT_EQ(CacheOptions::from_environment().max_bytes, 1u << 30);
  unsetenv("TILEWRIGHT_CACHE_MB");
}

}  // namespace
}  // namespace tilewright::cache
