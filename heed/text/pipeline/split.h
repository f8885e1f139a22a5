// What becomes of the delimiters when a text is split.
#pragma once

#include <vector>

#include "heed/text/pipeline/json_node.h"
#include "heed/text/pipeline/regex.h"

namespace heed::pipeline {

/// With "-" as the delimiter, "a-b--c" becomes: removed: a b c; isolated: a - b - - c;
/// merged_with_previous: a- b- - c; merged_with_next: a -b - -c; contiguous: a - b -- c.
enum class SplitBehavior { removed, isolated, merged_with_previous, merged_with_next, contiguous };

/// Reads the name of a behaviour, in either spelling: "MergedWithNext", "merged_with_next".
SplitBehavior read_behavior(const JsonNode& node);

/// Joins or removes the parts of a text; a part that matched is a delimiter.
void apply_behavior(SplitBehavior behavior, std::vector<Match>& parts);

}  // namespace heed::pipeline
