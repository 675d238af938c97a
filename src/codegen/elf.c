/* elf - reads the symbol table of an object, of 32 or 64 bits. */
#include "elf.h"

#include <elf.h>
#include <string.h>

typedef struct section {
  uint64_t type, offset, size, link;
} section;

typedef struct object {
  const unsigned char *data;
  size_t size;
  bool is_64;
  uint64_t section_offset;
  int section_count;
} object;

/* Whether `bytes` at `at` lie inside; sums of what the file says may wrap. */
static bool is_inside(const object *o, uint64_t at, uint64_t bytes)
{
  return at <= o->size && bytes <= o->size - at;
}

static section section_at(const object *o, int index)
{
  size_t entry = o->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr);
  size_t at = o->section_offset + (size_t)index * entry;
  Elf64_Shdr wide = {0};
  Elf32_Shdr narrow = {0};
  if (o->section_offset > o->size || !is_inside(o, at, entry))
    return (section){0};
  if (o->is_64) {
    memcpy(&wide, o->data + at, sizeof wide);
    return (section){wide.sh_type, wide.sh_offset, wide.sh_size, wide.sh_link};
  }
  memcpy(&narrow, o->data + at, sizeof narrow);
  return (section){narrow.sh_type, narrow.sh_offset, narrow.sh_size, narrow.sh_link};
}

static bool open_object(object *o, const void *data, size_t size)
{
  *o = (object){.data = data, .size = size};
  if (size < sizeof(Elf64_Ehdr) || memcmp(data, ELFMAG, SELFMAG) != 0)
    return false;
  o->is_64 = o->data[EI_CLASS] == ELFCLASS64;
  if (o->is_64) {
    Elf64_Ehdr head;
    memcpy(&head, data, sizeof head);
    o->section_offset = head.e_shoff;
    o->section_count = head.e_shnum;
  } else {
    Elf32_Ehdr head;
    memcpy(&head, data, sizeof head);
    o->section_offset = head.e_shoff;
    o->section_count = head.e_shnum;
  }
  return true;
}

/* The symbol at `at`: its name's offset when it is undefined and of this binding, else 0. */
static uint64_t undefined_name(const object *o, size_t at, unsigned binding)
{
  if (o->is_64) {
    Elf64_Sym symbol;
    memcpy(&symbol, o->data + at, sizeof symbol);
    bool is_it = symbol.st_shndx == SHN_UNDEF && ELF64_ST_BIND(symbol.st_info) == binding;
    return is_it ? symbol.st_name : 0;
  }
  Elf32_Sym symbol;
  memcpy(&symbol, o->data + at, sizeof symbol);
  bool is_it = symbol.st_shndx == SHN_UNDEF && ELF32_ST_BIND(symbol.st_info) == binding;
  return is_it ? symbol.st_name : 0;
}

const char **hl_elf_undefined(hl_arena *arena, const void *data, size_t size, bool is_weak,
                              int *count)
{
  object o;
  *count = 0;
  if (!open_object(&o, data, size))
    return NULL;
  size_t entry = o.is_64 ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym);
  for (int i = 0; i < o.section_count; i++) {
    section table = section_at(&o, i);
    if (table.type != SHT_SYMTAB || !is_inside(&o, table.offset, table.size))
      continue;
    section names = section_at(&o, (int)table.link);
    const char **list = HL_ARRAY(arena, table.size / entry + 1, const char *);
    for (size_t at = table.offset; at + entry <= table.offset + table.size; at += entry) {
      uint64_t name = undefined_name(&o, at, is_weak ? STB_WEAK : STB_GLOBAL);
      if (name && name < names.size && is_inside(&o, names.offset, names.size)) {
        const char *text = (const char *)data + names.offset + name;
        list[(*count)++] = hl_arena_strndup(arena, text, strnlen(text, names.size - name));
      }
    }
    return list;
  }
  return NULL;
}
