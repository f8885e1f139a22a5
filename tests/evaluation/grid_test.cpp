// Tables in a frame: alignment, several lines, colours, LaTeX.
#include "heed/evaluation/grid.h"

#include <gtest/gtest.h>

namespace heed::evaluation {
namespace {

TEST(Grid, AlignsColumns) {
  EXPECT_EQ(grid_text({{"System", "BLEU"}, {{"a", "27.4\n(p)"}, {"é", "3.0"}}}),
            "╒══════════╤════════╕\n"
            "│   System │  BLEU  │\n"
            "╞══════════╪════════╡\n"
            "│        a │  27.4  │\n"
            "│          │  (p)   │\n"
            "├──────────┼────────┤\n"
            "│        é │  3.0   │\n"
            "╘══════════╧════════╛\n");
}

TEST(Grid, ColoursTakeNoRoom) {
  const std::string plain = grid_text({{"S", "B"}, {{"long name", "27.4"}}});
  std::string painted = grid_text({{"S", "B"}, {{"\x1b[33mlong name\x1b[0m", "27.4"}}});
  for (const std::string code : {"\x1b[33m", "\x1b[0m"})
    painted.erase(painted.find(code), code.size());
  EXPECT_EQ(painted, plain);
}

TEST(Grid, EscapesLatex) {
  EXPECT_EQ(grid_latex({{"System", "TER"}, {{"a_b<c", "5%"}}}),
            "\\begin{tabular}{rc}\n\\toprule\n"
            "   System &  TER  \\\\\n\\midrule\n"
            "    a\\_b\\ensuremath{<}c &  5\\%   \\\\\n"
            "\\bottomrule\n\\end{tabular}\n");
}

}  // namespace
}  // namespace heed::evaluation
