// The official clients over streamable HTTP: SDK 1 (2025-11-25) and SDK 2 in each of its ways to connect.
//   node sdk_test.mjs NPM_DIR
import assert from 'node:assert/strict';
import {spawn, spawnSync} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, rmSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import {pathToFileURL} from 'node:url';

const npm = path.resolve(process.argv[2] ?? 'tests/npm');
const modules = `${npm}/node_modules/@modelcontextprotocol`;
if (!existsSync(`${modules}/client`)) {
  console.log(`skipped: no @modelcontextprotocol/client in ${npm}/node_modules (npm ci --ignore-scripts there)`);
  process.exit(77);
}
const load = (file) => import(pathToFileURL(`${modules}/${file}`).href);
const one = {...await load('sdk/dist/esm/client/index.js'), ...await load('sdk/dist/esm/client/streamableHttp.js')};
const two = await load('client/dist/index.mjs');

const room = mkdtempSync(path.join(process.env.CORDON_TEST_DIR ?? tmpdir(), 'cordon-sdk-'));
const work = `${room}/work`;
for (const directory of [work, `${work}/.cordon`, `${room}/home`, `${room}/run`]) mkdirSync(directory, {mode: 0o700});
const cordon = `${process.env.CORDON_BIN}/cordon`;
const env = {PATH: process.env.PATH, HOME: `${room}/home`, CORDON_STATE_DIR: `${room}/state`, XDG_RUNTIME_DIR: `${room}/run`};
const call = (more, ...words) => spawnSync(cordon, words, {cwd: work, env: {...env, ...more}, encoding: 'utf8'}).stdout.trim();
const approver = {CORDON_APPROVER_TOKEN: call({}, 'approver', 'init', '--unattended')};
const token = call(approver, 'token', 'create', '--role', 'agent', '--agent', 'sdk', '--quiet');

const daemon = spawn(cordon, ['serve', '--listen', '127.0.0.1:0'], {cwd: work, env, stdio: ['ignore', 'pipe', 'inherit']});
let url;
for await (const line of readline.createInterface({input: daemon.stdout})) {
  const place = line.match(/HTTP on (http:.*)/);
  if (place) {
    url = new URL(`${place[1]}/mcp`);
    break;
  }
}
const options = {requestInit: {headers: {Authorization: `Bearer ${token}`}}};
// SDK 1 has a schema between the two.
const callTool = (client, params, more) => client instanceof one.Client ? client.callTool(params, undefined, more) : client.callTool(params, more);
const until = async (holds) => {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 20));
};

/** What every client must see. The clients check every answer against the tool's output schema. */
async function session(client) {
  const names = (await client.listTools()).tools.map((tool) => tool.name);
  assert(names.includes('sandbox_exec') && !names.includes('sandbox_queue_approve'));
  const done = await client.callTool({name: 'sandbox_exec', arguments: {command: 'echo hello'}});
  assert.equal(done.structuredContent.stdout, 'hello\n');
  const waits = await client.callTool({name: 'sandbox_exec', arguments: {command: 'rm -rf build'}});
  assert(waits.isError && waits.content[0].text.includes('sandbox-queue approve'));
  let reports = 0;
  const held = await callTool(client, {name: 'sandbox_exec', arguments: {command: 'echo slow'}}, {onprogress: () => ++reports});
  assert.equal(held.structuredContent.stdout, 'slow\n');
  assert(reports > 0, 'progress is told');
  const stop = new AbortController();
  const aborted = callTool(client, {name: 'sandbox_exec', arguments: {command: 'touch begun; sleep 27182'}}, {signal: stop.signal});
  await until(() => existsSync(`${work}/begun`));
  stop.abort();
  await assert.rejects(aborted);
  await until(() => spawnSync('pgrep', ['-f', '^sleep 27182']).status !== 0);
  rmSync(`${work}/begun`);
}

let failed = false;
try {
  const first = new one.Client({name: 'one', version: '1'});
  await first.connect(new one.StreamableHTTPClientTransport(url, options));
  await session(first);
  await first.close();
  console.log('ok   SDK 1 (2025-11-25)');
  for (const mode of ['legacy', 'auto', {pin: '2026-07-28'}]) {
    const client = new two.Client({name: 'two', version: '1'}, {versionNegotiation: {mode}});
    await client.connect(new two.StreamableHTTPClientTransport(url, options));
    assert.equal(client.getNegotiatedProtocolVersion(), mode === 'legacy' ? '2025-11-25' : '2026-07-28');
    await session(client);
    await client.close();
    console.log(`ok   SDK 2, ${JSON.stringify(mode)}`);
  }
  const stranger = new one.Client({name: 'stranger', version: '1'});
  await assert.rejects(stranger.connect(new one.StreamableHTTPClientTransport(url)));
  console.log('ok   without a token');
} catch (error) {
  failed = true;
  console.log(error);
}
daemon.kill();
await new Promise((resolve) => daemon.on('exit', resolve));
rmSync(room, {recursive: true, force: true});
process.exit(failed ? 1 : 0);
