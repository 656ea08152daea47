// The official clients against `cordon mcp`: SDK 1 (2025-11-25), SDK 2 in each of its ways to connect, and the inspector.
//   node sdk_test.mjs NPM_DIR
import assert from 'node:assert/strict';
import {spawnSync} from 'node:child_process';
import {existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync} from 'node:fs';
import {tmpdir} from 'node:os';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

const npm = path.resolve(process.argv[2] ?? 'tests/npm');
const modules = `${npm}/node_modules/@modelcontextprotocol`;
if (!existsSync(`${modules}/client`)) {
  console.log(`skipped: no @modelcontextprotocol/client in ${npm}/node_modules (npm ci --ignore-scripts there)`);
  process.exit(77);
}
const load = (file) => import(pathToFileURL(`${modules}/${file}`).href);
const one = {...await load('sdk/dist/esm/client/index.js'), ...await load('sdk/dist/esm/client/stdio.js')};
const types = await load('sdk/dist/esm/types.js');
const two = {...await load('client/dist/index.mjs'), ...await load('client/dist/stdio.mjs')};

const room = mkdtempSync(path.join(process.env.CORDON_TEST_DIR ?? tmpdir(), 'cordon-sdk-'));
const work = `${room}/work`;
const home = `${room}/home`;
for (const directory of [work, `${work}/.cordon`, home, `${home}/.config`, `${home}/.config/cordon`]) mkdirSync(directory);
writeFileSync(`${home}/.config/cordon/config.json5`, "{policy: {approvalPage: 'http://127.0.0.1:7411/approve', approverSurfaces: ['desk']}}");
const cordon = `${process.env.CORDON_BIN}/cordon`;
const env = {PATH: process.env.PATH, HOME: home, CORDON_STATE_DIR: `${room}/state`};
const call = (...words) => spawnSync(cordon, words, {cwd: work, env: {...env, CORDON_APPROVER_TOKEN: token ?? ''}, encoding: 'utf8'});
let token;
token = call('approver', 'init', '--unattended').stdout.trim();

const server = (agent) => ({command: cordon, args: ['mcp', '--agent', agent], cwd: work, env});
const forbidden = ['sandbox_queue_approve', 'sandbox_queue_reject', 'sandbox_allowlist_add', 'sandbox_allowlist_remove'];
const callTool = (client, params, options) => client.callTool.length >= 3 ? client.callTool(params, undefined, options) : client.callTool(params, options);

/** What every client must see, whatever it speaks. The clients check every answer against the tool's output schema. */
async function session(client) {
  const {tools} = await client.listTools();
  const names = tools.map((tool) => tool.name);
  assert(names.includes('sandbox_exec') && !forbidden.some((name) => names.includes(name)));
  const check = await client.callTool({name: 'sandbox_check', arguments: {command: 'rm -rf build'}});
  assert.equal(check.structuredContent.suggested_action, 'queue_for_approval');
  const done = await client.callTool({name: 'sandbox_exec', arguments: {command: 'echo hello'}});
  assert.equal(done.structuredContent.stdout, 'hello\n');
  for (const name of ['sandbox_queue_list', 'sandbox_audit_log', 'sandbox_audit_stats', 'sandbox_explain']) {
    assert(!(await client.callTool({name, arguments: {}})).isError, name);
  }
  assert((await client.callTool({name: 'sandbox_allowlist_test', arguments: {command: 'ls'}})).structuredContent);
  const wrong = await client.callTool({name: 'sandbox_exec', arguments: {cmd: 'ls'}});
  assert(wrong.isError && wrong.content[0].text.includes('`cmd`'));
  await assert.rejects(client.callTool({name: 'sandbox_queue_approve', arguments: {id: 'cmd_0123456789', approved_by: 'me'}}), /Unknown tool/);
  // An aborted call is a killed command.
  const stop = new AbortController();
  const held = callTool(client, {name: 'sandbox_exec', arguments: {command: 'touch begun; sleep 31415'}}, {signal: stop.signal});
  while (!existsSync(`${work}/begun`)) await new Promise((resolve) => setTimeout(resolve, 20));
  stop.abort();
  await assert.rejects(held);
  while (spawnSync('pgrep', ['-f', '^sleep 31415']).status === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  rmSync(`${work}/begun`);
}

const passed = [];
async function check(name, test) {
  await test();
  passed.push(name);
  console.log(`ok   ${name}`);
}

try {
  await check('SDK 1 (2025-11-25): session', async () => {
    const client = new one.Client({name: 'one', version: '1'});
    await client.connect(new one.StdioClientTransport(server('one')));
    await session(client);
    await client.close();
  });
  for (const mode of ['legacy', 'auto', {pin: '2026-07-28'}]) {
    await check(`SDK 2, ${JSON.stringify(mode)}: session`, async () => {
      const client = new two.Client({name: 'two', version: '1'}, {versionNegotiation: {mode}});
      await client.connect(new two.StdioClientTransport(server('two')));
      assert.equal(client.getNegotiatedProtocolVersion(), mode === 'legacy' ? '2025-11-25' : '2026-07-28');
      await session(client);
      await client.close();
    });
  }
  await check('SDK 1: a page is shown, a person approves elsewhere, the result arrives', async () => {
    mkdirSync(`${work}/build`);
    const client = new one.Client({name: 'one', version: '1'}, {capabilities: {elicitation: {url: {}}}});
    client.setRequestHandler(types.ElicitRequestSchema, async (request) => {
      assert.equal(request.params.mode, 'url');
      assert.equal(call('queue', 'approve', request.params.url.split('/').pop()).status, 0);
      return {action: 'accept'};
    });
    await client.connect(new one.StdioClientTransport(server('one')));
    const done = await client.callTool({name: 'sandbox_exec', arguments: {command: 'rm -rf build'}});
    assert(done.structuredContent.success && !existsSync(`${work}/build`));
    await client.close();
  });
  for (const [agent, elicitation, answer] of [['two', {url: {}}, {action: 'accept'}], ['desk', {form: {}}, {action: 'accept', content: {approve: true}}]]) {
    await check(`SDK 2 (2026-07-28): input_required by ${Object.keys(elicitation)[0]}, then the result`, async () => {
      mkdirSync(`${work}/build`);
      const client = new two.Client({name: 'two', version: '1'}, {versionNegotiation: {mode: {pin: '2026-07-28'}}, capabilities: {elicitation}});
      client.setRequestHandler('elicitation/create', async (request) => {
        if (elicitation.url) assert.equal(call('queue', 'approve', request.params.url.split('/').pop()).status, 0);
        return answer;
      });
      await client.connect(new two.StdioClientTransport(server(agent)));
      const done = await client.callTool({name: 'sandbox_exec', arguments: {command: 'rm -rf build'}});
      assert(done.structuredContent.success && !existsSync(`${work}/build`), JSON.stringify(done));
      await client.close();
    });
  }
  await check('inspector: tools/list and tools/call', () => {
    const inspect = (...words) => {
      const done = spawnSync(process.execPath, [`${modules}/inspector-cli/build/cli.js`, '--cli', cordon, 'mcp', ...words], {cwd: work, env, encoding: 'utf8'});
      assert.equal(done.status, 0, done.stderr);
      return JSON.parse(done.stdout);
    };
    assert(inspect('--method', 'tools/list').tools.some((tool) => tool.name === 'sandbox_exec'));
    const done = inspect('--method', 'tools/call', '--tool-name', 'sandbox_exec', '--tool-arg', 'command=echo seen');
    assert.equal(done.structuredContent.stdout, 'seen\n');
  });
  console.log(`${passed.length} passed`);
} finally {
  rmSync(room, {recursive: true, force: true});
}
process.exit(0);
