#!/usr/bin/env python3
"""Trains a small convolutional network with flax and writes what cnn.c needs: cnn.hlo with the weights in it, and cnn_images.h.

    python3 -m venv venv && venv/bin/pip install jax==0.10.2 flax optax
    HLO_LITE=../../build/release/hlo-lite venv/bin/python train_cnn.py

The pictures are drawn here: disks, squares, crosses and stripes of 16 x 16 pixels, in noise. Not needed to build or to test
hlo-lite: what it wrote is stored beside it.
"""
import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

import hlo_lite_jax

SIZE, BATCH, TESTS = 16, 64, 8
NAMES = ['disk', 'square', 'cross', 'stripes']


class CNN(nn.Module):
    @nn.compact
    def __call__(self, x):
        for features in (4, 8):
            x = nn.relu(nn.Conv(features, (3, 3))(x))
            x = nn.max_pool(x, (2, 2), (2, 2))
        x = x.reshape(len(x), -1)
        return nn.Dense(len(NAMES))(nn.relu(nn.Dense(16)(x)))


def draw(key, n):
    """n pictures [n, 16, 16, 1], in steps of 1/32, and what they show."""
    k = jax.random.split(key, 5)
    kind = jax.random.randint(k[0], (n, 1, 1), 0, len(NAMES))
    centre = jax.random.uniform(k[1], (2, n, 1, 1), minval=5, maxval=10)
    radius = jax.random.uniform(k[2], (n, 1, 1), minval=3, maxval=5)
    y = jnp.arange(SIZE)[None, :, None] - centre[0]
    x = jnp.arange(SIZE)[None, None, :] - centre[1]
    shapes = jnp.stack([
        x * x + y * y < radius * radius,
        jnp.maximum(abs(x), abs(y)) < radius * 0.9,
        (jnp.minimum(abs(x), abs(y)) < 1) & (jnp.maximum(abs(x), abs(y)) < radius),
        (jnp.mod(x + y, 4) < 2) & (jnp.maximum(abs(x), abs(y)) < radius),
    ])
    picture = jnp.take_along_axis(shapes, kind[None], 0)[0].astype(jnp.float32)
    noisy = picture + 0.25 * jax.random.normal(k[3], picture.shape)
    return (jnp.round(noisy * 32) / 32)[..., None], kind[:, 0, 0]


def train(model, steps=1500):
    params = model.init(jax.random.key(0), jnp.zeros((1, SIZE, SIZE, 1)))
    optimizer = optax.adam(3e-3)
    state = optimizer.init(params)

    @jax.jit
    def step(params, state, key):
        x, y = draw(key, BATCH)
        loss = lambda p: optax.softmax_cross_entropy_with_integer_labels(model.apply(p, x), y).mean()
        updates, state = optimizer.update(jax.grad(loss)(params), state)
        return optax.apply_updates(params, updates), state

    for i in range(steps):
        params, state = step(params, state, jax.random.key(i + 1))
    return params


def rows(values, form):
    return ',\n'.join('  {' + ', '.join(format(v, form) for v in row) + '}' for row in values)


def write_images(pixels, probabilities):
    with open('cnn_images.h', 'w') as f:
        f.write('/* cnn_images.h - written by train_cnn.py: pictures, in steps of 1/32, and the probabilities that JAX gives them. */\n')
        f.write('#include <stdint.h>\n\n')
        f.write(f'static const int8_t pixels[{TESTS}][{SIZE * SIZE}] = {{\n{rows(pixels.reshape(TESTS, -1), "d")}}};\n\n')
        f.write(f'static const float jax[{TESTS}][{len(NAMES)}] = {{\n{rows(probabilities, ".9e")}}};\n')


def main():
    model = CNN()
    params = train(model)

    def cnn(params, image):
        p = nn.softmax(model.apply(params, image))
        return jnp.argmax(p, -1).astype(jnp.int32), p

    x, y = draw(jax.random.key(123456), 1000)
    kind, _ = jax.jit(cnn)(params, x)
    print(f'{np.mean(np.asarray(kind) == np.asarray(y)):.1%} of 1000 new pictures are right')

    image = x[:TESTS]
    hlo_lite_jax.save('cnn', jax.jit(cnn), params, image, embed=1)
    want_kind, want = jax.jit(cnn)(params, image)
    got_kind, got = hlo_lite_jax.compile(jax.jit(cnn), params, image, embed=1)(image)
    assert np.array_equal(want_kind, got_kind)
    print('largest difference to JAX:', np.abs(np.asarray(want) - got).max())
    write_images(np.asarray(image * 32, int), np.asarray(want))


main()
