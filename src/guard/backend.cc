#include "guard/backend.h"

#include "sandbox/docker/docker.h"
#include "sandbox/host/host.h"
#include "sandbox/native/native.h"
#include "sandbox/oci/oci.h"
#include "sandbox/oci/runtime.h"
#include "sys/file.h"

namespace cordon::guard {

namespace {

using sandbox::oci::Runtime;

Result<Isolator> with_docker(const SandboxSettings& settings, const OpenBackend& open) {
  auto* docker = dynamic_cast<sandbox::docker::DockerSandbox*>(TRY(open("docker")));
  if (docker == nullptr) return fail(Fault::internal, "the docker backend is none");
  const std::string& named = settings.docker.image.value;
  return Isolator{"docker", TRY(docker->engine().image_id(named.empty() ? sandbox::docker::own_image : named))};
}

}  // namespace

Result<Isolator> choose_isolator(const Request& request, const SandboxSettings& settings, const OpenBackend& open) {
  std::string wanted = request.backend.empty() ? name_of(settings.backend.value) : request.backend;
  if (wanted == "auto") {
    if (request.clean_room && !request.require && !request.snippet) {
      if (auto docker = with_docker(settings, open)) return docker;
    }
    wanted = "native";
  }
  if (request.require && wanted != "native") {
    return fail(Fault::denied,
                "--require {}: levels are the native backend's; {} has none of them. Leave out --require or --backend",
                name_of(*request.require), wanted);
  }
  if (request.snippet && wanted != "native") {
    return fail(Fault::denied, "code runs on the native backend only, and {} asks for {}",
                request.backend.empty() ? settings.backend.origin.text() : "--backend", wanted);
  }
  if (wanted == "docker") return with_docker(settings, open);
  // Two programs for one thing; where both are, the one that copes with every layout of control groups.
  if (wanted == "runc" && !sandbox::oci::find_program(Runtime::runc) && sandbox::oci::find_program(Runtime::crun)) {
    wanted = "crun";
  }
  TRY(open(wanted));
  return Isolator{wanted, {}};
}

Result<std::shared_ptr<sandbox::Sandbox>> open_backend(const std::string& backend, const config::Sources& sources) {
  if (backend == "host") return std::make_shared<sandbox::host::HostBackend>();
  const std::string directory = sources.state_dir + "/sandbox";
  CHECK_OK(sys::ensure_private_directory(directory));
  if (backend == "docker") {
    return TRY(
        sandbox::docker::DockerSandbox::open({directory, sandbox::docker::usual_sockets(sources.engine_sockets)}));
  }
  for (const Runtime runtime : {Runtime::runc, Runtime::crun, Runtime::gvisor}) {
    if (backend == sandbox::oci::name_of(runtime)) return TRY(sandbox::oci::OciSandbox::open(runtime, directory));
  }
  if (backend != "native") return fail(Fault::internal, "a plan names the backend '{}'", backend);
  return TRY(sandbox::native::NativeSandbox::open({.state_directory = directory}));
}

}  // namespace cordon::guard
