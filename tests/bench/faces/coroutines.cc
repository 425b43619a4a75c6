// Session on Asio: as many coroutines as calls are in flight.

#include <cellblock/session.h>

#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <exception>
#include <stdexcept>
#include <utility>

#include "tests/bench/faces/faces.h"

namespace cellblock::bench {
namespace {

namespace asio = boost::asio;
using asio::use_awaitable;

template <class T>
void check(const client::Result<T>& result) {
  if (!result) throw std::runtime_error(result.error().text);
}

class CoroutineFace : public Face {
 public:
  explicit CoroutineFace(const std::string& server)
      : session_(context_.get_executor(), {.client_name = "bench_face"}) {
    begin([this, server]() -> asio::awaitable<void> {
      check(co_await session_.connect(use_awaitable));
      check(co_await session_.attach(server, use_awaitable));
      check(co_await session_.initialize(use_awaitable));
    });
    finish();
  }

  void run(Round& round) override {
    for (unsigned i = 0; i < round.in_flight(); ++i) {
      begin([this, &round]() -> asio::awaitable<void> {
        while (round.take()) {
          const auto began = Round::Clock::now();
          const auto result = co_await session_.call_tool(face_tool, face_arguments, use_awaitable);
          check(result);
          round.answered(began, result->text);
        }
      });
    }
    finish();
  }

 private:
  template <class Work>
  void begin(Work work) {
    ++open_;
    asio::co_spawn(context_, std::move(work), [this](const std::exception_ptr& failure) {
      --open_;
      if (failure) std::rethrow_exception(failure);
    });
  }

  void finish() {
    context_.restart();
    while (open_ > 0) context_.run_one();
  }

  asio::io_context context_;
  client::Session session_;
  unsigned open_ = 0;
};

}  // namespace

std::unique_ptr<Face> coroutine_face(const std::string& server) {
  return std::make_unique<CoroutineFace>(server);
}

}  // namespace cellblock::bench
