#include "policy/access/resource_uri.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>

#include "policy/base/printable.h"

namespace cellblock {
namespace {

enum class Extent : bool { whole, beginning };

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(), [](char c) { return lower(c); });
  return result;
}

bool is_letter(char c) { return lower(c) >= 'a' && lower(c) <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }
bool is_ascii(char c) { return static_cast<unsigned char>(c) < 0x80; }

bool is_scheme(std::string_view text) {
  return !text.empty() && is_letter(text.front()) && std::ranges::all_of(text, [](char c) {
    return is_letter(c) || is_digit(c) || c == '+' || c == '-' || c == '.';
  });
}

std::optional<int> hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (lower(c) >= 'a' && lower(c) <= 'f') return lower(c) - 'a' + 10;
  return std::nullopt;
}

// `text` begins with a percent sign.
std::optional<char> escaped_byte(std::string_view text) {
  if (text.size() < 3) return std::nullopt;
  const auto high = hex_digit(text[1]);
  const auto low = hex_digit(text[2]);
  if (!high || !low) return std::nullopt;
  return static_cast<char>(*high * 16 + *low);
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = first_code_point(text).length;
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

// A server that decodes twice reads something else. Decoding has left each `%` as `%25`.
bool is_escaped_twice(std::string_view decoded) {
  for (std::size_t at = decoded.find("%25"); at != std::string_view::npos;
       at = decoded.find("%25", at + 1)) {
    const std::string_view next = decoded.substr(at + 3, 2);
    if (next.size() == 2 && hex_digit(next[0]) && hex_digit(next[1])) return true;
  }
  return false;
}

struct Escapes {
  std::string_view kept;     ///< bytes that mean something else when they are not escaped
  std::string_view unclear;  ///< bytes that no escape may stand for
};

constexpr Escapes in_authority{"%?#@:", "/\\"};
constexpr Escapes in_path{"%?#", "/\\"};
constexpr Escapes in_parameters{"%?#&=+;", "\\"};

bool has(std::string_view bytes, char c) { return bytes.find(c) != std::string_view::npos; }

// nullopt: unclear.
std::optional<std::string> decoded(std::string_view text, const Escapes& escapes) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    const auto byte = escaped_byte(text.substr(i));
    if (!byte || is_control(*byte) || has(escapes.unclear, *byte)) return std::nullopt;
    if (has(escapes.kept, *byte)) {
      result += fmt::format("%{:02X}", static_cast<unsigned char>(*byte));
    } else {
      result += *byte;
    }
    i += 2;
  }
  if (!is_utf8(result) || is_escaped_twice(result)) return std::nullopt;
  return result;
}

// Some servers cut what follows a semicolon.
bool is_parent_step(std::string_view segment) {
  return segment.substr(0, segment.find(';')) == "..";
}

std::optional<std::string> normal_path(std::string_view raw, Extent extent) {
  const auto path = decoded(raw, in_path);
  if (!path) return std::nullopt;
  std::string result = path->starts_with('/') ? "/" : "";
  for (std::size_t begin = 0; begin <= path->size();) {
    const std::size_t end = std::min(path->find('/', begin), path->size());
    const std::string_view segment = std::string_view(*path).substr(begin, end - begin);
    const bool is_last = end == path->size();
    if (is_last && extent == Extent::beginning) return result.append(segment);
    if (is_parent_step(segment)) return std::nullopt;
    if (!segment.empty() && segment != ".") result.append(segment).append(is_last ? "" : "/");
    begin = end + 1;
  }
  return result;
}

// What a server does with a query is its own affair: nothing in it is resolved.
std::optional<std::string> normal_parameters(std::string_view raw) {
  auto text = decoded(raw, in_parameters);
  if (!text) return std::nullopt;
  constexpr std::string_view delimiters = "/?&=#;,";
  for (std::size_t begin = 0; begin <= text->size();) {
    const std::size_t end = std::min(text->find_first_of(delimiters, begin), text->size());
    if (std::string_view(*text).substr(begin, end - begin) == "..") return std::nullopt;
    begin = end + 1;
  }
  return text;
}

/// Schemes whose authority is a DNS name, and the port that may be left out; none: it has no port.
struct NetworkScheme {
  std::string_view name;
  std::string_view port;
};
constexpr std::array<NetworkScheme, 6> network_schemes{
    {{"http", "80"}, {"https", "443"}, {"ws", "80"}, {"wss", "443"}, {"ftp", "21"}, {"file", ""}}};

const NetworkScheme* network_scheme(std::string_view name) {
  const auto* const found = std::ranges::find(network_schemes, name, &NetworkScheme::name);
  return found == network_schemes.end() ? nullptr : found;
}

// With the colon before it; empty: there is none. Parsers differ over everything but a plain
// number.
bool is_plain_port(std::string_view port, const NetworkScheme& scheme) {
  if (port.empty()) return true;
  constexpr std::size_t longest = 5;
  port.remove_prefix(1);
  return !port.empty() && port.size() <= longest && port.front() != '0' &&
         std::ranges::all_of(port, is_digit) && port != scheme.port && !scheme.port.empty();
}

std::optional<std::string> normal_network_authority(std::string_view raw,
                                                    const NetworkScheme& scheme) {
  const bool is_plain =
      std::ranges::all_of(raw, [](char c) { return is_ascii(c) && c != '%' && c != ' '; });
  const bool is_address = raw.starts_with('[');
  const std::size_t bracket = is_address ? raw.find(']') : 0;
  if (!is_plain || bracket == std::string_view::npos) return std::nullopt;
  const std::size_t host_end = is_address ? bracket + 1 : std::min(raw.find(':'), raw.size());
  const std::string_view host = raw.substr(0, host_end);
  const std::string_view port = raw.substr(host_end);
  if (!port.empty() && port.front() != ':') return std::nullopt;
  const bool is_named = !host.empty() || scheme.name == "file";
  if (!is_named || host.ends_with('.') || !is_plain_port(port, scheme)) return std::nullopt;
  return lower(raw);
}

// What is before an `@` is no part of the host for some, and all of it for others.
std::optional<std::string> normal_authority(std::string_view raw, std::string_view scheme,
                                            Extent extent) {
  if (raw.find('@') != std::string_view::npos) return std::nullopt;
  const NetworkScheme* network = network_scheme(scheme);
  if (network != nullptr && extent == Extent::beginning) return lower(raw);
  if (network != nullptr) {
    auto text = normal_network_authority(raw, *network);
    if (text == "localhost" && scheme == "file") text->clear();
    return text;
  }
  auto text = decoded(raw, in_authority);
  if (text == "." || text == "..") return std::nullopt;
  return text;
}

bool is_missing_authority(std::string_view scheme, std::string_view rest, Extent extent) {
  if (network_scheme(scheme) == nullptr || extent == Extent::beginning) return false;
  return scheme == "file" ? !rest.starts_with('/')
                          : !rest.starts_with("//") || rest.starts_with("///");
}

// nullopt: unclear. `uri.scheme` is known.
std::optional<std::string> normal_text(std::string_view rest, Extent extent, ResourceUri& uri) {
  if (is_missing_authority(uri.scheme, rest, extent)) return std::nullopt;
  std::string text = uri.scheme + ":";
  const bool is_short = uri.scheme == "file" && rest.starts_with('/') && !rest.starts_with("//");
  if (is_short) text += "//";  // `file:/a` is `file:///a`
  if (rest.starts_with("//")) {
    const std::size_t end = std::min(rest.find_first_of("/?#", 2), rest.size());
    const bool may_go_on = extent == Extent::beginning && end == rest.size();
    const auto authority = normal_authority(rest.substr(2, end - 2), uri.scheme,
                                            may_go_on ? Extent::beginning : Extent::whole);
    if (!authority) return std::nullopt;
    text += "//" + *authority;
    rest.remove_prefix(end);
  }
  uri.head = text.size();
  const std::size_t parameters = std::min(rest.find_first_of("?#"), rest.size());
  const bool path_may_go_on = parameters == rest.size() && extent == Extent::beginning;
  auto path =
      normal_path(rest.substr(0, parameters), path_may_go_on ? Extent::beginning : Extent::whole);
  const auto tail = normal_parameters(rest.substr(parameters));
  if (!path || !tail) return std::nullopt;
  if (path->empty() && !path_may_go_on && network_scheme(uri.scheme) != nullptr) path = "/";
  return text + *path + *tail;
}

bool is_readable(std::string_view uri, Extent extent) {
  if (uri.starts_with(' ') || (uri.ends_with(' ') && extent == Extent::whole)) return false;
  return std::ranges::none_of(uri, [](char c) { return is_control(c) || c == '\\'; });
}

ResourceUri read(std::string_view sent, Extent extent) {
  ResourceUri uri{.sent = sent};
  const std::size_t colon = std::min(sent.find(':'), sent.size());
  if (!is_readable(sent, extent)) return uri;
  if (colon == sent.size()) {
    const bool is_scheme_to_be = extent == Extent::beginning && (sent.empty() || is_scheme(sent));
    if (is_scheme_to_be) uri.text = lower(sent), uri.head = sent.size(), uri.is_clear = true;
    return uri;
  }
  if (!is_scheme(sent.substr(0, colon))) return uri;
  uri.scheme = lower(sent.substr(0, colon));
  if (auto text = normal_text(sent.substr(colon + 1), extent, uri)) {
    uri.text = std::move(*text);
    uri.is_clear = true;
  }
  return uri;
}

bool is_everything(const NamePattern& pattern) { return pattern.is_prefix && pattern.text.empty(); }

// `text` begins with `beginning`; in the first `head` bytes the case does not count.
bool begins_with(std::string_view text, std::string_view beginning, std::size_t head) {
  if (beginning.size() > text.size()) return false;
  const std::size_t folded = std::min(head, beginning.size());
  return lower(text.substr(0, folded)) == lower(beginning.substr(0, folded)) &&
         text.substr(folded).starts_with(beginning.substr(folded));
}

bool is_same(std::string_view text, std::string_view other, std::size_t head) {
  return text.size() == other.size() && begins_with(text, other, head);
}

std::string_view without_slashes(std::string_view text, std::size_t head) {
  while (text.size() > head && text.ends_with('/')) text.remove_suffix(1);
  return text;
}

bool is_meant_by(const std::string& exact, const ResourceUri& uri) {
  if (is_same(uri.text, exact, uri.head)) return true;
  const std::string_view path =
      std::string_view(uri.text).substr(0, uri.text.find_first_of("?#", uri.head));
  return is_same(without_slashes(path, uri.head), without_slashes(exact, uri.head), uri.head);
}

bool takes_text(const NamePattern& pattern, const ResourceUri& uri) {
  return pattern.is_prefix ? begins_with(uri.text, pattern.text, uri.head)
                           : is_meant_by(pattern.text, uri);
}

// Many servers do not look at the host of a file.
ResourceUri as_local_file(ResourceUri uri) {
  constexpr std::string_view local = "file://";
  uri.text.replace(0, uri.head, local);
  uri.head = local.size();
  return uri;
}

bool may_mean(const NamePattern& pattern, const ResourceUri& unclear) {
  if (unclear.scheme.empty() || is_everything(pattern)) return true;
  const std::string_view text = pattern.text;
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) return pattern.is_prefix && unclear.scheme.starts_with(text);
  return lower(text.substr(0, colon)) == unclear.scheme;
}

}  // namespace

ResourceUri read_uri(std::string_view uri) { return read(uri, Extent::whole); }

ResourceUri read_uri_beginning(std::string_view beginning) {
  return read(beginning, Extent::beginning);
}

NamePattern uri_pattern(std::string_view text, bool is_prefix) {
  ResourceUri uri = read(text, is_prefix ? Extent::beginning : Extent::whole);
  return {uri.is_clear ? std::move(uri.text) : std::string(text), is_prefix};
}

bool gives_uri(const NamePattern& pattern, const ResourceUri& uri) {
  if (is_everything(pattern)) return true;
  if (!pattern.is_prefix && pattern.text == uri.sent) return true;
  if (!uri.is_clear) return false;
  return pattern.is_prefix ? uri.text.starts_with(pattern.text) : uri.text == pattern.text;
}

bool takes_uri(const NamePattern& pattern, const ResourceUri& uri) {
  if (!uri.is_clear) return may_mean(pattern, uri);
  return takes_text(pattern, uri) ||
         (uri.scheme == "file" && takes_text(pattern, as_local_file(uri)));
}

bool gives_some(const NamePattern& pattern, const ResourceUri& beginning) {
  if (is_everything(pattern)) return true;
  if (!beginning.is_clear) return false;
  return pattern.text.starts_with(beginning.text) ||
         (pattern.is_prefix && beginning.text.starts_with(pattern.text));
}

bool takes_all(const NamePattern& pattern, const ResourceUri& beginning) {
  if (!beginning.is_clear) return may_mean(pattern, beginning);
  return pattern.is_prefix && begins_with(beginning.text, pattern.text, beginning.head);
}

}  // namespace cellblock
