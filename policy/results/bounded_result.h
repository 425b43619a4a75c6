#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/config/result_rules.h"
#include "policy/results/bounding_notes.h"
#include "policy/results/result_items.h"

/// A result that is too large, made into a valid one that is not. Pure, without a tree, and without
/// a copy of what it leaves out.
///
///     if (!may_exceed(result.size(), bounds)) pass it on;
///     const auto bounded = BoundedResult::of(result, shape, LinkForm::text, bounds);
///     if (!bounded) pass it on;
///     for (const MissingPart& part : bounded->withheld()) keep part.text(limit), or do not;
///     hand on bounded->write({.uri = where it is kept, .bytes = how much of each});
///
/// Text is cut between characters, in the middle, with a note in between; images, audio and blobs
/// are replaced by a note or a link; structuredContent is whole or not there, and since clients
/// refuse the result of a tool with an outputSchema without it unless it is an error, it is one
/// then.
/// `_meta["cellblock/bounded"]` says what was done.
namespace cellblock {

// How the bounds of a result are shared among its items: numbers alone.

enum class Fate : std::uint8_t {
  whole,
  cut,       ///< a text, to `bytes`, its note included
  replaced,  ///< media, by a note
  left_out,
};

struct Allotment {
  Fate fate = Fate::whole;
  std::size_t bytes = 0;
};

/// The room that one note may take.
inline constexpr std::size_t note_room = 640;

/// One for each item, in their order. If they do not fit together, every text has the same share,
/// and smaller ones are whole. With so many that the shares would be scraps, the first ones are
/// whole and the rest is left out.
std::vector<Allotment> allot(const std::vector<ResultItem>& items, const ResultBounds& bounds);

/// What stands for an image that is left out.
enum class LinkForm : std::uint8_t {
  text,           ///< which revisions before 2025-06-18 know
  resource_link,  ///< in a tool's content and in prompts; elsewhere text as well
};

class BoundedResult {
 public:
  /// `result`: raw JSON of a validated message, which must outlive this. nullopt: it is within the
  /// bounds. What is too long and no object is left out as a whole.
  static std::optional<BoundedResult> of(std::string_view result, ResultShape shape, LinkForm links,
                                         const ResultBounds& bounds);

  /// What the result will lack, whole, in the order in which parts are numbered.
  const std::vector<MissingPart>& withheld() const { return withheld_; }

  /// The result, as raw JSON.
  std::string write(const KeptParts& kept) const;

 private:
  BoundedResult(std::string_view result, ResultShape shape, LinkForm links,
                const ResultBounds& bounds)
      : result_(result), shape_(shape), links_(links), bounds_(bounds) {}

  bool is_question() const;
  bool says(std::string_view member, std::string_view word) const;
  std::vector<const RawMember*> apart() const;
  bool examine();
  bool examine_no_object();
  bool judge_items();
  bool judge_structured();
  bool judge_others();
  void judge_meta(const std::vector<RawMember>& meta, std::size_t& room);
  bool fits_among_others(const RawMember& member, std::size_t& room) const;

  // bounded_result.cc
  PartPlace place(std::size_t part, const KeptParts& kept) const;
  std::string written_items(const KeptParts& kept) const;
  std::string written_item(std::size_t index, const KeptParts& kept) const;
  std::string cut_item(const ResultItem& item, std::size_t bytes, const PartPlace& place) const;
  std::string replaced_item(const ResultItem& item, const PartPlace& place) const;
  std::string note_item(const ResultItem& like, std::string_view note) const;
  std::string framed(const ResultItem& like, std::string content) const;
  std::string written_instead(const KeptParts& kept) const;
  std::string written_meta(const KeptParts& kept) const;
  std::string report(const KeptParts& kept) const;

  static constexpr std::size_t no_part = static_cast<std::size_t>(-1);

  std::string_view result_;
  ResultShape shape_;
  LinkForm links_;
  ResultBounds bounds_;
  ReadResult read_;
  std::vector<Allotment> allotments_;
  std::vector<std::size_t> part_of_;  ///< for each item: which part has it, or no_part
  std::vector<MissingPart> withheld_;
  std::vector<std::size_t> sizes_;  ///< of the parts
  std::size_t left_out_ = 0;        ///< items
  std::size_t rest_ = no_part;      ///< the part that has these
  std::size_t structured_ = no_part;
  std::size_t no_object_ = no_part;  ///< the part that is the whole result
  std::string_view why_structured_;
  std::vector<bool> dropped_;                ///< of the result's members
  std::vector<std::string_view> kept_meta_;  ///< "key":value of `_meta`
  std::vector<std::string> dropped_names_;
};

}  // namespace cellblock
