#include <re2/re2.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "policy/redaction/redactor.h"
#include "policy/redaction/secret_marks.h"

/// How fast texts are searched, by processor time: `redaction_bench [MEGABYTES]`, 100 unless told,
/// of each kind, beside `grep -F` for one word and RE2 for the e-mail expression alone.
namespace {

using namespace cellblock;  // NOLINT(google-build-using-namespace)

constexpr MarkKeyBytes key{0x9e, 0x37, 0x79, 0xb9, 0x7f, 0x4a, 0x7c, 0x15,
                           0xbf, 0x58, 0x47, 0x6d, 0x1c, 0xe4, 0xe5, 0xb9};

double seconds(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
}

// Of this process and of those that it has waited for: others that run meanwhile do not count.
double processor_seconds() {
  double all = 0;
  for (const auto whose : {RUSAGE_SELF, RUSAGE_CHILDREN}) {
    rusage usage{};
    ::getrusage(whose, &usage);
    all += seconds(usage.ru_utime) + seconds(usage.ru_stime);
  }
  return all;
}

std::string repeated(std::string_view piece, std::size_t bytes) {
  std::string text;
  text.reserve(bytes + piece.size());
  while (text.size() < bytes) text += piece;
  return text;
}

std::string random_letters(std::size_t bytes, std::string_view alphabet) {
  std::string text(bytes, ' ');
  std::uint64_t state = 88172645463325252ULL;
  for (char& letter : text) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    letter = alphabet[state % alphabet.size()];
  }
  return text;
}

template <class Run>
void measure(const char* what, std::size_t bytes, Run run) {
  const double began = processor_seconds();
  const std::size_t found = run();
  const double taken = processor_seconds() - began;
  std::printf("  %-34s %8.0f MB/s %10zu found\n", what, static_cast<double>(bytes) / taken / 1e6,
              found);
  static_cast<void>(std::fflush(stdout));
}

std::size_t count_of(const FoundCounts& found) {
  std::size_t all = 0;
  for (const auto& [name, count] : found) all += count;
  return all;
}

Redactor redactor_of(std::uint8_t sets, const std::vector<std::string>& secrets) {
  RedactionRules rules;
  for (const Detector* detector : all_detectors()) {
    if ((detector->sets & sets) == 0) continue;
    rules.detectors.push_back(
        {std::string(detector->name), {RedactionAction::redact, RedactionAction::redact}});
  }
  Redactor::Scanners scanners;
  const std::vector<std::string> names(secrets.size(), "TOKEN");
  return *Redactor::make({rules, mark_secrets(secrets, key), names}, scanners);
}

void with_redactor(const char* what, const std::string& line, std::uint8_t sets,
                   const std::vector<std::string>& secrets) {
  const Redactor redactor = redactor_of(sets, secrets);
  measure(what, line.size(),
          [&] { return count_of(redactor.of_json(Direction::to_host, line, "").found); });
}

void with_grep(const std::string& line) {
  std::FILE* file = std::tmpfile();
  if (file == nullptr || std::fwrite(line.data(), 1, line.size(), file) != line.size()) return;
  static_cast<void>(std::fflush(file));
  const std::string command = "LC_ALL=C grep -F -q no-such-word /proc/" +
                              std::to_string(::getpid()) + "/fd/" + std::to_string(::fileno(file));
  measure("grep -F, one word", line.size(),
          [&] { return std::system(command.c_str()) == 0 ? 1U : 0U; });
  static_cast<void>(std::fclose(file));
}

void with_re2(const std::string& line) {
  RE2::Options options(RE2::Latin1);
  const RE2 expression(find_detector("email")->pattern, options);
  measure("RE2, one expression", line.size(), [&] {
    std::size_t found = 0;
    re2::StringPiece rest(line);
    while (RE2::FindAndConsume(&rest, expression)) ++found;
    return found;
  });
}

void measure_all(const char* what, const std::string& text) {
  const std::string line = "\"" + text + "\"";
  std::printf("%s, %zu MB\n", what, line.size() / 1'000'000);
  with_grep(line);
  with_re2(line);
  with_redactor("secrets", line, 0, {"hunter2hunter2-and-more", std::string(60, 'a') + "b"});
  with_redactor("credentials", line, credentials_set, {});
  with_redactor("pii and phi", line, pii_set | phi_set, {});
  with_redactor("all", line, 7, {"hunter2hunter2-and-more"});
}

}  // namespace

int main(int argc, char** argv) {
  const std::size_t bytes = (argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 100) * 1'000'000;
  measure_all("English", repeated("The quick brown fox jumps over the lazy dog. ", bytes));
  measure_all("escapes", repeated(R"(one \"line\" of code;\n)", bytes));
  measure_all("base64", random_letters(bytes,
                                       "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwx"
                                       "yz0123456789+/"));
  measure_all("the beginning of a secret, on and on", std::string(bytes, 'a'));
  measure_all("beginnings of keys", repeated("sk-ghp_AKIAxoxb-1eyJ-----BEGIN PRIVATE ", bytes));
  measure_all("almost addresses", repeated("a.b-c@d.e@", bytes));
  measure_all("digits and hyphens", random_letters(bytes, "0123456789- "));
  measure_all("labels without values", repeated("dob: mrn= ssn - born on, ", bytes));
}
