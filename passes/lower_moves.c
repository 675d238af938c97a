/* lower_moves.c - copies that all happen at once, one after the other.
 *
 * A copy is ready when no other one still has to read what it overwrites. When none is ready, all
 * that are left stand in cycles: one destination is saved to a temporary, which those that wanted
 * it read instead.
 */
#include "lower_moves.h"

#include "../ir/str.h"

enum { LARGE_BYTES = 1 << 20 }; /* from here on threads share a copy */

/* What moves read or write. */
typedef struct place {
  int readers;    /* moves that still have to read it */
  int writer;     /* the move that overwrites it; -1: none */
  hl_buffer *now; /* where what it held is to be read */
} place;

typedef struct mover {
  hl_program *program;
  hl_steps *steps;
  int count;
  hl_buffer **to, **from; /* one a move */
  bool *is_done;
  hl_map places;
  int *ready, ready_count;
} mover;

/* Memory of the caller's may hold more than one form of a value: any byte but 0 is true, and of an
 * integer below a byte only its own bits count. */
static bool is_loose(const hl_buffer *buffer)
{
  return buffer->kind == HL_BUFFER_ARGUMENT &&
         (buffer->type == HL_PRED ||
          (hl_is_integral(buffer->type) && hl_type_bits(buffer->type) < 8));
}

/* A parameter with the buffer's values one behind the other. */
static hl_param *add_flat_param(hl_kernel *kernel, const hl_buffer *buffer,
                                hl_direction_of_param direction)
{
  hl_element_type type = hl_component_type(buffer->type);
  int64_t count = buffer->bytes / hl_type_bytes(type);
  return hl_kernel_add_param(kernel, buffer->name, direction, type, count == 1 ? 0 : 1,
                             hl_arena_memdup(kernel->arena, &count, sizeof count));
}

/* A kernel that loads and stores each value. */
static void add_move(hl_program *program, hl_steps *steps, hl_buffer *to, hl_buffer *from)
{
  hl_kernel *kernel = hl_kernel_new(program->arena, to->name);
  hl_param *in = add_flat_param(kernel, from, HL_PARAM_IN);
  hl_param *out = add_flat_param(kernel, to, HL_PARAM_OUT);
  hl_access *read = hl_access_new(program->arena, in, 0),
            *write = hl_access_new(program->arena, out, 0);
  hl_loop_builder b = {kernel, &kernel->body};
  if (in->count > 1) {
    hl_node *loop = hl_loop_for(&b, HL_MODE_SERIAL, in->count, NULL);
    b.at = &loop->loop->body;
    hl_access_add(program->arena, read, hl_loop_var(loop, 0), 1);
    hl_access_add(program->arena, write, hl_loop_var(loop, 0), 1);
  }
  hl_loop_store(&b, write, hl_loop_load(&b, read, NULL, NULL), NULL);
  hl_step *step = hl_steps_add(program->arena, steps, HL_STEP_KERNEL);
  step->kernel = kernel;
  step->buffers = HL_ARRAY(program->arena, 2, hl_buffer *);
  step->buffers[0] = from;
  step->buffers[1] = to;
}

void hl_add_copy(hl_program *program, hl_steps *steps, hl_buffer *to, hl_buffer *from)
{
  if (!to || !from || to == from || to->bytes == 0)
    return;
  if (is_loose(from) || to->bytes >= LARGE_BYTES) {
    add_move(program, steps, to, from);
    return;
  }
  hl_step *step = hl_steps_add(program->arena, steps, HL_STEP_COPY);
  step->buffers = HL_ARRAY(program->arena, 2, hl_buffer *);
  step->buffers[0] = to;
  step->buffers[1] = from;
}

static place *place_of(mover *m, hl_buffer *const *buffer)
{
  place *p = hl_map_get(&m->places, (const char *)buffer, sizeof *buffer);
  if (p)
    return p;
  p = HL_NEW(m->program->arena, place);
  *p = (place){.writer = -1, .now = *buffer};
  hl_map_set(&m->places, (const char *)buffer, sizeof *buffer, p);
  return p;
}

/* What move i overwrites: an argument, where the destination may lie in its memory. */
static hl_buffer *const *overwritten(const mover *m, int i)
{
  return m->to[i]->alias ? &m->to[i]->alias : &m->to[i];
}

/* Moves other than i that read it. */
static int blockers(mover *m, int i)
{
  hl_buffer *const *buffer = overwritten(m, i);
  return place_of(m, buffer)->readers - (*buffer == m->from[i]);
}

static void make_ready(mover *m, int i)
{
  if (i >= 0 && !m->is_done[i] && blockers(m, i) == 0)
    m->ready[m->ready_count++] = i;
}

static void move(mover *m, int i)
{
  place *source = place_of(m, &m->from[i]);
  hl_add_copy(m->program, m->steps, m->to[i], source->now);
  m->is_done[i] = true;
  if (--source->readers == 0)
    make_ready(m, source->writer);
}

static void move_all_ready(mover *m)
{
  while (m->ready_count) {
    int i = m->ready[--m->ready_count];
    if (!m->is_done[i])
      move(m, i);
  }
}

/* What move i overwrites is read from a temporary from now on. */
static void save(mover *m, int i)
{
  hl_buffer *const *buffer = overwritten(m, i);
  hl_buffer copy = **buffer;
  copy.name = "saved";
  copy.kind = HL_BUFFER_TEMP;
  copy.index = 0;
  copy.alias = NULL;
  copy.offset = -1;
  place *p = place_of(m, buffer);
  p->now = hl_program_add_buffer(m->program, copy);
  hl_add_copy(m->program, m->steps, p->now, *buffer);
  m->ready[m->ready_count++] = i;
}

void hl_add_moves(hl_program *program, hl_steps *steps, int count, hl_buffer *const *to,
                  hl_buffer *const *from)
{
  hl_arena *arena = program->arena;
  mover m = {.program = program, .steps = steps, .places = {.arena = arena}};
  m.to = HL_ARRAY(arena, count + 1, hl_buffer *);
  m.from = HL_ARRAY(arena, count + 1, hl_buffer *);
  m.is_done = HL_ARRAY(arena, count + 1, bool);
  m.ready = HL_ARRAY(arena, 3 * count + 1, int);
  for (int i = 0; i < count; i++)
    if (to[i] && from[i] && to[i] != from[i])
      m.to[m.count] = to[i], m.from[m.count++] = from[i];
  for (int i = 0; i < m.count; i++) {
    place_of(&m, &m.from[i])->readers++;
    place_of(&m, overwritten(&m, i))->writer = i;
  }
  for (int i = m.count; i-- > 0;)
    make_ready(&m, i);
  move_all_ready(&m);
  for (int i = 0; i < m.count; i++) {
    if (m.is_done[i])
      continue;
    save(&m, i);
    move_all_ready(&m);
  }
}
