// A file as bytes in the program.
#pragma once

#define EMBED(name, path)                                                                \
  __asm__(".section .rodata\n.balign 16\n" #name "_start:\n.incbin \"" path "\"\n" #name \
          "_end:\n.byte 0\n.previous\n");                                                \
  extern "C" const char name##_start[];                                                  \
  extern "C" const char name##_end[];
