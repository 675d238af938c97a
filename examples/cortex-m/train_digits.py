#!/usr/bin/env python3
"""Trains a classifier of 8 x 8 digits with JAX and writes it twice, weights and all: mlp_f32.hlo, and mlp_int8.hlo with
weights and activations of 8 bits.

    python3 -m venv venv && venv/bin/pip install jax==0.10.2
    venv/bin/python train_digits.py

The digits are drawn here, shifted and in noise. Not needed to build or to test hlo-lite: what it wrote is stored beside it.
"""
import jax
import jax.numpy as jnp
import numpy as np

HIDDEN, SIZE, TESTS = 32, 8, 10
GLYPHS = '''
.###. ..#.. .###. ####. #..#. ##### .###. ##### .###. .###.
#...# .##.. #...# ....# #..#. #.... #.... ....# #...# #...#
#..## ..#.. ...#. .###. ##### ####. ####. ...#. .###. .####
##..# ..#.. ..#.. ....# ...#. ....# #...# ..#.. #...# ....#
.###. .###. ##### ####. ...#. ####. .###. ..#.. .###. .###.
'''
FONT = np.array([[[c == '#' for c in row.split()[d]] for row in GLYPHS.split('\n') if row] for d in range(10)], np.float32)


def draw(key, n):
    """n pictures [n, 64] of whole numbers from 0 to 127, and their digits."""
    k = jax.random.split(key, 4)
    digit = jax.random.randint(k[0], (n,), 0, 10)
    place = jax.random.randint(k[1], (n, 2), 0, SIZE - 4)
    canvas = jnp.zeros((n, SIZE, SIZE))
    put = lambda c, glyph, at: jax.lax.dynamic_update_slice(c, glyph, (at[0], at[1]))
    canvas = jax.vmap(put)(canvas, jnp.asarray(FONT)[digit], place)
    noisy = 96 * canvas + 16 * jnp.abs(jax.random.normal(k[2], canvas.shape))
    return jnp.clip(jnp.round(noisy), 0, 127).reshape(n, -1), digit


def logits(params, x):
    (w1, b1), (w2, b2) = params
    return jax.nn.relu(x / 128 @ w1 + b1) @ w2 + b2


@jax.jit
def step(params, velocity, key):
    x, y = draw(key, 128)
    loss = lambda p: -jnp.mean(jax.nn.log_softmax(logits(p, x))[jnp.arange(len(y)), y])
    velocity = jax.tree.map(lambda v, g: 0.9 * v - 0.1 * g, velocity, jax.grad(loss)(params))
    return jax.tree.map(jnp.add, params, velocity), velocity


def train(steps=4000):
    k = jax.random.split(jax.random.key(3))
    params = [(jax.random.normal(k[0], (SIZE * SIZE, HIDDEN)) * 0.2, jnp.zeros(HIDDEN)),
              (jax.random.normal(k[1], (HIDDEN, 10)) * 0.2, jnp.zeros(10))]
    velocity = jax.tree.map(jnp.zeros_like, params)
    for i in range(steps):
        params, velocity = step(params, velocity, jax.random.key(1000 + i))
    return params


def quantised(params, x):
    """The same network on integers: s8 weights and activations, s32 sums, one multiplication between the layers."""
    (w1, b1), (w2, b2) = params
    s1, s2 = jnp.max(jnp.abs(w1)) / 127, jnp.max(jnp.abs(w2)) / 127
    hidden = jax.nn.relu(x / 128 @ w1 + b1)
    h = float(jnp.max(hidden)) / 127
    int8 = lambda w, s: jnp.round(w / s).astype(jnp.int8)
    q1, q2, c1, c2 = int8(w1, s1), int8(w2, s2), jnp.round(b1 / (s1 / 128)).astype(jnp.int32), jnp.round(b2 / (s2 * h)).astype(jnp.int32)
    shift = 16
    factor = int(round(float(s1) / 128 / h * 2**shift))

    def mlp_int8(image):
        sums = jax.lax.dot(image, q1, preferred_element_type=jnp.int32) + c1
        active = jnp.clip(sums * factor >> shift, 0, 127).astype(jnp.int8)
        scores = jax.lax.dot(active, q2, preferred_element_type=jnp.int32) + c2
        return jnp.argmax(scores, -1).astype(jnp.int32), scores

    return mlp_int8


def write(name, f, image):
    with open(name, 'w') as out:
        out.write(jax.jit(f).lower(image).compiler_ir('hlo').as_hlo_text(print_large_constants=True))


def main():
    params = train()
    x, y = draw(jax.random.key(7), 2000)

    def mlp_f32(image):
        p = jax.nn.softmax(logits(params, image))
        return jnp.argmax(p, -1).astype(jnp.int32), p

    mlp_int8 = quantised(params, x)
    for f, images in ((mlp_f32, x), (mlp_int8, x.astype(jnp.int8))):
        print(f.__name__, f'{np.mean(np.asarray(jax.jit(f)(images)[0]) == np.asarray(y)):.1%} of 2000 new pictures are right')
    write('mlp_f32.hlo', mlp_f32, x[:1])
    write('mlp_int8.hlo', mlp_int8, x[:1].astype(jnp.int8))
    with open('digits.h', 'w') as f:
        f.write('/* digits.h - written by train_digits.py: pictures of 8 x 8, and what they show. */\n#include <stdint.h>\n\n')
        rows = ',\n'.join('  {' + ', '.join(str(int(v)) for v in row) + '}' for row in x[:TESTS])
        f.write(f'static const int8_t digits[{TESTS}][{SIZE * SIZE}] = {{\n{rows}}};\n')
        f.write(f'static const int8_t labels[{TESTS}] = {{{", ".join(str(int(v)) for v in y[:TESTS])}}};\n')


main()
