#include "client/cli/tool_rows/add.h"

#include <fmt/format.h>

#include <utility>

#include "client/cli/add/add_request.h"
#include "client/cli/add/addition.h"
#include "client/cli/add/described_file.h"
#include "client/cli/common/prompt.h"
#include "client/cli/table/words.h"
#include "client/cli/terminal/terminal_text.h"
#include "client/cli/tools/tools.h"

// A server that is installed, tried and declared in one command.
namespace cellblock::cli {
namespace {

AddRequest request_in(const Words& words) {
  return {.server = words.text(new_name),
          .command = words.all(host_line),
          .environment = words.all(variable_option),
          .settings = words.all(setting_option),
          .read = words.all(read_option),
          .write = words.all(write_option),
          .egress = words.all(egress_option),
          .users = words.all(allow_option)};
}

// Who types a line has named all that it may do; a file says it for somebody else.
Consent consent_for(const AddedServer& added, const Words& words) {
  if (words.has(yes_option)) return Consent::given;
  return added.is_described ? Consent::before_trial : Consent::after_trial;
}

AskSetting asking(const Context& context, const Interruption& interruption) {
  if (!can_ask(context)) return {};
  return [&interruption](const BundleSetting& setting) {
    const auto question = fmt::format("{}: ", cut_to(safe_line(setting.title), 80));
    return answer_to(interruption, question, setting.is_secret ? Echo::off : Echo::on);
  };
}

}  // namespace

Exit run_add(const Context& context, const Words& words) {
  const auto request = request_in(words);
  const Interruption interruption;
  const auto places = add_places(context);
  if (!places) return cannot(context, places.error().text);
  auto added = added_server(request, *places, asking(context, interruption));
  if (!added) return cannot(context, added.error().text);
  if (!words.has(yes_option) && !can_ask(context)) return cannot(context, nobody_to_ask);
  const AddOptions options{
      .consent = consent_for(*added, words),
      .scripts = words.has(scripts_option) ? InstallScripts::run : InstallScripts::left_out,
      .may_authorize = true};
  return add_server(context, *places, *std::move(added), options, interruption);
}

}  // namespace cellblock::cli
