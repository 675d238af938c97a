"""From a JAX function to machine code without JAX: one file to copy.

    import hlo_lite_jax

    predict = hlo_lite_jax.compile(jax.jit(model), params, x)        # a callable on NumPy arrays
    hlo_lite_jax.save('model', jax.jit(model), params, x)            # model.hlo, model.o and model.h for a C program
    hlo_lite_jax.save('model', jax.jit(model), params, x, embed=1)   # the first argument is compiled in
    hlo_lite_jax.save('model', jax.jit(model), params, x, npz=1)     # it is written to model.npz instead

Arguments are examples: only their shapes and types matter, but for those that are embedded or written. Any pytree will do; its
leaves become parameters in JAX's order, named after the argument and their paths in it (params_Dense_0_kernel). Needs the command hlo-lite on PATH (or in HLO_LITE) and `ld`.
"""
import ctypes
import functools
import inspect
import os
import re
import subprocess
import tempfile

import jax
import numpy as np


def _lower(function, args, embed):
    """The lowered function of the arguments that are not embedded; unused ones stay, so that all can be passed."""
    rest = functools.partial(function, *args[:embed])
    rest.__name__ = getattr(function, '__name__', 'f')
    return jax.jit(rest, keep_unused=True).lower(*args[embed:])


def _names(function, args):
    """A C name for each leaf of the arguments, in JAX's order."""
    try:
        parameters = list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        parameters = []
    parameters += [f'arg{i}' for i in range(len(parameters), len(args))]
    paths = [(name, path) for name, arg in zip(parameters, args) for path, _ in jax.tree_util.tree_leaves_with_path(arg)]
    return [re.sub(r'\W+', '_', name + jax.tree_util.keystr(path)).strip('_') for name, path in paths]


def _named(text, names):
    """The text with these names for the parameters of its entry, where no other instruction has them."""
    head, entry = text.split('\nENTRY ', 1)
    for i, name in enumerate(names):
        old = re.search(rf'^ *(?:ROOT )?(\S+) = .* parameter\({i}\)', entry, re.M).group(1)
        if not re.search(rf'(?<![\w.-]){re.escape(name)}(?![\w.-])', entry):
            entry = re.sub(rf'(?<![\w.-]){re.escape(old)}(?![\w.-])', name, entry)
    return head + '\nENTRY ' + entry


def text(function, *args, embed=0):
    """The function as HLO text. The first `embed` arguments become constants."""
    lowered = _lower(function, args, embed).compiler_ir('hlo').as_hlo_text(print_large_constants=True)
    return _named(lowered, _names(function, args)[len(jax.tree.leaves(args[:embed])):])


def _run(*words):
    done = subprocess.run([os.environ.get('HLO_LITE', 'hlo-lite'), *words], capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    return done.stdout


def save(path, function, *args, embed=0, npz=0, options=()):
    """Writes path.hlo, path.o and path.h; options go to `hlo-lite compile` (('--cpu=x86-64-v3', '--threads=off')).

    npz: the leaves of the first `npz` arguments are written to path.npz under their C names, as `hlo-lite run` and executables
    (--emit=exe) take them.
    """
    with open(path + '.hlo', 'w') as f:
        f.write(text(function, *args, embed=embed))
    _run('compile', path + '.hlo', '-o', path + '.o', *options)
    if npz:
        leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(args[embed:npz])]
        np.savez(path + '.npz', **dict(zip(member_names(path + '.h'), leaves)))


def member_names(header):
    """The names of the arguments in a header that hlo-lite wrote, in order."""
    with open(header) as f:
        body = re.search(r'struct \w+_args \{(.*?)\}', f.read(), re.S).group(1)
    return re.findall(r'\*(\w+);', body)


class Compiled:
    """A callable with the arguments of the function, but for those embedded; gives NumPy arrays in its pytree of results."""

    def __init__(self, function, args, embed=0, options=()):
        lowered = _lower(function, args, embed)
        self.results, self.tree = jax.tree.flatten(lowered.out_info)
        self.arguments = [jax.ShapeDtypeStruct(np.shape(a), jax.numpy.result_type(a)) for a in jax.tree.leaves(args[embed:])]
        with tempfile.TemporaryDirectory() as folder:
            source, library = os.path.join(folder, 'f.hlo'), os.path.join(folder, 'f.so')
            with open(source, 'w') as f:
                f.write(lowered.compiler_ir('hlo').as_hlo_text(print_large_constants=True))
            _run('compile', source, '--emit=shared', '--cpu=native', '-o', library, *options)
            self.library = ctypes.CDLL(library)
        self.workspace_bytes = ctypes.c_uint64.in_dll(self.library, 'f_workspace_bytes').value
        self.signature = ctypes.c_char.in_dll(self.library, 'f_signature')

    def _take(self, i, value):
        want = self.arguments[i]
        array = np.ascontiguousarray(np.asarray(value), dtype=want.dtype)
        if array.shape != want.shape:
            raise TypeError(f'argument leaf {i} is {array.shape}, compiled for {want.shape}')
        return array

    def __call__(self, *args):
        leaves = jax.tree.leaves(args)
        if len(leaves) != len(self.arguments):
            raise TypeError(f'{len(leaves)} argument leaves, compiled for {len(self.arguments)}')
        arrays = [self._take(i, leaf) for i, leaf in enumerate(leaves)]
        results = [np.empty(r.shape, r.dtype) for r in self.results]
        raw = np.empty(self.workspace_bytes + 64, np.uint8)
        workspace = ctypes.c_void_p(raw.ctypes.data + -raw.ctypes.data % 64)
        pointers = lambda list: (ctypes.c_void_p * len(list))(*[a.ctypes.data for a in list])
        status = self.library.f(pointers(arrays), pointers(results), workspace)
        if status != 0:
            raise RuntimeError('a custom call failed' if status == 2 else 'the call failed')
        return jax.tree.unflatten(self.tree, results)


def compile(function, *args, embed=0, options=()):
    """A callable on NumPy arrays, through a shared library and ctypes."""
    return Compiled(function, args, embed, options)
