// Our reading against npm mvdan-sh and tree-sitter-bash. They differ from bash in known ways: every difference is put into
// a group by its cause, every group has its reason below, and a group without one fails the test.
// Usage: node peers.mjs READINGS.jsonl
import { createRequire } from 'node:module';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

const npm = path.join(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '..', 'npm');
if (!existsSync(path.join(npm, 'node_modules', 'mvdan-sh'))) {
  console.log('skipped: run npm ci --ignore-scripts in tests/npm');
  process.exit(77);
}
const require = createRequire(path.join(npm, 'package.json'));
const { syntax } = require('mvdan-sh');
const { Parser, Language } = require('web-tree-sitter');

// [peer, what the peer does, pattern over the cause] → why it is the peer that differs from bash.
const reasons = JSON.parse(readFileSync(new URL('./peers.json', import.meta.url), 'utf8'));

const rows = readFileSync(process.argv[2], 'utf8').trim().split('\n').map((line) => JSON.parse(line));

const groups = new Map();
function note(peer, verdict, cause, text) {
  const key = `${peer} | ${verdict} | ${cause}`;
  const group = groups.get(key) ?? { count: 0, example: text };
  group.count += 1;
  if (text.length < group.example.length) group.example = text;
  groups.set(key, group);
}

function mvdan(text) {
  const parser = syntax.NewParser(syntax.KeepComments(false), syntax.Variant(syntax.LangBash));
  try {
    return { tree: parser.Parse(text, '') };
  } catch (error) {
    return { error: String(error.Error ? error.Error() : error.message ?? error) };
  }
}

function compareMvdan(row) {
  const theirs = mvdan(row.text);
  const valid = theirs.error === undefined;
  if (valid !== row.valid) {
    const cause = (theirs.error ?? 'accepts').replace(/^\d+:\d+: /, '').replace(/"[^"]*"|`[^`]*`/g, '…').replace(/\d+/g, 'N');
    return note('mvdan-sh', valid ? 'accepts' : 'refuses', cause, row.text);
  }
  if (!valid || !row.printed) return;
  const ours = mvdan(row.printed);
  if (ours.error) return note('mvdan-sh', 'refuses our print', ours.error.replace(/^\d+:\d+: /, '').replace(/"[^"]*"|`[^`]*`/g, '…'), row.text);
  const words = (file) => {
    const calls = [];
    syntax.Walk(file, (node) => {
      if (node && syntax.NodeType(node) === 'CallExpr') calls.push(`${node.Assigns.length}/${node.Args.length}`);
      return true;
    });
    return calls.join(' ');
  };
  if (words(theirs.tree) !== words(ours.tree)) note('mvdan-sh', 'sees other calls', 'shape', row.text);
}

let sitter;
async function startSitter() {
  await Parser.init();
  sitter = new Parser();
  sitter.setLanguage(await Language.load(path.join(npm, 'node_modules/tree-sitter-bash/tree-sitter-bash.wasm')));
}

function firstError(node) {
  if (node.isError || node.isMissing) return node;
  for (const child of node.children) {
    if (child && child.hasError) return firstError(child);
    if (child && child.isMissing) return child;
  }
  return node;
}

function compareSitter(row) {
  const tree = sitter.parse(row.text);
  const valid = !tree.rootNode.hasError;
  if (valid !== row.valid) {
    const where = valid ? null : firstError(tree.rootNode);
    note('tree-sitter-bash', valid ? 'accepts' : 'refuses', valid ? 'it mends what it can' : `in ${where.parent ? where.parent.type : 'program'}`, row.text);
  }
  tree.delete();
}

await startSitter();
for (const row of rows) {
  if (row.text.includes('\0')) continue;
  compareMvdan(row);
  compareSitter(row);
}

let unexplained = 0;
const list = [...groups].sort((a, b) => b[1].count - a[1].count);
for (const [key, group] of list) {
  const reason = reasons.find((entry) => new RegExp(entry.group).test(key));
  if (!reason) unexplained += 1;
  console.log(`${String(group.count).padStart(5)}  ${key}\n       ${reason ? reason.why : 'NOT EXPLAINED, for example: ' + JSON.stringify(group.example.slice(0, 200))}`);
}
console.log(`${rows.length} scripts, ${groups.size} groups of differences, ${unexplained} not explained`);
process.reallyExit(unexplained === 0 ? 0 : 1);
