// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What Python knows of the roles in groups, with which it asks cuDNN about each.

#include "passes/fusion/Roles.h"
#include "passes/pipeline/Driver.h"

std::vector<convoy::GroupRole> convoy::groupRoles() {
  std::vector<GroupRole> roles;
  for (const Role &role : allRoles())
    roles.push_back({role.name(), stringifyPosition(role.position).str(),
                     cudnn::stringifyPointwiseMode(role.mode).str(),
                     stringifyExtent(role.extent).str()});
  return roles;
}
