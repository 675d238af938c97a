#!/usr/bin/env python3
"""Trains a small classifier with JAX and prints it as HLO text, weights and all: mlp.hlo.

    python3 -m venv venv && venv/bin/pip install jax==0.10.2
    venv/bin/python export_mlp.py > mlp.hlo

Not needed to build or to test hlo-lite: mlp.hlo is stored beside this file. The two steps that matter for a model of your own
are the last two of main().
"""
import jax
import jax.numpy as jnp

POINTS, CLASSES, HIDDEN, BATCH = 200, 3, 24, 800


def spirals(key):
    """Three arms of noisy points in the square [-1, 1]²: data that no straight line parts."""
    radius = jnp.linspace(0.05, 1, POINTS)
    arm = jnp.arange(CLASSES)[:, None]
    angle = radius * 4 + arm * (2 * jnp.pi / CLASSES) + 0.1 * jax.random.normal(key, (CLASSES, POINTS))
    x = jnp.stack([radius * jnp.cos(angle), radius * jnp.sin(angle)], axis=-1)
    return x.reshape(-1, 2), jnp.repeat(jnp.arange(CLASSES), POINTS)


def start(key):
    sizes = [2, HIDDEN, HIDDEN, CLASSES]
    keys = jax.random.split(key, len(sizes))
    return [(jax.random.normal(k, (m, n)) * jnp.sqrt(2 / m), jnp.zeros(n)) for k, m, n in zip(keys, sizes, sizes[1:])]


def logits(layers, x):
    for w, b in layers[:-1]:
        x = jnp.tanh(x @ w + b)
    w, b = layers[-1]
    return x @ w + b


def loss(layers, x, y):
    rows = jax.nn.log_softmax(logits(layers, x))
    return -jnp.mean(rows[jnp.arange(len(y)), y])


@jax.jit
def step(layers, velocity, x, y):
    gradient = jax.grad(loss)(layers, x, y)
    velocity = jax.tree.map(lambda v, g: 0.9 * v - 0.2 * g, velocity, gradient)
    return jax.tree.map(jnp.add, layers, velocity), velocity


def train():
    data, weights = jax.random.split(jax.random.key(1))
    x, y = spirals(data)
    layers = start(weights)
    velocity = jax.tree.map(jnp.zeros_like, layers)
    for _ in range(2000):
        layers, velocity = step(layers, velocity, x, y)
    return layers


def main():
    layers = train()

    def mlp(points):
        """The class of each point, and how sure the model is of every class."""
        p = jax.nn.softmax(logits(layers, points))
        return jnp.argmax(p, axis=-1).astype(jnp.int32), p

    lowered = jax.jit(mlp).lower(jax.ShapeDtypeStruct((BATCH, 2), jnp.float32))
    print(lowered.compiler_ir('hlo').as_hlo_text(print_large_constants=True), end='')


main()
