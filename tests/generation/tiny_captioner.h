// A small captioner of words for pictures of 8 x 8 pixels, in evaluation mode.
#pragma once

#include <memory>
#include <string>

#include "heed/generation/caption.h"
#include "heed/models/captioner.h"
#include "heed/tensor/create.h"
#include "tests/generation/tiny_translator.h"

namespace heed::test {

inline PictureCaptioner tiny_captioner(const std::string& attention = "bahdanau") {
  PictureCaptioner captioner{nullptr, words("a dog runs the cat"), {{0.5}, {0.25}}};
  CaptionerConfig config{.picture = {1, 8, 8},
                         .vocabulary = captioner.tokenizer->size(),
                         .encoder = {.channels = 2, .stages = 2, .blocks = 1}};
  config.decoder.embed = 6;
  config.decoder.hidden = 8;
  config.decoder.attention = attention;
  Generator generator(5);
  captioner.model = std::make_unique<Captioner>(config, generator);
  captioner.model->encode(normal({8, 1, 8, 8}, 0.0, 1.0, generator));  // running averages
  captioner.model->eval();
  return captioner;
}

}  // namespace heed::test
