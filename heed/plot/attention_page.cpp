#include "heed/plot/attention_page.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <string_view>

#include "heed/base/error.h"
#include "heed/io/base64.h"
#include "heed/io/json.h"
#include "heed/plot/svg.h"
#include "heed/tensor/copy.h"

namespace heed::plot {

extern const std::string_view kAttentionTemplate;  // attention.html
extern const std::string_view kExplorerStyle;      // explorer.css
extern const std::string_view kExplorerScript;     // explorer.js

namespace {

// Weights as 16 bits each, low byte first; 65535 means 1. This is exact enough for the four digits
// that the page shows.
std::string packed(const Tensor& weights) {
  const Tensor whole = contiguous_copy(weights);
  std::string bytes;
  for (const float weight : whole.values<float>()) {
    const auto level = static_cast<std::uint32_t>(
        std::lround(std::clamp(static_cast<double>(weight), 0.0, 1.0) * 65535.0));
    bytes += static_cast<char>(level & 255);
    bytes += static_cast<char>(level >> 8);
  }
  return io::to_base64(bytes);
}

io::Value list_of(const std::vector<std::string>& labels) {
  io::Value::List list;
  for (const std::string& label : labels) list.push_back({label});
  return {list};
}

io::Value number(std::int64_t n) { return {n}; }

io::Value part_value(const AttentionPart& part) {
  io::Value::List layers;
  for (const Tensor& layer : part.layers) {
    layers.push_back(
        {io::Value::Table{{"heads", number(layer.size(0))}, {"weights", {packed(layer)}}}});
  }
  return {io::Value::Table{{"kind", {std::string(name_of(part.kind))}},
                           {"rows", list_of(part.rows)},
                           {"columns", list_of(part.columns)},
                           {"layers", {layers}}}};
}

io::Value start_value(const AttentionSelection& selection) {
  io::Value::Table start;
  if (selection.kind) start.push_back({"kind", {std::string(name_of(*selection.kind))}});
  if (selection.layer) start.push_back({"layer", number(*selection.layer)});
  if (selection.head) start.push_back({"head", number(*selection.head)});
  return {start};
}

void replace_once(std::string& text, std::string_view mark, std::string_view by) {
  const std::size_t at = text.find(mark);
  HEED_ASSERT(at != std::string::npos);
  text.replace(at, mark.size(), by);
}

// JSON in which every < is escaped, so that it cannot begin or end a tag of the page. Only strings
// contain <.
std::string within_script(std::string_view json) {
  std::string safe;
  for (const char c : json) {
    if (c == '<') {
      safe += "\\u003c";
    } else {
      safe += c;
    }
  }
  return safe;
}

}  // namespace

std::string attention_data(const AttentionView& view, const AttentionSelection& selection) {
  choose_parts(view, selection);  // throws if the selection does not exist
  io::Value::List parts;
  for (const AttentionPart& part : view.parts) {
    if (!part.layers.empty()) parts.push_back(part_value(part));
  }
  io::Value::Table data{{"text", {view.text}},
                        {"result", {view.result}},
                        {"start", start_value(selection)},
                        {"parts", {parts}}};
  if (view.alignment.defined()) data.push_back({"alignment", {packed(view.alignment)}});
  return io::write_json({std::move(data)}, false);
}

std::string with_explorer(std::string page) {
  replace_once(page, "{{explorer.css}}", kExplorerStyle);
  replace_once(page, "{{explorer.js}}", kExplorerScript);
  return page;
}

std::string attention_html(const AttentionView& view, const AttentionSelection& selection) {
  const std::string data = attention_data(view, selection);
  std::string page = with_explorer(std::string(kAttentionTemplate));
  // The data comes last, because a text may contain the other mark.
  replace_once(page, "{{title}}", escape_xml(view.text));
  const std::size_t mark = page.rfind("{{data}}");
  HEED_ASSERT(mark != std::string::npos);
  page.replace(mark, std::string_view("{{data}}").size(), within_script(data));
  return page;
}

}  // namespace heed::plot
