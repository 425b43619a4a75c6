#include "client/cli/ui/http_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <charconv>

namespace cellblock::cli::ui {
namespace {

namespace beast = boost::beast;

constexpr std::uint32_t most_head_bytes = 8U << 10;
constexpr std::uint64_t most_body_bytes = 16U << 10;

// 'self' is this server alone: no foreign origin, no script or style in the document, no text that
// becomes markup (Trusted Types).
constexpr std::string_view common_headers =
    "Cache-Control: no-store\r\n"
    "Content-Security-Policy: default-src 'none'; script-src 'self'; style-src 'self'; img-src "
    "'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'\r\n"
    "Cross-Origin-Opener-Policy: same-origin\r\n"
    "Cross-Origin-Resource-Policy: same-origin\r\n"
    "Permissions-Policy: camera=(), geolocation=(), microphone=(), usb=()\r\n"
    "Referrer-Policy: no-referrer\r\n"
    "X-Content-Type-Options: nosniff\r\n"
    "X-Frame-Options: DENY\r\n"
    "Connection: close\r\n";

std::string text_of(beast::string_view text) { return {text.data(), text.size()}; }

std::string in_lower_case(std::string text) {
  std::ranges::transform(text, text.begin(), [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  });
  return text;
}

Method method_of(beast::http::verb verb) {
  if (verb == beast::http::verb::get) return Method::get;
  return verb == beast::http::verb::post ? Method::post : Method::other;
}

std::string phrase_of(unsigned status) {
  return text_of(beast::http::obsolete_reason(static_cast<beast::http::status>(status)));
}

/// "/api/audit" and "who=alice" of "/api/audit?who=alice".
struct Target {
  std::string_view path;
  std::string_view query;
};

Target parts_of(std::string_view target) {
  const auto mark = std::min(target.find('?'), target.size());
  return {target.substr(0, mark), target.substr(std::min(mark + 1, target.size()))};
}

std::optional<std::string> decoded(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      plain += text[at] == '+' ? ' ' : text[at];
      continue;
    }
    if (at + 2 >= text.size()) return std::nullopt;
    unsigned value = 0;
    const char* digits = text.data() + at + 1;
    const auto [end, error] = std::from_chars(digits, digits + 2, value, 16);
    if (error != std::errc{} || end != digits + 2) return std::nullopt;
    plain += static_cast<char>(value);
    at += 2;
  }
  return plain;
}

}  // namespace

std::optional<std::string> HttpRequest::header(std::string_view name) const {
  const auto is_it = [&](const auto& field) { return field.first == name; };
  if (std::ranges::count_if(headers, is_it) != 1) return std::nullopt;
  return std::ranges::find_if(headers, is_it)->second;
}

std::string HttpRequest::parameter(std::string_view name) const {
  const auto found =
      std::ranges::find_if(query, [&](const auto& field) { return field.first == name; });
  return found == query.end() ? std::string() : found->second;
}

struct RequestReader::Parser {
  beast::http::request_parser<beast::http::string_body> beast;
};

RequestReader::RequestReader() : parser_(std::make_unique<Parser>()) {
  parser_->beast.header_limit(most_head_bytes);
  parser_->beast.body_limit(most_body_bytes);
  parser_->beast.eager(true);
}

RequestReader::~RequestReader() = default;

// Beast leaves what it cannot use yet: the next bytes are put behind it.
RequestReader::State RequestReader::feed(std::string_view bytes) {
  waiting_ += bytes;
  beast::error_code error;
  const auto taken =
      parser_->beast.put(boost::asio::const_buffer(waiting_.data(), waiting_.size()), error);
  waiting_.erase(0, taken);
  if (error && error != beast::http::error::need_more) return State::broken;
  if (!parser_->beast.is_done()) {
    return waiting_.size() > most_head_bytes ? State::broken : State::unfinished;
  }
  const auto& message = parser_->beast.get();
  const bool is_sound =
      message.version() == 11 && read_query(parts_of(text_of(message.target())).query).has_value();
  return is_sound ? State::complete : State::broken;
}

HttpRequest RequestReader::request() const {
  const auto& message = parser_->beast.get();
  const std::string target = text_of(message.target());
  const auto [path, query] = parts_of(target);
  HttpRequest request{.method = method_of(message.method()),
                      .path = std::string(path),
                      .query = read_query(query).value_or(Fields{}),
                      .headers = {},
                      .body = message.body()};
  for (const auto& field : message) {
    request.headers.emplace_back(in_lower_case(text_of(field.name_string())),
                                 text_of(field.value()));
  }
  return request;
}

std::optional<Fields> read_query(std::string_view text) {
  Fields fields;
  while (!text.empty()) {
    const auto field = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(text.size(), field.size() + 1));
    const auto sign = std::min(field.find('='), field.size());
    auto name = decoded(field.substr(0, sign));
    auto value = decoded(field.substr(std::min(sign + 1, field.size())));
    if (!name || !value) return std::nullopt;
    fields.emplace_back(*std::move(name), *std::move(value));
  }
  return fields;
}

std::string bytes_of(const HttpReply& reply) {
  return fmt::format("HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\n{}{}\r\n{}",
                     reply.status, phrase_of(reply.status), reply.type, reply.body.size(),
                     reply.cookie.empty() ? "" : fmt::format("Set-Cookie: {}\r\n", reply.cookie),
                     common_headers, reply.body);
}

std::string stream_head(std::string_view type) {
  return fmt::format("HTTP/1.1 200 OK\r\nContent-Type: {}\r\n{}\r\n", type, common_headers);
}

}  // namespace cellblock::cli::ui
