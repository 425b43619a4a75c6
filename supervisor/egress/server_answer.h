#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace cellblock::egress {

enum class AnswerKind : std::uint8_t {
  need_more,
  greeting,  ///< a ServerHello: what the client greets with from here on is encrypted
  retry,     ///< a HelloRetryRequest: it greets once more in the clear
  other,     ///< neither
};

/// What a server answers to a TLS greeting first (RFC 8446 4.1.3, 4.1.4), from its bytes as they
/// come. Keeps a few hundred of them at most, and none once it knows. Pure.
class ServerAnswer {
 public:
  AnswerKind add(std::string_view bytes);
  AnswerKind kind() const { return kind_; }

 private:
  std::string begun_;
  AnswerKind kind_ = AnswerKind::need_more;
};

}  // namespace cellblock::egress
