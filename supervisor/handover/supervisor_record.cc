#include "supervisor/handover/supervisor_record.h"

#include <charconv>
#include <concepts>
#include <limits>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "policy/audit/log_words.h"

namespace cellblock::daemon {
namespace {

constexpr std::size_t longest_record = 64U << 10;

// Writes fields in a fixed order, each followed by a NUL, which no path and no number contains.
class Writer {
 public:
  void put(const std::string& text) { text_.append(text).push_back('\0'); }
  void put(std::integral auto number) { put(std::to_string(number)); }
  void put(const BoundSocket::File& file) {
    put(file.path);
    put(file.device);
    put(file.inode);
  }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

/// Reads the fields back. After a field that is missing or out of range, every read fails.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool is_done() const { return !failed_ && rest_.empty(); }

  void get(std::string& text) { text = next(); }
  template <std::integral T>
  void get(T& number) {
    const std::string field(next());
    const char* const end = field.data() + field.size();
    const auto [stop, error] = std::from_chars(field.data(), end, number);
    if (error != std::errc{} || stop != end) failed_ = true;
  }
  void get(BoundSocket::File& file) {
    get(file.path);
    get(file.device);
    get(file.inode);
  }

 private:
  std::string_view next() {
    const std::size_t end = rest_.find('\0');
    if (failed_ || end == std::string_view::npos) {
      failed_ = true;
      return {};
    }
    const std::string_view field = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return field;
  }

  std::string_view rest_;
  bool failed_ = false;
};

// 0 stands for no watchdog.
void put_watchdog(Writer& writer, const SupervisorRecord& record) {
  writer.put(record.watchdog ? std::int64_t{record.watchdog->count()} : std::int64_t{0});
}

void get_watchdog(Reader& reader, SupervisorRecord& record) {
  std::int64_t time = 0;
  reader.get(time);
  if (time > 0) record.watchdog = std::chrono::microseconds(time);
}

void get_audit(Reader& reader, SupervisorRecord& record) {
  std::uint32_t count = 0;
  reader.get(count);
  record.audit_since.resize(std::min(count, audit::most_files));
  for (std::int64_t& since : record.audit_since) reader.get(since);
}

bool is_possible(const SupervisorRecord& record) {
  return record.launcher > 1 && record.current_audit_file < record.audit_since.size();
}

}  // namespace

Result<Fd> seal(const SupervisorRecord& record) {
  Writer writer;
  writer.put(record.launcher);
  writer.put(record.notify_socket);
  put_watchdog(writer, record);
  writer.put(record.mcp);
  writer.put(record.http);
  writer.put(record.metrics);
  writer.put(record.current_audit_file);
  writer.put(static_cast<std::uint32_t>(record.audit_since.size()));
  for (const std::int64_t since : record.audit_since) writer.put(since);
  return CELLBLOCK_TRY(
      make_sealed("cellblock-supervisor", std::as_bytes(std::span(writer.text()))));
}

Result<SupervisorRecord> read_supervisor_record(int sealed) {
  const auto bytes = CELLBLOCK_TRY(read_all(sealed, longest_record, Sealing::must_be_sealed));
  Reader reader({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  SupervisorRecord record;
  reader.get(record.launcher);
  reader.get(record.notify_socket);
  get_watchdog(reader, record);
  reader.get(record.mcp);
  reader.get(record.http);
  reader.get(record.metrics);
  reader.get(record.current_audit_file);
  get_audit(reader, record);
  if (!reader.is_done() || !is_possible(record)) return fail("what cellblockd left cannot be read");
  return record;
}

}  // namespace cellblock::daemon
