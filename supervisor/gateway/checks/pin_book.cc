#include "supervisor/gateway/checks/pin_book.h"

#include <nlohmann/json.hpp>

#include "policy/base/printable.h"
#include "policy/base/server_names.h"
#include "policy/pins/suspicion.h"
#include "supervisor/gateway/message/json_tree.h"

namespace cellblock::gateway {

std::expected<JsonSchema, std::string> input_schema_of(std::string_view definition) {
  const nlohmann::ordered_json tool = read_tree(definition);
  const auto schema = tool.is_object() ? tool.find("inputSchema") : tool.end();
  if (!tool.is_object() || schema == tool.end()) return std::unexpected("it has none");
  return make_schema(*schema);
}

const SchemaBook::Entry& SchemaBook::of(std::uint32_t server, std::string_view tool,
                                        const Pin& pin) {
  const auto known = entries_.find(Less::View{server, tool});
  if (known != entries_.end() && known->second.of == pin.digest) return known->second;
  if (entries_.size() >= max_kept) entries_.clear();
  Entry entry{.of = pin.digest, .schema = input_schema_of(pin.accepted)};
  entry.takes_every_object = entry.schema && entry.schema->takes_every_object();
  entry.defaults = read_defaults(pin.accepted);
  return entries_.insert_or_assign(Key{server, std::string(tool)}, std::move(entry)).first->second;
}

/// Between servers the same name is ordinary, and so are spellings of it: whose a tool is stands in
/// front of it. What no ASCII name is taken for, only another script makes.
class PinBook::Others final : public Neighbours {
 public:
  Others(const PinBook& book, std::uint32_t self) : book_(book), self_(self) {
    for (const Server& server : book.config_.servers) {
      if (&server != &book.config_.servers[self]) names_.push_back(server.name);
    }
  }

  const std::vector<std::string>& servers() const override { return names_; }

  std::string look_alike(ListKind kind, std::string_view name,
                         std::string_view fold) const override {
    if (is_ascii(name)) return {};
    for (std::uint32_t i = 0; i < book_.sets_.size(); ++i) {
      if (i == self_ || !book_.sets_[i].has_fold_of_another(kind, name, fold)) continue;
      return book_.config_.servers[i].name + ": " + std::string(fold);
    }
    return {};
  }

 private:
  const PinBook& book_;
  const std::uint32_t self_;
  std::vector<std::string> names_;
};

PinBook::PinBook(const Config& config, PinEffects& effects)
    : config_(config), effects_(effects), revisions_(max_servers) {
  sets_.reserve(max_servers);
  for (const Server& server : config.servers) sets_.emplace_back(server.pin);
}

void PinBook::begin_anew(std::uint32_t server) {
  if (server == sets_.size()) {
    sets_.emplace_back(config_.servers[server].pin);
  } else {
    sets_[server] = PinSet(config_.servers[server].pin);
  }
  ++revisions_[server];
}

void PinBook::see(std::uint32_t server, PinView view, ListKind kind,
                  const nlohmann::ordered_json& items, PageEnd end) {
  PinSet& set = sets_[server];
  const PinSet::Sights before = set.sights();
  const PinEvents events =
      set.see(view, kind, items, end, Others(*this, server), effects_.unix_ms());
  if (!events.empty() || set.sights() != before) changed(server, events);
}

void PinBook::see(std::uint32_t server, const Catalogue& catalogue) {
  for (std::size_t i = 0; i < list_kind_count; ++i) {
    const auto kind = static_cast<ListKind>(i);
    see(server, 0, kind, read_tree(catalogue.list(kind)), PageEnd::last);
  }
}

void PinBook::see_first(std::uint32_t server, const Catalogue& catalogue) {
  for (std::size_t i = 0; i < list_kind_count; ++i) {
    const auto kind = static_cast<ListKind>(i);
    if (kind == ListKind::resources || sets_[server].sights().front().at(i).is_whole) continue;
    if (catalogue.list(kind) == "[]") continue;
    see(server, 0, kind, read_tree(catalogue.list(kind)), PageEnd::last);
  }
}

PinSet::Done PinBook::accept(const Decider& decider, ListKind kind, std::string_view name,
                             const std::optional<Digest>& digest) {
  const auto done = sets_[decider.server].accept(kind, name, digest,
                                                 {.by = decider.by, .now_ms = effects_.unix_ms()});
  if (done != PinSet::Done::yes) return done;
  changed(decider.server, {{.what = PinEvent::What::accepted,
                            .kind = kind,
                            .name = std::string(name),
                            .by = decider.by}});
  return done;
}

PinSet::Done PinBook::forget(const Decider& decider, ListKind kind, std::string_view name) {
  const auto done = sets_[decider.server].forget(kind, name);
  if (done != PinSet::Done::yes) return done;
  changed(decider.server, {{.what = PinEvent::What::forgotten,
                            .kind = kind,
                            .name = std::string(name),
                            .by = decider.by}});
  return done;
}

void PinBook::forget_all(const Decider& decider) {
  PinSet& set = sets_[decider.server];
  const std::size_t count = set.size();
  set.forget_all();
  changed(decider.server, {{.what = PinEvent::What::forgotten,
                            .kind = {},
                            .name = {},
                            .count = count,
                            .by = decider.by}});
}

void PinBook::changed(std::uint32_t server, const PinEvents& events) {
  ++revisions_[server];
  effects_.pins_changed(server);
  for (const PinEvent& event : events) effects_.pin_event(server, event);
}

}  // namespace cellblock::gateway
