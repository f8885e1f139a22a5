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

/// All mechanisms, related ones next to each other.
std::span<const Mechanism> mechanisms();

/// Finds a mechanism; an unknown name is an error that names the nearest.
const Mechanism& find_mechanism(std::string_view name);

/// The options that a mechanism's sample names.
std::vector<std::string> sample_options(const Mechanism& mechanism);

/// A layer by name; options are "key=value".
std::unique_ptr<AttentionLayer> make_attention(std::string_view name,
                                               std::span<const std::string> options = {},
                                               Generator& generator = default_generator());
std::unique_ptr<AttentionLayer> make_attention(std::string_view name,
                                               std::initializer_list<std::string> options,
                                               Generator& generator = default_generator());

}  // namespace heed
