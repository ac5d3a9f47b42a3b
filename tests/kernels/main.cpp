// kernel_tests --device D[,D…] (FILE.txt | --problem "LINE")…: runs problem lines, one result a
// line of failure, a summary last. A device is interp, cpu, emulated[:sm_NN], build[:sm_NN] or
// cuda[:N]. A line with {a,b} in places stands for every choice.
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "tests/kernels/harness.h"

namespace tilewright::kernel_tests {
namespace {

const std::map<std::string, OpTest, std::less<>> kTests = {
    {"vector_add", test_vector_add},
    {"softmax", test_softmax},
    {"matmul", test_matmul},
    {"layer_norm", test_layer_norm},
    {"dropout", test_dropout},
    {"attention", test_attention},
    {"conv2d", test_conv2d},
    {"matmul_int4", test_matmul_int4},
    {"matmul_int8", test_matmul_int8},
    {"matmul_sparse", test_matmul_sparse},
    {"matmul_scaled", test_matmul_scaled},
    {"matmul_split_k", test_matmul_split_k},
    {"matmul_stream_k", test_matmul_stream_k},
    {"rms_norm", test_rms_norm},
    {"cross_entropy", test_cross_entropy},
    {"softmax_wide", test_softmax_wide},
    {"transpose", test_transpose},
    {"gelu", test_gelu},
    {"silu_mul", test_silu_mul},
    {"cumsum", test_cumsum},
    {"linear_recurrence", test_linear_recurrence},
    {"sort", test_sort},
    {"topk", test_topk},
    {"gather", test_gather},
    {"histogram", test_histogram},
};

// Beyond this many problems, what they launch is built beforehand, many at a time.
constexpr size_t kFewLines = 8;

std::string run_one(const std::string& line, Executor& executor) {
  auto problem = parse_problem(line);
  if (!problem) return problem.error().text();
  auto test = kTests.find(problem->op);
  if (test == kTests.end()) return "unknown operator " + problem->op;
  try {
    return test->second(*problem, executor);
  } catch (const std::exception& error) {
    return std::string("exception: ") + error.what();
  }
}

std::vector<std::string> read_lines(const std::string& path) {
  std::vector<std::string> lines;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);)
    if (!line.empty() && line[0] != '#')
      for (std::string& one : expand_line(line)) lines.push_back(std::move(one));
  return lines;
}

int main(int argc, char** argv) {
  std::vector<std::string> devices, lines;
  for (int i = 1; i + 1 < argc || i < argc; ++i) {
    std::string word = argv[i];
    if (word == "--device" && i + 1 < argc) {
      std::istringstream list(argv[++i]);
      for (std::string device; std::getline(list, device, ',');) devices.push_back(device);
    } else if (word == "--problem" && i + 1 < argc) {
      for (std::string& line : expand_line(argv[++i])) lines.push_back(std::move(line));
    } else {
      for (std::string& line : read_lines(word)) lines.push_back(std::move(line));
    }
  }
  int passed = 0, failed = 0;
  for (const std::string& device : devices) {
    auto executor = make_executor(device);
    if (!executor) {
      std::printf("%s: %s\n", device.c_str(), executor.error().text().c_str());
      ++failed;
      continue;
    }
    auto start = std::chrono::steady_clock::now();
    int before = passed + failed;
    if (lines.size() > kFewLines && (*executor)->collect(true)) {
      for (const std::string& line : lines) run_one(line, **executor);
      (*executor)->collect(false);
    }
    for (const std::string& line : lines) {
      std::string error = run_one(line, **executor);
      if (error.empty()) {
        ++passed;
        continue;
      }
      ++failed;
      std::printf("FAILED %s: %s\n  again: kernel_tests --device %s --problem \"%s\"\n",
                  device.c_str(), error.c_str(), device.c_str(), line.c_str());
    }
    if (Status status = (*executor)->finish(); !status) {
      ++failed;
      std::printf("FAILED %s: %s\n", device.c_str(), status.error().text().c_str());
    }
    double seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("%-16s %d problems, %.1f s\n", device.c_str(), passed + failed - before, seconds);
    std::fflush(stdout);
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed || passed == 0 ? 1 : 0;
}

}  // namespace
}  // namespace tilewright::kernel_tests

int main(int argc, char** argv) {
  return tilewright::kernel_tests::main(argc, argv);
}
