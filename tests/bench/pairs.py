#!/usr/bin/env python3
"""pairs.py [--rounds N] [--cpu CPU] MODULE.hlo... - run time beside XLA:CPU (jaxlib), in turn in one run, on the same arguments.

Prints for each module the median time of a call of both, the median of the ratios of each round (above 1: hlo-lite is faster),
the time of compilation (hlo-lite: the whole process with the link), and whether the results agree to a relative 1e-3 of the
largest value. Arguments are floats from -1 to 1 and integers from 0 to 9. XLA under jemalloc, which keeps its pages, is faster for large results:
    LD_PRELOAD=libjemalloc.so.2 MALLOC_CONF=dirty_decay_ms:-1,muzzy_decay_ms:-1 tests/bench/pairs.py softmax.hlo
Needs jax and numpy; the command hlo-lite on PATH or in HLO_LITE.
"""
import argparse
import ctypes
import os
import statistics
import subprocess
import tempfile
import time

import jax
import numpy as np
from jaxlib import _hlo, _jax

jax.config.update('jax_enable_x64', True)
COMMAND = os.environ.get('HLO_LITE', 'hlo-lite')


def aligned(array):
    """A copy at a multiple of 64 bytes, as compiled code wants its arguments."""
    raw = np.zeros(array.nbytes + 64, np.uint8)
    copy = raw[-raw.ctypes.data % 64:][:array.nbytes].view(array.dtype).reshape(array.shape)
    copy[...] = array
    return copy


def argument(shape, seed):
    random = np.random.default_rng(seed)
    dtype, size = shape.numpy_dtype(), shape.dimensions()
    if dtype.kind in 'iub':
        return aligned(random.integers(0, 2 if dtype.kind == 'b' else 10, size).astype(dtype))
    return aligned(random.uniform(-1, 1, size).astype(np.float32).astype(dtype))


def leaves(shape):
    return [leaf for part in shape.tuple_shapes() for leaf in leaves(part)] if shape.is_tuple() else [shape]


class HloLite:
    def __init__(self, path, arguments, results, cpu):
        with tempfile.TemporaryDirectory() as folder:
            library = os.path.join(folder, 'f.so')
            start = time.perf_counter()
            subprocess.run([COMMAND, 'compile', path, '--emit=shared', '--cpu=' + cpu, '--name=f', '-o', library], check=True)
            self.compile_s = time.perf_counter() - start
            self.library = ctypes.CDLL(library)
        size = ctypes.c_uint64.in_dll(self.library, 'f_workspace_bytes').value
        self.keep = arguments, results, aligned(np.zeros(size, np.uint8))
        pointers = lambda arrays: (ctypes.c_void_p * max(len(arrays), 1))(*[a.ctypes.data for a in arrays])
        self.call = pointers(arguments), pointers(results), ctypes.c_void_p(self.keep[2].ctypes.data)

    def run(self):
        if self.library.f(*self.call) != 0:
            raise RuntimeError('the call failed')


class Xla:
    def __init__(self, computation, arguments):
        device = jax.local_devices(backend='cpu')[0]
        module, devices = _jax.mlir.xla_computation_to_mlir_module(computation), _jax.DeviceList((device,))
        device.client.compile_and_load(module, devices, _jax.CompileOptions())  # the first use pays for set-up
        start = time.perf_counter()
        self.program = device.client.compile_and_load(module, devices, _jax.CompileOptions())
        self.compile_s = time.perf_counter() - start
        self.arguments = [jax.device_put(a, device) for a in arguments]

    def run(self):
        results = self.program.execute_sharded(self.arguments).disassemble_into_single_device_arrays()
        self.results = [parts[0] for parts in results]
        for array in self.results:
            array.block_until_ready()


def median_call(engine, seconds):
    times, end = [], time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        engine.run()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def agree(ours, theirs):
    theirs = np.asarray(theirs)
    kind = np.complex128 if ours.dtype.kind == 'c' else np.float64
    a, b = ours.astype(kind), theirs.astype(kind)
    largest = np.max(np.abs(b), where=np.isfinite(b), initial=0)
    return bool(np.all((a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= 1e-3 * largest)))


def compare(path, options):
    # XLA does not read implicit broadcasts.
    text = subprocess.run([COMMAND, 'fmt', '--explicit', path], check=True, capture_output=True, text=True).stdout
    module = _hlo.hlo_module_from_text(text)
    computation = _hlo.XlaComputation(module.as_serialized_hlo_module_proto())
    shapes = computation.program_shape()
    arguments = [argument(leaf, i) for i, leaf in enumerate(leaf for p in shapes.parameter_shapes() for leaf in leaves(p))]
    results = [aligned(np.zeros(r.dimensions(), r.numpy_dtype())) for r in leaves(shapes.result_shape())]
    ours, xla = HloLite(path, arguments, results, options.cpu), Xla(computation, arguments)
    ours.run()
    xla.run()
    right = all(agree(a, b) for a, b in zip(results, xla.results))
    rounds = [(median_call(ours, options.seconds), median_call(xla, options.seconds)) for _ in range(options.rounds)]
    times = [statistics.median(r[i] for r in rounds) for i in (0, 1)]
    ratio = statistics.median(theirs / mine for mine, theirs in rounds)
    print(f'{os.path.basename(path):32} {times[0] * 1e3:9.3f} {times[1] * 1e3:9.3f} {ratio:7.2f} '
          f'{ours.compile_s * 1e3:9.0f} {xla.compile_s * 1e3:9.0f}  {"" if right else "results differ"}', flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument('--rounds', type=int, default=5)
    parser.add_argument('--seconds', type=float, default=0.5, help='of each engine in each round')
    parser.add_argument('--cpu', default='native')
    parser.add_argument('modules', nargs='+')
    options = parser.parse_args()
    print(f'{"ms":32} {"hlo-lite":>9} {"xla":>9} {"ratio":>7} {"compile":>9} {"xla":>9}')
    for path in options.modules:
        compare(path, options)


if __name__ == '__main__':
    main()
