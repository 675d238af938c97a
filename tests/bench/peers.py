#!/usr/bin/env python3
"""peers.py [numpy|torch] [CASE...] - the operations of docs/performance.md in NumPy or PyTorch: least and median time of each.

As its users write them, on arrays that exist already, on as many threads as HLO_NUM_THREADS says (default 2; NumPy's
operations but products use one). Prints a line for each case: name, median and least in milliseconds.
"""
import os
import statistics
import sys
import time

THREADS = os.environ.get('HLO_NUM_THREADS', '2')
os.environ.setdefault('OMP_NUM_THREADS', THREADS)
os.environ.setdefault('OPENBLAS_NUM_THREADS', THREADS)
import numpy as np


def uniform(*shape):
    return np.random.default_rng(1).uniform(-1, 1, shape).astype(np.float32)


def integers(high, *shape, dtype=np.int64):
    return np.random.default_rng(2).integers(0, high, shape).astype(dtype)


# name: (arguments, NumPy, PyTorch); None: nothing in one or two lines
def gelu_np(x):
    return 0.5 * x * (1 + np.tanh(0.7978845608 * (x + 0.044715 * x * x * x)))


def layer_norm_np(x, g, b):
    m = x.mean(1, keepdims=True)
    v = x.var(1, keepdims=True)
    return (x - m) / np.sqrt(v + np.float32(1e-5)) * g + b


def softmax_np(x):
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def distance_np(x, y):
    return ((x[:, None] - y[None]) ** 2).sum(2)


def nbody_np(x, m):
    d = x[None] - x[:, None]
    r = (d * d).sum(2) + np.float32(1e-3)
    return (d * (m * r ** np.float32(-1.5))[..., None]).sum(1)


def nbody_torch(x, m):
    d = x[None] - x[:, None]
    r = (d * d).sum(2) + 1e-3
    return (d * (m * r ** -1.5).unsqueeze(-1)).sum(1)


CASES = {
    'saxpy_16m': (lambda: [uniform(1 << 24), uniform(1 << 24)], lambda x, y: np.float32(2) * x + y, lambda t, x, y: 2.0 * x + y),
    'bias_gelu_4096': (lambda: [uniform(4096, 4096), uniform(4096)], lambda x, b: gelu_np(x + b),
                       lambda t, x, b: t.nn.functional.gelu(x + b)),
    'softmax_4096': (lambda: [uniform(4096, 4096)], softmax_np, lambda t, x: t.softmax(x, 1)),
    'layernorm_8192x1024': (lambda: [uniform(8192, 1024), uniform(1024), uniform(1024)], layer_norm_np,
                            lambda t, x, g, b: t.nn.functional.layer_norm(x, (1024,), g, b)),
    'transpose_add_4096': (lambda: [uniform(4096, 4096), uniform(4096, 4096)], lambda x, y: x.T + y, lambda t, x, y: x.T + y),
    'reduce_rows_8192x4096': (lambda: [uniform(8192, 4096)], lambda x: (x.sum(1), x.max(1)), lambda t, x: (x.sum(1), x.amax(1))),
    'reduce_cols_8192x4096': (lambda: [uniform(8192, 4096)], lambda x: x.sum(0), lambda t, x: x.sum(0)),
    'mse_16m': (lambda: [uniform(4096, 4096), uniform(4096, 4096)], lambda x, y: ((x - y) ** 2).mean(),
                lambda t, x, y: t.nn.functional.mse_loss(x, y)),
    'outer_product_reduce_8192': (lambda: [uniform(8192, 1), uniform(1, 8192)], lambda x, y: np.maximum(x + y, 0).sum(1),
                                  lambda t, x, y: t.relu(x + y).sum(1)),
    'polynomial_4m': (lambda: [uniform(1 << 22), uniform(9)], lambda x, c: np.polyval(c, x), None),
    'cumsum_1m': (lambda: [uniform(1 << 20)], np.cumsum, lambda t, x: t.cumsum(x, 0)),
    'cumsum_rows_1024x1024': (lambda: [uniform(1024, 1024)], lambda x: np.cumsum(x, 1), lambda t, x: t.cumsum(x, 1)),
    'sort_1m': (lambda: [uniform(1 << 20)], np.sort, lambda t, x: t.sort(x)[0]),
    'argsort_rows_1024x1024': (lambda: [uniform(1024, 1024)], lambda x: np.argsort(x, 1, kind='stable'), lambda t, x: t.argsort(x, 1)),
    'topk_256x32000': (lambda: [uniform(256, 32000)], lambda x: np.argpartition(-x, 64, 1)[:, :64], lambda t, x: t.topk(x, 64, 1)),
    'matmul_512': (lambda: [uniform(512, 512), uniform(512, 512)], np.matmul, lambda t, x, y: x @ y),
    'matmul_1024': (lambda: [uniform(1024, 1024), uniform(1024, 1024)], np.matmul, lambda t, x, y: x @ y),
    'matmul_2048': (lambda: [uniform(2048, 2048), uniform(2048, 2048)], np.matmul, lambda t, x, y: x @ y),
    'matmul_skinny_tn': (lambda: [uniform(32768, 64), uniform(32768, 96)], lambda x, y: x.T @ y, lambda t, x, y: x.T @ y),
    'matvec_4096': (lambda: [uniform(4096, 4096), uniform(4096)], np.matmul, lambda t, x, y: x @ y),
    'attention_12x256x64': (lambda: [uniform(12, 256, 64) for _ in range(3)], None,
                            lambda t, q, k, v: t.softmax(q @ k.transpose(1, 2) * 0.125, -1) @ v),
    'conv3x3_64_56': (lambda: [uniform(1, 64, 56, 56), uniform(64, 64, 3, 3)], None,
                      lambda t, x, w: t.nn.functional.conv2d(x, w, padding=1)),
    'depthwise_conv_128_56': (lambda: [uniform(1, 128, 56, 56), uniform(128, 1, 3, 3)], None,
                              lambda t, x, w: t.nn.functional.conv2d(x, w, padding=1, groups=128)),
    'maxpool_b8_112_64': (lambda: [uniform(8, 64, 112, 112)], None, lambda t, x: t.nn.functional.max_pool2d(x, 3, 2, 1)),
    'segment_sum_1m': (lambda: [uniform(1 << 20, 8), integers(1024, 1 << 20)], None,
                       lambda t, x, i: t.zeros(1024, 8).index_add_(0, i, x)),
    'embedding_gather_64k': (lambda: [uniform(50000, 256), integers(50000, 65536)], lambda w, i: w[i], lambda t, w, i: w[i]),
    'pairwise_distance_2048x2048x16': (lambda: [uniform(2048, 16), uniform(2048, 16)], distance_np,
                                       lambda t, x, y: ((x[:, None] - y[None]) ** 2).sum(2)),
    'nbody_2048': (lambda: [uniform(2048, 3), np.abs(uniform(2048))], nbody_np, lambda t, x, m: nbody_torch(x, m)),
    'variance_features_65536x256': (lambda: [uniform(65536, 256)], lambda x: x.var(0), lambda t, x: x.var(0, unbiased=False)),
    'tiny_dispatch': (lambda: [uniform(2, 3), uniform(3)], lambda x, y: x + y, lambda t, x, y: x + y),
}


def measure(call):
    call()
    times = []
    end = time.perf_counter() + 1.0
    while len(times) < 5 or (time.perf_counter() < end and len(times) < 200):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return statistics.median(times) * 1e3, min(times) * 1e3


def main():
    library = sys.argv[1] if len(sys.argv) > 1 else 'numpy'
    names = sys.argv[2:] or CASES
    if library == 'torch':
        import torch
        torch.set_num_threads(int(THREADS))
    for name in names:
        make, with_numpy, with_torch = CASES[name]
        arguments = make()
        if library == 'torch':
            arguments = [torch.from_numpy(a) for a in arguments]
            call = with_torch and (lambda: with_torch(torch, *arguments))
        else:
            call = with_numpy and (lambda: with_numpy(*arguments))
        if call:
            median, least = measure(call)
            print(f'{name:34} {median:10.3f} {least:10.3f}', flush=True)


main()
