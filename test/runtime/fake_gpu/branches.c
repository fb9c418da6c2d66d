// An artifact whose graph calls form two branches: a0 = f(x), a1 = f(a0), a2 = f(a1), a3 = f(a0),
// a0 = f(a2), y0 = a0, y1 = a3, where f is the graph of conv.c and a0 to a3 are slots of the arena.
// The call that writes a3 depends on neither a1 nor a2; the last f depends on it.
#define convoy_main conv_main
#ifndef ARENA
#define ARENA 1024
#endif
#ifndef SIZES
#define SIZES 13, ARENA, 64, 1, 16, 2, 16, 16, 2, 16, 16, 2, 16, 16
#endif
#include "../conv.c"
#undef convoy_main

#ifndef SLOT
#define SLOT 256
#endif
#ifndef BYTES
#define BYTES 16
#endif

int32_t convoy_main(const ConvoyRuntime *runtime, void *const *inputs, void *const *prepared,
                    void *const *outputs, void *arena) {
  void *slots[4];
  for (int i = 0; i < 4; ++i)
    slots[i] = (char *)arena + i * SLOT;
  void *from[5] = {inputs[0], slots[0], slots[1], slots[0], slots[2]},
       *to[5] = {slots[0], slots[1], slots[2], slots[3], slots[0]};
  for (int i = 0; i < 5; ++i) {
    void *pointers[4] = {from[i], prepared[0], prepared[1], to[i]};
    int32_t status = runtime->execute_graph(runtime->context, i, pointers, 4);
    if (status)
      return status;
  }
  int32_t status = runtime->copy(runtime->context, outputs[0], slots[0], BYTES);
  return status ? status : runtime->copy(runtime->context, outputs[1], slots[3], BYTES);
}
