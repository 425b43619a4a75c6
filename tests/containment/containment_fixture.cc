#include "tests/containment/containment_fixture.h"

#include "tests/containment/launcher_process.h"

namespace cellblock::containment {

Containment::Containment() : directory_(ids_here().daemon) {}

Arguments Containment::command_of(const std::string& probe, const Arguments& arguments) const {
  Arguments command = {directory_.install("probe_" + probe)};
  command.insert(command.end(), arguments.begin(), arguments.end());
  return command;
}

std::string Containment::outside(const std::string& probe, const Arguments& arguments,
                                 Outside who) const {
  return run_outside(command_of(probe, arguments), who);
}

CellSpec Containment::spec_of(const std::string& probe, const Arguments& arguments) const {
  CellSpec spec;
  spec.server.name = "probe";
  spec.server.command = command_of(probe, arguments);
  spec.server.binds = {{directory_.path("bin"), directory_.path("bin"), Access::read}};
  return spec;
}

std::string Containment::line_of(const CellRun& run) {
  if (!run.trouble.empty()) return run.trouble;
  if (run.facts.kind == EndKind::exited && !run.output.empty()) return run.output;
  return "ended " + std::to_string(static_cast<int>(run.facts.kind)) + " in step " +
         std::string(name_of(run.facts.step)) + ", errno " + std::to_string(run.facts.error) +
         ", exit " + std::to_string(run.facts.exit_code) + ", signal " +
         std::to_string(run.facts.signal);
}

}  // namespace cellblock::containment
