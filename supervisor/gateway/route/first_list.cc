#include "supervisor/gateway/route/first_list.h"

#include <nlohmann/json.hpp>

#include "supervisor/gateway/catalogue/discovery_messages.h"
#include "supervisor/gateway/message/json_tree.h"

namespace cellblock::gateway {

std::string FirstList::ask(UpstreamIds& ids) {
  asked_ = ids.next();
  return list_request(asked_, era_, *pages_->next());
}

std::string FirstList::begin(UpstreamIds& ids, Era era, std::uint64_t max_bytes) {
  state_ = State::asking;
  era_ = era;
  pages_.emplace(max_bytes);
  pages_->want_what_is_promised({{"tools", nlohmann::ordered_json::object()}});
  return ask(ids);
}

// What a server does not list, nobody has accepted; but it is no reason to refuse it either: by
// first sight whatever it had listed would have been.
std::optional<std::string> FirstList::answered(std::string_view line, const Message& message,
                                               UpstreamIds& ids, PinGate& pins) {
  const bool is_good = message.kind == MessageKind::result &&
                       pages_->take(message.result.in(line)) == ListPages::Taken::good;
  if (is_good && pages_->next()) return ask(ids);
  state_ = State::over;
  Catalogue found;
  if (is_good) {
    pages_->finish(found);
    pins.see(ListKind::tools, read_tree(found.list(ListKind::tools)), PageEnd::last);
  }
  pages_.reset();
  return std::nullopt;
}

}  // namespace cellblock::gateway
