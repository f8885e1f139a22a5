// All attention mechanisms by name. Listings, the conformance suite, benchmarks and documents read
// this list.
#pragma once

#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/attention/mechanism.h"

namespace heed {

/// All of them, those that belong together one after another.
std::span<const Mechanism> mechanisms();

/// By name; an unknown one is an error with the nearest.
const Mechanism& find_mechanism(std::string_view name);

/// The words of "name key=value key=value", one by one.
std::vector<std::string> split_options(std::string_view text);

/// The options that a mechanism's sample names, one by one.
std::vector<std::string> sample_options(const Mechanism& mechanism);

/// A layer by name; options are "key=value" as in io::set_fields.
std::unique_ptr<AttentionLayer> make_attention(std::string_view name,
                                               std::span<const std::string> options = {},
                                               Generator& generator = default_generator());
std::unique_ptr<AttentionLayer> make_attention(std::string_view name,
                                               std::initializer_list<std::string> options,
                                               Generator& generator = default_generator());

/// A mechanism and its options in a config file: `attention = "restricted"`, `options =
/// ["left=8"]`.
struct AttentionChoice {
  std::string name = "multi_head";
  std::vector<std::string> options = {};

  void fields(io::Fields& field);
  /// Of the name; whether the options fit together is known where the other sizes are.
  void validate() const;
};

}  // namespace heed
