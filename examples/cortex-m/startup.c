/* startup.c - the first instructions on qemu's board mps2-an386, a Cortex-M4F: the vector table, and the floating-point unit
 * switched on. Then newlib's start-up, which talks to the PC by semihosting. */
#include <stdint.h>

extern uint32_t stack_top;
void _start(void);

static void reset(void)
{
  volatile uint32_t *coprocessor_access = (volatile uint32_t *)0xe000ed88u;
  *coprocessor_access |= 0xfu << 20; /* CP10 and CP11 */
  __asm__ volatile("dsb\n\tisb");
  _start();
}

static void fault(void)
{
  for (;;)
    ;
}

__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    &stack_top, (const void *)reset, (const void *)fault, (const void *)fault,
    (const void *)fault, (const void *)fault, (const void *)fault};
