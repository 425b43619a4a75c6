#include <map>

#include "client/cli/commands/commands.h"
#include "client/cli/commands/flag_set.h"

// `cellblock top`.
namespace cellblock::cli {
namespace {

struct TopFlags {
  double interval_seconds = 1;
  std::string order = "cpu";
  bool once = false;
};

TopRequest request_of(const TopFlags& flags) {
  static const std::map<std::string, TopOrder> orders{{"cpu", TopOrder::cpu},
                                                      {"memory", TopOrder::memory},
                                                      {"calls", TopOrder::calls},
                                                      {"name", TopOrder::name}};
  return {.interval = std::chrono::milliseconds(static_cast<long>(flags.interval_seconds * 1000)),
          .order = orders.at(flags.order),
          .once = flags.once};
}

// What was typed has become seconds by now.
std::string check_interval(const std::string& seconds) {
  double number = 0;
  const bool is_number = CLI::detail::lexical_cast(seconds, number);
  return is_number && number >= 0.2 && number <= 60 ? std::string() : "allowed: 200ms to 60s";
}

}  // namespace

void declare_top(CLI::App& app, Command& command, const std::shared_ptr<Flags>& flags) {
  const auto asked = std::make_shared<TopFlags>();
  auto* top = add_command(app, command, "top", "what servers use and do, as it changes",
                          "cellblock top\n  cellblock top --once --sort memory", [flags, asked] {
                            return run_top(context_of(*flags), request_of(*asked));
                          });
  top->add_option("--interval", asked->interval_seconds,
                  "ask anew after this long: 500ms, 2s; a number alone is seconds")
      ->type_name("TIME")
      ->transform(CLI::AsNumberWithUnit(std::map<std::string, double>{{"ms", 0.001}, {"s", 1}},
                                        CLI::AsNumberWithUnit::CASE_SENSITIVE)
                      .description(""))
      ->check(check_interval)
      ->default_str("1s");
  top->add_option("--sort", asked->order, "by cpu, memory, calls (a second) or name")
      ->type_name("ORDER")
      ->check(CLI::IsMember({"cpu", "memory", "calls", "name"}))
      ->capture_default_str();
  top->add_flag("--once", asked->once, "print one table after that long, without a screen");
  for_option(top, *flags);
}

}  // namespace cellblock::cli
