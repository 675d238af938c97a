#!/usr/bin/env python3
"""Writes numpy.txt: what NumPy makes of small arrays of many shapes. Run by hand when a case is added; the tests read the file.

A line: function, shape of x, shape of y, then either the result's shape and values or "error" and NumPy's message.
x holds 0.5, 1.25, 2.0, ... in turns with its negatives, y holds 2, -1.5, 1, -0.5, ... : see values() in test_builder.c.
"""
import itertools
import random

import numpy as np

FUNCTIONS = {
    'add': np.add, 'subtract': np.subtract, 'multiply': np.multiply, 'divide': np.divide, 'remainder': np.remainder,
    'fmod': np.fmod, 'power': np.float_power, 'arctan2': np.arctan2, 'maximum': np.maximum, 'minimum': np.minimum,
    'equal': np.equal, 'not_equal': np.not_equal, 'less': np.less, 'less_equal': np.less_equal, 'greater': np.greater,
    'greater_equal': np.greater_equal,
}
SHAPES = [(), (1,), (3,), (4,), (0,), (1, 1), (1, 3), (2, 1), (2, 3), (3, 1), (4, 3), (0, 3), (2, 1, 3), (1, 4, 1), (5, 1, 1), (2, 2, 2), (1, 2, 1, 2)]


def values(shape, start, step):
    n = int(np.prod(shape))
    v = start + step * np.arange(n)
    return np.where(np.arange(n) % 2 == 1, -v, v).astype(np.float32).reshape(shape)


def text(shape):
    return ','.join(map(str, shape)) if shape else '-'


def line(name, xs, ys):
    x, y = values(xs, 0.5, 0.75), values(ys, 2.0, -0.5 if name != 'power' else 0.5)
    if name == 'power':
        x = np.abs(x)
    with np.errstate(all='ignore'):
        try:
            r = np.asarray(FUNCTIONS[name](x, y))
        except ValueError as e:
            return f'{name} {text(xs)} {text(ys)} error {str(e).strip()}'
    r = r.astype(np.float32)
    return f'{name} {text(xs)} {text(ys)} {text(r.shape)} ' + ' '.join(repr(float(v)) for v in r.flat)


random.seed(1)
pairs = list(itertools.product(SHAPES, SHAPES))
lines = [line('add', *p) for p in pairs] + [line('arctan2', *p) for p in pairs]
for name in FUNCTIONS:
    if name not in ('add', 'arctan2'):
        lines += [line(name, *p) for p in random.sample(pairs, 24)]
with open('numpy.txt', 'w') as f:
    f.write('\n'.join(lines) + '\n')
print(len(lines), 'lines')
