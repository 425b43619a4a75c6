#include "supervisor/http_connection/request_parser.h"

#include <strings.h>

#include <algorithm>
#include <array>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <utility>

#include "supervisor/http_connection/request.h"

namespace cellblock::http {
namespace {

namespace beast = boost::beast;

Verb verb_of(beast::http::verb verb) {
  switch (verb) {
    case beast::http::verb::post:
      return Verb::post;
    case beast::http::verb::get:
      return Verb::get;
    case beast::http::verb::delete_:
      return Verb::del;
    case beast::http::verb::options:
      return Verb::options;
    default:
      return Verb::other;
  }
}

std::string text_of(beast::string_view text) { return {text.data(), text.size()}; }

bool is_number(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

// One field with one number: neither twice, nor a list of the same ("146, 146").
bool has_plain_length(const Request& head) {
  const auto length = head.header("content-length");
  if (!length) return true;
  return std::ranges::count(head.headers, "content-length", &Header::name) == 1 &&
         is_number(*length);
}

// A line that goes on in the next one (obs-fold, RFC 9112 5.2): others may read it as two.
bool is_folded(std::string_view head) { return head.contains("\r\n ") || head.contains("\r\n\t"); }

// Where a body ends must be said once, in a way that nobody in between reads differently.
bool frames_plainly(const Request& head) {
  if (!has_plain_length(head)) return false;
  const auto coding = head.header("transfer-encoding");
  if (!coding) return true;
  const auto count = std::ranges::count(head.headers, "transfer-encoding", &Header::name);
  return count == 1 && lower_case(*coding) == "chunked" && !head.header("content-length");
}

// Of other services too: a browser sends its cookies to every port of a host.
constexpr std::array<std::string_view, 3> credentials = {"authorization", "proxy-authorization",
                                                         "cookie"};

bool is_credential(const Header& header) {
  return std::ranges::find(credentials, header.name) != credentials.end();
}

unsigned status_of(const beast::error_code& error) {
  if (error == beast::http::error::header_limit) return 431;
  if (error == beast::http::error::body_limit) return 413;
  return 400;
}

}  // namespace

struct RequestParser::Parser {
  beast::http::request_parser<beast::http::string_body, WipingAllocator<char>> beast;
};

RequestParser::RequestParser(std::size_t longest_body) : parser_(std::make_unique<Parser>()) {
  parser_->beast.header_limit(longest_head);
  parser_->beast.body_limit(longest_body);
}

RequestParser::~RequestParser() = default;
RequestParser::RequestParser(RequestParser&&) noexcept = default;
RequestParser& RequestParser::operator=(RequestParser&&) noexcept = default;

std::size_t RequestParser::feed(std::string_view bytes) {
  if (state_ == State::broken || state_ == State::complete) return 0;
  beast::error_code error;
  parser_->beast.eager(state_ == State::body);
  const std::size_t taken =
      parser_->beast.put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
  if (error && error != beast::http::error::need_more) {
    state_ = State::broken;
    status_ = status_of(error);
    return taken;
  }
  if (state_ == State::head && parser_->beast.is_header_done()) read_head(bytes.substr(0, taken));
  if (state_ == State::body && parser_->beast.is_done()) state_ = State::complete;
  return taken;
}

void RequestParser::read_head(std::string_view raw) {
  const auto& message = parser_->beast.get();
  if (message.version() != 11) {
    state_ = State::broken;
    status_ = 505;
    return;
  }
  request_.verb = verb_of(message.method());
  request_.target = text_of(message.target());
  for (const auto& field : message) {
    request_.headers.push_back({lower_case(text_of(field.name_string())), text_of(field.value())});
  }
  const bool is_plain = !is_folded(raw) && frames_plainly(request_);
  state_ = is_plain ? State::body : State::broken;
}

Request RequestParser::take() {
  request_.body = std::move(parser_->beast.get().body());
  return std::move(request_);
}

void RequestParser::forget_credentials() {
  for (const std::string_view name : credentials) {
    parser_->beast.get().erase(beast::string_view(name.data(), name.size()));
  }
  for (Header& header : request_.headers) {
    if (is_credential(header)) ::explicit_bzero(header.value.data(), header.value.size());
  }
  std::erase_if(request_.headers, is_credential);
}

std::optional<std::uint64_t> RequestParser::announced() const {
  const auto length = parser_->beast.content_length();
  if (!length) return std::nullopt;
  return *length;
}

bool RequestParser::keeps_alive() const { return parser_->beast.keep_alive(); }

}  // namespace cellblock::http
