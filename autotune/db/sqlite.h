// Thin owners of SQLite handles: a connection and a prepared statement.
#pragma once

#include <sqlite3.h>

#include <string>
#include <string_view>

#include "dsl/base/result.h"

namespace tilewright::autotune {

class Statement {
 public:
  Statement() = default;
  Statement(sqlite3* db, std::string_view sql) {
    code_ = sqlite3_prepare_v2(db, sql.data(), static_cast<int>(sql.size()), &handle_, nullptr);
  }
  Statement(const Statement&) = delete;
  Statement& operator=(const Statement&) = delete;
  ~Statement() { sqlite3_finalize(handle_); }

  int code() const { return code_; }
  Statement& bind(std::string_view text) {
    sqlite3_bind_text(handle_, ++bound_, text.data(), static_cast<int>(text.size()),
                      SQLITE_TRANSIENT);
    return *this;
  }
  Statement& bind(int64_t value) { return sqlite3_bind_int64(handle_, ++bound_, value), *this; }
  Statement& bind(double value) { return sqlite3_bind_double(handle_, ++bound_, value), *this; }
  Statement& bind_null() { return sqlite3_bind_null(handle_, ++bound_), *this; }
  // SQLITE_ROW, SQLITE_DONE, or an error code.
  int step() { return code_ == SQLITE_OK ? sqlite3_step(handle_) : code_; }

  std::string text(int column) const {
    auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(handle_, column));
    return bytes ? std::string(bytes, sqlite3_column_bytes(handle_, column)) : std::string();
  }
  int64_t integer(int column) const { return sqlite3_column_int64(handle_, column); }
  double real(int column) const { return sqlite3_column_double(handle_, column); }

 private:
  sqlite3_stmt* handle_ = nullptr;
  int bound_ = 0;
  int code_ = SQLITE_OK;
};

class Connection {
 public:
  Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { close(); }

  int open(const std::string& name, int flags) {
    return close(), sqlite3_open_v2(name.c_str(), &db_, flags, nullptr);
  }
  void close() {
    sqlite3_close_v2(db_);
    db_ = nullptr;
  }
  int execute(const char* sql) { return sqlite3_exec(db_, sql, nullptr, nullptr, nullptr); }
  sqlite3* get() const { return db_; }
  std::string message() const { return db_ ? sqlite3_errmsg(db_) : "out of memory"; }

 private:
  sqlite3* db_ = nullptr;
};

}  // namespace tilewright::autotune
