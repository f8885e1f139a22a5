// Computes the attention weights of a model for a text and labels them with tokens: for a
// translator with its translation, or a model of another task.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heed/generation/model_folder.h"
#include "heed/plot/attention_view.h"

namespace heed::plot {

/// The label of a token: its piece ("▁dog", "wor@@"), "<s>" for begin, "</s>" for end.
std::string token_label(const Tokenizer& tokenizer, std::int32_t id);

/// Encoder, decoder and cross-attention with which a translation of the text was written: the
/// weights of the hypothesis if it has them all, else those of one pass over its tokens. A row of
/// the decoder's and of cross-attention is the step that writes its token, as in alignments; the
/// decoder's columns are the tokens before it, begin first.
AttentionView attention_of(const Translator& translator, std::string_view text,
                           const Hypothesis& hypothesis);
/// The attention of a model of any task; a translator translates the text first, by that search or,
/// if none is given, by the one of its folder.
AttentionView attention_of(const LoadedModel& model, std::string_view text,
                           const std::optional<SearchOptions>& search = {});
/// Attention of a language model. Rows are the steps that generate each token of the text but the
/// first, and, as "…", the next token after the text.
AttentionView attention_of(const TextGenerator& generator, std::string_view text);
/// Attention of a classifier between the positions of the text; the result is the most probable
/// label.
AttentionView attention_of(const TextClassifier& classifier, std::string_view text);
/// Attention of a sentence encoder between the positions of the text.
AttentionView attention_of(const TextEmbedder& embedder, std::string_view text);
/// Attention of a model of masked tokens between the positions of the text; the result is the text
/// with the most probable tokens, if there are masked ones.
AttentionView attention_of(const TextFiller& filler, std::string_view text);
/// Attention of a model of pictures between the places of a picture, named "row,column" from 1;
/// `path` is a PNG or JPEG file. The result is the most probable label. Of a model that reads
/// glimpses, rows are the glimpses and columns the pixels, drawn over the picture.
AttentionView attention_of(const PictureClassifier& classifier, std::string_view path);
/// Attention of a captioner to the cells of a picture, drawn over it: a row for each word of its
/// caption and one for the end. `path` is a PNG or JPEG file.
AttentionView attention_of(const PictureCaptioner& captioner, std::string_view path);
/// Attention of a model that points: a row for each position that it points at, a column for each
/// element, the end first. `text` has the numbers of all elements.
AttentionView attention_of(const ElementPointer& pointer, std::string_view text);
/// The memory of a neural Turing machine over time: a row for each step, a column for each slot.
/// `cross` has the weights of its write heads, `decoder` those of its read heads. `text` has the
/// vectors to read, and perhaps "output" and those to write, whose number counts.
AttentionView attention_of(const BitMachine& machine, std::string_view text);
/// Attention of a question to the words of its passage: a row for each word of the question if all
/// of them attend, else one. `text` is the passage, "|||" and the question with its blank; the
/// result is the most probable word.
AttentionView attention_of(const ClozeReader& reader, std::string_view text);
/// Attention of a question to the sentences of its story, one layer for each hop. The last sentence
/// of `text` is the question; the result is the most probable answer.
AttentionView attention_of(const StoryAnswerer& answerer, std::string_view text);

}  // namespace heed::plot
