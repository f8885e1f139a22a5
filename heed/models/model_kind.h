// A kind of model as an entry of the list (kinds.h): its name, its task, its typed config, and how
// a model is made from it. The entry stands below the class of the model.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "heed/attention/choice.h"
#include "heed/base/random.h"
#include "heed/io/fields.h"
#include "heed/models/model.h"

namespace heed {

/// Sizes that a model gets from vocabularies and data. A task has no use for some of them.
struct ModelSizes {
  std::int64_t source_vocabulary = 0;
  std::int64_t target_vocabulary = 0;  ///< The only one of a model with one vocabulary.
  std::optional<std::int64_t> padding = {};
  std::int64_t classes = 0;
  PictureSize picture = {};
  std::int64_t inputs = 0, outputs = 0;  ///< Bits of vectors.
};

/// The typed config of a model, without its type.
class ModelConfig {
 public:
  virtual ~ModelConfig() = default;
  virtual std::unique_ptr<ModelConfig> clone() const = 0;
  virtual void fields(io::Fields& field) = 0;
  virtual void validate() const = 0;
  virtual void set_sizes(const ModelSizes& sizes) = 0;
  /// Every attention of the model.
  virtual std::vector<AttentionChoice> attentions() const = 0;
  virtual std::unique_ptr<Model> make(Generator& generator) const = 0;
};

/// The config of a model class.
template <typename M>
class ModelConfigOf : public ModelConfig {
 public:
  ModelConfigOf() = default;
  explicit ModelConfigOf(typename M::Config values) : config(std::move(values)) {}

  std::unique_ptr<ModelConfig> clone() const override {
    return std::make_unique<ModelConfigOf>(*this);
  }
  void fields(io::Fields& field) override { config.fields(field); }
  void validate() const override { config.validate(); }
  void set_sizes(const ModelSizes& sizes) override { config.set_sizes(sizes); }
  std::vector<AttentionChoice> attentions() const override { return config.attentions(); }
  std::unique_ptr<Model> make(Generator& generator) const override {
    return std::make_unique<M>(config, generator);
  }

  typename M::Config config = {};
};

struct ModelKind {
  std::string_view name;  ///< In folders, and as the section of a training config.
  std::string_view what;  ///< One line for help and documents.
  Task task;
  std::unique_ptr<ModelConfig> (*config)();  ///< The config with its defaults.
  std::string_view former_name = {};         ///< In folders that earlier versions have written.
};

/// The entry of a model class.
template <typename M>
constexpr ModelKind model_kind(std::string_view name, std::string_view what, Task task,
                               std::string_view former_name = {}) {
  return {name, what, task,
          []() -> std::unique_ptr<ModelConfig> { return std::make_unique<ModelConfigOf<M>>(); },
          former_name};
}

/// A kind of model with a config: a section of config files.
class ModelChoice {
 public:
  explicit ModelChoice(const ModelKind& kind) : kind_(&kind), config_(kind.config()) {}
  ModelChoice(const ModelKind& kind, std::unique_ptr<ModelConfig> config)
      : kind_(&kind), config_(std::move(config)) {}
  ModelChoice(const ModelChoice& other) : kind_(other.kind_), config_(other.config_->clone()) {}
  ModelChoice(ModelChoice&&) = default;
  ModelChoice& operator=(ModelChoice other) {
    std::swap(kind_, other.kind_);
    std::swap(config_, other.config_);
    return *this;
  }

  void fields(io::Fields& field) { config_->fields(field); }
  void validate() const { config_->validate(); }

  const ModelKind& kind() const { return *kind_; }
  ModelConfig& config() { return *config_; }
  const ModelConfig& config() const { return *config_; }
  /// The config of a model class, or null if the choice is another class.
  template <typename M>
  typename M::Config* config_of() {
    auto* const typed = dynamic_cast<ModelConfigOf<M>*>(config_.get());
    return typed != nullptr ? &typed->config : nullptr;
  }
  std::unique_ptr<Model> make(Generator& generator = default_generator()) const {
    return config_->make(generator);
  }

 private:
  const ModelKind* kind_;
  std::unique_ptr<ModelConfig> config_;
};

/// The choice that a model was made from.
template <typename M>
ModelChoice choice_of(const ModelKind& kind, const typename M::Config& config) {
  return {kind, std::make_unique<ModelConfigOf<M>>(config)};
}

}  // namespace heed
