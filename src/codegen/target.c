/* target.c - the machine that code is made for: names checked, facts found, LLVM's target machine
 * made.
 *
 * LLVM-C neither says whether a CPU or feature name exists nor which features a CPU has; cpus.def
 * does.
 */
#include "emit.h"

#include <string.h>
#include <threads.h>
#include <llvm-c/Target.h>

enum {
  HL_CPU_FMA = 1 << 0,
  HL_CPU_F16C = 1 << 1,
  HL_CPU_ROUND = 1 << 2,
  HL_CPU_AVX = 1 << 3,
  HL_CPU_AVX2 = 1 << 4,
  HL_CPU_AVX512 = 1 << 5,
  HL_CPU_F32 = 1 << 6,
  HL_CPU_F64 = 1 << 7,
  HL_CPU_VNNI = 1 << 8
};

typedef struct cpu_row {
  hl_target_family family;
  const char *name;
  unsigned flags;
} cpu_row;

static const cpu_row cpus[] = {
#define HL_CPU(family, name, flags) {HL_FAMILY_##family, name, flags},
#include "cpus.def"
};

static const cpu_row cpu_features[] = {
#define HL_CPU_FEATURE(family, name) {HL_FAMILY_##family, name, 0},
#include "cpus.def"
};

/* What a feature name switches on, and what falls with it when it is switched off. */
typedef struct feature_effect {
  hl_target_family family;
  const char *name;
  unsigned adds, removes;
} feature_effect;

static const feature_effect effects[] = {
    {HL_FAMILY_X86_64, "sse4.1", HL_CPU_ROUND, 0x3f},
    {HL_FAMILY_X86_64, "avx", HL_CPU_AVX | HL_CPU_ROUND, 0x3b},
    {HL_FAMILY_X86_64, "fma", HL_CPU_FMA | HL_CPU_AVX | HL_CPU_ROUND, HL_CPU_FMA | HL_CPU_AVX512},
    {HL_FAMILY_X86_64, "f16c", HL_CPU_F16C | HL_CPU_AVX | HL_CPU_ROUND,
     HL_CPU_F16C | HL_CPU_AVX512},
    {HL_FAMILY_X86_64, "avx2", HL_CPU_AVX2 | HL_CPU_AVX | HL_CPU_ROUND,
     HL_CPU_AVX2 | HL_CPU_AVX512},
    {HL_FAMILY_X86_64, "avx512f", 0, HL_CPU_AVX512},
    {HL_FAMILY_X86_64, "avx512bw", 0, HL_CPU_AVX512},
    {HL_FAMILY_X86_64, "avx512dq", 0, HL_CPU_AVX512},
    {HL_FAMILY_X86_64, "avx512vl", 0, HL_CPU_AVX512},
    {HL_FAMILY_X86_64, "avx512vnni", HL_CPU_VNNI, HL_CPU_VNNI},
    {HL_FAMILY_ARM, "vfp2sp", HL_CPU_F32, HL_CPU_F32 | HL_CPU_F64 | HL_CPU_FMA},
    {HL_FAMILY_ARM, "vfp4d16sp", HL_CPU_F32 | HL_CPU_FMA, HL_CPU_FMA},
    {HL_FAMILY_ARM, "vfp4", HL_CPU_F32 | HL_CPU_F64 | HL_CPU_FMA, HL_CPU_FMA},
    {HL_FAMILY_ARM, "fp-armv8", HL_CPU_F32 | HL_CPU_F64 | HL_CPU_FMA, HL_CPU_FMA},
    {HL_FAMILY_ARM, "fp64", HL_CPU_F64, HL_CPU_F64},
    {HL_FAMILY_ARM, "soft-float", 0, 0},
    {HL_FAMILY_RISCV, "f", HL_CPU_F32 | HL_CPU_FMA, HL_CPU_F32 | HL_CPU_F64 | HL_CPU_FMA},
    {HL_FAMILY_RISCV, "d", HL_CPU_F32 | HL_CPU_F64 | HL_CPU_FMA, HL_CPU_F64},
};

static bool fail(hl_arena *arena, const char **error, const char *format, const char *name)
{
  *error = hl_arena_printf(arena, format, name); /* NOLINT: formats are literals below */
  return false;
}

/* Registration changes lists of LLVM's that all threads share, so it happens once. */
#define DEFINE_INITIALISE(name)                                                                    \
  static void initialise_##name(void)                                                              \
  {                                                                                                \
    LLVMInitialize##name##TargetInfo();                                                            \
    LLVMInitialize##name##Target();                                                                \
    LLVMInitialize##name##TargetMC();                                                              \
    LLVMInitialize##name##AsmPrinter();                                                            \
  }
DEFINE_INITIALISE(X86)
DEFINE_INITIALISE(AArch64)
DEFINE_INITIALISE(ARM)
DEFINE_INITIALISE(RISCV)

void hl_target_initialise(hl_target_family family)
{
  static once_flag x86, aarch64, arm, riscv;
  switch (family) {
  case HL_FAMILY_X86_64:
    call_once(&x86, initialise_X86);
    break;
  case HL_FAMILY_AARCH64:
    call_once(&aarch64, initialise_AArch64);
    break;
  case HL_FAMILY_ARM:
    call_once(&arm, initialise_ARM);
    break;
  case HL_FAMILY_RISCV:
    call_once(&riscv, initialise_RISCV);
    break;
  case HL_FAMILY_OTHER:
    break;
  }
}

/* Triples. */

static bool starts_with(const char *text, const char *prefix)
{
  return strncmp(text, prefix, strlen(prefix)) == 0;
}

static hl_target_family family_of(const char *triple)
{
  if (starts_with(triple, "x86_64"))
    return HL_FAMILY_X86_64;
  if (starts_with(triple, "aarch64") || starts_with(triple, "arm64"))
    return HL_FAMILY_AARCH64;
  if (starts_with(triple, "arm") || starts_with(triple, "thumb"))
    return HL_FAMILY_ARM;
  return starts_with(triple, "riscv") ? HL_FAMILY_RISCV : HL_FAMILY_OTHER;
}

static bool is_big_endian(const char *triple)
{
  return starts_with(triple, "aarch64_be") || starts_with(triple, "armeb") ||
         starts_with(triple, "thumbeb");
}

static bool contains_any(const char *text, const char *const *words)
{
  for (; *words; words++)
    if (strstr(text, *words))
      return true;
  return false;
}

static bool check_triple(hl_arena *arena, hl_target_info *info, const char **error)
{
  static const char *const not_elf[] = {"windows", "mingw", "cygwin", "msvc", "darwin",
                                        "macos",   "ios",   "apple",  "wasm", "uefi",
                                        "aix",     "coff",  "macho",  NULL};
  info->family = family_of(info->triple);
  if (contains_any(info->triple, not_elf))
    return fail(arena, error,
                "target '%s' does not use ELF objects; only ELF targets are supported",
                info->triple);
  if (is_big_endian(info->triple))
    return fail(arena, error, "target '%s' is big-endian; only little-endian targets are supported",
                info->triple);
  if (info->family == HL_FAMILY_OTHER)
    return fail(
        arena, error,
        "unknown target '%s': x86_64, aarch64, arm, thumb, riscv32 and riscv64 are supported",
        info->triple);
  return true;
}

static const char *normalised(hl_arena *arena, const char *triple)
{
  char *text = triple ? LLVMNormalizeTargetTriple(triple) : LLVMGetDefaultTargetTriple();
  const char *copy = hl_arena_strndup(arena, text, strlen(text));
  LLVMDisposeMessage(text);
  return copy;
}

/* No system, or none in the name. */
static bool is_freestanding(const char *triple)
{
  static const char *const systems[] = {"linux", "bsd",  "fuchsia", "solaris",
                                        "haiku", "hurd", NULL};
  return !contains_any(triple, systems);
}

/* CPUs and features. */

static const cpu_row *find_row(const cpu_row *rows, size_t count, hl_target_family family,
                               const char *name, size_t length)
{
  for (size_t i = 0; i < count; i++)
    if (rows[i].family == family && strlen(rows[i].name) == length &&
        !memcmp(rows[i].name, name, length))
      return &rows[i];
  return NULL;
}

static const char *baseline_cpu(const hl_target_info *info)
{
  if (info->family == HL_FAMILY_X86_64)
    return "x86-64-v3";
  if (info->family == HL_FAMILY_RISCV)
    return starts_with(info->triple, "riscv32") ? "generic-rv32" : "generic-rv64";
  return "generic";
}

/* RISC-V systems have the G extensions; microcontrollers have what is asked for. */
static const char *baseline_features(const hl_target_info *info)
{
  return info->family == HL_FAMILY_RISCV && !info->is_freestanding ? "+m,+a,+f,+d,+c" : "";
}

static bool check_native(hl_arena *arena, hl_target_info *info, const char **error)
{
  const char *host = normalised(arena, NULL);
  if (family_of(host) != info->family)
    return fail(arena, error, "cpu 'native' needs this machine's own target, not '%s'",
                info->triple);
  char *cpu = LLVMGetHostCPUName(), *features = LLVMGetHostCPUFeatures();
  info->cpu = hl_arena_strndup(arena, cpu, strlen(cpu));
  info->features = hl_arena_strndup(arena, features, strlen(features));
  info->is_native_cpu = true;
  LLVMDisposeMessage(cpu);
  LLVMDisposeMessage(features);
  return true;
}

static bool choose_cpu(hl_arena *arena, const hl_codegen_options *options, hl_target_info *info,
                       unsigned *flags, const char **error)
{
  info->features = "";
  info->cpu = options->cpu ? options->cpu : baseline_cpu(info);
  if (!options->cpu)
    info->features = baseline_features(info);
  if (options->cpu && !strcmp(options->cpu, "native") && !check_native(arena, info, error))
    return false;
  const cpu_row *row =
      find_row(cpus, sizeof cpus / sizeof *cpus, info->family, info->cpu, strlen(info->cpu));
  if (!row && !info->is_native_cpu) {
    *error = hl_arena_printf(arena, "unknown cpu '%s' for target '%s'", info->cpu, info->triple);
    return false;
  }
  *flags = row ? row->flags : 0;
  info->cpu = hl_arena_strndup(arena, info->cpu, strlen(info->cpu));
  return true;
}

static void apply_feature(hl_target_family family, bool is_on, const char *name, size_t length,
                          unsigned *flags)
{
  for (size_t i = 0; i < sizeof effects / sizeof *effects; i++) {
    const feature_effect *effect = &effects[i];
    if (effect->family != family || strlen(effect->name) != length ||
        memcmp(effect->name, name, length))
      continue;
    *flags = is_on ? *flags | effect->adds : *flags & ~effect->removes;
  }
}

static bool has_word(const char *list, const char *word)
{
  const char *at = strstr(list, word);
  size_t n = strlen(word);
  while (at && at[n] != ',' && at[n] != '\0')
    at = strstr(at + 1, word);
  return at != NULL;
}

/* The four parts of AVX-512 that server CPUs have together. */
static void apply_avx512(const char *features, unsigned *flags)
{
  if (has_word(features, "+avx512f") && has_word(features, "+avx512bw") &&
      has_word(features, "+avx512dq") && has_word(features, "+avx512vl"))
    *flags |= 0x3f;
}

static bool apply_features(hl_arena *arena, const hl_target_info *info, const char *features,
                           bool is_checked, unsigned *flags, const char **error)
{
  for (const char *at = features; *at;) {
    size_t length = strcspn(at, ",");
    bool is_on = *at == '+';
    const cpu_row *row = length > 1 && (is_on || *at == '-')
                             ? find_row(cpu_features, sizeof cpu_features / sizeof *cpu_features,
                                        info->family, at + 1, length - 1)
                             : NULL;
    if (!row && is_checked)
      return fail(arena, error,
                  "unknown feature '%s': features are written +name or -name, with commas between",
                  hl_arena_strndup(arena, at, length));
    if (length > 1)
      apply_feature(info->family, is_on, at + 1, length - 1, flags);
    at += length + (at[length] == ',');
  }
  apply_avx512(features, flags);
  return true;
}

static bool resolve_features(hl_arena *arena, const hl_codegen_options *options,
                             hl_target_info *info, unsigned *flags, const char **error)
{
  if (!apply_features(arena, info, info->features, false, flags, error))
    return false;
  if (!options->features || !*options->features)
    return true;
  if (!apply_features(arena, info, options->features, true, flags, error))
    return false;
  info->features = *info->features
                       ? hl_arena_printf(arena, "%s,%s", info->features, options->features)
                       : hl_arena_strndup(arena, options->features, strlen(options->features));
  return true;
}

/* AArch64 and x86-64 always have floats; ARMv7's vectors flush denormals and are not used. */
static void fill_facts(hl_target_info *info, hl_features *features, unsigned flags)
{
  bool is_x86 = info->family == HL_FAMILY_X86_64, is_a64 = info->family == HL_FAMILY_AARCH64;
  features->has_fma = is_a64 || (flags & HL_CPU_FMA);
  features->has_f16c = is_a64 || (flags & HL_CPU_F16C);
  features->has_rounding = is_a64 || (flags & HL_CPU_ROUND);
  features->has_avx2 = flags & HL_CPU_AVX2;
  features->has_avx512 = flags & HL_CPU_AVX512;
  features->has_vnni = features->has_avx512 && (flags & HL_CPU_VNNI);
  features->has_neon = is_a64;
  features->has_hard_f32 = is_x86 || is_a64 || (flags & HL_CPU_F32);
  features->has_hard_f64 = is_x86 || is_a64 || (flags & HL_CPU_F64);
  info->vector_bytes = flags & HL_CPU_AVX512 ? 64
                       : flags & HL_CPU_AVX2 ? 32
                       : is_x86 || is_a64    ? 16
                                             : 0;
  info->vector_registers = is_a64 || (flags & HL_CPU_AVX512) ? 32 : info->vector_bytes ? 16 : 0;
  info->has_fma = features->has_fma && features->has_hard_f64;
  info->has_f32 = features->has_hard_f32;
  info->has_f64 = features->has_hard_f64;
}

static bool resolve(hl_arena *arena, const hl_codegen_options *options, hl_target_info *info,
                    hl_features *features, const char **error)
{
  unsigned flags = 0;
  *info = (hl_target_info){.triple = normalised(arena, options->triple)};
  if (!check_triple(arena, info, error))
    return false;
  info->is_freestanding = is_freestanding(info->triple);
  if (!choose_cpu(arena, options, info, &flags, error) ||
      !resolve_features(arena, options, info, &flags, error))
    return false;
  fill_facts(info, features, flags);
  bool is_32_bit = info->family == HL_FAMILY_ARM || starts_with(info->triple, "riscv32");
  info->pointer_bytes = is_32_bit ? 4 : 8;
  return true;
}

static LLVMTargetRef find_target(hl_arena *arena, const hl_target_info *info, const char **error)
{
  LLVMTargetRef target = NULL;
  char *message = NULL;
  hl_target_initialise(info->family);
  if (!LLVMGetTargetFromTriple(info->triple, &target, &message))
    return target;
  fail(arena, error, "%s", message);
  LLVMDisposeMessage(message);
  return NULL;
}

hl_target_family hl_target_host_family(void)
{
  char *triple = LLVMGetDefaultTargetTriple();
  hl_target_family family = family_of(triple);
  LLVMDisposeMessage(triple);
  return family;
}

bool hl_target_resolve(hl_arena *arena, const hl_codegen_options *options, hl_target_info *info,
                       const char **error)
{
  hl_features features = {0};
  return resolve(arena, options, info, &features, error) && find_target(arena, info, error);
}

static LLVMCodeGenOptLevel machine_level(int opt_level)
{
  static const LLVMCodeGenOptLevel levels[4] = {LLVMCodeGenLevelNone, LLVMCodeGenLevelLess,
                                                LLVMCodeGenLevelDefault,
                                                LLVMCodeGenLevelAggressive};
  return levels[opt_level];
}

LLVMTargetMachineRef hl_target_machine(hl_arena *arena, const hl_codegen_options *options,
                                       hl_target_info *info, hl_features *features,
                                       const char **error)
{
  if (!resolve(arena, options, info, features, error))
    return NULL;
  LLVMTargetRef target = find_target(arena, info, error);
  if (!target)
    return NULL;
  LLVMTargetMachineOptionsRef how = LLVMCreateTargetMachineOptions();
  LLVMTargetMachineOptionsSetCPU(how, info->cpu);
  LLVMTargetMachineOptionsSetFeatures(how, info->features);
  LLVMTargetMachineOptionsSetCodeGenOptLevel(how, machine_level(options->opt_level));
  LLVMTargetMachineOptionsSetRelocMode(how, info->is_freestanding ? LLVMRelocStatic : LLVMRelocPIC);
  LLVMTargetMachineRef machine = LLVMCreateTargetMachineWithOptions(target, info->triple, how);
  LLVMDisposeTargetMachineOptions(how);
  if (!machine)
    fail(arena, error, "LLVM makes no code for target '%s'", info->triple);
  return machine;
}
