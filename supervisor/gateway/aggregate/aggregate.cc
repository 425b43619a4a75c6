#include "supervisor/gateway/aggregate/aggregate.h"

#include "supervisor/gateway/aggregate/aggregate_machine.h"

namespace cellblock::gateway {

Aggregate::Aggregate(const Config& config, const ServerSet& permitted, std::uint64_t session,
                     Sealer& sealer, AggregateEffects& effects)
    : machine_(std::make_unique<AggregateMachine>(config, permitted, session, sealer, effects)) {}

Aggregate::~Aggregate() = default;

void Aggregate::from_host(std::string_view line, const Message& message, Time now) {
  machine_->from_host(line, message, now);
  machine_->set_deadline(now);
}

void Aggregate::from_leg(std::uint32_t server, std::string_view line, const Message& message,
                         Time now) {
  machine_->from_leg(server, line, message, now);
  machine_->set_deadline(now);
}

void Aggregate::leg_started(std::uint32_t server, Time now) {
  machine_->leg_started(server, now);
  machine_->set_deadline(now);
}

void Aggregate::leg_failed(std::uint32_t server, const Failure& failure, Time now) {
  machine_->leg_failed(server, failure);
  machine_->set_deadline(now);
}

void Aggregate::catalogue_ready(std::uint32_t server, const Catalogue& catalogue, Time now) {
  machine_->catalogue_ready(server, catalogue, now);
  machine_->set_deadline(now);
}

void Aggregate::catalogue_failed(std::uint32_t server, const Failure& failure, Time now) {
  machine_->catalogue_failed(server, failure, now);
  machine_->set_deadline(now);
}

void Aggregate::deadline(Time now) {
  machine_->deadline(now);
  machine_->set_deadline(now);
}

void Aggregate::fail_all(const Failure& failure, Time now) {
  machine_->fail_all(failure);
  machine_->set_deadline(now);
}

void Aggregate::cancel_all(std::string_view reason, Time now) {
  machine_->cancel_all(reason);
  machine_->set_deadline(now);
}

std::size_t Aggregate::in_flight() const { return machine_->in_flight(); }

}  // namespace cellblock::gateway
