// cordon image: what containers of an engine are made from.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>

#include "app/surroundings.h"
#include "app/terminal.h"
#include "app/verbs.h"
#include "base/text.h"
#include "sandbox/docker/engine.h"
#include "sandbox/image/image.h"
#include "sys/file.h"

namespace cordon::app {

namespace {

namespace image = sandbox::image;

struct Options {
  std::string name = sandbox::docker::own_image;
  std::vector<std::string> packages;
  bool only = false;
  std::string output;
};

Result<std::vector<std::string>> chosen(const Options& options, const image::Packages& packages) {
  std::vector<std::string> names = options.packages;
  // Commands are run by bash, and scripts by whatever /bin/sh is.
  for (const char* name : {"bash", "dash"}) {
    if (packages.installed(name)) names.emplace_back(name);
  }
  if (!options.only) {
    for (const std::string& name : image::usual_packages()) {
      if (packages.installed(name)) names.push_back(name);
    }
  }
  return packages.closure(names);
}

Result<image::Contents> write_to_file(const image::Packages& packages, const std::vector<std::string>& names,
                                      const std::string& path) {
  const sys::Fd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644));
  if (file.get() < 0) return fail(Fault::invalid_input, "{}: {}", path, std::strerror(errno));
  return image::write_image(packages, names, [&](std::string_view bytes) { return sys::write_all(file, path, bytes); });
}

Result<int> build(const GlobalOptions& global, const Options& options) {
  const auto packages = TRY(image::Packages::read("/var/lib/dpkg"));
  const std::vector<std::string> names = TRY(chosen(options, packages));
  image::Contents contents;
  Json result = {{"packages", names}};
  if (!options.output.empty()) {
    contents = TRY(write_to_file(packages, names, options.output));
    result["file"] = options.output;
  } else {
    const Surroundings here = TRY(Surroundings::find(global, {}));
    const auto engine =
        TRY(sandbox::docker::Engine::find(sandbox::docker::usual_sockets(here.sources().engine_sockets)));
    if (!global.quiet && !global.json) {
      std::cerr << "making " << options.name << " of " << names.size() << " packages of this machine\n";
    }
    const std::string id = TRY(engine.import_image(options.name, image::image_changes(),
                                                   [&](const sandbox::docker::Sink& sink) -> Result<void> {
                                                     contents = TRY(image::write_image(packages, names, sink));
                                                     return {};
                                                   }));
    result["image"] = options.name;
    result["id"] = id;
  }
  result["files"] = contents.files;
  result["bytes"] = contents.bytes;
  if (global.json) {
    std::cout << result.dump(2) << '\n';
  } else if (!global.quiet) {
    std::cout << (options.output.empty() ? options.name : options.output) << ": " << contents.files << " files, "
              << (contents.bytes >> 20) << " MiB\n";
  }
  return exit_code::done;
}

}  // namespace

void define_image(CommandLine& line) {
  const Verb verb = line.verb("image", "The image that the docker backend starts containers from");
  verb.require_part();
  const Verb build_verb = CommandLine::part(
      verb, "build", "Make the image from this machine's own Debian packages; needs no registry and no network");
  const auto options = std::make_shared<Options>();
  build_verb.add_option("--name", options->name, "What it is called").type_name("NAME:TAG");
  build_verb.add_option("--package", options->packages, "Also this installed package and what it needs")
      .type_name("NAME");
  build_verb.add_flag("--only", options->only, "Only the packages that are named, and what they need");
  build_verb.add_option("--output", options->output, "Write it as a tar to this new file instead").type_name("FILE");
  build_verb.example("cordon image build --package ripgrep");
  line.does(build_verb, [&line, options] { return finish(build(line.global(), *options)); });
  const Verb file_verb =
      CommandLine::part(verb, "dockerfile", "Print a Dockerfile for the same image, for who prefers to build it so");
  file_verb.example("cordon image dockerfile | docker build -t cordon-sandbox -");
  line.does(file_verb, [] {
    std::cout << image::dockerfile();
    return exit_code::done;
  });
}

}  // namespace cordon::app
