// The text of an HTML fragment, so that it can be translated while its tags are kept. Tags,
// comments, and the content of script, style, pre, code and textarea stay as they are.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heed::serve {

/// A part of a fragment. The parts together are the fragment, once text is escaped.
struct HtmlPart {
  std::string text;  ///< Markup as it is, or text without character references.
  bool is_text = false;

  friend bool operator==(const HtmlPart&, const HtmlPart&) = default;
};

std::vector<HtmlPart> split_html(std::string_view html);

/// Text for HTML: &, < and > as character references.
std::string escape_html(std::string_view text);

}  // namespace heed::serve
