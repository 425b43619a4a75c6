// From pages to the text of a scrape.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <optional>
#include <string>

#include "policy/metrics/families.h"
#include "supervisor/metrics/admission.h"
#include "supervisor/metrics/exposition.h"
#include "supervisor/metrics/totals.h"

namespace cellblock::metrics {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::Optional;

const std::vector<std::string> servers = {"files", "git"};

struct Counted {
  MetricsPage writer;
  MetricsPage reader;
};

Counted gateway() {
  const std::size_t numbers = gateway_numbers();
  const Fd page = *MetricsPage::make(numbers);
  return {*MetricsPage::map(page.get(), numbers, MetricsPage::Use::count),
          *MetricsPage::map(page.get(), numbers, MetricsPage::Use::read)};
}

std::string text_of(const Totals& totals) { return exposition(totals.now(), servers); }

std::size_t calls_that_were_ok(std::size_t server) {
  return place_in_gateway(Metric::calls, server);
}

TEST(MetricsTotals, CountersDoNotFallWhenAGatewayEnds) {
  Totals totals;
  Counted one = gateway();
  Counted two = gateway();
  totals.begin(1, std::move(one.reader));
  totals.begin(2, std::move(two.reader));
  one.writer.add(calls_that_were_ok(1), 5);
  two.writer.add(calls_that_were_ok(1), 3);
  EXPECT_EQ(totals.now().gateways[calls_that_were_ok(1)], 8U);
  totals.end(1);
  EXPECT_EQ(totals.now().gateways[calls_that_were_ok(1)], 8U);
  two.writer.add(calls_that_were_ok(1), 1);
  EXPECT_EQ(totals.now().gateways[calls_that_were_ok(1)], 9U);
  totals.end(2);
  totals.end(2);
  EXPECT_EQ(totals.now().gateways[calls_that_were_ok(1)], 9U);
}

TEST(MetricsTotals, GaugesAreOfWhatRuns) {
  Totals totals;
  Counted one = gateway();
  totals.begin(1, std::move(one.reader));
  const std::size_t cells = place_in_gateway(Metric::cells, 0);
  const std::size_t sessions = place_in_gateway(Metric::sessions, 0);
  one.writer.add(cells, 2);
  one.writer.add(sessions, 1);
  EXPECT_EQ(totals.now().gateways[cells], 2U);
  totals.end(1);
  EXPECT_EQ(totals.now().gateways[cells], 0U);
  EXPECT_EQ(totals.now().gateways[sessions], 0U);
}

TEST(MetricsTotals, HaveTheDaemonsOwnNumbersToo) {
  const std::size_t numbers = numbers_of(Scope::daemon);
  const Fd page = *MetricsPage::make(numbers);
  MetricsPage counted = *MetricsPage::map(page.get(), numbers, MetricsPage::Use::count);
  Totals totals;
  totals.set_daemon(*MetricsPage::map(page.get(), numbers, MetricsPage::Use::read));
  counted.add(place_of(Metric::connections), 12);
  EXPECT_THAT(text_of(totals), HasSubstr("\ncellblock_connections_total 12\n"));
}

TEST(MetricsText, NamesServersOutcomesAndCodes) {
  Totals totals;
  Counted one = gateway();
  totals.begin(1, std::move(one.reader));
  one.writer.add(calls_that_were_ok(1), 5);
  const Family& refusals = family_of(Metric::refusals);
  one.writer.add(place_in_gateway(Metric::refusals, 0) + value_index(refusals, "denied"), 2);
  const std::string text = text_of(totals);
  EXPECT_THAT(text, HasSubstr("# TYPE cellblock_calls_total counter\n"));
  EXPECT_THAT(text, HasSubstr("cellblock_calls_total{server=\"git\",outcome=\"ok\"} 5\n"));
  EXPECT_THAT(text, HasSubstr("cellblock_calls_total{server=\"files\",outcome=\"ok\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("cellblock_refusals_total{server=\"files\",code=\"denied\"} 2\n"));
}

TEST(MetricsText, TellsWhatIsAboutNoServerOnlyWhereThereIsSuch) {
  Totals totals;
  Counted one = gateway();
  totals.begin(1, std::move(one.reader));
  EXPECT_THAT(text_of(totals), Not(HasSubstr("server=\"\"")));
  const Family& refusals = family_of(Metric::refusals);
  one.writer.add(
      place_in_gateway(Metric::refusals, no_server) + value_index(refusals, "not_attached"), 1);
  EXPECT_THAT(text_of(totals),
              HasSubstr("cellblock_refusals_total{server=\"\",code=\"not_attached\"} 1\n"));
}

TEST(MetricsText, CountsDurationsInSecondsAndCumulatively) {
  Totals totals;
  Counted one = gateway();
  totals.begin(1, std::move(one.reader));
  const std::size_t place = place_in_gateway(Metric::call_duration, 0);
  one.writer.add(place + bucket_of(2'000), 1);
  one.writer.add(place + bucket_of(20'000), 1);
  one.writer.add(place + numbers_of(family_of(Metric::call_duration)) - 1, 22'000);
  const std::string text = text_of(totals);
  EXPECT_THAT(text, HasSubstr("_bucket{server=\"files\",le=\"0.0025\"}"));
  EXPECT_THAT(text, HasSubstr("_bucket{server=\"files\",le=\"0.1\"}"));
  EXPECT_THAT(text, HasSubstr("_bucket{server=\"files\",le=\"+Inf\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("cellblock_call_duration_seconds_count{server=\"files\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("cellblock_call_duration_seconds_sum{server=\"files\"} 0.022"));
}

TEST(MetricsText, IsWhatPrometheusReads) {
#ifdef CELLBLOCK_PROMTOOL
  Totals totals;
  std::FILE* const tool = ::popen(CELLBLOCK_PROMTOOL " check metrics", "w");
  ASSERT_NE(tool, nullptr);
  const std::string text = text_of(totals);
  EXPECT_EQ(std::fwrite(text.data(), 1, text.size(), tool), text.size());
  EXPECT_EQ(::pclose(tool), 0);
#else
  GTEST_SKIP() << "promtool is not installed (Debian: prometheus)";
#endif
}

// --- who is answered -----------------------------------------------------------------------------

std::optional<unsigned> status_for(const http::Request& request,
                                   http::Transport transport = http::Transport::unix_socket) {
  const auto refusal = refusal_for(request, transport);
  return refusal ? std::optional(refusal->status) : std::nullopt;
}

http::Request get(std::string target) {
  return {http::Verb::get, std::move(target), {{"host", "localhost:9464"}}, {}};
}

TEST(MetricsAdmission, AnswersGetOfThePathAndNothingElse) {
  EXPECT_EQ(status_for(get("/metrics")), std::nullopt);
  EXPECT_EQ(status_for(get("/metrics?name[]=x")), std::nullopt);
  EXPECT_THAT(status_for(get("/")), Optional(404U));
  EXPECT_THAT(status_for(get("/metrics/../etc/passwd")), Optional(404U));
  http::Request post = get("/metrics");
  post.verb = http::Verb::post;
  EXPECT_THAT(status_for(post), Optional(405U));
}

TEST(MetricsAdmission, AnswersNoWebPage) {
  http::Request request = get("/metrics");
  EXPECT_EQ(status_for(request, http::Transport::tcp), std::nullopt);
  request.headers = {{"host", "rebound.example.com"}};
  EXPECT_THAT(status_for(request, http::Transport::tcp), Optional(403U));
  EXPECT_EQ(status_for(request), std::nullopt) << "no name leads to a Unix socket";
  request.headers = {{"host", "localhost"}, {"origin", "https://evil.example.com"}};
  EXPECT_THAT(status_for(request, http::Transport::tcp), Optional(403U));
}

}  // namespace
}  // namespace cellblock::metrics
