// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Links the native library with lld in this process, so that users need no C toolchain.

#include "lld/Common/Driver.h"
#include "passes/emit/Emit.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include <cmath>
#include <cstdlib>
#include <dlfcn.h>
#include <mutex>
#include <tuple>

LLD_HAS_DRIVER(elf)

extern "C" const unsigned char convoy_support_object[];
extern "C" const unsigned long convoy_support_object_bytes;
extern "C" const unsigned char convoy_calls_object[];
extern "C" const unsigned long convoy_calls_object_bytes;
extern "C" const unsigned char convoy_floats_object[];
extern "C" const unsigned long convoy_floats_object_bytes;
extern "C" const unsigned char convoy_run_object[];
extern "C" const unsigned long convoy_run_object_bytes;
extern "C" const unsigned char convoy_copies_object[];
extern "C" const unsigned long convoy_copies_object_bytes;

using namespace llvm;

namespace convoy {
namespace {

/// Path of the shared library that defines `function`, to find the system's libm and libc.
template <typename Function> std::string libraryOf(Function *function) {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void *>(function), &info) || !info.dli_fname)
    return {};
  return info.dli_fname;
}

/// The symbols that the loader looks up; all others are local to the library.
std::string versionScript(bool isCuda) {
  const StringRef runs = isCuda ? "convoy_begin_run; convoy_end_run; convoy_copy_kernels; " : "";
  return ("{ global: convoy_main; convoy_prepare_weights; convoy_abi_version; convoy_sizes; "
          "convoy_share_threads; " +
          runs + "*_build; local: *; };\n")
      .str();
}

StringRef contentOf(const unsigned char *object, unsigned long bytes) {
  return {reinterpret_cast<const char *>(object), bytes};
}

bool write(const Twine &path, StringRef content, std::string &error) {
  std::error_code code;
  raw_fd_ostream os(path.str(), code);
  if (!code) {
    os << content;
    os.close();
    code = os.error();
  }
  if (code)
    raw_string_ostream(error) << "cannot write " << path << ": " << code.message();
  os.clear_error();
  return !code;
}

} // namespace

bool linkShared(StringRef object, bool isCuda, std::string &library, std::string &error) {
  SmallString<128> folder;
  if (std::error_code code = sys::fs::createUniqueDirectory("convoy-link", folder)) {
    error = "cannot create a temporary folder: " + code.message();
    return false;
  }
  scope_exit cleanUp([&] { std::ignore = sys::fs::remove_directories(folder); });
  std::string scriptPath = (folder + "/exports.map").str(),
              libraryPath = (folder + "/native.so").str();
  if (!write(scriptPath, versionScript(isCuda), error))
    return false;
  SmallVector<StringRef> contents = {object,
                                     contentOf(convoy_support_object, convoy_support_object_bytes),
                                     contentOf(convoy_calls_object, convoy_calls_object_bytes),
                                     contentOf(convoy_floats_object, convoy_floats_object_bytes)};
  if (isCuda)
    contents.append({contentOf(convoy_run_object, convoy_run_object_bytes),
                     contentOf(convoy_copies_object, convoy_copies_object_bytes)});
  std::vector<std::string> objectPaths;
  for (auto [index, content] : llvm::enumerate(contents)) {
    objectPaths.push_back((folder + "/" + Twine(index) + ".o").str());
    if (!write(objectPaths.back(), content, error))
      return false;
  }

  std::string script = "--version-script=" + scriptPath;
  std::string libm = libraryOf(static_cast<float (*)(float)>(&::expf)), libc = libraryOf(&::getenv);
  // One thread: LLVM's thread pool is per process, and in a forked child, which lacks the pool's
  // threads, lld would wait forever. A few small objects need no parallelism.
  std::vector<const char *> arguments = {"ld.lld",       "-shared", "-z",
                                         "defs",         "-z",      "now",
                                         "-z",           "relro",   "--gc-sections",
                                         "--as-needed",  "-s",      "--build-id=none",
                                         "--threads=1",  "-soname", "native.so",
                                         script.c_str(), "-o",      libraryPath.c_str()};
  for (const std::string &path : objectPaths)
    arguments.push_back(path.c_str());
  for (const std::string *path : {&libm, &libc})
    if (!path->empty())
      arguments.push_back(path->c_str());

  std::string out, err;
  raw_string_ostream outStream(out), errStream(err);
  const lld::DriverDef drivers[] = {{lld::Gnu, &lld::elf::link}};
  static std::mutex one; // lld has global state
  lld::Result result;
  {
    std::lock_guard<std::mutex> guard(one);
    result = lld::lldMain(arguments, outStream, errStream, drivers);
  }
  if (result.retCode != 0) {
    error = err.empty() ? "lld failed without a message" : StringRef(err).trim().str();
    return false;
  }
  ErrorOr<std::unique_ptr<MemoryBuffer>> linked =
      MemoryBuffer::getFile(libraryPath, /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!linked) {
    error = "cannot read the linked library: " + linked.getError().message();
    return false;
  }
  library = (*linked)->getBuffer().str();
  return true;
}

} // namespace convoy
