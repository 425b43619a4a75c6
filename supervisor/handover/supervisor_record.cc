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

// Writes fields, each followed by a NUL, which no path and no number contains.
class Writer {
 public:
  void field(const std::string& text) { text_.append(text).push_back('\0'); }
  void field(std::integral auto number) { field(std::to_string(number)); }
  void field(const std::vector<std::int64_t>& numbers) {
    field(numbers.size());
    for (const std::int64_t number : numbers) field(number);
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

  void field(std::string& text) { text = next(); }
  template <std::integral T>
  void field(T& number) {
    const std::string text(next());
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, number);
    if (error != std::errc{} || stop != end) failed_ = true;
  }
  void field(std::vector<std::int64_t>& numbers) {
    std::uint32_t count = 0;
    field(count);
    numbers.resize(std::min(count, audit::most_files));
    for (std::int64_t& number : numbers) field(number);
  }

 private:
  std::string_view next() {
    const std::size_t end = rest_.find('\0');
    if (failed_ || end == std::string_view::npos) {
      failed_ = true;
      return {};
    }
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text;
  }

  std::string_view rest_;
  bool failed_ = false;
};

void file_fields(auto& sealed, auto& file) {
  sealed.field(file.path);
  sealed.field(file.device);
  sealed.field(file.inode);
}

// Of the record, in the order in which they are sealed: for a Writer and for a Reader.
void fields_of(auto& sealed, auto& record) {
  sealed.field(record.launcher);
  sealed.field(record.notify_socket);
  sealed.field(record.watchdog_us);
  file_fields(sealed, record.mcp);
  file_fields(sealed, record.http);
  file_fields(sealed, record.metrics);
  sealed.field(record.current_audit_file);
  sealed.field(record.audit_since);
}

bool is_possible(const SupervisorRecord& record) {
  return record.launcher > 1 && record.watchdog_us >= 0 &&
         record.current_audit_file < record.audit_since.size();
}

}  // namespace

Result<Fd> seal(const SupervisorRecord& record) {
  Writer writer;
  fields_of(writer, record);
  return CELLBLOCK_TRY(
      make_sealed("cellblock-supervisor", std::as_bytes(std::span(writer.text()))));
}

Result<SupervisorRecord> read_supervisor_record(int sealed) {
  const auto bytes = CELLBLOCK_TRY(read_all(sealed, longest_record, Sealing::must_be_sealed));
  Reader reader({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  SupervisorRecord record;
  fields_of(reader, record);
  if (!reader.is_done() || !is_possible(record)) return fail("what cellblockd left cannot be read");
  return record;
}

}  // namespace cellblock::daemon
