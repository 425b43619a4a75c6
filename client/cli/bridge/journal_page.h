#pragma once

#include <optional>
#include <span>
#include <string>

#include "cellblock/error.h"
#include "client/connection/fd.h"

/// The memory in which a gateway notes what the bridge needs when it dies without a word
/// (policy/failures/resumable_session.h), and what is made of it then. Each gateway gets one of its
/// own: the one before may still be on its way out.
namespace cellblock::cli {

/// What has become of a session whose gateway has died.
struct CrashedSession {
  std::string answers;  ///< whole lines for the host: each call in flight hears of it once
  std::string resume;   ///< as Ending::resume; empty: it cannot go on
};

class JournalPage {
 public:
  /// unavailable: there is no memory for it.
  static client::Result<JournalPage> make();
  JournalPage(JournalPage&& other) noexcept;
  JournalPage& operator=(JournalPage&&) = delete;
  ~JournalPage();

  int descriptor() const { return memory_.get(); }
  /// `resume`: what the gateway was told; empty: nothing.
  CrashedSession after_crash(const std::string& resume) const;

 private:
  JournalPage(client::OwnedFd memory, std::span<char> mapped)
      : memory_(std::move(memory)), mapped_(mapped) {}

  client::OwnedFd memory_;
  std::span<char> mapped_;
};

}  // namespace cellblock::cli
