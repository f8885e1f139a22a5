#!/usr/bin/env python3
"""A training step (forward, loss, backward) of the Reformer of `transformers`, as benchmarks/models/reformer_bench.cpp has it:
6 layers, local and lsh in turn, 256 features, 4 heads, 4 rounds, chunks of 64, batch 1. Prints seconds, those of all threads together and peak memory.

    python benchmarks/peer/reformer_peer.py 4096 --threads 2
"""

import argparse
import math
import resource
import time

import torch
import transformers as hf


def rss_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("length", type=int)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps", type=int, default=2)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    side = math.isqrt(args.length)
    buckets = 2 * args.length // 64
    first = 2 ** math.ceil(math.log2(buckets) / 2)
    config = hf.ReformerConfig(
        vocab_size=256, hidden_size=256, num_attention_heads=4, attention_head_size=64, feed_forward_size=1024, hidden_act="gelu",
        attn_layers=["local", "lsh"] * 3, lsh_attn_chunk_length=64, local_attn_chunk_length=64, num_hashes=4,
        num_buckets=[first, buckets // first], axial_pos_shape=(side, args.length // side), axial_pos_embds_dim=(128, 128),
        max_position_embeddings=args.length, is_decoder=True, hidden_dropout_prob=0.0, lsh_attention_probs_dropout_prob=0.0,
        local_attention_probs_dropout_prob=0.0, chunk_size_feed_forward=1024, use_cache=False)
    model = hf.ReformerModelWithLMHead(config).train()
    ids = torch.randint(0, 256, (1, args.length))
    before = rss_mb()
    best = of_threads = math.inf
    for _ in range(args.steps):
        model.zero_grad(set_to_none=True)
        start, cpu = time.perf_counter(), time.process_time()
        model(ids, labels=ids).loss.backward()
        best = min(best, time.perf_counter() - start)
        of_threads = min(of_threads, time.process_time() - cpu)
    print(f"length={args.length} threads={args.threads} seconds={best:.3f} cpu_seconds={of_threads:.3f} "
          f"peak_mb={rss_mb() - before:.0f}")


if __name__ == "__main__":
    main()
