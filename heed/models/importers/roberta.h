// RoBERTa (Liu et al. 2019) and XLM-RoBERTa: BERT with positions that begin after the number of the
// padding token, and with other heads.
#pragma once

#include "heed/models/importers/importer.h"

namespace heed {

Import import_roberta(const ForeignConfig& config, const io::TensorSource& tensors);

inline constexpr Importer kImportRoberta = {
    "roberta", "RoBERTa: sentence encoders, classifiers, masked tokens", import_roberta};
inline constexpr Importer kImportXlmRoberta = {
    "xlm-roberta", "XLM-RoBERTa, multilingual E5 and BGE-M3: as RoBERTa", import_roberta};
inline constexpr Importer kImportCamembert = {"camembert", "CamemBERT: as RoBERTa", import_roberta};

}  // namespace heed
