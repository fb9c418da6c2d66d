// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/* Interpreter for the call lists of convoy_calls.h. */

#include "convoy_calls.h"
#include <stddef.h>
#include <string.h>

/* Reports the failure, destroys the live descriptors in reverse order of creation, and sets
 * descriptor results to null. */
static int32_t fail(const ConvoyCudnn *cudnn, const ConvoyCalls *function,
                    const ConvoyCallKind *kinds, void **slots, void *const *results, int32_t status,
                    const char *what, const char *location) {
  cudnn->report(status, what, location);
  for (uint32_t slot = function->slots; slot > function->arguments; --slot)
    if (slots[slot - 1])
      cudnn->destroy_descriptor(slots[slot - 1]);
  for (uint32_t i = 0; i < function->count; ++i) {
    const ConvoyCallKind *kind = &kinds[function->calls[i].kind];
    if (kind->action == CONVOY_RETURN_DESCRIPTOR)
      *(void **)results[kind->number] = NULL;
  }
  return status;
}

int32_t convoy_make_calls(const ConvoyCudnn *cudnn, const ConvoyCalls *function,
                          const ConvoyCallKind *kinds, const char *data, void *const *arguments,
                          void *const *results) {
  void *slots[function->slots], *list[function->longest], *selected = NULL;
  int64_t numbers[function->numbers];
  const char *location = "";
  memcpy(slots, arguments, function->arguments * sizeof *slots);
  memset(slots + function->arguments, 0, (function->slots - function->arguments) * sizeof *slots);
  for (uint32_t i = 0; i < function->count; ++i) {
    const ConvoyCallKind *kind = &kinds[function->calls[i].kind];
    const uint32_t operand = function->calls[i].operand;
    const int64_t *elements =
        (const int64_t *)(data + operand); /* valid if the operand is an offset */
    int32_t status = 0;
    switch (kind->action) {
    case CONVOY_CREATE:
      status = cudnn->create_descriptor(kind->number, &slots[operand]);
      selected = slots[operand];
      break;
    case CONVOY_SELECT:
      selected = slots[operand];
      break;
    case CONVOY_SET:
      status = cudnn->set_attribute(selected, kind->number, kind->type, elements[0], elements + 1);
      break;
    case CONVOY_SET_SLOTS:
      for (int64_t each = 0; each < elements[0]; ++each)
        list[each] = slots[elements[each + 1]];
      status = cudnn->set_attribute(selected, kind->number, kind->type, elements[0], list);
      break;
    case CONVOY_SET_HANDLE:
      if (slots[0])
        status = cudnn->set_attribute(selected, kind->number, kind->type, 1, &slots[0]);
      break;
    case CONVOY_FINALIZE:
      status = cudnn->finalize(slots[operand]);
      break;
    case CONVOY_DESTROY: {
      void *descriptor = slots[operand];
      slots[operand] = NULL; /* before the call, so that a failure does not destroy it again */
      status = cudnn->destroy_descriptor(descriptor);
      break;
    }
    case CONVOY_GET:
      numbers[operand] = 0;
      status = cudnn->get_attribute(selected, kind->number, kind->type, 1, NULL, &numbers[operand]);
      break;
    case CONVOY_GET_DESCRIPTORS:
      for (int64_t each = 1; each < elements[0]; ++each)
        list[each - 1] = slots[elements[each + 1]];
      status = cudnn->get_attribute(selected, kind->number, kind->type, elements[0] - 1,
                                    &numbers[elements[1]], list);
      break;
    case CONVOY_EXECUTE:
      status = cudnn->execute(slots[elements[1]], slots[elements[2]], slots[elements[3]]);
      break;
    case CONVOY_LOCATION:
      location = data + operand;
      break;
    case CONVOY_RETURN_DESCRIPTOR:
      *(void **)results[kind->number] = slots[operand];
      break;
    case CONVOY_RETURN_NUMBER:
      memcpy(results[kind->number], &numbers[operand], (size_t)kind->type);
      break;
    }
    if (status)
      return fail(cudnn, function, kinds, slots, results, status, data + kind->what, location);
  }
  return 0;
}
