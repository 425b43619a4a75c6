#include "supervisor/gateway/catalogue/catalogue_runner.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>

#include "policy/base/server_set.h"
#include "supervisor/os/clock.h"

namespace cellblock::gateway {

DiscoveryRunner::DiscoveryRunner(GatewayServices& services, std::uint32_t server,
                                 const SurveyStart& start, Receiver receiver)
    : services_(services),
      server_(server),
      receiver_(std::move(receiver)),
      survey_(services.config().servers[server], services.config().catalogue, start, *this),
      deadline_(services.loop(), [this] {
        survey_.deadline(now());
        settle();
      }) {}

void DiscoveryRunner::begin() {
  survey_.begin(now());
  settle();
}

void DiscoveryRunner::start_cell() {
  const CellPlan plan{.server = server_,
                      .program = wire::CellProgram::survey,
                      .has_workspace = false,
                      .purpose = "survey"};
  CellKeeper& keeper = *this;
  cell_ = std::make_unique<CellRunner>(services_, plan, CellOwner{}, Fd(), keeper);
  cell_->cell().use(*this, now());
}

void DiscoveryRunner::to_cell(std::string_view line) {
  const std::array<std::string_view, 2> message{line, "\n"};
  if (!cell_) return;
  // A survey is to wait no longer than a session would: start.handshake_timeout begins.
  cell_->cell().asked();
  cell_->cell().say(message);
}

CellWords DiscoveryRunner::words() const {
  if (!cell_) return {};
  EndedCell cell = cell_->cell().so_far(now());
  return {last_words_of(cell), shown_lines(std::move(cell.stderr_tail)), advice_on_silence(cell)};
}

void DiscoveryRunner::stop_cell() {
  if (cell_) cell_->cell().leave(*this);
}

void DiscoveryRunner::set_deadline(std::optional<Milliseconds> from_now) {
  if (from_now) {
    deadline_.set(*from_now);
  } else {
    deadline_.cancel();
  }
}

void DiscoveryRunner::found(Discovered surveyed) {
  done_ = true;
  receiver_.found(std::move(surveyed));
}

void DiscoveryRunner::failed(const Failure& failure) {
  done_ = true;
  receiver_.failed(failure);
}

bool DiscoveryRunner::answer_lost(std::string_view own_id, const Failure& failure, Time now) {
  if (!own_id.empty() && !survey_.owns(own_id)) return false;
  survey_.answer_lost(failure, now);
  return true;
}

void DiscoveryRunner::settle() {
  if (!cell_) return;
  cell_->settle();
  // Later in the turn: it may be one of its own callbacks that brought us here.
  if (cell_->is_over() && !std::exchange(burying_, true)) {
    services_.loop().defer([this] { remove_ended(); });
  }
}

void DiscoveryRunner::remove_ended() {
  burying_ = false;
  cell_.reset();
  survey_.cell_over(now());
  if (!cell_ && done_) return receiver_.over();
  settle();
}

std::optional<CellRow> DiscoveryRunner::row(Time at) const {
  if (!cell_ || cell_->cell().id() == 0) return std::nullopt;
  return cell_->row(at);
}

namespace {

void log_failure(const SysResult<void>& done, std::string_view what, const Server& server) {
  if (!done)
    spdlog::warn("{} its catalogue: {}: {}", server_tag(server.name), what, done.error().text());
}

}  // namespace

CatalogueRunner::CatalogueRunner(GatewayServices& services, std::unique_ptr<CatalogueStore> store,
                                 Found found)
    : services_(services),
      cache_(services.config(), *this),
      store_(std::move(store)),
      found_(std::move(found)),
      saving_(services.loop(), [this] {
        cache_.save_due(now());
        save_later();
      }) {
  if (store_) read_all_kept();
}

void CatalogueRunner::read_all_kept() {
  const Config& config = services_.config();
  for (std::uint32_t i = 0; i < config.servers.size(); ++i) put_back(i);
  const auto removed = store_->remove_others(config.servers);
  if (!removed) spdlog::warn("old catalogues: {}", removed.error().text());
}

void CatalogueRunner::put_back(std::uint32_t server) {
  if (!store_) return;
  auto kept = store_->load(server_at(server), services_.config().catalogue.max_bytes);
  if (kept) cache_.put_back(server, std::move(*kept));
}

CatalogueCache::Now CatalogueRunner::now() const {
  return {services_.loop().now(), unix_milliseconds()};
}

const Server& CatalogueRunner::server_at(std::uint32_t server) const {
  return services_.config().servers[server];
}

// --- what others ask -----------------------------------------------------------------------------

const Catalogue* CatalogueRunner::find(std::uint32_t server) const {
  return cache_.find(server, now());
}

Catalogues::Waiter CatalogueRunner::want(std::uint32_t server, Told told) {
  const Waiter waiter = ++last_waiter_;
  if (!cache_.want(server, waiter, told, now())) return waiter;
  to_be_told_.push_back(waiter);
  services_.loop().defer(
      [this, waiter, server, told = std::move(told)] { tell(waiter, server, told); });
  return waiter;
}

void CatalogueRunner::tell(Waiter waiter, std::uint32_t server, const Told& told) {
  if (std::erase(to_be_told_, waiter) == 0) return;  // it has gone meanwhile
  const CatalogueCache::Answer answer = cache_.answer(server);
  told(answer.catalogue, answer.failure);
}

void CatalogueRunner::forget(Waiter waiter) {
  cache_.forget(waiter);
  std::erase(to_be_told_, waiter);
}

void CatalogueRunner::learn_list(std::uint32_t server, ListKind kind, std::string_view items) {
  cache_.learn_list(server, kind, items, now());
  save_later();
}

void CatalogueRunner::learn_answer(std::uint32_t server, Era era, std::string_view result) {
  cache_.learn_answer(server, era, result, now());
  save_later();
}

void CatalogueRunner::learn_speaks(std::uint32_t server, Era era, Speaks speaks) {
  cache_.learn_speaks(server, era, speaks, now());
  save_later();
}

// What cannot be saved now, because that was done lately.
void CatalogueRunner::save_later() {
  const auto due = cache_.next_save();
  if (!due || saving_.is_set()) return;
  const auto left = std::chrono::ceil<Milliseconds>(*due - services_.loop().now());
  saving_.set(std::max(left, Milliseconds{0}));
}

void CatalogueRunner::finish() { cache_.save_all(now()); }

void CatalogueRunner::list_changed(std::uint32_t server, ListKind kind) {
  cache_.list_changed(server, kind);
}

void CatalogueRunner::forget_server(std::uint32_t server) { cache_.forget_server(server); }

// --- surveys -------------------------------------------------------------------------------------

void CatalogueRunner::start_survey(std::uint32_t server, const SurveyStart& start) {
  queued_.emplace_back(server, start);
  // Later in the turn: whoever wants a catalogue is not to be called back before he has said so.
  services_.loop().defer([this] { begin_next(); });
}

bool CatalogueRunner::has_survey(std::uint32_t server) const {
  return std::ranges::any_of(surveys_,
                             [server](const Running& one) { return one.server == server; });
}

// The launcher gives a server one cell for surveys, and that of the last one may still be ending.
void CatalogueRunner::begin_next() {
  const auto next = std::ranges::find_if_not(
      queued_, [this](const auto& queued) { return has_survey(queued.first); });
  if (next == queued_.end() || surveys_.size() >= max_surveys) return;
  const auto server = next->first;
  const auto start = next->second;
  queued_.erase(next);
  surveys_.push_back({server, nullptr});
  const auto place = std::prev(surveys_.end());
  DiscoveryRunner::Receiver receiver{
      .found =
          [this, server](Discovered surveyed) {
            found_(server, surveyed.catalogue);
            cache_.found(server, {std::move(surveyed.catalogue), surveyed.eras, surveyed.findings},
                         now());
            save_later();
            survey_ended(server, nullptr);
          },
      .failed = [this, server](const Failure& failure) { survey_ended(server, &failure); },
      .over =
          [this, place] {
            // It is one of its own callbacks that brought us here.
            services_.loop().defer([this, place] {
              surveys_.erase(place);
              begin_next();
            });
          }};
  place->survey = std::make_unique<DiscoveryRunner>(services_, server, start, std::move(receiver));
  place->survey->begin();
}

// Whoever is told may ask for the next one, or forget others who wait: so he is told later.
void CatalogueRunner::survey_ended(std::uint32_t server, const Failure* failure) {
  for (auto& [waiter, told] : cache_.survey_ended(server, failure, now())) {
    to_be_told_.push_back(waiter);
    services_.loop().defer(
        [this, waiter, server, outcome = std::move(told)] { tell(waiter, server, outcome); });
  }
}

std::vector<CellRow> CatalogueRunner::rows(std::uint32_t server) const {
  std::vector<CellRow> rows;
  for (const Running& running : surveys_) {
    if (running.server != server) continue;
    if (auto row = running.survey->row(services_.loop().now())) rows.push_back(std::move(*row));
  }
  return rows;
}

// --- files ---------------------------------------------------------------------------------------

void CatalogueRunner::save(std::uint32_t server, const KeptCatalogue& kept) {
  if (!store_) return;
  const std::uint64_t max_bytes = services_.config().catalogue.max_bytes;
  log_failure(store_->save(server_at(server), kept, max_bytes), "cannot be kept on disk",
              server_at(server));
}

void CatalogueRunner::remove(std::uint32_t server) {
  if (store_)
    log_failure(store_->remove(server_at(server)), "cannot be removed", server_at(server));
}

}  // namespace cellblock::gateway
