/* test_passes - each pass where it fires, where it must not, that it does nothing the second time,
 * and that what it leaves is legal.
 *
 * A row is the passes to run, the body of an entry, and the body that must come out, names and the
 * numbering of dead code aside: both are compared after dce, instruction by instruction.
 */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "grammar/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "passes/pass.h"
#include "passes/same.h"

static hl_arena *arena, *scratch;
static hl_diag diag;

static void setup(void)
{
  arena = hl_arena_new(NULL);
  scratch = hl_arena_new(NULL);
  diag = (hl_diag){.arena = arena};
}

static void teardown(void)
{
  hl_arena_free(arena);
  hl_arena_free(scratch);
}

static const char *messages(void)
{
  hl_str text = {.arena = arena};
  hl_diag_render(&diag, (hl_render_options){0}, &text);
  return hl_str_text(&text);
}

static hl_module *load(const char *text)
{
  diag.source = hl_source_new(arena, "t.hlo", text, strlen(text));
  hl_module *module = hl_parse(arena, diag.source, &diag);
  ck_assert_msg(module && hl_verify(module, (hl_verify_options){0}, &diag), "%s\n%.2000s",
                messages(), text);
  return module;
}

/* Computations stand before the entry; a body may bring its own in front of a line "ENTRY". */
static const char *module_text(const char *body)
{
  const char *entry = strstr(body, "ENTRY\n");
  int front = entry ? (int)(entry - body) : 0;
  return hl_arena_printf(arena, "HloModule m\n%.*sENTRY e {\n%s\n}\n", front, body,
                         entry ? entry + strlen("ENTRY\n") : body);
}

static const char *printed(const hl_module *module)
{
  hl_str text = {.arena = arena};
  hl_module_print(&text, module);
  return hl_str_text(&text);
}

/* Runs the named passes, then verifies; returns whether one of them changed something. */
static bool run(hl_module *module, const char *names)
{
  hl_pass_context cx = {.scratch = scratch, .diag = &diag};
  bool changed = false;
#define HL_PASS(id, name, level, group, sentence) [HL_PASS_##id] = hl_pass_##id,
  static hl_pass_fn *const functions[] = {
#include "passes/passes.def"
  };
  while (*names) {
    size_t length = strcspn(names, ",");
    hl_pass_id pass = hl_pass_by_name(names, length);
    ck_assert_int_ne(pass, HL_PASS_COUNT);
    changed = functions[pass](module, &cx) || changed;
    names += length + (names[length] == ',');
    ck_assert_msg(hl_verify(module, (hl_verify_options){0}, &diag), "after %s: %s\n%s",
                  hl_pass_name(pass), messages(), printed(module));
  }
  return changed;
}

static void number(const hl_computation *c)
{
  int64_t place = 0;
  for (hl_instruction *ins = c->first; ins; ins = ins->next)
    ins->scratch = place++;
}

/* The callees' names do not count, so attributes that name computations are compared by what they
 * hold. */
static bool same_body(const hl_computation *a, const hl_computation *b)
{
  number(a);
  number(b);
  const hl_instruction *y = b->first;
  for (const hl_instruction *x = a->first; x && y; x = x->next, y = y->next) {
    bool calls = hl_called_computations(x, NULL, 0) > 0;
    if (x->opcode != y->opcode || x->operand_count != y->operand_count ||
        !hl_shape_equal(x->shape, y->shape) || (!calls && !hl_instruction_same(x, y)))
      return false;
    for (int i = 0; i < x->operand_count; i++)
      if (x->operands[i]->scratch != y->operands[i]->scratch)
        return false;
  }
  return a->instruction_count == b->instruction_count && a->root->scratch == b->root->scratch;
}

typedef struct row {
  const char *passes, *in, *out; /* out NULL: nothing may change */
} row;

static void check_row(const row *r)
{
  hl_module *module = load(module_text(r->in));
  bool changed = run(module, r->passes);
  ck_assert_msg(changed == (r->out != NULL), "%s: changed is %d\n%s", r->passes, changed,
                printed(module));
  ck_assert_msg(!run(module, r->passes), "%s: a second run changes something\n%s", r->passes,
                printed(module));
  run(module, "dce");
  hl_module *want = load(module_text(r->out ? r->out : r->in));
  run(want, "dce");
  ck_assert_msg(same_body(module->entry, want->entry), "%s: got\n%s\nexpected\n%s", r->passes,
                printed(module), printed(want));
}

#define ADD                                                                                        \
  "add {\n x = f32[] parameter(0)\n y = f32[] parameter(1)\n ROOT z = f32[] add(x, y)\n}\n"

static const row expand_rows[] = {
    {"expand-broadcasts",
     "a = f32[2,3] parameter(0)\n b = f32[3] parameter(1)\n"
     " ROOT s = f32[2,3] add(a, b), broadcast_dimensions={1}",
     "a = f32[2,3] parameter(0)\n b = f32[3] parameter(1)\n"
     " c = f32[2,3] broadcast(b), dimensions={1}\n ROOT s = f32[2,3] add(a, c)"},
    /* a scalar on either side */
    {"expand-broadcasts",
     "a = f32[2] parameter(0)\n b = f32[] parameter(1)\n ROOT s = f32[2] subtract(b, a)",
     "a = f32[2] parameter(0)\n b = f32[] parameter(1)\n c = f32[2] broadcast(b), dimensions={}\n"
     " ROOT s = f32[2] subtract(c, a)"},
    /* both grow */
    {"expand-broadcasts",
     "a = f32[4,3,1] parameter(0)\n b = f32[1,2] parameter(1)\n"
     " ROOT s = f32[4,3,2] multiply(a, b), broadcast_dimensions={1,2}",
     "a = f32[4,3,1] parameter(0)\n b = f32[1,2] parameter(1)\n c = f32[4,3] reshape(a)\n"
     " d = f32[4,3,2] broadcast(c), dimensions={0,1}\n e = f32[2] reshape(b)\n"
     " f = f32[4,3,2] broadcast(e), dimensions={2}\n ROOT s = f32[4,3,2] multiply(d, f)"},
    /* 1 shrinks to 0 */
    {"expand-broadcasts",
     "a = f32[0,3] parameter(0)\n b = f32[1,3] parameter(1)\n ROOT s = f32[0,3] add(a, b)",
     "a = f32[0,3] parameter(0)\n b = f32[1,3] parameter(1)\n c = f32[3] reshape(b)\n"
     " d = f32[0,3] broadcast(c), dimensions={1}\n ROOT s = f32[0,3] add(a, d)"},
    {"expand-broadcasts",
     "a = f32[2] parameter(0)\n b = f32[] parameter(1)\n ROOT s = pred[2] compare(a, b), "
     "direction=LT",
     "a = f32[2] parameter(0)\n b = f32[] parameter(1)\n c = f32[2] broadcast(b), dimensions={}\n"
     " ROOT s = pred[2] compare(a, c), direction=LT"},
    {"expand-broadcasts",
     "p = pred[] parameter(0)\n a = f32[2] parameter(1)\n b = f32[] parameter(2)\n ROOT s = f32[2] "
     "select(p, a, b)",
     "p = pred[] parameter(0)\n a = f32[2] parameter(1)\n b = f32[] parameter(2)\n"
     " c = pred[2] broadcast(p), dimensions={}\n d = f32[2] broadcast(b), dimensions={}\n"
     " ROOT s = f32[2] select(c, a, d)"},
    {"expand-broadcasts",
     "l = f32[] parameter(0)\n a = f32[2] parameter(1)\n ROOT s = f32[2] clamp(l, a, l)",
     "l = f32[] parameter(0)\n a = f32[2] parameter(1)\n c = f32[2] broadcast(l), dimensions={}\n"
     " d = f32[2] broadcast(l), dimensions={}\n ROOT s = f32[2] clamp(c, a, d)"},
    /* identity list: only the attribute goes */
    {"expand-broadcasts",
     "a = f32[2,3] parameter(0)\n ROOT s = f32[2,3] add(a, a), broadcast_dimensions={0,1}",
     "a = f32[2,3] parameter(0)\n ROOT s = f32[2,3] add(a, a)"},
    {"expand-broadcasts", "a = f32[2,3] parameter(0)\n ROOT s = f32[2,3] add(a, a)", NULL},
    {"expand-broadcasts", "a = f32[] parameter(0)\n ROOT s = f32[2] broadcast(a), dimensions={}",
     NULL},
    /* bitcasts */
    {"expand-bitcasts", "a = f32[2,3]{1,0} parameter(0)\n ROOT b = f32[6]{0} bitcast(a)",
     "a = f32[2,3] parameter(0)\n ROOT b = f32[6] reshape(a)"},
    {"expand-bitcasts", "a = f32[2,3]{0,1} parameter(0)\n ROOT b = f32[3,2]{1,0} bitcast(a)",
     "a = f32[2,3] parameter(0)\n ROOT b = f32[3,2] transpose(a), dimensions={1,0}"},
    {"expand-bitcasts", "a = f32[2,3] parameter(0)\n ROOT b = s32[2,3] bitcast(a)",
     "a = f32[2,3] parameter(0)\n b = f32[6] reshape(a)\n c = s32[6] bitcast-convert(b)\n"
     " ROOT d = s32[2,3] reshape(c)"},
    {"expand-bitcasts", "a = f32[2] parameter(0)\n ROOT b = u8[8] bitcast(a)",
     "a = f32[2] parameter(0)\n b = u8[2,4] bitcast-convert(a)\n ROOT c = u8[8] reshape(b)"},
    {"expand-bitcasts", "a = u8[8] parameter(0)\n ROOT b = f32[2] bitcast(a)",
     "a = u8[8] parameter(0)\n b = u8[2,4] reshape(a)\n ROOT c = f32[2] bitcast-convert(b)"},
};

static const row calls_rows[] = {
    {"call-inliner",
     "f {\n x = f32[2] parameter(0)\n ROOT y = f32[2] negate(x)\n}\n"
     "g {\n x = f32[2] parameter(0)\n ROOT y = f32[2] call(x), to_apply=f\n}\n"
     "ENTRY\n a = f32[2] parameter(0)\n b = f32[2] call(a), to_apply=g\n ROOT c = f32[2] add(b, a)",
     "a = f32[2] parameter(0)\n b = f32[2] negate(a)\n ROOT c = f32[2] add(b, a)"},
    {"call-inliner",
     "f {\n ROOT x = f32[2] parameter(0)\n}\nENTRY\n a = f32[2] parameter(0)\n ROOT b = f32[2] "
     "call(a), to_apply=f",
     "ROOT a = f32[2] parameter(0)"},
    {"call-inliner",
     ADD "ENTRY\n a = f32[2] parameter(0)\n z = f32[] constant(0)\n"
         " ROOT r = f32[] reduce(a, z), dimensions={0}, to_apply=add",
     NULL},
    {"map-inliner",
     "f {\n x = f32[] parameter(0)\n c = f32[] constant(2)\n ROOT y = f32[] multiply(x, c)\n}\n"
     "ENTRY\n a = f32[3] parameter(0)\n ROOT m = f32[3] map(a), dimensions={0}, to_apply=f",
     "a = f32[3] parameter(0)\n c = f32[] constant(2)\n d = f32[3] broadcast(c), dimensions={}\n"
     " ROOT m = f32[3] multiply(a, d)"},
    {"map-inliner",
     ADD
     "f {\n x = f32[] parameter(0)\n i = f32[4] iota(), iota_dimension=0\n z = f32[] constant(0)\n"
     " ROOT r = f32[] reduce(i, z), dimensions={0}, to_apply=add\n}\n"
     "ENTRY\n a = f32[3] parameter(0)\n ROOT m = f32[3] map(a), dimensions={0}, to_apply=f",
     NULL},
    {"tuple-simplifier",
     "a = f32[2] parameter(0)\n b = s32[] parameter(1)\n t = (f32[2], s32[]) tuple(a, b)\n"
     " ROOT x = f32[2] get-tuple-element(t), index=0",
     "ROOT a = f32[2] parameter(0)\n b = s32[] parameter(1)"},
    {"tuple-simplifier",
     "t = (f32[2], s32[]) parameter(0)\n a = f32[2] get-tuple-element(t), index=0\n"
     " b = s32[] get-tuple-element(t), index=1\n ROOT x = (f32[2], s32[]) tuple(a, b)",
     "ROOT t = (f32[2], s32[]) parameter(0)"},
    {"tuple-simplifier",
     "t = (f32[2], f32[2]) parameter(0)\n a = f32[2] get-tuple-element(t), index=0\n"
     " b = f32[2] get-tuple-element(t), index=1\n ROOT x = (f32[2], f32[2]) tuple(b, a)",
     NULL},
    {"tuple-simplifier",
     "t = (f32[2], (s32[])) parameter(0)\n c = (f32[2], (s32[])) copy(t)\n"
     " ROOT x = f32[2] get-tuple-element(c), index=0",
     "t = (f32[2], (s32[])) parameter(0)\n ROOT x = f32[2] get-tuple-element(t), index=0"},
    {"tuple-simplifier",
     "t = (f32[], (s32[])) constant((1.5, (7)))\n u = (s32[]) get-tuple-element(t), index=1\n"
     " ROOT x = s32[] get-tuple-element(u), index=0",
     "ROOT x = s32[] constant(7)"},
    {"simplify-conditional",
     "f {\n x = f32[] parameter(0)\n ROOT y = f32[] negate(x)\n}\ng {\n ROOT x = f32[] "
     "parameter(0)\n}\n"
     "ENTRY\n a = f32[] parameter(0)\n i = s32[] constant(-7)\n"
     " ROOT c = f32[] conditional(i, a, a), branch_computations={g, f}",
     "a = f32[] parameter(0)\n ROOT y = f32[] negate(a)"},
    {"simplify-conditional",
     "f {\n x = f32[] parameter(0)\n ROOT y = f32[] negate(x)\n}\ng {\n ROOT x = f32[] "
     "parameter(0)\n}\n"
     "ENTRY\n a = f32[] parameter(0)\n p = pred[] constant(true)\n"
     " ROOT c = f32[] conditional(p, a, a), true_computation=f, false_computation=g",
     "a = f32[] parameter(0)\n ROOT y = f32[] negate(a)"},
    {"simplify-conditional",
     "f {\n x = f32[] parameter(0)\n ROOT y = f32[] negate(x)\n}\ng {\n ROOT x = f32[] "
     "parameter(0)\n}\n"
     "ENTRY\n a = f32[] parameter(0)\n p = pred[] parameter(1)\n"
     " ROOT c = f32[] conditional(p, a, a), true_computation=f, false_computation=g",
     NULL},
};

static const row shape_rows[] = {
    /* one broadcast of a 1 as JAX prints it */
    {"algsimp",
     "a = f32[32] parameter(0)\n b = f32[1,1,32] reshape(a)\n c = f32[1,1,32] broadcast(b), "
     "dimensions={0,1,2}\n"
     " d = f32[32] reshape(c)\n ROOT e = f32[4,6,32] broadcast(d), dimensions={2}",
     "a = f32[32] parameter(0)\n ROOT e = f32[4,6,32] broadcast(a), dimensions={2}"},
    {"algsimp", "a = f32[2,3] parameter(0)\n b = f32[6] reshape(a)\n ROOT c = f32[3,2] reshape(b)",
     "a = f32[2,3] parameter(0)\n ROOT c = f32[3,2] reshape(a)"},
    {"algsimp",
     "a = f32[] parameter(0)\n b = f32[6] broadcast(a), dimensions={}\n ROOT c = f32[3,2] "
     "reshape(b)",
     "a = f32[] parameter(0)\n ROOT c = f32[3,2] broadcast(a), dimensions={}"},
    /* groups of dimensions that are all the operand's or all new */
    {"algsimp",
     "a = f32[6] parameter(0)\n b = f32[6,2,5] broadcast(a), dimensions={0}\n ROOT c = f32[3,2,10] "
     "reshape(b)",
     "a = f32[6] parameter(0)\n b = f32[3,2] reshape(a)\n ROOT c = f32[3,2,10] broadcast(b), "
     "dimensions={0,1}"},
    {"algsimp",
     "a = f32[6] parameter(0)\n b = f32[6,2] broadcast(a), dimensions={0}\n ROOT c = f32[12] "
     "reshape(b)",
     NULL},
    {"algsimp",
     "a = f32[3] parameter(0)\n b = f32[2,3] broadcast(a), dimensions={1}\n ROOT c = f32[2,3,4] "
     "broadcast(b), dimensions={0,1}",
     "a = f32[3] parameter(0)\n ROOT c = f32[2,3,4] broadcast(a), dimensions={1}"},
    {"algsimp", "a = f32[2,3] parameter(0)\n ROOT b = f32[3,4,2] broadcast(a), dimensions={2,0}",
     "a = f32[2,3] parameter(0)\n b = f32[3,2] transpose(a), dimensions={1,0}\n"
     " ROOT c = f32[3,4,2] broadcast(b), dimensions={0,2}"},
    {"algsimp", "a = f32[1,3] parameter(0)\n ROOT b = f32[1,4,3] broadcast(a), dimensions={0,2}",
     "a = f32[1,3] parameter(0)\n b = f32[3] reshape(a)\n ROOT c = f32[1,4,3] broadcast(b), "
     "dimensions={2}"},
    {"algsimp",
     "a = f32[2,3,4] parameter(0)\n b = f32[3,4,2] transpose(a), dimensions={1,2,0}\n"
     " ROOT c = f32[2,3,4] transpose(b), dimensions={2,0,1}",
     "ROOT a = f32[2,3,4] parameter(0)"},
    {"algsimp", "a = f32[1,3] parameter(0)\n ROOT b = f32[3,1] transpose(a), dimensions={1,0}",
     "a = f32[1,3] parameter(0)\n ROOT b = f32[3,1] reshape(a)"},
    {"algsimp", "a = f32[2,3] parameter(0)\n ROOT b = f32[3,2] transpose(a), dimensions={1,0}",
     NULL},
    {"algsimp",
     "a = f32[3] parameter(0)\n b = f32[2,3] broadcast(a), dimensions={1}\n ROOT c = f32[3,2] "
     "transpose(b), dimensions={1,0}",
     "a = f32[3] parameter(0)\n ROOT c = f32[3,2] broadcast(a), dimensions={0}"},
    /* elementwise operations go before movement */
    {"algsimp",
     "a = f32[3] parameter(0)\n c = f32[] constant(0.5)\n b = f32[2,3] broadcast(a), "
     "dimensions={1}\n"
     " d = f32[2,3] broadcast(c), dimensions={}\n ROOT e = f32[2,3] add(b, d)",
     "a = f32[3] parameter(0)\n c = f32[] constant(0.5)\n d = f32[3] broadcast(c), dimensions={}\n"
     " e = f32[3] add(a, d)\n ROOT f = f32[2,3] broadcast(e), dimensions={1}"},
    {"algsimp",
     "a = f32[4,6] parameter(0)\n b = f32[4,6,1] reshape(a)\n c = f32[4,6,1] exponential(b)\n"
     " ROOT d = f32[4,6] reshape(c)",
     "a = f32[4,6] parameter(0)\n ROOT d = f32[4,6] exponential(a)"},
    {"algsimp",
     "a = f32[3] parameter(0)\n b = f32[2] parameter(1)\n c = f32[2,3] broadcast(a), "
     "dimensions={1}\n"
     " d = f32[2,3] broadcast(b), dimensions={0}\n ROOT e = f32[2,3] add(c, d)",
     NULL},
    {"algsimp", "ROOT a = f32[2,2] constant({{3, 3}, {3, 3}})",
     "a = f32[] constant(3)\n ROOT b = f32[2,2] broadcast(a), dimensions={}"},
    {"algsimp", "ROOT a = f32[2] constant({0, -0})", NULL},
};

static const row move_rows[] = {
    {"algsimp", "a = f32[2] parameter(0)\n b = f32[2] copy(a)\n ROOT c = f32[2] negate(b)",
     "a = f32[2] parameter(0)\n ROOT c = f32[2] negate(a)"},
    {"algsimp", "a = f32[2] parameter(0)\n ROOT b = f32[2] convert(a)",
     "ROOT a = f32[2] parameter(0)"},
    {"algsimp", "a = s8[2] parameter(0)\n b = s32[2] convert(a)\n ROOT c = f32[2] convert(b)",
     "a = s8[2] parameter(0)\n ROOT c = f32[2] convert(a)"},
    {"algsimp", "a = s8[2] parameter(0)\n b = f32[2] convert(a)\n ROOT c = s8[2] convert(b)",
     "ROOT a = s8[2] parameter(0)"},
    /* makes a NaN canonical */
    {"algsimp", "a = bf16[2] parameter(0)\n b = f32[2] convert(a)\n ROOT c = bf16[2] convert(b)",
     NULL},
    /* rounds first */
    {"algsimp", "a = f32[2] parameter(0)\n b = bf16[2] convert(a)\n ROOT c = f32[2] convert(b)",
     NULL},
    /* saturates where the direct way wraps */
    {"algsimp", "a = s8[2] parameter(0)\n b = f32[2] convert(a)\n ROOT c = u8[2] convert(b)", NULL},
    {"algsimp", "a = s32[2] parameter(0)\n b = s8[2] convert(a)\n ROOT c = s32[2] convert(b)",
     NULL},
    {"algsimp",
     "p = pred[2] parameter(0)\n a = f32[2] parameter(1)\n ROOT b = f32[2] select(p, a, a)",
     "p = pred[2] parameter(0)\n ROOT a = f32[2] parameter(1)"},
    {"algsimp",
     "a = f32[2] parameter(0)\n b = f32[2] parameter(1)\n t = pred[] constant(false)\n"
     " p = pred[2] broadcast(t), dimensions={}\n ROOT s = f32[2] select(p, a, b)",
     "a = f32[2] parameter(0)\n ROOT b = f32[2] parameter(1)"},
    {"algsimp",
     "a = f32[2] parameter(0)\n b = f32[2] parameter(1)\n p = pred[2] parameter(2)\n n = pred[2] "
     "not(p)\n"
     " ROOT s = f32[2] select(n, a, b)",
     "a = f32[2] parameter(0)\n b = f32[2] parameter(1)\n p = pred[2] parameter(2)\n"
     " ROOT s = f32[2] select(p, b, a)"},
    {"algsimp", "a = f32[5] parameter(0)\n ROOT b = f32[5] slice(a), slice={[0:5]}",
     "ROOT a = f32[5] parameter(0)"},
    {"algsimp",
     "a = f32[20] parameter(0)\n b = f32[6] slice(a), slice={[2:19:3]}\n ROOT c = f32[2] slice(b), "
     "slice={[1:5:2]}",
     "a = f32[20] parameter(0)\n ROOT c = f32[2] slice(a), slice={[5:12:6]}"},
    {"algsimp",
     "a = f32[2,3] parameter(0)\n b = f32[2,4] parameter(1)\n c = f32[2,7] concatenate(a, b), "
     "dimensions={1}\n"
     " ROOT d = f32[2,2] slice(c), slice={[0:2], [4:6]}",
     "a = f32[2,3] parameter(0)\n b = f32[2,4] parameter(1)\n ROOT d = f32[2,2] slice(b), "
     "slice={[0:2], [1:3]}"},
    {"algsimp",
     "a = f32[3] parameter(0)\n b = f32[4] parameter(1)\n c = f32[7] concatenate(a, b), "
     "dimensions={0}\n"
     " ROOT d = f32[3] slice(c), slice={[1:4]}",
     NULL},
    {"algsimp",
     "a = f32[3] parameter(0)\n b = f32[2,3] broadcast(a), dimensions={1}\n ROOT c = f32[1,2] "
     "slice(b), slice={[1:2], [0:2]}",
     "a = f32[3] parameter(0)\n b = f32[2] slice(a), slice={[0:2]}\n ROOT c = f32[1,2] reshape(b)"},
    {"algsimp",
     "a = f32[3] parameter(0)\n z = f32[] constant(0)\n ROOT b = f32[3] pad(a, z), padding=0_0",
     "ROOT a = f32[3] parameter(0)"},
    {"algsimp",
     "a = f32[5] parameter(0)\n z = f32[] constant(0)\n ROOT b = f32[2] pad(a, z), padding=-1_-2",
     "a = f32[5] parameter(0)\n ROOT b = f32[2] slice(a), slice={[1:3]}"},
    {"algsimp",
     "a = f32[5] parameter(0)\n z = f32[] constant(0)\n ROOT b = f32[5] pad(a, z), padding=-1_1",
     NULL},
    {"algsimp",
     "a = f32[0] parameter(0)\n z = f32[] parameter(1)\n ROOT b = f32[2] pad(a, z), padding=1_1",
     "a = f32[0] parameter(0)\n z = f32[] parameter(1)\n ROOT b = f32[2] broadcast(z), "
     "dimensions={}"},
    {"algsimp", "a = f32[3] parameter(0)\n ROOT b = f32[3] concatenate(a), dimensions={0}",
     "ROOT a = f32[3] parameter(0)"},
    {"algsimp",
     "a = f32[3] parameter(0)\n b = f32[0] parameter(1)\n ROOT c = f32[6] concatenate(a, b, a), "
     "dimensions={0}",
     "a = f32[3] parameter(0)\n b = f32[0] parameter(1)\n ROOT c = f32[6] concatenate(a, a), "
     "dimensions={0}"},
    {"algsimp", "a = f32[1,3] parameter(0)\n ROOT b = f32[1,3] reverse(a), dimensions={0}",
     "ROOT a = f32[1,3] parameter(0)"},
    {"algsimp",
     "a = f32[3] parameter(0)\n b = f32[3] reverse(a), dimensions={0}\n ROOT c = f32[3] "
     "reverse(b), dimensions={0}",
     "ROOT a = f32[3] parameter(0)"},
    {"algsimp",
     "a = f32[2] parameter(0)\n b = s32[2] bitcast-convert(a)\n ROOT c = f32[2] bitcast-convert(b)",
     "ROOT a = f32[2] parameter(0)"},
};

static const row arith_rows[] = {
    {"algsimp",
     "a = s32[2] parameter(0)\n c = s32[] constant(0)\n z = s32[2] broadcast(c), dimensions={}\n"
     " ROOT b = s32[2] add(z, a)",
     "ROOT a = s32[2] parameter(0)"},
    /* a parameter may hold a NaN that is not canonical */
    {"algsimp",
     "a = f32[2] parameter(0)\n c = f32[] constant(1)\n z = f32[2] broadcast(c), dimensions={}\n"
     " ROOT b = f32[2] multiply(a, z)",
     NULL},
    {"algsimp",
     "a = f32[2] parameter(0)\n e = f32[2] exponential(a)\n c = f32[] constant(1)\n"
     " z = f32[2] broadcast(c), dimensions={}\n ROOT b = f32[2] multiply(e, z)",
     "a = f32[2] parameter(0)\n ROOT e = f32[2] exponential(a)"},
    {"algsimp",
     "a = f32[2] parameter(0)\n e = f32[2] sqrt(a)\n c = f32[] constant(-0)\n"
     " z = f32[2] broadcast(c), dimensions={}\n ROOT b = f32[2] add(e, z)",
     "a = f32[2] parameter(0)\n ROOT e = f32[2] sqrt(a)"},
    /* -0 + 0 is 0 */
    {"algsimp",
     "a = f32[2] parameter(0)\n e = f32[2] sqrt(a)\n c = f32[] constant(0)\n"
     " z = f32[2] broadcast(c), dimensions={}\n ROOT b = f32[2] add(e, z)",
     NULL},
    {"algsimp",
     "a = f32[2] parameter(0)\n c = f32[] constant(0)\n z = f32[2] broadcast(c), dimensions={}\n"
     " ROOT b = f32[2] multiply(a, z)",
     NULL},
    {"algsimp",
     "a = u8[2] parameter(0)\n c = u8[] constant(0)\n z = u8[2] broadcast(c), dimensions={}\n"
     " ROOT b = u8[2] multiply(a, z)",
     "a = u8[2] parameter(0)\n c = u8[] constant(0)\n ROOT z = u8[2] broadcast(c), dimensions={}"},
    {"algsimp",
     "a = f32[2] parameter(0)\n c = f32[] constant(4)\n z = f32[2] broadcast(c), dimensions={}\n"
     " ROOT b = f32[2] divide(a, z)",
     "a = f32[2] parameter(0)\n c = f32[] constant(0.25)\n z = f32[2] broadcast(c), dimensions={}\n"
     " ROOT b = f32[2] multiply(a, z)"},
    {"algsimp",
     "a = f32[2] parameter(0)\n c = f32[] constant(3)\n z = f32[2] broadcast(c), dimensions={}\n"
     " ROOT b = f32[2] divide(a, z)",
     NULL},
    /* the reciprocal of the least denormal is no f32 */
    {"algsimp",
     "a = f32[2] parameter(0)\n c = f32[] constant(1.40129846e-45)\n z = f32[2] broadcast(c), "
     "dimensions={}\n"
     " ROOT b = f32[2] divide(a, z)",
     NULL},
    {"algsimp", "a = f32[2] parameter(0)\n ROOT b = f32[2] subtract(a, a)", NULL},
    {"algsimp", "a = s32[2] parameter(0)\n ROOT b = s32[2] subtract(a, a)",
     "a = s32[2] parameter(0)\n c = s32[] constant(0)\n ROOT b = s32[2] broadcast(c), "
     "dimensions={}"},
    {"algsimp",
     "a = u32[] parameter(0)\n c = u32[] constant(4294967295)\n ROOT b = u32[] and(a, c)",
     "ROOT a = u32[] parameter(0)"},
    {"algsimp", "a = pred[] parameter(0)\n c = pred[] constant(true)\n ROOT b = pred[] or(a, c)",
     "a = pred[] parameter(0)\n ROOT c = pred[] constant(true)"},
    {"algsimp", "a = f32[2] parameter(0)\n ROOT b = f32[2] maximum(a, a)", NULL},
    {"algsimp", "a = s32[2] parameter(0)\n ROOT b = s32[2] maximum(a, a)",
     "ROOT a = s32[2] parameter(0)"},
    {"algsimp", "a = f32[2] parameter(0)\n b = f32[2] negate(a)\n ROOT c = f32[2] negate(b)",
     "ROOT a = f32[2] parameter(0)"},
    {"algsimp", "a = f32[2] parameter(0)\n b = f32[2] negate(a)\n ROOT c = f32[2] abs(b)",
     "a = f32[2] parameter(0)\n ROOT c = f32[2] abs(a)"},
    {"algsimp",
     "a = s32[2] parameter(0)\n b = pred[2] compare(a, a), direction=LT\n ROOT c = pred[2] not(b)",
     "a = s32[2] parameter(0)\n ROOT c = pred[2] compare(a, a), direction=GE"},
    {"algsimp",
     "a = f32[2] parameter(0)\n b = pred[2] compare(a, a), direction=LT\n ROOT c = pred[2] not(b)",
     NULL},
    {"algsimp",
     "a = f32[2] parameter(0)\n b = pred[2] compare(a, a), direction=EQ\n ROOT c = pred[2] not(b)",
     "a = f32[2] parameter(0)\n ROOT c = pred[2] compare(a, a), direction=NE"},
    /* log(exp(x)) is not x */
    {"algsimp", "a = f32[2] parameter(0)\n b = f32[2] exponential(a)\n ROOT c = f32[2] log(b)",
     NULL},
    /* a region keeps its form, because the order of a sum goes by it */
    {"algsimp",
     "sum {\n x = f32[] parameter(0)\n y = f32[] parameter(1)\n c = f32[] copy(y)\n ROOT z = f32[] "
     "add(x, c)\n}\n"
     "ENTRY\n a = f32[9] parameter(0)\n z = f32[] constant(0)\n"
     " ROOT r = f32[] reduce(a, z), dimensions={0}, to_apply=sum",
     NULL},
};

static const row fold_rows[] = {
    {"constant_folding",
     "a = f32[] constant(2)\n b = f32[] constant(3)\n ROOT c = f32[] multiply(a, b)",
     "ROOT c = f32[] constant(6)"},
    {"constant_folding", "a = s32[2] constant({1, 2})\n ROOT b = s32[2,1] reshape(a)",
     "ROOT b = s32[2,1] constant({{1}, {2}})"},
    {"constant_folding", "a = f32[] constant(2)\n ROOT b = f32[4] broadcast(a), dimensions={}",
     NULL},
    {"constant_folding", "ROOT a = s32[4] iota(), iota_dimension=0", NULL},
    {"constant_folding",
     "a = f32[] constant(2)\n b = f32[] parameter(0)\n ROOT c = f32[] multiply(a, b)", NULL},
    {"constant_folding",
     "a = f32[1] constant({2})\n z = f32[] constant(0)\n ROOT c = f32[100000] pad(a, z), "
     "padding=0_99999",
     NULL},
    {"algsimp,constant_folding",
     "a = f32[3] constant({2, 2, 2})\n b = f32[3] constant({3, 3, 3})\n ROOT c = f32[3] "
     "multiply(a, b)",
     "c = f32[] constant(6)\n ROOT d = f32[3] broadcast(c), dimensions={}"},
};

static const row share_rows[] = {
    {"cse",
     "a = f32[2] parameter(0)\n b = f32[2] negate(a)\n c = f32[2] negate(a)\n ROOT d = f32[2] "
     "add(b, c)",
     "a = f32[2] parameter(0)\n b = f32[2] negate(a)\n ROOT d = f32[2] add(b, b)"},
    {"cse",
     "a = f32[] parameter(0)\n b = f32[] parameter(1)\n c = f32[] add(a, b)\n d = f32[] add(b, a)\n"
     " ROOT e = f32[] multiply(c, d)",
     "a = f32[] parameter(0)\n b = f32[] parameter(1)\n c = f32[] add(a, b)\n ROOT e = f32[] "
     "multiply(c, c)"},
    {"cse",
     "a = f32[] parameter(0)\n b = f32[] parameter(1)\n c = f32[] subtract(a, b)\n"
     " d = f32[] subtract(b, a)\n ROOT e = f32[] multiply(c, d)",
     NULL},
    {"cse", "a = f32[] constant(0)\n b = f32[] constant(-0)\n ROOT c = f32[] add(a, b)", NULL},
    {"cse",
     "a = f32[2,2] parameter(0)\n b = f32[2,2] transpose(a), dimensions={1,0}\n"
     " c = f32[2,2] transpose(a), dimensions={0,1}\n ROOT d = f32[2,2] add(b, c)",
     NULL},
    {"cse",
     "a = f32[2] parameter(0)\n b = f32[2] negate(a), metadata={op_name=\"x\"}\n"
     " c = f32[2] negate(a), metadata={op_name=\"y\"}\n ROOT d = f32[2] add(b, c)",
     "a = f32[2] parameter(0)\n b = f32[2] negate(a)\n ROOT d = f32[2] add(b, b)"},
    {"cse",
     ADD "add2 {\n x = f32[] parameter(0)\n y = f32[] parameter(1)\n ROOT z = f32[] add(x, y)\n}\n"
         "ENTRY\n a = f32[9] parameter(0)\n z = f32[] constant(0)\n"
         " r = f32[] reduce(a, z), dimensions={0}, to_apply=add\n"
         " s = f32[] reduce(a, z), dimensions={0}, to_apply=add2\n ROOT t = f32[] add(r, s)",
     ADD "ENTRY\n a = f32[9] parameter(0)\n z = f32[] constant(0)\n"
         " r = f32[] reduce(a, z), dimensions={0}, to_apply=add\n ROOT t = f32[] add(r, r)"},
    {"dce",
     "a = f32[2] parameter(0)\n u = f32[2] add(a, a)\n v = f32[2] negate(u)\n ROOT s = f32[2] "
     "multiply(a, a)",
     "a = f32[2] parameter(0)\n ROOT s = f32[2] multiply(a, a)"},
    {"dce", "a = f32[2] parameter(0)\n b = f32[2] parameter(1)\n ROOT s = f32[2] multiply(a, a)",
     NULL},
    {"dce", "t = token[] after-all()\n a = f32[2] parameter(0)\n ROOT s = f32[2] multiply(a, a)",
     NULL},
};

#define ROWS(name)                                                                                 \
  START_TEST(name)                                                                                 \
  {                                                                                                \
    check_row(&name##_rows[_i]);                                                                   \
  }                                                                                                \
  END_TEST

ROWS(expand)
ROWS(calls)
ROWS(shape)
ROWS(move)
ROWS(arith)
ROWS(fold)
ROWS(share)

/* pow(x, 2 + 0) has no constant exponent, and folding must not give it one; pow(x, 2) keeps its
 * own. */
START_TEST(power_keeps_its_form)
{
  hl_module *module =
      load(module_text("x = f32[2] parameter(0)\n a = f32[] constant(2)\n z = f32[] constant(0)\n"
                       " b = f32[] add(a, z)\n c = f32[2] broadcast(b), dimensions={}\n"
                       " d = f32[2] broadcast(a), dimensions={}\n p = f32[2] power(x, c)\n"
                       " q = f32[2] power(x, d)\n ROOT t = (f32[2], f32[2]) tuple(p, q)"));
  run(module, "mark-power,algsimp,constant_folding,cse,dce");
  const hl_instruction *root = module->entry->root;
  ck_assert_ptr_ne(root->operands[0], root->operands[1]);
  ck_assert_ptr_eq(root->operands[0]->operands[1], root->operands[1]->operands[1]);
  double exponent;
  ck_assert(!hl_power_exponent(root->operands[0], &exponent));
  ck_assert(hl_power_exponent(root->operands[1], &exponent));
  ck_assert(exponent == 2);
}
END_TEST

/* Each level of calls doubles the module: the pass must stop with a message. */
START_TEST(inlining_has_a_limit)
{
  hl_str text = {.arena = arena};
  hl_str_add(&text,
             "HloModule m\nlevel0 {\n x = f32[] parameter(0)\n ROOT y = f32[] negate(x)\n}\n");
  for (int i = 1; i <= 40; i++)
    hl_str_printf(&text,
                  "level%d {\n x = f32[] parameter(0)\n y = f32[] call(x), to_apply=level%d\n"
                  " ROOT z = f32[] call(y), to_apply=level%d\n}\n",
                  i, i - 1, i - 1);
  hl_str_add(&text,
             "ENTRY e {\n x = f32[] parameter(0)\n ROOT y = f32[] call(x), to_apply=level40\n}\n");
  hl_module *module = load(hl_str_text(&text));
  hl_pipeline pipeline = {.scratch = scratch, .level = 2};
  ck_assert(!hl_run_passes(module, &pipeline, &diag, NULL));
  ck_assert_int_eq(diag.error_count, 1);
  ck_assert_int_eq(diag.first->rule, HL_RULE_LIMIT);
}
END_TEST

/* No pass may recurse along operands. */
START_TEST(long_chains_are_fine)
{
  hl_str text = {.arena = arena};
  hl_str_add(&text, "HloModule m\nENTRY e {\n v0 = f32[4] parameter(0)\n");
  for (int i = 1; i < 50000; i++)
    hl_str_printf(&text, " v%d = f32[4] %s(v%d)\n", i, i % 3 ? "negate" : "copy", i - 1);
  hl_str_add(&text, "}\n");
  hl_module *module = load(hl_str_text(&text));
  hl_pipeline pipeline = {.scratch = scratch, .level = 2, .verify_each = true};
  ck_assert(hl_run_passes(module, &pipeline, &diag, NULL));
  ck_assert_int_le(module->entry->instruction_count, 3);
}
END_TEST

START_TEST(names_are_xlas)
{
  ck_assert_int_eq(hl_pass_by_name("constant-folding", 16), HL_PASS_constant_folding);
  ck_assert_int_eq(hl_pass_by_name("tuple_simplifier", 16), HL_PASS_tuple_simplifier);
  ck_assert_int_eq(hl_pass_by_name("dc", 2), HL_PASS_COUNT);
  ck_assert_str_eq(hl_pass_suggest("cs"), "cse");
  ck_assert_ptr_null(hl_pass_suggest("something-else"));
}
END_TEST

#define ADD_ROWS(name)                                                                             \
  tcase_add_loop_test(t, name, 0, (int)(sizeof name##_rows / sizeof *name##_rows))

int main(void)
{
  Suite *suite = suite_create("passes");
  TCase *t = tcase_create("passes");
  tcase_add_checked_fixture(t, setup, teardown);
  ADD_ROWS(expand);
  ADD_ROWS(calls);
  ADD_ROWS(shape);
  ADD_ROWS(move);
  ADD_ROWS(arith);
  ADD_ROWS(fold);
  ADD_ROWS(share);
  tcase_add_test(t, power_keeps_its_form);
  tcase_add_test(t, inlining_has_a_limit);
  tcase_add_test(t, long_chains_are_fine);
  tcase_add_test(t, names_are_xlas);
  suite_add_tcase(suite, t);
  SRunner *runner = srunner_create(suite);
  srunner_run_all(runner, CK_NORMAL);
  int failed = srunner_ntests_failed(runner);
  srunner_free(runner);
  return failed != 0;
}
