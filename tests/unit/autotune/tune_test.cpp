#include "autotune/tune.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <stdexcept>

namespace tilewright::autotune {
namespace {

// Times are the value of B in microseconds; B=5 spills, B=7 does not build, B=8 is wrong, B=9
// throws.
class FakeTrial : public Trial {
 public:
  Result<Built> build(const Config& config) override {
    ++builds;
    int64_t b = config.constants.at("B").integer;
    if (b == 7)
      return make_error(DiagKind::kOutOfResources, "needs 9 bytes of shared memory, 8 are there");
    if (b == 9) throw std::runtime_error("defect");
    return Built{std::make_shared<int64_t>(b), 32, 0, b == 5 ? 12 : 0};  // B=5 spills
  }
  Result<double> check(const Built& built) override {
    if (value(built) == 8) return make_error(DiagKind::kWrongResult, "c[3] is 1, expected 2");
    return 1e-4;
  }
  Result<std::vector<double>> time(const Built& built) override {
    return std::vector<double>{value(built) * 1000.0 + 5, value(built) * 1000.0,
                               value(built) * 1000.0 + 1};
  }
  std::atomic<int> builds = 0;

 private:
  static int64_t value(const Built& built) { return *static_cast<int64_t*>(built.handle.get()); }
};

class TuneTest : public ::testing::Test {
 protected:
  TuningDb db_ = TuningDb::open(":memory:").value();
  Key key_ = {"k@0", "f32;N=1", "cpu", "test"};
  FakeTrial trial_;
};

TEST_F(TuneTest, ChoosesTheFastestAndKeepsEveryReason) {
  auto space = parse_space("B=30,7,10,8,9,20 warps=4").value();
  std::vector<std::string> seen;
  TuneOptions options;
  options.progress = [&](const Progress& p) { seen.push_back(p.config); };
  auto result = tune(key_, space, trial_, db_, options).value();
  EXPECT_EQ(result.config.constants.at("B").integer, 10);
  EXPECT_EQ(result.best.median_ns, 10001);
  EXPECT_EQ(result.best.minimum_ns, 10000);
  EXPECT_EQ(result.measured, 6);
  EXPECT_EQ(seen.size(), 6u);
  std::map<std::string, std::pair<Outcome, std::string>> outcomes;
  for (auto& row : result.rows) outcomes[row.config] = {row.outcome, row.reason};
  EXPECT_EQ(outcomes["B=7;warps=4,stages=3"].first, Outcome::kRejected);
  EXPECT_NE(outcomes["B=7;warps=4,stages=3"].second.find("[out-of-resources]"), std::string::npos);
  EXPECT_EQ(outcomes["B=8;warps=4,stages=3"].first, Outcome::kWrong);
  EXPECT_EQ(outcomes["B=9;warps=4,stages=3"].first, Outcome::kRejected);
  EXPECT_NE(outcomes["B=9;warps=4,stages=3"].second.find("defect"), std::string::npos);
}

TEST_F(TuneTest, MeasuresNothingTwice) {
  auto space = parse_space("B=30,10").value();
  tune(key_, space, trial_, db_).value();
  auto wider = parse_space("B=30,10,5").value();
  auto again = tune(key_, wider, trial_, db_).value();
  EXPECT_EQ(again.measured, 1);
  EXPECT_EQ(again.config.constants.at("B").integer, 5);
  auto third = tune(key_, wider, trial_, db_).value();
  EXPECT_EQ(third.measured, 0);
  EXPECT_EQ(trial_.builds, 3);
  // A narrower space does not choose what it does not contain.
  EXPECT_EQ(tune(key_, space, trial_, db_).value().config.constants.at("B").integer, 10);
}

TEST_F(TuneTest, SpillsRejectAConfigUnmeasured) {
  auto space = parse_space("B=30,5,10").value();
  TuneOptions options;
  options.max_spills = 4;
  auto result = tune(key_, space, trial_, db_, options).value();
  EXPECT_EQ(result.config.constants.at("B").integer, 10);
  const Measurement* rejected = nullptr;
  for (auto& row : result.rows)
    if (row.config == "B=5;warps=4,stages=3") rejected = &row;
  ASSERT_NE(rejected, nullptr);
  EXPECT_EQ(rejected->outcome, Outcome::kRejected);
  EXPECT_EQ(rejected->reason, "12 spill instructions, 4 are allowed [out-of-resources]");
  EXPECT_EQ(tune(key_, space, trial_, db_, options).value().measured, 0) << "it is known";
  // A sweep that allows them measures it after all, and one that does not passes it over.
  options.max_spills = 12;
  auto allowed = tune(key_, space, trial_, db_, options).value();
  EXPECT_EQ(allowed.measured, 1);
  EXPECT_EQ(allowed.config.constants.at("B").integer, 5);
  options.max_spills = 0;
  EXPECT_EQ(tune(key_, space, trial_, db_, options).value().config.constants.at("B").integer, 10);
}

TEST_F(TuneTest, NothingWorksIsAnErrorWithReasons) {
  auto result = tune(key_, parse_space("B=7,8").value(), trial_, db_);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().text().find("[no-config]"), std::string::npos);
  EXPECT_NE(result.error().text().find("needs 9 bytes"), std::string::npos);
}

TEST_F(TuneTest, StopsBetweenCandidatesAndResumes) {
  std::stop_source source;
  TuneOptions options;
  options.stop = source.get_token();
  options.progress = [&](const Progress& p) {
    if (p.done == 2) source.request_stop();
  };
  auto space = parse_space("B=30,20,10,5").value();
  auto partial = tune(key_, space, trial_, db_, options).value();
  EXPECT_EQ(partial.measured, 2);
  EXPECT_EQ(partial.config.constants.at("B").integer, 20);
  auto rest = tune(key_, space, trial_, db_).value();
  EXPECT_EQ(rest.measured, 2);
  EXPECT_EQ(rest.config.constants.at("B").integer, 5);
}

TEST_F(TuneTest, StoppedBeforeAnythingIsInterrupted) {
  std::stop_source source;
  source.request_stop();
  TuneOptions options;
  options.stop = source.get_token();
  auto result = tune(key_, parse_space("B=1").value(), trial_, db_, options);
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.error().text().find("[interrupted]"), std::string::npos);
}

TEST(Space, EveryCombinationInOrder) {
  auto space = parse_space("A=1,2 B=x,y warps=8").value();
  ASSERT_EQ(space.size(), 4u);
  EXPECT_EQ(space[0].key(), "A=1,B='x';warps=8,stages=3");
  EXPECT_EQ(space[1].key(), "A=1,B='y';warps=8,stages=3");
  EXPECT_EQ(space[3].key(), "A=2,B='y';warps=8,stages=3");
  EXPECT_EQ(find_config(space, "A=2,B='x';warps=8,stages=3"), &space[2]);
  EXPECT_EQ(find_config(space, "A=3"), nullptr);
  auto bounded = parse_space("A=1 maxnreg=128,255").value();
  ASSERT_EQ(bounded.size(), 2u);
  EXPECT_EQ(bounded[0].maxnreg, 128);
  EXPECT_EQ(bounded[1].key(), "A=1;warps=4,stages=3,maxnreg=255");
}

TEST(Space, RefusesWhatItCannotRead) {
  for (const char* text :
       {"", "BLOCK", "=3", "A=", "warps=0", "warps=abc", "stages=65", "maxnreg=256"}) {
    auto space = parse_space(text);
    ASSERT_FALSE(space.ok()) << text;
    EXPECT_NE(space.error().text().find("[bad-argument]"), std::string::npos) << text;
  }
}

TEST(Median, OfOddAndEven) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
}

}  // namespace
}  // namespace tilewright::autotune
