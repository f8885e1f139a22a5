#!/usr/bin/env python3
"""Makes tests/golden/tokenizers/*.json: small tokenizers of every kind, and the ids, offsets and texts that the
package `tokenizers` gives for lines that are hard.

    python3 -m venv build/venv-hf && build/venv-hf/bin/pip install tokenizers==0.23.3 sentencepiece==0.2.2
    build/venv-hf/bin/python tools/golden/hf_tokenizers.py

A file holds a list of lines and a list of tokenizers. Each has a name, its tokenizer.json, and for every line: ids and
offsets (in characters, flat) without special tokens, ids and offsets with them, the text of the ids with and without
special tokens. null: the package refuses the line. The characters of the random lines are those of Unicode 14, for
which the tables of all libraries agree.
"""

import io
import json
import pathlib
import random
import struct
import unicodedata

import sentencepiece
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

OUT = pathlib.Path(__file__).resolve().parent.parent.parent / "tests/golden/tokenizers"

CORPUS = [
    "The quick brown fox jumps over the lazy dog, doesn't it?",
    "A dog runs through the green grass; two children play with a ball.",
    "People are walking in the streets of a big city. I've seen them, they'll come back!",
    "Le chat s'est assis sur le tapis et a regardé la pluie tomber à l'été.",
    "Die Straße ist naß und größer als üblich.",
    "狗在草地上跑。两个孩子在玩球。",
    "人们在大城市的街道上行走。",
    "def main():\n    return 12345 + 67890\n\n\tprint('done')",
    "In 2024 there were 1,234,567 of them (about 3.5%).",
] * 3

LLAMA3 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
          r"\s+(?!\S)|\s+")


def lines():
    fixed = [
        "", " ", "   ", "\n", "a", "The quick brown fox doesn't jump.", "  two  spaces   inside  ", "tab\tand\nnewline\r\n end",
        "I'VE seen 1234567 of 3.14%!", "CAFÉ déjà-vu naïve Straße İstanbul ΣΑΣ", "e\u0301 a\u0300\u0316 n\u0303o\u0302\u0323",
        "狗在草地上跑。两个孩子!", "中文 and English混合123", "ﬁne ½ ① ｶﾞ ㌔ Ａ１", "가각 \u1100\u1161\u11a8 한국어",
        "👩‍👩‍👧‍👦 😀 🇩🇪 👍🏽", "zero\u200bwidth\u200d joiner\ufeff", "\x00nul \x01ctl \x7f del \x85nel",
        "\u00a0nbsp\u2003em\u3000ideographic", "<s>special</s> [CLS] [MASK]<mask>  <mask>x x<mask> <|endoftext|>",
        "Yesterday yesterday YESTERDAY <added> <ADDED> a<added>b", "▁already ▁ marked▁ Ġbyte", "the-final--countdown",
        "don't do not we're he's 'm ' n't .", "x" * 120, "अनुच्छेद १ सभी مرحبا بالعالم שלום ไทย", "Ⅷ ⅔ ٣ ४ 𝟘 ⑳", "\ufffd � \ufffd",
        "supercalifragilisticexpialidocious antidisestablishmentarianism", "https://example.org/a?b=c&d=e#f", "a\u0301\u0301\u0301",
        "def f(x):\n\treturn  x+1\n\n\n", "«quoted» „text“ … – — ‘a’", "12 34 5 678,9", "\u1e9e\u0130\u0131 ǅ ŉ", "<unk> <pad> ⁇",
    ]
    random.seed(7)
    assigned = [c for c in range(0x20, 0x30000) if unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co")]
    common = [c for c in assigned if c < 0x600]
    for i in range(8):
        fixed.append("".join(chr(random.choice(common if i < 4 else assigned)) for _ in range(16)))
    return fixed


def flat(offsets):
    return [n for pair in offsets for n in pair]


def results(tokenizer, line):
    try:
        plain = tokenizer.encode(line, add_special_tokens=False)
        full = tokenizer.encode(line)
    except BaseException:  # a panic in Rust is not an Exception
        return None
    return {"ids": plain.ids, "offsets": flat(plain.offsets), "full": full.ids, "full_offsets": flat(full.offsets),
            "text": tokenizer.decode(full.ids), "full_text": tokenizer.decode(full.ids, skip_special_tokens=False)}


def entry(name, tokenizer, texts):
    return {"name": name, "tokenizer": json.loads(tokenizer.to_str()), "results": [results(tokenizer, t) for t in texts]}


def save(name, entries, texts):
    OUT.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"lines": texts, "tokenizers": entries}, ensure_ascii=False, separators=(",", ":"))
    (OUT / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    print(f"{name}: {len(text)} bytes, {len(entries)} tokenizers")


def trained(model, trainer, normalizer=None, pre=None, decoder=None):
    tokenizer = Tokenizer(model)
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    if pre is not None:
        tokenizer.pre_tokenizer = pre
    if decoder is not None:
        tokenizer.decoder = decoder
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


def bpe_trainer(size, **options):
    return trainers.BpeTrainer(vocab_size=size, show_progress=False, **options)


def template(tokenizer, begin, end):
    names = [name for name in (begin, end) if name]
    around = [begin] if begin else []
    single = around + ["$A"] + ([end] if end else [])
    pair = single + ["$B:1"] + ([end + ":1"] if end else [])
    return processors.TemplateProcessing(single=single, pair=pair,
                                         special_tokens=[(name, tokenizer.token_to_id(name)) for name in names])


def byte_level():
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    gpt2 = trained(models.BPE(), bpe_trainer(420, special_tokens=["<|endoftext|>"], initial_alphabet=alphabet),
                   pre=pre_tokenizers.ByteLevel(add_prefix_space=False), decoder=decoders.ByteLevel())
    gpt2.post_processor = processors.ByteLevel(trim_offsets=False)
    llama = trained(models.BPE(ignore_merges=True), bpe_trainer(420, special_tokens=["<s>", "</s>"], initial_alphabet=alphabet),
                    pre=pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(LLAMA3), "isolated"),
                                                 pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]),
                    decoder=decoders.ByteLevel())
    llama.add_tokens([AddedToken("<added>", normalized=False), AddedToken("Yesterday")])
    llama.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=True), template(llama, "<s>", None)])
    qwen = trained(models.BPE(), bpe_trainer(400, initial_alphabet=alphabet), normalizer=normalizers.NFC(),
                   pre=pre_tokenizers.Sequence([
                       pre_tokenizers.Split(Regex(LLAMA3.replace("{1,3}", "")), "removed", invert=True),
                       pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)]), decoder=decoders.ByteLevel())
    qwen.add_special_tokens(["<|endoftext|>"])
    qwen.post_processor = processors.ByteLevel(trim_offsets=False)
    roberta = trained(models.BPE(), bpe_trainer(420, special_tokens=["<s>", "<pad>", "</s>", "<unk>"], initial_alphabet=alphabet),
                      pre=pre_tokenizers.ByteLevel(add_prefix_space=True), decoder=decoders.ByteLevel())
    roberta.add_special_tokens([AddedToken("<mask>", lstrip=True)])
    roberta.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return {"gpt2": gpt2, "llama3": llama, "qwen": qwen, "roberta": roberta}


def metaspace_bpe():
    bytes_ = [f"<0x{b:02X}>" for b in range(256)]
    plain = trained(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True),
                    bpe_trainer(520, special_tokens=["<unk>", "<s>", "</s>"] + bytes_),
                    normalizer=normalizers.Sequence([normalizers.Prepend("▁"), normalizers.Replace(" ", "▁")]))
    llama2 = Tokenizer.from_str(plain.to_str())
    special = json.loads(llama2.to_str())
    special["added_tokens"] = [t for t in special["added_tokens"] if t["id"] < 3]
    llama2 = Tokenizer.from_str(json.dumps(special))
    llama2.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    llama2.post_processor = template(llama2, "<s>", None)
    gemma = json.loads(llama2.to_str())
    gemma["normalizer"] = {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}
    gemma["pre_tokenizer"] = {"type": "Split", "pattern": {"String": " "}, "behavior": "MergedWithPrevious", "invert": False}
    gemma["decoder"]["decoders"] = gemma["decoder"]["decoders"][:3]
    gemma["model"]["merges"] = [" ".join(m) for m in gemma["model"]["merges"]]
    suffix = trained(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"),
                     bpe_trainer(300, special_tokens=["<unk>"], end_of_word_suffix="</w>"),
                     normalizer=normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()]),
                     pre=pre_tokenizers.Whitespace(), decoder=decoders.BPEDecoder())
    prefix = trained(models.BPE(unk_token="<unk>", continuing_subword_prefix="##", fuse_unk=True),
                     bpe_trainer(300, special_tokens=["<unk>"], continuing_subword_prefix="##"),
                     pre=pre_tokenizers.BertPreTokenizer(), decoder=decoders.WordPiece(cleanup=False))
    silent = trained(models.BPE(), bpe_trainer(200, limit_alphabet=40), pre=pre_tokenizers.Digits(individual_digits=True))
    return {"llama2": llama2, "gemma": Tokenizer.from_str(json.dumps(gemma)), "suffix": suffix, "prefix": prefix, "silent": silent}


def word_piece():
    specials = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(vocab_size=320, special_tokens=specials, show_progress=False)
    bert = trained(models.WordPiece(unk_token="[UNK]"), trainer, normalizer=normalizers.BertNormalizer(),
                   pre=pre_tokenizers.BertPreTokenizer(), decoder=decoders.WordPiece())
    bert.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    cased = trained(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=20), trainer,
                    normalizer=normalizers.BertNormalizer(lowercase=False, strip_accents=False),
                    pre=pre_tokenizers.BertPreTokenizer(), decoder=decoders.WordPiece(cleanup=False))
    cased.post_processor = template(cased, "[CLS]", "[SEP]")
    return {"bert": bert, "cased": cased}


def charsmap():
    """The rules of a SentencePiece model trained with a few rules of our own."""
    rules = OUT.parent / "rules.tsv"
    pairs = {"½": "1⁄2", "ﬁ": "fi", "e\u0301": "é", "\u0300": "", "\x01": "", "Ａ": "A", "㌔": "キロ", "\u3000": " ", "\u00a0": " ",
             "\t": " ", "①": "1", "\u1100\u1161": "가", "ǅ": "Dž", "\r": " "}
    OUT.mkdir(parents=True, exist_ok=True)
    rules.write_text("".join(" ".join(f"{ord(c):X}" for c in a) + "\t" + " ".join(f"{ord(c):X}" for c in b) + "\n"
                             for a, b in pairs.items()), encoding="utf-8")
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(CORPUS), model_writer=model, vocab_size=300, hard_vocab_limit=False,
                                             normalization_rule_tsv=str(rules), minloglevel=2)
    rules.unlink()
    return model.getvalue()


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def proto(data):
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        else:
            size, at = varint(data, at) if tag & 7 == 2 else ((4, at) if tag & 7 == 5 else (8, at))
            value, at = data[at:at + size], at + size
        yield tag >> 3, value


def unigram():
    spm = charsmap()
    (OUT / "small.model").write_bytes(spm)
    rules = [v for f, v in proto([v for f, v in proto(spm) if f == 3][0]) if f == 2][0]
    specials = ["<s>", "<pad>", "</s>", "<unk>"]
    trainer = trainers.UnigramTrainer(vocab_size=260, special_tokens=specials, unk_token="<unk>", show_progress=False)
    xlmr = trained(models.Unigram(), trainer,
                   normalizer=normalizers.Sequence([normalizers.Precompiled(rules), normalizers.Strip(left=False, right=True),
                                                    normalizers.Replace(Regex(" {2,}"), "▁")]),
                   pre=pre_tokenizers.Metaspace(), decoder=decoders.Metaspace())
    xlmr.post_processor = template(xlmr, "<s>", "</s>")
    t5 = Tokenizer.from_str(xlmr.to_str())
    t5.normalizer = normalizers.Precompiled(rules)
    t5.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    t5.post_processor = template(t5, None, "</s>")
    data = json.loads(xlmr.to_str())
    data["model"]["vocab"] += [[f"<0x{b:02X}>", 0.0] for b in range(256)]
    data["model"]["byte_fallback"] = True
    data["normalizer"] = None
    data["pre_tokenizer"] = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "first", "split": False}
    data["decoder"] = {"type": "Sequence", "decoders": [{"type": "ByteFallback"}, {"type": "Metaspace", "replacement": "▁",
                                                                                    "prepend_scheme": "always", "split": True}]}
    return {"xlmr": xlmr, "t5": t5, "fallback": Tokenizer.from_str(json.dumps(data)), **from_model(spm, rules)}


def from_model(spm, rules):
    """What transformers makes of a SentencePiece model for T5 (two extra ids) and for XLM-R."""
    pieces = []
    for field, value in proto(spm):
        if field == 1:
            piece = dict(proto(value))
            pieces.append((piece[1].decode(), struct.unpack("<f", piece.get(2, b"\0\0\0\0"))[0]))
    made = {}
    fairseq = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0)] + pieces[3:] + [("<mask>", 0.0)]
    for name, vocab, unknown in (("spiece", pieces + [("<extra_id_1>", 0.0), ("<extra_id_0>", 0.0)], 0), ("fairseq", fairseq, 3)):
        tokenizer = Tokenizer(models.Unigram(vocab, unk_id=unknown, byte_fallback=False))
        tokenizer.normalizer = normalizers.Precompiled(rules)
        tokenizer.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
        tokenizer.decoder = decoders.Metaspace()
        names = ["<unk>", "<s>", "</s>", "<extra_id_1>", "<extra_id_0>"] if name == "spiece" else ["<s>", "<pad>", "</s>", "<unk>"]
        tokenizer.add_special_tokens([AddedToken(n, normalized=False) for n in names])
        if name == "fairseq":
            tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=False)])
        tokenizer.post_processor = template(tokenizer, None if name == "spiece" else "<s>", "</s>")
        made[name] = tokenizer
    return made


def word_level():
    tokenizer = trained(models.WordLevel(unk_token="<unk>"),
                        trainers.WordLevelTrainer(vocab_size=150, special_tokens=["<unk>"], show_progress=False),
                        normalizer=normalizers.Sequence([normalizers.NFD(), normalizers.Lowercase(), normalizers.StripAccents()]),
                        pre=pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Punctuation(),
                                                     pre_tokenizers.Digits()]))
    tokenizer.add_tokens([AddedToken("<added>", lstrip=True, rstrip=True), AddedToken("yesterday", single_word=True),
                          AddedToken("<mask>", single_word=True, normalized=False), AddedToken("the-final", normalized=True),
                          AddedToken("-", rstrip=True)])
    tokenizer.add_special_tokens([AddedToken("<s>", lstrip=True), AddedToken("</s>", rstrip=True, normalized=True)])
    return {"words": tokenizer}


def unknown_only(normalizer=None, pre=None):
    tokenizer = Tokenizer(models.WordLevel({"<unk>": 0}, unk_token="<unk>"))
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre if pre is not None else pre_tokenizers.Split(Regex("(?m:.)"), "isolated")
    return tokenizer


def splits():
    made = {}
    for behavior in ("removed", "isolated", "merged_with_previous", "merged_with_next", "contiguous"):
        made[f"split_{behavior}"] = pre_tokenizers.Split("-", behavior)
        made[f"split_{behavior}_invert"] = pre_tokenizers.Split(Regex(r"\w+"), behavior, invert=True)
        made[f"punctuation_{behavior}"] = pre_tokenizers.Punctuation(behavior)
    made |= {"empty": pre_tokenizers.Split("", "isolated"), "empty_regex": pre_tokenizers.Split(Regex("x*"), "isolated"),
             "boundary": pre_tokenizers.Split(Regex(r"(?=[A-Z])|\d"), "isolated"), "delimiter": pre_tokenizers.CharDelimiterSplit("e"),
             "digits": pre_tokenizers.Digits(individual_digits=True), "white": pre_tokenizers.Whitespace(),
             "white_split": pre_tokenizers.WhitespaceSplit(), "bert": pre_tokenizers.BertPreTokenizer(),
             "byte_level": pre_tokenizers.ByteLevel(), "fixed": pre_tokenizers.FixedLength(3),
             "metaspace_never": pre_tokenizers.Metaspace(prepend_scheme="never"),
             "metaspace_first": pre_tokenizers.Metaspace(replacement="_", prepend_scheme="first"),
             "lines": pre_tokenizers.Split(Regex("^."), "isolated"), "hex": pre_tokenizers.Split(Regex(r"\h+"), "isolated"),
             "classes": pre_tokenizers.Split(Regex(r"[[:punct:][:space:]]+|\p{Letter}{,2}"), "isolated")}
    return {name: unknown_only(pre=pre) for name, pre in made.items()}


def norms():
    made = {name: getattr(normalizers, name)() for name in ("NFC", "NFD", "NFKC", "NFKD", "Lowercase", "Strip", "StripAccents",
                                                            "BertNormalizer", "Nmt", "ByteLevel")}
    made |= {"replace": normalizers.Replace("o", "0o0"), "replace_regex": normalizers.Replace(Regex(r"\s+"), " "),
             "remove": normalizers.Replace(Regex("[aeiou]"), ""), "prepend": normalizers.Prepend("ab"),
             "strip_left": normalizers.Strip(left=True, right=False),
             "albert": normalizers.Sequence([normalizers.Replace("``", '"'), normalizers.NFKD(), normalizers.StripAccents(),
                                             normalizers.Lowercase(), normalizers.Replace(Regex(" {2,}"), " ")]),
             "bert_plain": normalizers.BertNormalizer(clean_text=False, handle_chinese_chars=False, strip_accents=True, lowercase=False)}
    return {name: unknown_only(normalizer=norm) for name, norm in made.items()}


def main():
    texts = lines()
    for name, made in (("byte_level", byte_level()), ("bpe", metaspace_bpe()), ("word_piece", word_piece()), ("unigram", unigram()),
                       ("word_level", word_level()), ("splits", splits()), ("normalizers", norms())):
        entries = [entry(key, tokenizer, texts) for key, tokenizer in made.items()]
        if name in ("splits", "normalizers"):  # all tokens are unknown: only offsets tell
            for one in entries:
                one["results"] = [r and {"offsets": r["offsets"]} for r in one["results"]]
        save(name, entries, texts)


if __name__ == "__main__":
    main()
