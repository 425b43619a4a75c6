#include "policy/egress/dns_message.h"

#include "policy/egress/egress_policy.h"

namespace cellblock::egress {
namespace {

constexpr unsigned is_response = 0x8000;
constexpr unsigned opcode_bits = 0x7800;
constexpr unsigned recursion_desired = 0x0100;
constexpr unsigned recursion_available = 0x0080;
constexpr std::uint16_t class_internet = 1;
constexpr std::uint16_t type_opt = 41;
constexpr std::uint16_t our_udp_size = 1232;
constexpr unsigned pointer_to_question = 0xc00c;  // right after the header
constexpr std::size_t header_size = 12;
constexpr std::size_t longest_wire_name = 255;
constexpr std::size_t longest_wire_label = 63;

struct Header {
  std::uint16_t id = 0;
  std::uint16_t flags = 0;
  std::uint16_t questions = 0;
  std::uint16_t answers = 0;
  std::uint16_t authorities = 0;
  std::uint16_t additional = 0;
};

Header take_header(ByteReader& reader) {
  Header header;
  header.id = reader.take16();
  header.flags = reader.take16();
  header.questions = reader.take16();
  header.answers = reader.take16();
  header.authorities = reader.take16();
  header.additional = reader.take16();
  return header;
}

// "a.b" of the labels; none where they are no name. A dot within a label would make two of one.
std::optional<std::string> take_name(ByteReader& reader) {
  std::string name;
  std::size_t size = 1;
  for (std::size_t length = reader.take8(); length != 0; length = reader.take8()) {
    size += length + 1;
    if (length > longest_wire_label || size > longest_wire_name) return std::nullopt;
    const std::string_view label = reader.take(length);
    if (label.find('.') != label.npos) return std::nullopt;
    if (!name.empty()) name.push_back('.');
    name.append(label);
  }
  if (reader.ran_out()) return std::nullopt;
  return name;
}

// The one record that may follow a question: OPT, for the root.
bool take_opt(ByteReader& reader) {
  const bool is_root = reader.take8() == 0;
  const bool is_opt = reader.take16() == type_opt;
  reader.take16();  // what the client can receive: our answers are shorter than the least of it
  reader.take32();
  reader.take(reader.take16());
  return is_root && is_opt && !reader.ran_out();
}

std::unexpected<DnsBadQuestion> bad(const Header& header, DnsCode code) {
  return std::unexpected(DnsBadQuestion{code, header.id});
}

std::expected<DnsQuestion, DnsBadQuestion> take_question(ByteReader& reader, const Header& header) {
  const std::string_view from = reader.rest();
  const auto name = take_name(reader);
  if (!name) return bad(header, DnsCode::format_error);
  DnsQuestion question{.id = header.id};
  question.type = reader.take16();
  const bool is_internet = reader.take16() == class_internet;
  question.recursion_desired = (header.flags & recursion_desired) != 0;
  question.raw = from.substr(0, from.size() - reader.rest().size());
  question.name = normal_host_name(*name);
  question.has_edns = header.additional == 1;
  if (question.has_edns && !take_opt(reader)) return bad(header, DnsCode::format_error);
  if (!reader.is_done()) return bad(header, DnsCode::format_error);
  if (!is_internet) return bad(header, DnsCode::refused);
  return question;
}

std::string reply_header(std::uint16_t id, unsigned flags, unsigned questions, unsigned answers,
                         unsigned additional) {
  std::string out;
  for (const unsigned word : {unsigned{id}, is_response | recursion_available | flags, questions,
                              answers, 0U, additional}) {
    put16(out, word);
  }
  return out;
}

void put_address(std::string& out, std::uint16_t type, const InternetAddress& address) {
  const std::size_t size = type == type_a ? 4 : 16;
  put16(out, pointer_to_question);
  put16(out, type);
  put16(out, class_internet);
  put32(out, answer_ttl);
  put16(out, static_cast<unsigned>(size));
  for (std::size_t i = address.size() - size; i < address.size(); ++i) put8(out, address.at(i));
}

void put_opt(std::string& out) {
  put8(out, 0);
  put16(out, type_opt);
  put16(out, our_udp_size);
  put32(out, 0);
  put16(out, 0);
}

}  // namespace

std::expected<DnsQuestion, DnsBadQuestion> parse_question(std::string_view message) {
  ByteReader reader(message);
  const Header header = take_header(reader);
  // Answering an answer could make two resolvers talk for ever.
  if (message.size() < header_size || (header.flags & is_response) != 0) {
    return std::unexpected(DnsBadQuestion{});
  }
  if ((header.flags & opcode_bits) != 0) return bad(header, DnsCode::not_implemented);
  if (header.questions != 1 || header.answers != 0 || header.authorities != 0 ||
      header.additional > 1) {
    return bad(header, DnsCode::format_error);
  }
  return take_question(reader, header);
}

std::string dns_reply(const DnsQuestion& question, DnsCode code,
                      const std::optional<InternetAddress>& address) {
  const unsigned flags =
      (question.recursion_desired ? recursion_desired : 0U) | static_cast<unsigned>(code);
  std::string out = reply_header(question.id, flags, 1, address ? 1 : 0, question.has_edns ? 1 : 0);
  out += question.raw;
  if (address) put_address(out, question.type, *address);
  if (question.has_edns) put_opt(out);
  return out;
}

std::string dns_reply(const DnsBadQuestion& bad_question) {
  return reply_header(bad_question.id, static_cast<unsigned>(*bad_question.code), 0, 0, 0);
}

}  // namespace cellblock::egress
