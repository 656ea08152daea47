#include "risk/analyse.h"

#include "risk/judge.h"

namespace cordon::risk {

Analysis analyse(const Script& script, const RiskContext& context, const ReadScript& read) {
  Judge judge(context, read);
  Frame frame;
  frame.directory = context.cwd;
  judge.script(script, frame, Stdin{});
  return judge.finish();
}

}  // namespace cordon::risk
