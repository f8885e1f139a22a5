// The verbs of the program, one function and one file each.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace heed::cli {

/// Each adds its subcommand, which runs when the command line names it.
void add_demo(CLI::App& app);
void add_inspect(CLI::App& app);
void add_info(CLI::App& app);
void add_list(CLI::App& app);
void add_see(CLI::App& app);
void add_compare(CLI::App& app);
void add_corpus(CLI::App& app);
void add_vocab(CLI::App& app);
void add_train(CLI::App& app);
void add_translate(CLI::App& app);
void add_shortlist(CLI::App& app);
void add_generate(CLI::App& app);
void add_classify(CLI::App& app);
void add_embed(CLI::App& app);
void add_fill(CLI::App& app);
void add_serve(CLI::App& app);
void add_recognise(CLI::App& app);
void add_point(CLI::App& app);
void add_copy(CLI::App& app);
void add_read(CLI::App& app);
void add_answer(CLI::App& app);
void add_caption(CLI::App& app);
void add_average(CLI::App& app);
void add_conversions(CLI::App& app);
void add_score(CLI::App& app);

/// Adds `heed corpus pack` to `heed corpus`.
void add_corpus_pack(CLI::App& corpus);

/// Adds `heed corpus captions`.
void add_caption_corpus(CLI::App& corpus);

/// Add `heed see curves` and `heed see attention` to `heed see`.
void add_see_positions(CLI::App& see);
void add_see_curves(CLI::App& see);
void add_see_attention(CLI::App& see);

/// The words of the command line after the program's name. Flags of `heed score` that have one dash
/// and several letters, as in sacreBLEU (-lc), are replaced by their long names (--lowercase).
std::vector<std::string> spell_out(int argc, char** argv);

}  // namespace heed::cli
