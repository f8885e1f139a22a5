// A captioner with what belongs to it, and the captions that it writes for pictures: by the
// searches of text, greedy, with a beam or sampled.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "heed/generation/hypothesis.h"
#include "heed/generation/options.h"
#include "heed/models/model.h"
#include "heed/pictures/picture_scale.h"
#include "heed/text/tokenizer.h"

namespace heed {

struct FolderFormat;

/// Task::caption.
struct PictureCaptioner {
  std::unique_ptr<CaptionModel> model;
  std::shared_ptr<const Tokenizer> tokenizer;
  PictureScale scale;  ///< Of the pictures that it was trained on.
};

/// The format of its folders (folder_format.h).
extern const FolderFormat kPictureCaptionerFolder;

/// A caption of a picture.
struct Caption {
  std::string text;
  Hypothesis hypothesis;
};

/// How captions are searched for if nothing else is said: they have at most 64 tokens.
SearchOptions caption_search();

/// The most probable caption of each picture, [B, C, H, W] (picture_batch.h), that the search
/// finds. `on_step` is called before each step and may end the search by throwing.
std::vector<Caption> caption(const PictureCaptioner& captioner, const Tensor& pictures,
                             const SearchOptions& search = caption_search(),
                             const std::function<void()>& on_step = {});

/// The attention to the cells of one picture [1, C, H, W] with which a text would be written, one
/// entry per layer: [1, H, T + 1, S], with the end token as last row.
std::vector<LayerWeights> caption_weights(const PictureCaptioner& captioner, const Tensor& picture,
                                          std::span<const std::int32_t> tokens);

}  // namespace heed
