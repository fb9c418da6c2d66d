/* The calls of a cudnn_backend.func as data. Generated code has a function for each, with the
   signature of convoy_abi.h, that only hands its arguments on: machine code that makes the calls
   one by one is eight times as long, and takes the compiler as much longer. Linked into every
   native library that has such functions; not part of the ABI, because it never leaves the library.
 */

#ifndef CONVOY_CALLS_H
#define CONVOY_CALLS_H

#include "../abi/convoy_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What a call does. A slot is the number of an argument of the function, the handle being the
   first one, or, behind those, of a descriptor that it makes. A list is the offset, in the data, of
   an int64_t count and as many int64_t slots. */
enum ConvoyAction {
  CONVOY_CREATE, /* makes a descriptor of kind `number`; operand: its slot, which is selected */
  CONVOY_SELECT, /* what is set, filled or read from now on; operand: its slot */
  CONVOY_SET, /* attribute `number` of type `type`; operand: the offset, in the data, of an int64_t
                 count and the elements */
  CONVOY_SET_SLOTS,  /* the same of what lies in slots; operand: a list */
  CONVOY_SET_HANDLE, /* the same of the handle, unless it is null */
  CONVOY_FINALIZE,   /* operand: a slot */
  CONVOY_DESTROY,    /* operand: a slot */
  CONVOY_GET, /* the one element of attribute `number`, of type `type`; operand: the place of the
                 number that it is */
  CONVOY_GET_DESCRIPTORS, /* fills descriptors; operand: a list whose first element is the place of
                             the number of how many there were */
  CONVOY_EXECUTE,         /* operand: a list of the handle, a plan and a variant pack */
  CONVOY_LOCATION, /* where the calls from now on come from; operand: the offset of a text in the
                      data */
  CONVOY_RETURN_DESCRIPTOR, /* the function's result at place `number`; operand: a slot */
  CONVOY_RETURN_NUMBER,     /* the same, of `type` bytes; operand: the place of a number */
};

/** A kind of call; few are distinct. `what` is the offset, in the data, of what a report says of
 * such a call when it fails. */
typedef struct {
  int32_t action, number, type;
  uint32_t what;
} ConvoyCallKind;

/** A call: the place of its kind, and what its action says of the operand. */
typedef struct {
  uint32_t kind, operand;
} ConvoyCall;

/** A function. `longest` is the length of its longest list. It, `slots` and `numbers` are one at
 * least: C has no array of none. */
typedef struct {
  uint32_t count, arguments, slots, longest, numbers, reserved;
  ConvoyCall calls[];
} ConvoyCalls;

/** Makes the calls of a function. `arguments` has as many pointers as it has arguments, `results`
   as it has results. Does and returns what convoy_abi.h says of such a function. */
int32_t convoy_make_calls(const ConvoyCudnn *cudnn, const ConvoyCalls *function,
                          const ConvoyCallKind *kinds, const char *data, void *const *arguments,
                          void *const *results);

#ifdef __cplusplus
}
#endif

#endif
