#include "app/alarm.h"

#include <unistd.h>

#include "app/surroundings.h"
#include "base/digest.h"
#include "notify/notifier.h"

namespace cordon::app {

guard::Alarm alarm_for(config::Sources sources, std::vector<audit::KnownSecret> secrets) {
  return [sources = std::move(sources), secrets = std::move(secrets)](const guard::Alert& alert) {
    // Read again and not taken from the guard: an alert may be about settings that changed meanwhile. Settings that
    // cannot be read stop the run itself, which is louder than any notice.
    const auto loaded = config::load(sources);
    if (!loaded) return;
    NotificationSettings settings = loaded->settings.notifications;
    std::string& secret_file = settings.webhook_secret_file.value;
    if (secret_file.starts_with("~/")) secret_file = sources.home + secret_file.substr(1);
    const notify::Notifier notifier(std::move(settings), {.state_dir = sources.state_dir, .environment = environ});
    const char* event = guard::name_of(alert.kind);
    if (!notifier.wants(event)) return;
    // The log may be what is in trouble, so its redactor is not asked; a key of the moment only changes the tags.
    const auto key = random_bytes(32);
    if (!key) return;
    const auto redactor = audit::Redactor::create(*key, secrets, {});
    if (!redactor) return;
    notifier.send({.event = event,
                   .command = redactor->redact(alert.command),
                   .sentence = redactor->redact(alert.sentence),
                   .approval = alert.approval,
                   .user = user_name().value_or(""),
                   .workspace = sources.workspace,
                   .at = SystemClock().now()});
  };
}

}  // namespace cordon::app
