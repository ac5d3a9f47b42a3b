#include "autotune/db/tuning_db.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <thread>

#include "autotune/db/sqlite.h"

namespace fs = std::filesystem;

namespace tilewright::embedded {
extern const std::string_view tuning_schema;
}

namespace tilewright::autotune {
namespace {

constexpr int kSchemaVersion = 1;
constexpr std::string_view kColumns =
    "kernel, problem, device, compiler, config, outcome, reason, median_ns, minimum_ns, samples, "
    "error, registers, shared_bytes, spills, created, host";

int64_t now_seconds() {
  using namespace std::chrono;
  return duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
}

std::string host_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

// WAL needs shared memory between all users of the file; network mounts do not have it.
bool on_network_mount(const std::string& path) {
  struct statfs info {};
  if (statfs(fs::path(path).parent_path().c_str(), &info) != 0) return false;
  constexpr long kNfs = 0x6969, kSmb = 0x517b, kCifs = 0xff534d42, kSmb2 = 0xfe534d42,
                 kFuse = 0x65735546;
  auto type = static_cast<unsigned long>(info.f_type);
  for (long network : {kNfs, kSmb, kCifs, kSmb2, kFuse})
    if (type == static_cast<unsigned long>(network)) return true;
  return false;
}

// An exclusive lock on a file beside the database while it is created, repaired or moved aside: two
// processes that create at once would otherwise meet SQLITE_BUSY whatever the busy timeout says.
class CreationLock {
 public:
  explicit CreationLock(const std::string& path)
      : file_(path == ":memory:"
                  ? -1
                  : ::open((path + ".lock").c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0644)) {
    if (file_ >= 0) flock(file_, LOCK_EX);
  }
  CreationLock(const CreationLock&) = delete;
  CreationLock& operator=(const CreationLock&) = delete;
  ~CreationLock() {
    if (file_ >= 0) ::close(file_);
  }

 private:
  int file_;
};

bool is_damage(int code) {
  return code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
}

int user_version(Connection& db, int& version) {
  Statement statement(db.get(), "pragma user_version");
  int code = statement.step();
  if (code == SQLITE_ROW) version = static_cast<int>(statement.integer(0));
  return code == SQLITE_ROW ? SQLITE_OK : code;
}

// Journal, schema and a check of the file; SQLITE_OK when the database can be used.
int prepare(Connection& db, bool network, int& version) {
  sqlite3_busy_timeout(db.get(), 5000);
  if (int code = user_version(db, version); code != SQLITE_OK) return code;
  if (version > kSchemaVersion) return SQLITE_OK;
  const char* journal = network ? "pragma journal_mode=delete" : "pragma journal_mode=wal";
  int code = SQLITE_OK;
  for (int attempt = 0; attempt < 50; ++attempt) {
    if ((code = db.execute(journal)) != SQLITE_BUSY) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  if (code != SQLITE_OK) return code;
  db.execute("pragma synchronous=normal");
  if (version == 0) {
    std::string sql = "begin immediate;" + std::string(embedded::tuning_schema) +
                      fmt::format("pragma user_version={};commit;", kSchemaVersion);
    if ((code = db.execute(sql.c_str())) != SQLITE_OK) return code;
    version = kSchemaVersion;
  }
  Statement check(db.get(), "pragma quick_check(1)");
  code = check.step();
  if (code == SQLITE_ROW) return check.text(0) == "ok" ? SQLITE_OK : SQLITE_CORRUPT;
  return code;
}

ErrorInfo version_error(const std::string& path, int version) {
  return make_error(
      DiagKind::kDatabaseVersion,
      fmt::format("{} has schema version {}, this program knows {}", path, version, kSchemaVersion),
      "use a newer tilewright, or another file through TILEWRIGHT_DB");
}

Measurement read_row(const Statement& s) {
  Measurement row;
  row.key = {s.text(0), s.text(1), s.text(2), s.text(3)};
  row.config = s.text(4);
  std::string outcome = s.text(5);
  for (Outcome o : {Outcome::kMeasured, Outcome::kRejected, Outcome::kWrong, Outcome::kFailed})
    if (outcome == outcome_name(o)) row.outcome = o;
  row.reason = s.text(6);
  row.median_ns = s.real(7);
  row.minimum_ns = s.real(8);
  row.samples = static_cast<int>(s.integer(9));
  row.error = s.real(10);
  row.registers = static_cast<int>(s.integer(11));
  row.shared_bytes = static_cast<int>(s.integer(12));
  row.spills = static_cast<int>(s.integer(13));
  row.created = s.integer(14);
  row.host = s.text(15);
  return row;
}

}  // namespace

std::string_view outcome_name(Outcome outcome) {
  switch (outcome) {
    case Outcome::kMeasured:
      return "measured";
    case Outcome::kRejected:
      return "rejected";
    case Outcome::kWrong:
      return "wrong";
    case Outcome::kFailed:
      return "failed";
  }
  return "failed";
}

std::string default_database_path() {
  if (const char* path = std::getenv("TILEWRIGHT_DB"); path && *path) return path;
  if (const char* data = std::getenv("XDG_DATA_HOME"); data && *data)
    return std::string(data) + "/tilewright/tuning.db";
  const char* home = std::getenv("HOME");
  return std::string(home && *home ? home : ".") + "/.local/share/tilewright/tuning.db";
}

struct TuningDb::Impl {
  Connection db;
  std::string path;
  std::string notice;
  bool read_only = false;

  ErrorInfo error(std::string_view doing) const {
    return make_error(DiagKind::kDatabase, fmt::format("{} {}: {}", doing, path, db.message()));
  }
  Status fall_back_to_memory(const std::string& why) {
    notice = fmt::format("tuning database {} cannot be used ({}); results are kept in memory only",
                         path, why);
    int version = 0;
    if (db.open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE) != SQLITE_OK ||
        prepare(db, true, version) != SQLITE_OK)
      return error("cannot open");
    return {};
  }
};

TuningDb::TuningDb(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TuningDb::TuningDb(TuningDb&&) noexcept = default;
TuningDb& TuningDb::operator=(TuningDb&&) noexcept = default;
TuningDb::~TuningDb() = default;
const std::string& TuningDb::notice() const {
  return impl_->notice;
}
const std::string& TuningDb::path() const {
  return impl_->path;
}

Result<TuningDb> TuningDb::open(const std::string& path) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  std::error_code ignored;
  if (fs::path(path).has_parent_path())
    fs::create_directories(fs::path(path).parent_path(), ignored);
  CreationLock lock(path);
  for (int attempt = 0; attempt < 2; ++attempt) {
    int version = 0;
    int code = impl->db.open(path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    if (code == SQLITE_OK) code = prepare(impl->db, on_network_mount(path), version);
    if (code == SQLITE_OK && version > kSchemaVersion) return version_error(path, version);
    if (code == SQLITE_OK) return TuningDb(std::move(impl));
    std::string why = impl->db.message();
    impl->db.close();
    if (!is_damage(code) || attempt > 0) {
      TW_TRY(impl->fall_back_to_memory(why));
      return TuningDb(std::move(impl));
    }
    std::string aside = fmt::format("{}.corrupt-{}", path, now_seconds());
    fs::rename(path, aside, ignored);
    for (const char* part : {"-wal", "-shm"}) fs::remove(path + part, ignored);
    impl->notice = fmt::format(
        "tuning database {} was damaged; it is kept as {} and a new one was begun", path, aside);
  }
  return TuningDb(std::move(impl));
}

Result<TuningDb> TuningDb::open_read_only(const std::string& path) {
  auto impl = std::make_unique<Impl>();
  impl->path = path;
  impl->read_only = true;
  std::string uri = "file:";
  for (char c : path) {  // the characters that end or escape a URI's path
    if (c == '?' || c == '#' || c == '%')
      uri += fmt::format("%{:02x}", static_cast<unsigned char>(c));
    else
      uri += c;
  }
  int code = impl->db.open(uri + "?immutable=1", SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
  int version = 0;
  if (code == SQLITE_OK) code = user_version(impl->db, version);
  if (code != SQLITE_OK) return impl->error("cannot read");
  if (version != kSchemaVersion) return version_error(path, version);
  return TuningDb(std::move(impl));
}

Status TuningDb::record(const Measurement& row) {
  if (impl_->read_only)
    return make_error(DiagKind::kDatabase, impl_->path + " was opened read-only",
                      "record into another database");
  Statement s(impl_->db.get(), fmt::format("insert or replace into measurement ({}) values "
                                           "(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)",
                                           kColumns));
  s.bind(row.key.kernel).bind(row.key.problem).bind(row.key.device).bind(row.key.compiler);
  s.bind(row.config).bind(outcome_name(row.outcome)).bind(row.reason);
  if (row.outcome == Outcome::kMeasured)
    s.bind(row.median_ns).bind(row.minimum_ns);
  else
    s.bind_null().bind_null();
  s.bind(int64_t{row.samples}).bind(row.error);
  s.bind(int64_t{row.registers}).bind(int64_t{row.shared_bytes}).bind(int64_t{row.spills});
  s.bind(row.created ? row.created : now_seconds()).bind(row.host.empty() ? host_name() : row.host);
  if (s.step() != SQLITE_DONE) return impl_->error("cannot record a measurement in");
  return {};
}

namespace {

Result<std::vector<Measurement>> collect(Statement& statement,
                                         const std::function<ErrorInfo()>& failure) {
  std::vector<Measurement> rows;
  int code;
  while ((code = statement.step()) == SQLITE_ROW) rows.push_back(read_row(statement));
  if (code != SQLITE_DONE) return failure();
  return rows;
}

}  // namespace

Result<std::vector<Measurement>> TuningDb::rows(const Key& key) const {
  Statement s(
      impl_->db.get(),
      fmt::format("select {} from measurement where kernel=? and problem=? and device=? and "
                  "compiler=? order by median_ns is null, median_ns, config",
                  kColumns));
  s.bind(key.kernel).bind(key.problem).bind(key.device).bind(key.compiler);
  return collect(s, [&] { return impl_->error("cannot read"); });
}

Result<std::optional<Measurement>> TuningDb::best(const Key& key) const {
  TW_ASSIGN(auto found, rows(key));
  if (found.empty() || found.front().outcome != Outcome::kMeasured)
    return std::optional<Measurement>();
  return std::optional<Measurement>(found.front());
}

Result<std::vector<Measurement>> TuningDb::all(std::string_view kernel_prefix) const {
  Statement s(impl_->db.get(),
              fmt::format("select {} from measurement where substr(kernel, 1, ?) = ? "
                          "order by kernel, problem, device, compiler, config",
                          kColumns));
  s.bind(static_cast<int64_t>(kernel_prefix.size())).bind(kernel_prefix);
  return collect(s, [&] { return impl_->error("cannot read"); });
}

}  // namespace tilewright::autotune
