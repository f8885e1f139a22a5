// The list of models. Folders, `heed train` and the verbs that use models, Python and the documents
// read it; a new kind of model is one file and one line here.
#pragma once

#include <span>
#include <string_view>

#include "heed/models/model_kind.h"

namespace heed {

/// All kinds; the first of a task is its default.
std::span<const ModelKind> model_kinds();

/// Finds a kind by its name, or by the name it had earlier; null if there is none.
const ModelKind* find_model_kind(std::string_view name);

/// The kind of that name, or the default of the task if the name is empty. An unknown name, or one
/// of another task, is an error that says what there is.
const ModelKind& choose_model_kind(Task task, std::string_view name);

}  // namespace heed
