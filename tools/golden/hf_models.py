#!/usr/bin/env python3
"""Makes tests/golden/hf/NAME/: small random models of every Hugging Face architecture that heed imports, as folders that
`transformers` writes and reads, with its results in `expected.safetensors`.

    python3 -m venv build/venv-hf && build/venv-hf/bin/pip install torch==2.13.0 transformers==5.22.2
    build/venv-hf/bin/python tools/golden/hf_models.py           # writes
    build/venv-hf/bin/python tools/golden/hf_models.py --check   # writes nothing, fails if a file differs
    build/venv-hf/bin/python tools/golden/hf_models.py --seeds   # prints seeds whose results are distinct

hf_architectures.py lists the models. README.md says what the files contain.
"""

import argparse
import json
import pathlib
import re
import shutil
import sys
import tempfile

import torch
import transformers as hf
from torch.nn import functional as F

import safetensors_file
from golden import Random
from hf_architectures import Small, models

OUT = pathlib.Path(__file__).resolve().parent.parent.parent / "tests" / "golden" / "hf"
MAX_TOTAL_BYTES = 1_600_000
MADE_ELSEWHERE = {"reformer"}  # by hf_reformer.py
STEPS = 12
SEARCH = {"max_new_tokens": STEPS, "length_penalty": 1.0, "early_stopping": False, "do_sample": False}
BEAM = 4
TOLERANCE = 2e-4  # of the range of the logits: what a test permits
FIRST_WORD, LAST_WORD = 6, 55  # ids without a special meaning in all models
IGNORED = -100
NEW_KEYS = {"layer_types", "scale_decoder_outputs", "rope_parameters", "_sliding_window_pattern", "dense_act_fn", "is_gated_act",
            "is_decoder", "add_cross_attention", "use_bidirectional_attention"}
USUAL = [("tie_word_embeddings", True), ("attention_bias", False), ("mlp_bias", False), ("feed_forward_proj", "relu")]
DTYPES = {"bf16": torch.bfloat16, "f16": torch.float16}


class Unsuitable(Exception):
    """With this seed a test could not tell right from wrong, or rounding could change the ids."""


def randomise(model, random: Random, config) -> None:
    """Larger than the usual initial values, and no bias is 0, so that errors are visible."""
    zero_centred = config.model_type.startswith("gemma")  # their norms multiply by 1 + weight
    with torch.no_grad():
        for name, value in [*model.named_parameters(), *model.named_buffers()]:
            last = name.rsplit(".", 1)[-1]
            if name == "final_logits_bias":
                value.copy_(random.normal(*value.shape, scale=0.5))
            elif not isinstance(value, torch.nn.Parameter) or not value.requires_grad:
                continue  # tables of positions that are computed
            elif value.dim() > 1:
                value.copy_(random.normal(*value.shape, scale=matrix_scale(name, value, config)))
            elif last == "weight":
                signs = 1 - 2 * random.integers(2, *value.shape)
                value.copy_(signs * random.normal(*value.shape, scale=0.2, mean=1.0) - int(zero_centred))
            else:
                value.copy_(random.normal(*value.shape, scale=0.2))


def matrix_scale(name: str, value: torch.Tensor, config) -> float:
    """Tokens must weigh more than what attention adds to them: greedy search would repeat one token otherwise."""
    if config.vocab_size in value.shape:
        return 0.5
    return 0.2 if "attn.out_proj" in name or "attn.v_proj" in name else 0.35


def build(small: Small):
    """The model in f32 with its random parameters."""
    random = Random(f"{small.name}/{small.seed}")
    model = small.kind(small.config)
    if small.untied:
        model.lm_head.weight = torch.nn.Parameter(torch.empty_like(model.lm_head.weight))
    randomise(model, random, small.config)
    if model.can_generate():
        for key, value in small.generation.items():
            setattr(model.generation_config, key, value)
    return model.eval()


def save(model, small: Small, folder: pathlib.Path) -> None:
    folder.mkdir(parents=True)
    size = {"max_shard_size": "20KB"} if small.storage == "shards" else {}
    model.to(DTYPES.get(small.storage, torch.float32)).save_pretrained(folder, **size)
    if small.storage == "bin":
        torch.save(hub_gpt2(model), folder / "pytorch_model.bin")
        (folder / "model.safetensors").unlink()
    if small.storage == "old_names":
        weights = safetensors_file.serialise(hub_bert(model), {"format": "pt"})
        (folder / "model.safetensors").write_bytes(weights)
    config = json.loads((folder / "config.json").read_text())
    (folder / "config_4x.json").write_text(json.dumps(old_config(config, small), indent=2, sort_keys=True) + "\n")


def hub_gpt2(model) -> dict[str, torch.Tensor]:
    """The names of the published GPT-2: without prefix and output matrix, with the causal masks of the layers."""
    tensors = {k.removeprefix("transformer."): v for k, v in model.state_dict().items() if k != "lm_head.weight"}
    length = model.config.n_positions
    for layer in range(model.config.n_layer):
        tensors[f"h.{layer}.attn.bias"] = torch.ones(length, length).tril()[None, None]
    return tensors


def hub_bert(model) -> dict[str, torch.Tensor]:
    """The names of the published BERT: gamma and beta in norms, and the parts of the model that this head does not use."""
    tensors = {}
    random = Random("unused")
    for name, value in model.state_dict().items():
        tensors[name.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta")] = value
    tensors.pop("cls.predictions.decoder.weight")
    tensors.pop("cls.predictions.decoder.bias")
    size = model.config.hidden_size
    tensors["bert.embeddings.position_ids"] = torch.arange(model.config.max_position_embeddings)[None]
    for name, rows in (("bert.pooler.dense", size), ("cls.seq_relationship", 2)):
        tensors |= {f"{name}.weight": random.normal(rows, size).float(), f"{name}.bias": random.normal(rows).float()}
    return tensors


def old_config(config: dict, small: Small) -> dict:
    """The same config in the form of transformers 4.x, which published folders have: without the keys that only 5.x
    writes, and without those whose value is the usual one."""
    kind = small.config.model_type
    old = {k: v for k, v in config.items() if v is not None and k not in NEW_KEYS and (k, v) not in USUAL}
    old |= small.generation | small.old
    old["torch_dtype"] = old.pop("dtype")
    old["transformers_version"] = "4.40.0"
    if kind in ("llama", "mistral", "qwen2", "qwen3"):
        old["tie_word_embeddings"] = config["tie_word_embeddings"]
    if kind not in ("gemma2", "gemma3_text", "qwen3"):
        old.pop("head_dim", None)
    rope = config.get("rope_parameters")
    if kind == "gemma3_text":
        old |= {"rope_theta": rope["full_attention"]["rope_theta"], "rope_scaling": None, "sliding_window_pattern": 6,
                "rope_local_base_freq": rope["sliding_attention"]["rope_theta"]}
    elif rope:
        scaling = {k: v for k, v in rope.items() if k not in ("rope_theta", "rope_type")}
        spelling = "rope_type" if rope["rope_type"] == "llama3" else "type"
        old["rope_theta"] = rope["rope_theta"]
        old["rope_scaling"] = None if rope["rope_type"] == "default" else {spelling: rope["rope_type"], **scaling}
    if kind in ("qwen2", "qwen3"):
        old["sliding_window"] = 16  # published folders have a number here, and use_sliding_window is false
    return old


def load(folder: pathlib.Path, small: Small, dtype=torch.float32, config=None):
    """A fresh model: dynamic rotary frequencies keep the longest sequence that a model has seen."""
    return small.kind.from_pretrained(folder, dtype=dtype, attn_implementation="eager", config=config).eval()


def make_inputs(small: Small) -> dict[str, torch.Tensor]:
    """Two rows; the second is shorter and has padding on the right."""
    random = Random(f"{small.name}/inputs/{small.seed}")
    config, length = small.config, small.length
    lengths = torch.tensor([length, length - 4])
    ids = FIRST_WORD + random.integers(LAST_WORD - FIRST_WORD, 2, length)
    padding = config.pad_token_id or 0
    for row, end in enumerate(lengths):
        ids[row, end:] = padding
        if small.first is not None:
            ids[row, 0] = small.first
        if small.last is not None:
            ids[row, end - 1] = small.last
    inputs = {"in.ids": ids, "in.lengths": lengths}
    if small.config.model_type == "bert":
        inputs["in.types"] = (torch.arange(length) >= torch.tensor([[5], [3]])).long()
    if small.family == "translator":
        words = FIRST_WORD + random.integers(LAST_WORD - FIRST_WORD, 2, 8)
        inputs["in.decoder_ids"] = F.pad(words[:, :7], (1, 0), value=config.decoder_start_token_id)
        if small.gradients:
            inputs["in.targets"] = words.clone()
            inputs["in.targets"][1, 5:] = IGNORED
    elif small.gradients:
        inputs["in.targets"] = F.pad(ids[:, 1:], (0, 1), value=IGNORED)
        inputs["in.targets"][1, lengths[1] - 1:] = IGNORED
    return inputs


def mask(inputs) -> torch.Tensor:
    return (torch.arange(inputs["in.ids"].shape[1]) < inputs["in.lengths"][:, None]).long()


def forward(model, small: Small, inputs) -> dict[str, torch.Tensor]:
    arguments = {"input_ids": inputs["in.ids"], "attention_mask": mask(inputs), "output_hidden_states": True}
    if "in.types" in inputs:
        arguments["token_type_ids"] = inputs["in.types"]
    if small.family == "translator":
        result = model(**arguments, decoder_input_ids=inputs["in.decoder_ids"])
        return {"out.encoder": result.encoder_last_hidden_state, "out.logits": result.logits}
    result = model(**arguments)
    if "logits" not in result:
        pooled = getattr(result, "pooler_output", None)
        return {"out.hidden": result.last_hidden_state} | ({} if pooled is None else {"out.pooled": pooled})
    return {"out.hidden": result.hidden_states[-1], "out.logits": result.logits}


class Noise(hf.LogitsProcessor):
    """Adds an error as large as a test permits."""

    def __init__(self, size: float, seed: int) -> None:
        self.size, self.random = size, torch.Generator().manual_seed(seed)

    def __call__(self, input_ids, scores):
        return scores + (2 * torch.rand(scores.shape, generator=self.random) - 1) * self.size


def generate(folder, small: Small, inputs, beams: int, noise=None, cached=True) -> tuple[torch.Tensor, torch.Tensor]:
    """The new tokens of each row, up to and with the end token; -1 after them. Rows are generated alone, without padding."""
    ids = torch.full((2, STEPS), -1)
    scores = torch.zeros(2)
    for row, length in enumerate(inputs["in.lengths"]):
        model = load(folder, small)
        prompt = inputs["in.ids"][row:row + 1, :length]
        extra = {} if noise is None else {"logits_processor": hf.LogitsProcessorList([Noise(*noise)])}
        found = model.generate(prompt, attention_mask=torch.ones_like(prompt), num_beams=beams, **SEARCH, **extra, use_cache=cached,
                               return_dict_in_generate=True, output_scores=True)
        new = found.sequences[0, 1 if small.family == "translator" else length:].tolist()
        ends = model.generation_config.eos_token_id
        ends = ends if isinstance(ends, list) else [ends]
        stop = next((i + 1 for i, token in enumerate(new) if token in ends), len(new))
        ids[row, :stop] = torch.tensor(new[:stop])
        if beams > 1:
            scores[row] = found.sequences_scores[0]
    return ids, scores


def generated(folder, small: Small, inputs, span: float) -> dict[str, torch.Tensor]:
    """Ids of greedy and beam search; refuses those that do not show much or depend on rounding."""
    greedy, _ = generate(folder, small, inputs, 1)
    counts = (greedy >= 0).sum(1).tolist()
    if small.storage == "safetensors" and not (min(counts) < STEPS - 1 and max(counts) == STEPS and min(counts) > 1):
        raise Unsuitable(f"greedy lengths {counts}")
    distinct = [len(set(row.tolist()) - {-1}) for row in greedy]
    if any(number < min(4, count - 1) for number, count in zip(distinct, counts)) or greedy[0, 1] == greedy[1, 1]:
        raise Unsuitable("greedy search repeats itself")
    beam, scores = generate(folder, small, inputs, BEAM)
    if torch.equal(beam, greedy):
        raise Unsuitable("beam search is greedy")
    if (beam >= 0).sum(1).min() < 2:
        raise Unsuitable("beam search ends at once")
    for seed in range(3):
        for ids, beams in ((greedy, 1), (beam, BEAM)):
            if not torch.equal(ids, generate(folder, small, inputs, beams, noise=(2 * TOLERANCE * span, seed))[0]):
                raise Unsuitable("small errors change the ids")
    made = {"out.greedy": greedy, "out.beam": beam, "out.beam_scores": scores}
    if small.name == "llama_dynamic":  # cached keys keep the frequencies of their step
        made["out.greedy_uncached"] = generate(folder, small, inputs, 1, cached=False)[0]
        made["out.beam_uncached"] = generate(folder, small, inputs, BEAM, cached=False)[0]
    return made


def gradients(model, small: Small, inputs) -> dict[str, torch.Tensor]:
    if not small.gradients:
        return {}
    model.zero_grad()
    logits = forward(model, small, inputs)["out.logits"]
    loss = F.cross_entropy(logits.flatten(0, 1), inputs["in.targets"].flatten(), ignore_index=IGNORED)
    loss.backward()
    named = dict(model.named_parameters())
    return {"out.loss": loss} | {f"grad.{name}": named[name].grad for name in small.gradients}


def check_outputs(outputs, wide, old) -> None:
    for name, value in outputs.items():
        span = (value.max() - value.min()).item()
        error = (value - wide[name]).abs().max().item()
        if not torch.isfinite(value).all() or error > 0.1 * TOLERANCE * span:
            raise Unsuitable(f"{name} differs by {error / span:.1e} of its range from the result in double")
        assert torch.equal(value, old[name]), f"{name} differs with the config of 4.x"


def make(small: Small, folder: pathlib.Path) -> None:
    save(build(small), small, folder)
    inputs = make_inputs(small)
    model = load(folder, small)
    with torch.no_grad():
        outputs = forward(model, small, inputs)
        found = {}
        if small.family != "encoder":
            logits = outputs["out.logits"]
            found = generated(folder, small, inputs, (logits.max() - logits.min()).item())
        wide = forward(load(folder, small, torch.float64), small, inputs)
        old = hf.AutoConfig.for_model(**json.loads((folder / "config_4x.json").read_text()))
        check_outputs(outputs, wide, forward(load(folder, small, config=old), small, inputs))
    outputs |= found | gradients(load(folder, small), small, inputs)
    tensors = {k: v.detach() for k, v in (inputs | outputs).items()}
    metadata = {"class": small.kind.__name__, "transformers": hf.__version__, "torch": torch.__version__.split("+")[0]}
    (folder / "expected.safetensors").write_bytes(safetensors_file.serialise(tensors, metadata))


def find_seed(small: Small, folder: pathlib.Path) -> str:
    reason = ""
    for small.seed in range(400):
        shutil.rmtree(folder, ignore_errors=True)
        try:
            make(small, folder)
            return f"{small.name}: seed={small.seed}"
        except Unsuitable as error:
            reason = str(error)
    return f"{small.name}: none, {reason}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing, compare")
    parser.add_argument("--seeds", action="store_true", help="print a seed for each model")
    parser.add_argument("names", nargs="*", help="only these folders")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    hf.logging.set_verbosity_error()
    hf.utils.logging.disable_progress_bar()
    chosen = [small for small in models() if not arguments.names or small.name in arguments.names]
    with tempfile.TemporaryDirectory() as temporary:
        made = pathlib.Path(temporary)
        for small in chosen:
            if arguments.seeds:
                print(find_seed(small, made / small.name), flush=True)
            else:
                make(small, made / small.name)
        files = {p.relative_to(made): p.read_bytes() for p in sorted(made.rglob("*")) if p.is_file()}
    total = sum(map(len, files.values()))
    assert total < MAX_TOTAL_BYTES, f"{total} bytes are too many to commit"
    if arguments.seeds:
        return 0
    folders = [OUT / small.name for small in chosen] if arguments.names else [
        p for p in OUT.glob("*") if p.is_dir() and p.name not in MADE_ELSEWHERE]
    present = {p.relative_to(OUT) for folder in folders for p in folder.glob("*")}
    if arguments.check:
        stale = present ^ files.keys() | {p for p in present & files.keys() if (OUT / p).read_bytes() != files[p]}
        for path in sorted(stale):
            print(f"out of date: {OUT / path}", file=sys.stderr)
        return 1 if stale else 0
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)
    for path, content in files.items():
        (OUT / path).parent.mkdir(parents=True, exist_ok=True)
        (OUT / path).write_bytes(content)
    print(f"{len(chosen)} folders, {total} bytes in {OUT}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
