#!/usr/bin/env python3
"""Trains a perceptron with flax and writes what spirals.c needs: spirals.hlo, whose weights are arguments, the weights themselves in
spirals.npz, spirals_embedded.hlo with the weights in it, and spirals_points.h.

    python3 -m venv venv && venv/bin/pip install jax==0.10.2 flax optax
    HLO_LITE=../../build/release/hlo-lite venv/bin/python train_mlp.py

The data are three arms of points in a square. Not needed to build or to test hlo-lite: what it wrote is stored beside it.
"""
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

import hlo_lite_jax

POINTS, CLASSES, WIDTH, HEIGHT = 200, 3, 32, 16


class MLP(nn.Module):
    @nn.compact
    def __call__(self, x):
        for features in (24, 24):
            x = nn.tanh(nn.Dense(features)(x))
        return nn.Dense(CLASSES)(x)


def spirals(key):
    radius = jnp.linspace(0.05, 1, POINTS)
    arm = jnp.arange(CLASSES)[:, None]
    angle = radius * 4 + arm * (2 * jnp.pi / CLASSES) + 0.1 * jax.random.normal(key, (CLASSES, POINTS))
    x = jnp.stack([radius * jnp.cos(angle), radius * jnp.sin(angle)], axis=-1)
    return x.reshape(-1, 2), jnp.repeat(jnp.arange(CLASSES), POINTS)


def train(model, x, y, steps=1500):
    params = model.init(jax.random.key(0), x)
    optimizer = optax.adam(1e-2)
    state = optimizer.init(params)

    @jax.jit
    def step(params, state):
        loss = lambda p: optax.softmax_cross_entropy_with_integer_labels(model.apply(p, x), y).mean()
        updates, state = optimizer.update(jax.grad(loss)(params), state)
        return optax.apply_updates(params, updates), state

    for _ in range(steps):
        params, state = step(params, state)
    return params['params']


def grid():
    """The points of a map, from the upper left, in steps that floats hold exactly."""
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    return np.stack([(x - WIDTH / 2) / (WIDTH / 2), (HEIGHT / 2 - y) / (HEIGHT / 2)], -1).reshape(-1, 2).astype(np.float32)


def write_points(probabilities):
    rows = ',\n'.join('  {' + ', '.join(f'{p:.9e}' for p in row) + '}' for row in probabilities)
    with open('spirals_points.h', 'w') as f:
        f.write('/* spirals_points.h - written by train_mlp.py: the probabilities that JAX gives the points of the map. */\n')
        f.write(f'enum {{ WIDTH = {WIDTH}, HEIGHT = {HEIGHT}, CLASSES = {CLASSES} }};\n\n')
        f.write(f'static const float jax[WIDTH * HEIGHT][CLASSES] = {{\n{rows}}};\n')


def main():
    model = MLP()
    x, y = spirals(jax.random.key(1))
    weights = train(model, x, y)

    @jax.jit
    def predict(weights, points):
        return nn.softmax(model.apply({'params': weights}, points))

    points = grid()
    print(f'{np.mean(np.argmax(predict(weights, x), -1) == np.asarray(y)):.1%} of {len(y)} points are right')

    hlo_lite_jax.save('spirals', predict, weights, points, npz=1)
    hlo_lite_jax.save('spirals_embedded', predict, weights, points, embed=1)
    want = np.asarray(predict(weights, points))
    got = hlo_lite_jax.compile(predict, weights, points)(weights, points)
    print('largest difference to JAX:', np.abs(want - got).max())
    write_points(want)


main()
