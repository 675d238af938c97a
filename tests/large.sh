#!/bin/sh
# large.sh KIND N - prints a module of N instructions or so, to see how time and memory grow with it:
#   chain    elementwise operations, each on the one before
#   params   a sum of N parameters
#   many     dot, tanh, reduce, broadcast and subtract in turn
#   whiles   N loops, each in the body of the other; one of 400 runs twice, the others once
awk -v kind="$1" -v n="$2" '
function chain(i) {
  print "ENTRY e {\n  x = f32[4096] parameter(0)\n  v0 = f32[4096] tanh(x)"
  for (i = 1; i < n; i++)
    printf "  %sv%d = f32[4096] %s(v%d, x)\n", i == n - 1 ? "ROOT " : "", i, i % 3 ? "add" : "multiply", i - 1
}
function params(i) {
  print "ENTRY e {"
  for (i = 0; i < n; i++)
    printf "  p%d = f32[64] parameter(%d)\n", i, i
  print "  sum0 = f32[64] negate(p0)"
  for (i = 1; i < n; i++)
    printf "  %ssum%d = f32[64] add(sum%d, p%d)\n", i == n - 1 ? "ROOT " : "", i, i - 1, i
}
function many(i) {
  print "sum {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT s = f32[] add(a, b)\n}\nENTRY e {"
  print "  w = f32[32,32] parameter(0)\n  x0 = f32[32,32] parameter(1)\n  z = f32[] constant(0)"
  for (i = 0; i < n / 5; i++) {
    printf "  d%d = f32[32,32] dot(x%d, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n", i, i
    printf "  t%d = f32[32,32] tanh(d%d)\n  r%d = f32[32] reduce(t%d, z), dimensions={1}, to_apply=sum\n", i, i, i, i
    printf "  b%d = f32[32,32] broadcast(r%d), dimensions={0}\n", i, i
    printf "  %sx%d = f32[32,32] subtract(t%d, b%d)\n", (i + 1 < n / 5 ? "" : "ROOT "), i + 1, i, i
  }
}
function whiles(i) {
  for (i = 0; i < n; i++) {
    printf "cond%d {\n  p = (s32[], s32[]) parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n", i
    printf "  k = s32[] constant(%d)\n  ROOT less = pred[] compare(i, k), direction=LT\n}\n", i % 400 ? 1 : 2
    printf "body%d {\n  p = (s32[], s32[]) parameter(0)\n  i = s32[] get-tuple-element(p), index=0\n", i
    printf "  a = s32[] get-tuple-element(p), index=1\n  one = s32[] constant(1)\n  next = s32[] add(i, one)\n"
    if (i == 0)
      print "  r = s32[] add(a, one)"
    else
      printf "  z = s32[] constant(0)\n  t = (s32[], s32[]) tuple(z, a)\n  w = (s32[], s32[]) while(t), condition=cond%d, body=body%d\n  r = s32[] get-tuple-element(w), index=1\n", i - 1, i - 1
    print "  ROOT q = (s32[], s32[]) tuple(next, r)\n}"
  }
  print "ENTRY e {\n  x = s32[] parameter(0)\n  z = s32[] constant(0)\n  t = (s32[], s32[]) tuple(z, x)"
  printf "  w = (s32[], s32[]) while(t), condition=cond%d, body=body%d\n  ROOT r = s32[] get-tuple-element(w), index=1\n", n - 1, n - 1
}
BEGIN {
  print "HloModule " kind
  if (kind == "chain") chain()
  else if (kind == "params") params()
  else if (kind == "many") many()
  else whiles()
  print "}"
}'
