#include "policy/audit/chain.h"

namespace cellblock::audit {

Sha256 chained(const Sha256& former, std::string_view body) {
  const std::string_view bytes(reinterpret_cast<const char*>(former.data()), former.size());
  return sha256(bytes, body);
}

std::string seal(std::string_view fields, ChainPoint& at) {
  std::string line;
  line.reserve(line_head.size() + 20 + fields.size() + seal_size + 1);
  line.append(line_head).append(std::to_string(at.sequence + 1)).append(fields);
  at.hash = chained(at.hash, line);
  ++at.sequence;
  line += before_hash;
  line += hex_of(at.hash);
  line += after_hash;
  line += '\n';
  return line;
}

LogEnd log_end(std::string_view tail) {
  if (const auto whole = sealed_line(tail.substr(tail.rfind('\n') + 1))) {
    return {ChainPoint{whole->sequence, whole->hash}, {}};
  }
  std::string_view before = tail;
  for (auto newline = before.rfind('\n'); newline != std::string_view::npos;
       newline = before.rfind('\n')) {
    before = before.substr(0, newline);
    const auto start = before.rfind('\n') + 1;  // npos + 1 is the beginning
    if (const auto sealed = sealed_line(before.substr(start))) {
      return {ChainPoint{sealed->sequence, sealed->hash}, tail.substr(newline + 1)};
    }
  }
  return {std::nullopt, tail};
}

}  // namespace cellblock::audit
