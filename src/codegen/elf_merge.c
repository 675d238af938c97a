/* elf_merge - the objects of a program's parts as one object.
 *
 * Sections stay as they are, one after the other, so that nothing in them moves but the numbers of
 * symbols in relocations. What one part defines for another (hidden) becomes local; names that
 * several parts ask for become one.
 */
#include "elf.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "ir/str.h"

/* Newer than some <elf.h>. */
#define HL_SHT_ADDRSIG 0x6fff4c03u
/* .ARM.attributes, .riscv.attributes: both have this number. */
#define HL_SHT_ATTRIBUTES 0x70000003u

typedef struct part {
  const unsigned char *data;
  Elf64_Ehdr head;
  Elf64_Shdr *sections;
  uint16_t *section_to; /* numbers in the merged object; 0: left out */
  Elf64_Sym *symbols;
  uint32_t *symbol_to;
  size_t symbol_count;
  const char *names; /* of symbols */
} part;

typedef struct merge {
  hl_arena *arena;
  part *parts;
  int part_count;
  Elf64_Shdr *sections;
  const unsigned char **contents;
  size_t section_count; /* with the null section, the table of symbols and that of names */
  Elf64_Sym *symbols;
  size_t symbol_count, local_count;
  hl_map by_name; /* to symbols that parts share */
  hl_str names;
} merge;

static const char *section_name(const part *p, int section)
{
  const Elf64_Shdr *names = &p->sections[p->head.e_shstrndx];
  return (const char *)p->data + names->sh_offset + p->sections[section].sh_name;
}

static void read_symbols(merge *m, part *p, const Elf64_Shdr *table)
{
  p->symbol_count = table->sh_size / sizeof(Elf64_Sym);
  p->symbols = hl_arena_memdup(m->arena, p->data + table->sh_offset, table->sh_size);
  p->symbol_to = HL_ARRAY(m->arena, p->symbol_count, uint32_t);
  p->names = (const char *)p->data + p->sections[table->sh_link].sh_offset;
}

/* False for what the code generator does not write for our modules. */
static bool read_part(merge *m, part *p, const hl_elf_part *object)
{
  p->data = object->data;
  if (object->size < sizeof p->head || p->data[EI_CLASS] != ELFCLASS64)
    return false;
  memcpy(&p->head, p->data, sizeof p->head);
  size_t bytes = p->head.e_shnum * sizeof(Elf64_Shdr);
  p->sections = hl_arena_memdup(m->arena, p->data + p->head.e_shoff, bytes);
  p->section_to = HL_ARRAY(m->arena, p->head.e_shnum, uint16_t);
  for (int i = 0; i < p->head.e_shnum; i++) {
    if (p->sections[i].sh_type == SHT_GROUP || p->sections[i].sh_type == SHT_SYMTAB_SHNDX)
      return false;
    if (p->sections[i].sh_type == SHT_SYMTAB)
      read_symbols(m, p, &p->sections[i]);
  }
  return p->symbols != NULL;
}

static uint32_t add_name(merge *m, const char *name)
{
  uint32_t at = (uint32_t)m->names.length;
  hl_str_add_n(&m->names, name, strlen(name) + 1);
  return at;
}

/* Notes and attributes say the same in each part. */
static bool is_left_out(const part *p, int section, bool is_first)
{
  const Elf64_Shdr *s = &p->sections[section];
  bool is_note = s->sh_type == SHT_PROGBITS && s->sh_size == 0 &&
                 !strcmp(section_name(p, section), ".note.GNU-stack");
  switch (s->sh_type) {
  case SHT_NULL:
  case SHT_SYMTAB:
  case SHT_STRTAB:
  case HL_SHT_ADDRSIG:
    return true;
  default:
    return !is_first && (is_note || s->sh_type == HL_SHT_ATTRIBUTES);
  }
}

static void place_sections(merge *m)
{
  size_t most = 3;
  for (int k = 0; k < m->part_count; k++)
    most += m->parts[k].head.e_shnum;
  m->sections = HL_ARRAY(m->arena, most, Elf64_Shdr);
  m->contents = HL_ARRAY(m->arena, most, const unsigned char *);
  m->section_count = 1;
  for (int k = 0; k < m->part_count; k++) {
    part *p = &m->parts[k];
    for (int i = 0; i < p->head.e_shnum; i++) {
      if (is_left_out(p, i, k == 0))
        continue;
      p->section_to[i] = (uint16_t)m->section_count;
      m->sections[m->section_count] = p->sections[i];
      m->sections[m->section_count].sh_name = add_name(m, section_name(p, i));
      m->contents[m->section_count++] = p->data + p->sections[i].sh_offset;
    }
  }
}

/* Symbols. */

static bool is_special(uint16_t section)
{
  return section == SHN_UNDEF || section >= SHN_LORESERVE;
}

/* The symbol of a part as one of the merged object; its number. */
static uint32_t add_symbol(merge *m, const part *p, Elf64_Sym symbol, unsigned binding)
{
  symbol.st_name = symbol.st_name ? add_name(m, p->names + symbol.st_name) : 0;
  symbol.st_info = (unsigned char)ELF64_ST_INFO(binding, ELF64_ST_TYPE(symbol.st_info));
  if (!is_special(symbol.st_shndx))
    symbol.st_shndx = p->section_to[symbol.st_shndx];
  if (binding == STB_LOCAL)
    symbol.st_other = (unsigned char)(symbol.st_other & ~3u); /* STV_DEFAULT */
  m->symbols[m->symbol_count] = symbol;
  return (uint32_t)m->symbol_count++;
}

static bool is_shared_definition(const Elf64_Sym *s)
{
  return ELF64_ST_BIND(s->st_info) == STB_GLOBAL && s->st_shndx != SHN_UNDEF &&
         ELF64_ST_VISIBILITY(s->st_other) == STV_HIDDEN;
}

static void remember(merge *m, const char *name, uint32_t number)
{
  hl_map_set(&m->by_name, name, strlen(name), &m->symbols[number]);
}

/* Each part has the name of the file, and sections that were left out may have symbols. */
static bool is_repeated(const part *p, const Elf64_Sym *s, bool is_first)
{
  if (ELF64_ST_TYPE(s->st_info) == STT_FILE)
    return !is_first;
  return !is_special(s->st_shndx) && p->section_to[s->st_shndx] == 0;
}

static void add_locals(merge *m, part *p, bool is_first)
{
  for (size_t i = 1; i < p->symbol_count; i++) {
    const Elf64_Sym *s = &p->symbols[i];
    bool is_shared = is_shared_definition(s);
    if ((ELF64_ST_BIND(s->st_info) != STB_LOCAL && !is_shared) || is_repeated(p, s, is_first))
      continue;
    p->symbol_to[i] = add_symbol(m, p, *s, STB_LOCAL);
    if (is_shared)
      remember(m, p->names + s->st_name, p->symbol_to[i]);
  }
}

static void add_globals(merge *m, part *p)
{
  for (size_t i = 1; i < p->symbol_count; i++) {
    const Elf64_Sym *s = &p->symbols[i];
    const char *name = p->names + s->st_name;
    if (ELF64_ST_BIND(s->st_info) == STB_LOCAL || is_shared_definition(s))
      continue;
    Elf64_Sym *known = hl_map_get(&m->by_name, name, strlen(name));
    if (!known) {
      p->symbol_to[i] = add_symbol(m, p, *s, ELF64_ST_BIND(s->st_info));
      remember(m, name, p->symbol_to[i]);
    } else {
      p->symbol_to[i] = (uint32_t)(known - m->symbols);
    }
  }
}

static void place_symbols(merge *m)
{
  size_t most = 1;
  for (int k = 0; k < m->part_count; k++)
    most += m->parts[k].symbol_count;
  m->symbols = HL_ARRAY(m->arena, most, Elf64_Sym);
  m->symbol_count = 1;
  for (int k = 0; k < m->part_count; k++)
    add_locals(m, &m->parts[k], k == 0);
  m->local_count = m->symbol_count;
  for (int k = 0; k < m->part_count; k++)
    add_globals(m, &m->parts[k]);
}

/* Relocations. */

static void renumber(const part *p, unsigned char *entries, uint64_t size, uint64_t entry_size)
{
  for (uint64_t at = 0; at + entry_size <= size; at += entry_size) {
    Elf64_Rel r; /* Elf64_Rela begins with it */
    memcpy(&r, entries + at, sizeof r);
    r.r_info = ELF64_R_INFO((uint64_t)p->symbol_to[ELF64_R_SYM(r.r_info)],
                            ELF64_R_TYPE(r.r_info));
    memcpy(entries + at, &r, sizeof r);
  }
}

static void renumber_section(merge *m, const part *p, int section, size_t symbol_table)
{
  Elf64_Shdr *s = &m->sections[p->section_to[section]];
  if (s->sh_type != SHT_RELA && s->sh_type != SHT_REL) {
    if (s->sh_flags & SHF_LINK_ORDER)
      s->sh_link = p->section_to[s->sh_link];
    return;
  }
  s->sh_link = (uint32_t)symbol_table;
  s->sh_info = p->section_to[s->sh_info];
  const unsigned char **contents = &m->contents[p->section_to[section]];
  unsigned char *entries = hl_arena_memdup(m->arena, *contents, s->sh_size);
  renumber(p, entries, s->sh_size, s->sh_entsize);
  *contents = entries;
}

/* The two tables come last. */
static void add_tables(merge *m)
{
  size_t symbols = m->section_count++, names = m->section_count++;
  uint32_t symbols_name = add_name(m, ".symtab"), names_name = add_name(m, ".strtab");
  m->sections[symbols] = (Elf64_Shdr){.sh_name = symbols_name,
                                      .sh_type = SHT_SYMTAB,
                                      .sh_link = (uint32_t)names,
                                      .sh_info = (uint32_t)m->local_count,
                                      .sh_size = m->symbol_count * sizeof(Elf64_Sym),
                                      .sh_entsize = sizeof(Elf64_Sym),
                                      .sh_addralign = 8};
  m->contents[symbols] = (const unsigned char *)m->symbols;
  m->sections[names] = (Elf64_Shdr){.sh_name = names_name,
                                    .sh_type = SHT_STRTAB,
                                    .sh_size = m->names.length,
                                    .sh_addralign = 1};
  m->contents[names] = (const unsigned char *)m->names.text;
  for (int k = 0; k < m->part_count; k++)
    for (int i = 0; i < m->parts[k].head.e_shnum; i++)
      if (m->parts[k].section_to[i])
        renumber_section(m, &m->parts[k], i, symbols);
}

static size_t up(size_t at, uint64_t align)
{
  return align > 1 ? (at + align - 1) / align * align : at;
}

/* Gives each section its place in the file; where the headers of sections go. */
static size_t lay_out(merge *m)
{
  size_t at = sizeof(Elf64_Ehdr);
  for (size_t i = 1; i < m->section_count; i++) {
    Elf64_Shdr *s = &m->sections[i];
    at = up(at, s->sh_addralign);
    s->sh_offset = at;
    at += s->sh_type == SHT_NOBITS ? 0 : s->sh_size;
  }
  return up(at, 8);
}

static bool write_object(merge *m, void **data, size_t *size)
{
  Elf64_Ehdr head = m->parts[0].head;
  head.e_shoff = lay_out(m);
  head.e_shnum = (uint16_t)m->section_count;
  head.e_shstrndx = (uint16_t)(m->section_count - 1);
  *size = head.e_shoff + m->section_count * sizeof(Elf64_Shdr);
  unsigned char *out = calloc(*size + 1, 1);
  if (!out)
    return false;
  memcpy(out, &head, sizeof head);
  for (size_t i = 1; i < m->section_count; i++)
    if (m->sections[i].sh_type != SHT_NOBITS && m->sections[i].sh_size)
      memcpy(out + m->sections[i].sh_offset, m->contents[i], m->sections[i].sh_size);
  memcpy(out + head.e_shoff, m->sections, m->section_count * sizeof(Elf64_Shdr));
  *data = out;
  return true;
}

bool hl_elf_merge(hl_arena *arena, const hl_elf_part *objects, int count, void **data, size_t *size,
                  const char **error)
{
  merge m = {.arena = arena,
             .parts = HL_ARRAY(arena, count, part),
             .part_count = count,
             .by_name = {.arena = arena},
             .names = {.arena = arena}};
  size_t sections = 3;
  hl_str_add_char(&m.names, '\0');
  for (int k = 0; k < count; k++) {
    bool is_known = read_part(&m, &m.parts[k], &objects[k]);
    sections += m.parts[k].head.e_shnum;
    if (!is_known || sections >= SHN_LORESERVE) {
      *error = "objects of parts cannot be merged";
      return false;
    }
  }
  place_sections(&m);
  place_symbols(&m);
  add_tables(&m);
  *error = "out of memory";
  return write_object(&m, data, size);
}
