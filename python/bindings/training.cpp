// heed.train: a training run with a callback; Ctrl-C saves and stops it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>

#include "heed/io/config.h"
#include "heed/training/report_tree.h"
#include "heed/training/run.h"
#include "python/bindings/bind.h"
#include "python/bindings/corpus.h"
#include "python/bindings/interrupt.h"
#include "python/bindings/python_error.h"
#include "python/bindings/tree.h"
#include "python/bindings/unlocked.h"

namespace heed::python {
namespace {

// ---- the config ---------------------------------------------------------------------------------

// "schedule__peak" and, if no other key has this name, "peak" as the path of the key.
std::string path_of_key(const std::string& keyword, const std::vector<io::FieldInfo>& fields) {
  std::string path = keyword;
  for (std::size_t at = 0; (at = path.find("__", at)) != std::string::npos;) {
    path.replace(at, 2, ".");
  }
  std::vector<std::string> ends;
  for (const io::FieldInfo& field : fields) {
    if (field.path == path || field.path.starts_with(path + ".")) return path;
    if (field.path.ends_with("." + path)) ends.push_back(field.path);
  }
  return ends.size() == 1 ? ends[0] : path;
}

// {"schedule": {"peak": value}} of "schedule.peak".
io::Value nested(std::string_view path, io::Value value) {
  const std::size_t dot = path.rfind('.');
  io::Value table{io::Value::Table{
      {std::string(path.substr(dot == std::string_view::npos ? 0 : dot + 1)), std::move(value)}}};
  return dot == std::string_view::npos ? table : nested(path.substr(0, dot), std::move(table));
}

// The changes by keyword arguments, each as a separate tree, so that later ones win.
std::vector<io::Value> changes_of(const nb::kwargs& overrides) {
  const std::vector<io::FieldInfo> fields = io::list_fields(TrainConfig{});
  std::vector<io::Value> changes;
  for (const auto [key, item] : overrides) {
    const std::string keyword = text_of("a keyword", key);
    changes.push_back(nested(path_of_key(keyword, fields), value_of(keyword, item)));
  }
  return changes;
}

void read_over(TrainConfig& config, std::span<const io::Value> trees, const char* source) {
  io::detail::update(config, source, [&](io::Fields& fields) {
    for (const io::Value& tree : trees) fields.read(tree, source);
  });
}

TrainConfig config_of(nb::handle config, bool resume, const nb::kwargs& overrides) {
  std::optional<TrainConfig> given;
  std::vector<io::Value> changes = changes_of(overrides);
  if (PyDict_Check(config.ptr()) != 0) {
    given.emplace();
    changes.insert(changes.begin(), value_of("", config));
  } else if (!config.is_none()) {
    io::load_config(path_of("config", config), given.emplace());
  }
  return run_config(given, resume, [&](TrainConfig& c) { read_over(c, changes, "heed.train"); });
}

// ---- the callback -------------------------------------------------------------------------------

io::Value number(double value) { return {value}; }

// Reports events to Python. An exception stops training at the next update, and is raised again
// after everything is saved.
class PythonWatcher : public TrainingWatcher {
 public:
  explicit PythonWatcher(nb::handle callback) : callback_(callback) {}

  void note(const std::string& text) { tell("note", {{"text", {text}}}); }
  void began(std::int64_t update) override { tell("begin", {{"update", {update}}}); }
  void updated(const UpdateReport& report) override {
    if (callback_.is_none()) return;
    tell("update", {{"update", {report.update}},
                    {"epoch", number(report.epoch)},
                    {"loss", number(report.loss)},
                    {"perplexity", number(std::exp(report.negative_log_likelihood))},
                    {"rate", number(report.rate)},
                    {"norm", number(report.gradient_norm)},
                    {"skipped", {report.skipped}},
                    {"source_tokens", {report.source_tokens}},
                    {"target_tokens", {report.target_tokens}},
                    {"seconds", number(report.seconds)}});
  }
  void validated(const ValidationReport& report) override { tell("validation", tree_of(report)); }
  void saved(const std::filesystem::path& folder) override {
    tell("save", {{"folder", {folder.string()}}});
  }

  bool interrupted() {
    guard([&] { check_(); });
    return stopped_ || error_;
  }
  /// Whether the callback has requested the end.
  bool stopped() const { return stopped_; }
  void raise() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void tell(const char* event, io::Value::Table members) {
    if (callback_.is_none()) return;
    guard([&] {
      const nb::gil_scoped_acquire gil;
      members.insert(members.begin(), {"event", {std::string(event)}});
      const nb::object answer = callback_(object_of({std::move(members)}));
      stopped_ = stopped_ || answer.is(nb::handle(Py_False));
    });
  }
  // Only the first error counts; after it the callback is not called any more.
  template <typename F>
  void guard(const F& f) {
    if (error_) return;
    try {
      f();
    } catch (const nb::python_error&) {
      error_ = std::current_exception();
    }
  }

  nb::handle callback_;
  InterruptCheck check_;
  std::exception_ptr error_;
  bool stopped_ = false;
};

// ---- the result ---------------------------------------------------------------------------------

struct TrainingResult {
  std::string outcome, folder, metric;
  TrainingProgress progress;
};

TrainingResult train(const TrainingRun& run, nb::handle callback) {
  PythonWatcher watcher(callback);
  const RunResult result = [&] {
    const Unlocked released;
    return run_training(run, {.note = [&](const std::string& text) { watcher.note(text); },
                              .watcher = &watcher,
                              .interrupted = [&] { return watcher.interrupted(); }});
  }();
  watcher.raise();
  const char* const outcome = result.outcome == Outcome::finished  ? "finished"
                              : result.outcome == Outcome::stalled ? "stalled"
                                                                   : "stopped";
  return {outcome, run.config.model, run.config.trainer.stop_on, result.progress};
}

void bind_result(nb::module_& m) {
  nb::class_<TrainingResult>(m, "TrainingResult", "The result of a training run.")
      .def_ro("outcome", &TrainingResult::outcome,
              "'finished', 'stalled' (early stopping) or 'stopped' (by the callback).")
      .def_prop_ro(
          "folder", [](const TrainingResult& self) { return to_str(self.folder); },
          "The folder of the checkpoints; heed.Translator, heed.LanguageModel and heed.Classifier "
          "accept it.")
      .def_prop_ro("updates", [](const TrainingResult& self) { return self.progress.updates; })
      .def_prop_ro(
          "skipped", [](const TrainingResult& self) { return self.progress.skipped; },
          "Number of skipped updates, because of a loss that was not finite or far too large.")
      .def_ro("metric", &TrainingResult::metric,
              "The metric that decides which checkpoint is the best.")
      .def_prop_ro(
          "best",
          [](const TrainingResult& self) -> std::optional<double> {
            if (!self.progress.judged) return {};
            return self.progress.best;
          },
          "The best value of the metric; None if no validation gave a finite one.")
      .def_prop_ro(
          "best_update",
          [](const TrainingResult& self) -> std::optional<std::int64_t> {
            if (!self.progress.judged) return {};
            return self.progress.best_update;
          },
          "The update that gave it.")
      .def("__repr__", [](const TrainingResult& self) {
        const TrainingProgress& p = self.progress;
        const std::string best =
            p.judged ? fmt::format(", best {} {:.4f} at {}", self.metric, p.best, p.best_update)
                     : "";
        return to_str(fmt::format("<heed.TrainingResult: {} after {} updates{}, in {}>",
                                  self.outcome, p.updates, best, self.folder));
      });
}

constexpr const char* kTrainDoc =
    "Trains a translator, a language model or a classifier, as `heed train` does.\n\n"
    "config is a TOML or JSON file, or a dict of the same keys; keyword arguments change it: "
    "after='10e', schedule__peak=1e-3 or schedule={'peak': 1e-3}, and peak=1e-3 where no other "
    "key has this name. The folder to train into is the key model.\n\n"
    "resume continues from the newest checkpoint of that folder; without a config, with the one it "
    "was started with.\n\n"
    "callback is given a dict for each 'event': 'note', 'begin', 'update' (update, epoch, loss, "
    "perplexity, rate, norm, skipped, source_tokens, target_tokens, seconds), 'validation' "
    "(update, epoch, metrics, best, stalled, seconds) and 'save' (folder). If it returns False, "
    "training saves and stops; if it raises, training saves and the exception is raised. Ctrl-C "
    "saves and stops, too.\n\n"
    "tensorboard is a folder for event files.";

}  // namespace

void bind_training(nb::module_& m) {
  bind_corpus(m);
  bind_result(m);
  m.def(
      "train",
      [](nb::handle config, bool resume, nb::handle callback, nb::handle tensorboard,
         const nb::kwargs& overrides) {
        if (!callback.is_none() && PyCallable_Check(callback.ptr()) == 0) {
          throw_type_error("callback: {} cannot be called", type_of(callback));
        }
        TrainingRun run{.config = config_of(config, resume, overrides), .resume = resume};
        if (!tensorboard.is_none()) run.tensorboard = path_of("tensorboard", tensorboard).string();
        return train(run, callback);
      },
      nb::arg("config") = nb::none(), nb::kw_only(), nb::arg("resume") = false,
      nb::arg("callback") = nb::none(), nb::arg("tensorboard") = nb::none(), nb::arg("overrides"),
      nb::sig("def train(config: str | os.PathLike[str] | dict[str, typing.Any] | None = None, *, "
              "resume: bool = "
              "False, callback: collections.abc.Callable[[dict[str, typing.Any]], object] | None = "
              "None, "
              "tensorboard: str | os.PathLike[str] | None = None, **overrides: object) -> "
              "TrainingResult"),
      kTrainDoc);
}

}  // namespace heed::python
