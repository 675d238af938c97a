/* debug - line tables: which line of the HLO each instruction of the code came from.
 *
 * Every function that is emitted for a kernel or for the steps gets a subprogram; the builder's location is set
 * for each node, and is empty in functions that came from nowhere (copies, functions that replace missing
 * instructions). */
#include "emit.h"

#include <string.h>
#include <unistd.h>
#include <llvm-c/DebugInfo.h>

enum { DWARF_VERSION = 5, PATH_BYTES = 4096 };

static void add_flag(hl_emitter *e, const char *name, uint64_t value)
{
  LLVMAddModuleFlag(e->l.module, LLVMModuleFlagBehaviorWarning, name, strlen(name),
                    LLVMValueAsMetadata(hl_llvm_int(e->l.i32, value)));
}

void hl_debug_open(hl_emitter *e)
{
  char folder[PATH_BYTES];
  if (!e->options->debug)
    return;
  const char *name = e->options->debug->name;
  if (!getcwd(folder, sizeof folder))
    folder[0] = '\0';
  e->debug = LLVMCreateDIBuilder(e->l.module);
  e->debug_file = LLVMDIBuilderCreateFile(e->debug, name, strlen(name), folder, strlen(folder));
  LLVMDIBuilderCreateCompileUnit(e->debug, LLVMDWARFSourceLanguageC, e->debug_file, "hlo-lite", 8, 1,
                                 "", 0, 0, "", 0, LLVMDWARFEmissionLineTablesOnly, 0, 0, 0, "", 0, "",
                                 0);
  add_flag(e, "Debug Info Version", LLVMDebugMetadataVersion());
  add_flag(e, "Dwarf Version", DWARF_VERSION);
}

void hl_debug_close(hl_emitter *e)
{
  if (!e->debug)
    return;
  LLVMDIBuilderFinalize(e->debug);
  LLVMDisposeDIBuilder(e->debug);
  e->debug = NULL;
}

/* Line 0 is DWARF's word for no place. */
static hl_position position_of(const hl_emitter *e, hl_range range)
{
  if (range.begin == HL_NO_OFFSET)
    return (hl_position){0, 0};
  return hl_source_position(e->options->debug, range.begin);
}

void hl_debug_function(hl_emitter *e, LLVMValueRef function, const char *name, hl_range range)
{
  if (!e->debug)
    return;
  LLVMMetadataRef type =
      LLVMDIBuilderCreateSubroutineType(e->debug, e->debug_file, NULL, 0, LLVMDIFlagZero);
  unsigned line = position_of(e, range).line;
  LLVMMetadataRef subprogram =
      LLVMDIBuilderCreateFunction(e->debug, e->debug_file, name, strlen(name), NULL, 0, e->debug_file,
                                  line, type, 1, 1, line, LLVMDIFlagZero, 1);
  LLVMSetSubprogram(function, subprogram);
}

void hl_debug_at(hl_emitter *e, hl_range range)
{
  if (!e->debug)
    return;
  LLVMMetadataRef subprogram = LLVMGetSubprogram(e->l.function), location = NULL;
  hl_position at = position_of(e, range);
  if (subprogram)
    location = LLVMDIBuilderCreateDebugLocation(e->l.context, at.line, at.column, subprogram, NULL);
  LLVMSetCurrentDebugLocation2(e->l.builder, location);
}
