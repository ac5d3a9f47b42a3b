#include "autotune/db/tuning_db.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace fs = std::filesystem;
namespace tilewright::autotune {
namespace {

class TuningDbTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() /
              ("tw-db-" + std::to_string(getpid()) + "-" +
               ::testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
    path_ = (folder_ / "tuning.db").string();
  }
  void TearDown() override { fs::remove_all(folder_); }
  void write(const std::string& bytes) { std::ofstream(path_, std::ios::binary) << bytes; }
  bool has_corrupt_copy() const {
    for (auto& entry : fs::directory_iterator(folder_))
      if (entry.path().filename().string().find(".corrupt-") != std::string::npos) return true;
    return false;
  }

  fs::path folder_;
  std::string path_;
};

const Key kKey = {"matmul@0123456789abcdef", "f16,f16,f16;K=64,M=64,N=64", "cpu:test:1",
                  "tilewright-test"};

Measurement measured(std::string config, double median) {
  Measurement row;
  row.key = kKey;
  row.config = std::move(config);
  row.median_ns = median;
  row.minimum_ns = median - 1;
  row.samples = 5;
  return row;
}

TEST_F(TuningDbTest, KeepsRowsAndFindsTheFastest) {
  {
    auto db = TuningDb::open(path_).value();
    EXPECT_EQ(db.notice(), "");
    db.record(measured("a", 300)).value();
    db.record(measured("b", 100)).value();
    db.record(measured("c", 200)).value();
    Measurement rejected = measured("d", 0);
    rejected.outcome = Outcome::kRejected;
    rejected.reason = "needs 163840 bytes of shared memory, 101376 are there [out-of-resources]";
    db.record(rejected).value();
  }
  auto db = TuningDb::open(path_).value();
  auto rows = db.rows(kKey).value();
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(rows[0].config, "b");
  EXPECT_EQ(rows[0].minimum_ns, 99);
  EXPECT_EQ(rows[3].outcome, Outcome::kRejected);
  EXPECT_NE(rows[3].reason.find("163840"), std::string::npos);
  EXPECT_EQ(db.best(kKey).value()->config, "b");
  Key other = kKey;
  other.device = "cpu:other:1";
  EXPECT_FALSE(db.best(other).value().has_value());
  EXPECT_EQ(db.all("matmul@").value().size(), 4u);
  EXPECT_EQ(db.all("softmax@").value().size(), 0u);
}

TEST_F(TuningDbTest, MeasuringAgainReplaces) {
  auto db = TuningDb::open(path_).value();
  db.record(measured("a", 300)).value();
  db.record(measured("a", 50)).value();
  auto rows = db.rows(kKey).value();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows[0].median_ns, 50);
  EXPECT_GT(rows[0].created, 1700000000);
  EXPECT_FALSE(rows[0].host.empty());
}

TEST_F(TuningDbTest, OnlyFailedRowsMeanNoBest) {
  auto db = TuningDb::open(path_).value();
  Measurement row = measured("a", 0);
  row.outcome = Outcome::kFailed;
  db.record(row).value();
  EXPECT_FALSE(db.best(kKey).value().has_value());
}

TEST_F(TuningDbTest, DamagedFilesAreKeptAsideAndReplaced) {
  for (const std::string& bytes :
       {std::string("this is not a database, not at all, really not"), std::string(4096, '\x7f')}) {
    write(bytes);
    auto db = TuningDb::open(path_).value();
    EXPECT_NE(db.notice().find("was damaged"), std::string::npos) << db.notice();
    EXPECT_TRUE(has_corrupt_copy());
    db.record(measured("a", 1)).value();
    EXPECT_TRUE(db.best(kKey).value().has_value());
    for (auto& entry : fs::directory_iterator(folder_)) fs::remove(entry.path());
  }
}

TEST_F(TuningDbTest, TruncatedFileIsKeptAside) {
  {
    auto db = TuningDb::open(path_).value();
    for (int i = 0; i < 200; ++i) db.record(measured("config" + std::to_string(i), i)).value();
  }
  fs::resize_file(path_, fs::file_size(path_) / 2);
  auto db = TuningDb::open(path_).value();
  EXPECT_TRUE(has_corrupt_copy());
  db.record(measured("a", 1)).value();
  EXPECT_EQ(db.rows(kKey).value().size(), 1u);
}

TEST_F(TuningDbTest, NewerSchemaIsAnErrorAndUntouched) {
  { auto db = TuningDb::open(path_).value(); }
  ASSERT_EQ(system(("python3 - <<'E'\nimport sqlite3\nc = sqlite3.connect('" + path_ +
                    "')\nc.execute('pragma user_version=99')\nE")
                       .c_str()),
            0);
  auto db = TuningDb::open(path_);
  ASSERT_FALSE(db.ok());
  EXPECT_EQ(diag_name(db.error().kind), "database-version");
  EXPECT_NE(db.error().message.find("99"), std::string::npos);
  EXPECT_FALSE(has_corrupt_copy());
}

TEST_F(TuningDbTest, UnusablePathFallsBackToMemory) {
  // A folder where the file should be works for root too, unlike permissions.
  fs::create_directories(path_);
  auto db = TuningDb::open(path_).value();
  EXPECT_NE(db.notice().find("in memory only"), std::string::npos);
  db.record(measured("a", 1)).value();
  EXPECT_EQ(db.best(kKey).value()->config, "a");
}

TEST_F(TuningDbTest, ReadOnlyOpensWithoutWriting) {
  {
    auto db = TuningDb::open(path_).value();
    db.record(measured("a", 1)).value();
  }
  auto db = TuningDb::open_read_only(path_).value();
  EXPECT_EQ(db.best(kKey).value()->config, "a");
  Status status = db.record(measured("b", 1));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(diag_name(status.error().kind), "database");
  EXPECT_FALSE(TuningDb::open_read_only(path_ + ".absent").ok());
}

TEST_F(TuningDbTest, EightProcessesCreateAndWriteAtOnce) {
  std::vector<pid_t> children;
  for (int child = 0; child < 8; ++child) {
    pid_t pid = fork();
    if (pid == 0) {
      auto db = TuningDb::open(path_);
      bool ok = db.ok() && db->notice().empty();
      for (int i = 0; ok && i < 25; ++i)
        ok = db->record(measured(std::to_string(child) + "-" + std::to_string(i), i)).ok();
      _exit(ok ? 0 : 1);
    }
    children.push_back(pid);
  }
  for (pid_t pid : children) {
    int status = 1;
    waitpid(pid, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(TuningDb::open(path_).value().rows(kKey).value().size(), 200u);
}

TEST(Keys, AreStableText) {
  EXPECT_EQ(problem_key({"f16", "f32"}, {{"N", 100}, {"M", 1000}}), "f16,f32;M=1024,N=100");
  EXPECT_EQ(config_key({{"B", "32"}, {"A", "64"}}, 4, 3), "A=64,B=32;warps=4,stages=3");
  EXPECT_EQ(kernel_key("k", "(module)"), kernel_key("k", "(module)"));
  EXPECT_NE(kernel_key("k", "(module)"), kernel_key("k", "(module )"));
}

TEST(Keys, BucketsGrowByAtMostAnEighth) {
  for (int64_t n = 1; n < 100000; n += 7) {
    int64_t b = bucket(n);
    EXPECT_GE(b, n);
    EXPECT_LE(b, n + n / 8 + 1);
    EXPECT_EQ(bucket(b), b) << n;
  }
}

}  // namespace
}  // namespace tilewright::autotune
