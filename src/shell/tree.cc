#include <algorithm>

#include "shell/syntax.h"

namespace cordon::shell {
namespace {

bool same(const Parts& one, const Parts& other);
bool same(const Node* one, const Node* other);
bool same(const List* one, const List* other);

template <class T, class F>
bool all_same(const Seq<T>& one, const Seq<T>& other, F equal) {
  return std::equal(one.begin(), one.end(), other.begin(), other.end(), equal);
}

bool same(const Word& one, const Word& other) {
  return one.quoted == other.quoted && one.assignment == other.assignment && same(one.parts, other.parts);
}

bool same(const Part& one, const Part& other) {
  if (one.kind != other.kind || one.text != other.text || !same(one.parts, other.parts)) return false;
  if (!same(one.list, other.list)) return false;
  if ((one.words == nullptr) != (other.words == nullptr)) return false;
  return one.words == nullptr ||
         all_same(*one.words, *other.words, [](const Word& a, const Word& b) { return same(a, b); });
}

bool same(const Parts& one, const Parts& other) {
  return all_same(one, other, [](const Part& a, const Part& b) { return same(a, b); });
}

bool same(const Redirection& one, const Redirection& other) {
  if (one.kind != other.kind || one.fd != other.fd || one.variable != other.variable) return false;
  if (!same(one.target, other.target) || (one.here == nullptr) != (other.here == nullptr)) return false;
  if (one.here == nullptr) return true;
  return one.here->quoted == other.here->quoted && one.here->text == other.here->text &&
         same(one.here->body, other.here->body);
}

bool same(const Condition* one, const Condition* other) {
  if (one == nullptr || other == nullptr) return one == other;
  return one->kind == other->kind && one->negated == other->negated && one->op == other->op &&
         same(one->left, other->left) && same(one->right, other->right) && same(one->first, other->first) &&
         same(one->second, other->second);
}

bool same(const CaseClause& one, const CaseClause& other) {
  return one.end == other.end && same(one.body, other.body) &&
         all_same(one.patterns, other.patterns, [](const Word& a, const Word& b) { return same(a, b); });
}

bool same(const Node* one, const Node* other) {
  if (one == nullptr || other == nullptr) return one == other;
  auto words = [](const Word& a, const Word& b) { return same(a, b); };
  auto redirects = [](const Redirection& a, const Redirection& b) { return same(a, b); };
  auto clauses = [](const CaseClause& a, const CaseClause& b) { return same(a, b); };
  auto parts = [](const Parts& a, const Parts& b) { return same(a, b); };
  return one->kind == other->kind && one->name == other->name && one->has_in == other->has_in &&
         all_same(one->words, other->words, words) && all_same(one->redirects, other->redirects, redirects) &&
         all_same(one->clauses, other->clauses, clauses) && all_same(one->arithmetic, other->arithmetic, parts) &&
         same(one->condition, other->condition) && same(one->body, other->body) &&
         same(one->otherwise, other->otherwise) && same(one->inner, other->inner) && same(one->test, other->test);
}

bool same(const Pipeline& one, const Pipeline& other) {
  return one.negated == other.negated && one.time == other.time &&
         all_same(one.stages, other.stages, [](const Node* a, const Node* b) { return same(a, b); }) &&
         all_same(one.with_stderr, other.with_stderr, [](bool a, bool b) { return a == b; });
}

bool same(const List* one, const List* other) {
  if (one == nullptr || other == nullptr) return one == other;
  return shell::same(*one, *other);
}

}  // namespace

bool same(const List& one, const List& other) {
  return all_same(one.items, other.items, [](const Item& a, const Item& b) {
    return a.background == b.background && all_same(a.links, b.links, [](const Link& x, const Link& y) {
             return x.op == y.op && same(x.pipeline, y.pipeline);
           });
  });
}

}  // namespace cordon::shell
