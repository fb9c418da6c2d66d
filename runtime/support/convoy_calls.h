// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

/* The calls of a cudnn_backend.func as data. Generated code has one function for each, with the
   signature of convoy_abi.h, which passes its arguments to convoy_make_calls: machine code with one
   call after another is eight times as large and takes eight times as long to compile. Linked into
   every native library with such functions; not part of the ABI, because it is internal to the
   library. */

#ifndef CONVOY_CALLS_H
#define CONVOY_CALLS_H

#include "../abi/convoy_abi.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The action of a call. Slots are numbered: first the arguments of the function, beginning with
   the handle, then the descriptors that it creates. A list is the offset, in the data, of an
   int64_t count followed by that many int64_t slots. */
enum ConvoyAction {
  CONVOY_CREATE, /* creates and selects a descriptor of type `number`; operand: its slot */
  CONVOY_SELECT, /* selects the descriptor of the following set and get calls; operand: its slot */
  CONVOY_SET,    /* sets attribute `number` of type `type`; operand: the offset, in the data, of an
                    int64_t count and the elements */
  CONVOY_SET_SLOTS,  /* like CONVOY_SET, with the contents of slots; operand: a list */
  CONVOY_SET_HANDLE, /* like CONVOY_SET, with the handle; skipped if the handle is null */
  CONVOY_FINALIZE,   /* operand: a slot */
  CONVOY_DESTROY,    /* operand: a slot */
  CONVOY_GET,        /* reads the one element of attribute `number`, of type `type`; operand: the
                        index of the number to write */
  CONVOY_GET_DESCRIPTORS, /* reads into descriptors; operand: a list whose first element is the
                             index of the number that receives their count */
  CONVOY_EXECUTE,         /* operand: a list of the handle, a plan and a variant pack */
  CONVOY_LOCATION, /* sets the source location of the following calls; operand: the offset of a
                      string in the data */
  CONVOY_RETURN_DESCRIPTOR, /* writes result `number` of the function; operand: a slot */
  CONVOY_RETURN_NUMBER, /* writes result `number`, of `type` bytes; operand: the index of a number
                         */
};

/** A kind of call, shared by many calls. `what` is the offset, in the data, of the text that is
 * reported when such a call fails. */
typedef struct {
  int32_t action, number, type;
  uint32_t what;
} ConvoyCallKind;

/** A call: the index of its kind, and the operand of its action. */
typedef struct {
  uint32_t kind, operand;
} ConvoyCall;

/** A function. `longest` is the length of its longest list. `longest`, `slots` and `numbers` are at
 * least 1, because C has no arrays of length 0. */
typedef struct {
  uint32_t count, arguments, slots, longest, numbers, reserved;
  ConvoyCall calls[];
} ConvoyCalls;

/** Makes the calls of a function. `arguments` and `results` have one pointer for each argument and
   result. Behavior and status are those that convoy_abi.h specifies for such a function. */
int32_t convoy_make_calls(const ConvoyCudnn *cudnn, const ConvoyCalls *function,
                          const ConvoyCallKind *kinds, const char *data, void *const *arguments,
                          void *const *results);

#ifdef __cplusplus
}
#endif

#endif
