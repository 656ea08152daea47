// Our reading against npm mvdan-sh and tree-sitter-bash. They differ from bash in known ways: every difference is put into
// a group by its cause, every group has its reason in peers.json, and a group without one fails the test.
// Usage: node peers.mjs SHELL_VALIDITY CORPUS GENERATED [SEED [OF_CORPUS]]
import { execFileSync, fork } from 'node:child_process';
import { createRequire } from 'node:module';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const here = path.dirname(fileURLToPath(import.meta.url));
const npm = path.join(here, '..', 'npm');
if (!existsSync(path.join(npm, 'node_modules', 'mvdan-sh'))) {
  console.log('skipped: run npm ci --ignore-scripts in tests/npm');
  process.exit(77);
}

const shorten = (message) =>
  message.replace(/^\d+:\d+: /, '').replace(/"[^"]*"|`[^`]*`/g, '…').replace(/\d+/g, 'N').split('\n')[0].slice(0, 120);

// A peer may be slow or never come back, so it lives in a process of its own, which is given up when a batch takes too long.
async function work() {
  const require = createRequire(path.join(npm, 'package.json'));
  const { syntax } = require('mvdan-sh');
  const { Parser, Language } = require('web-tree-sitter');
  await Parser.init();
  const sitter = new Parser();
  sitter.setLanguage(await Language.load(path.join(npm, 'node_modules/tree-sitter-bash/tree-sitter-bash.wasm')));
  const parser = syntax.NewParser(syntax.KeepComments(false), syntax.Variant(syntax.LangBash));

  function mvdan(text) {
    try {
      return { tree: parser.Parse(text, '') };
    } catch (error) {
      return { error: String(error.Error ? error.Error() : error.message ?? error) };
    }
  }

  function calls(file) {
    const shapes = [];
    syntax.Walk(file, (node) => {
      if (node && syntax.NodeType(node) === 'CallExpr') shapes.push(`${node.Assigns.length}/${node.Args.length}`);
      return true;
    });
    return shapes.join(' ');
  }

  // A cause is found by taking it away: when the peer then agrees, that was it.
  function causeOf(text, error) {
    const without = text.replace(/`(?:\\.|[^`\\])*`/gs, 'x');
    if (without !== text && mvdan(without).error === undefined) return 'inside backquotes';
    return shorten(error) + (text.includes('<<') ? ', with a here-document' : '');
  }

  function compareMvdan(row) {
    const theirs = mvdan(row.text);
    const valid = theirs.error === undefined;
    if (valid && !row.valid) return ['mvdan-sh', 'accepts', 'what bash refuses'];
    if (!valid && row.valid) return ['mvdan-sh', 'refuses', causeOf(row.text, theirs.error)];
    if (!valid || !row.printed) return null;
    const ours = mvdan(row.printed);
    if (ours.error) return ['mvdan-sh', 'refuses our print', shorten(ours.error)];
    return calls(theirs.tree) === calls(ours.tree) ? null : ['mvdan-sh', 'sees other calls', 'shape'];
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
    let found = null;
    if (valid && !row.valid) found = ['tree-sitter-bash', 'accepts', 'it mends what it can'];
    if (!valid && row.valid) found = ['tree-sitter-bash', 'refuses', `in ${firstError(tree.rootNode).parent?.type ?? 'program'}`];
    tree.delete();
    return found;
  }

  process.on('message', (rows) => {
    const notes = [];
    for (const row of rows) {
      for (const found of [compareMvdan(row), compareSitter(row)]) if (found) notes.push([...found, row.text]);
    }
    process.send(notes);
  });
  process.send('ready');
}

const groups = new Map();
function note(peer, verdict, cause, text) {
  const key = `${peer} | ${verdict} | ${cause}`;
  const group = groups.get(key) ?? { count: 0, example: text };
  group.count += 1;
  if (text.length < group.example.length) group.example = text;
  groups.set(key, group);
}

let worker = null;
async function start() {
  worker = fork(fileURLToPath(import.meta.url), ['--work']);
  await new Promise((resolve) => worker.once('message', resolve));
}

async function compare(rows) {
  if (!worker) await start();
  const current = worker;
  const notes = await new Promise((resolve) => {
    const limit = setTimeout(() => resolve(null), 30_000 + 2_000 * rows.length);
    current.once('message', (answer) => { clearTimeout(limit); resolve(answer); });
    current.once('exit', () => { clearTimeout(limit); resolve(null); });
    current.send(rows);
  });
  current.removeAllListeners();
  if (notes) {
    for (const each of notes) note(...each);
    return;
  }
  current.kill('SIGKILL');
  worker = null;
  if (rows.length === 1) return note('either peer', 'does not come back', 'time', rows[0].text);
  const middle = rows.length >> 1;
  await compare(rows.slice(0, middle));
  await compare(rows.slice(middle));
}

async function main([validity, corpus, generated, seed = '1', ofCorpus = 'all']) {
  const text = execFileSync(validity, [corpus, generated, seed, '--json'], { encoding: 'utf8', maxBuffer: 1 << 30 });
  let rows = text.trim().split('\n').map((line) => JSON.parse(line)).filter((row) => !row.text.includes('\0'));
  if (ofCorpus !== 'all') {
    const own = rows.length - Number(generated);
    const step = Math.max(1, Math.floor(own / Number(ofCorpus)));
    rows = rows.filter((_, i) => i >= own || i % step === 0);
  }
  for (let i = 0; i < rows.length; i += 64) await compare(rows.slice(i, i + 64));
  worker?.kill('SIGKILL');

  const reasons = JSON.parse(readFileSync(path.join(here, 'peers.json'), 'utf8'));
  let unexplained = 0;
  for (const [key, group] of [...groups].sort((a, b) => b[1].count - a[1].count)) {
    const reason = reasons.find((entry) => new RegExp(entry.group).test(key));
    if (!reason) unexplained += 1;
    console.log(`${String(group.count).padStart(5)}  ${key}`);
    console.log(`       ${reason ? reason.why : 'NOT EXPLAINED, for example: ' + JSON.stringify(group.example.slice(0, 300))}`);
  }
  console.log(`${rows.length} scripts, ${groups.size} groups of differences, ${unexplained} not explained`);
  return unexplained === 0 ? 0 : 1;
}

if (process.argv[2] === '--work') await work();
else process.exit(await main(process.argv.slice(2)));
