'use strict';
// Run by ctest with `cordon` on the PATH, a state of its own, and once with a daemon and once without.
const assert = require('node:assert/strict');
const { test } = require('node:test');
const Sandbox = require('..');

const KEYS = ['success', 'output', 'stderr', 'exitCode', 'executionTime', 'error'];

test('the examples of the document give its output', async () => {
  const rows = [
    ['javascript', 'const x = 40 + 2; x', '42'],
    ['python', 'print("Hello from Python")', 'Hello from Python'],
    ['bash', 'echo "Hello from Bash"', 'Hello from Bash'],
    ['javascript', '\n    function fibonacci(n) {\n      if (n <= 1) return n;\n      return fibonacci(n-1) + fibonacci(n-2);\n    }\n    fibonacci(10)\n  ', '55'],
    ['python', '\nimport json\ndata = [1, 2, 3, 4, 5]\nresult = sum(data) / len(data)\nprint(json.dumps({"average": result}))\n  ', '{"average": 3.0}'],
    ['bash', 'echo "User: $USER"; echo "PWD: $PWD"', 'User: sandboxuser\nPWD: /home/sandboxuser/work'],
  ];
  for (const [language, code, output] of rows) {
    const result = await Sandbox.execute({ language, code, timeout: 60000 });
    assert.deepEqual(Object.keys(result).slice(0, 6), KEYS);
    assert.deepEqual([result.success, result.output, result.exitCode, result.error], [true, output, 0, null]);
  }
});

test('errors are in the result', async () => {
  const texts = [
    [{}, 'Language is required and must be a string'],
    [{ language: 5, code: '1' }, 'Language is required and must be a string'],
    [{ language: 'js' }, 'Code is required and must be a string'],
    [{ language: 'cobol', code: 'x' }, 'Unsupported language: cobol'],
    [{ language: 'python', code: 'import nonexistent_module' }, "ModuleNotFoundError: No module named 'nonexistent_module'"],
    [{ language: 'js', code: 'for(;;);', timeout: 300 }, 'Execution timeout after 300ms'],
    [{ language: 'js', code: '1', binary: '/nowhere/cordon', daemon: false }, 'cordon was not found; install it or give { binary: PATH }'],
  ];
  for (const [options, error] of texts) {
    const result = await Sandbox.execute(options);
    assert.deepEqual([result.success, result.error], [false, error]);
  }
});

test('files, arguments, input, long code and limits arrive', async () => {
  const code = "import sys\nopen('out.txt', 'w').write(open('in.txt').read().upper())\nprint(sys.argv[1:], sys.stdin.read())";
  const result = await Sandbox.execute({ language: 'py', code, files: { 'in.txt': 'data' }, args: ['-a', 'b c'], stdin: 'typed' });
  assert.equal(result.output, "['-a', 'b c'] typed");
  assert.deepEqual(result.artifacts.map((a) => [a.path, Buffer.from(a.base64, 'base64').toString()]), [['out.txt', 'DATA']]);
  const long = await Sandbox.execute({ language: 'js', code: `'${'x'.repeat(300000)}'.length` });
  assert.equal(long.output, '300000');
  const dash = await Sandbox.execute({ language: 'js', code: '-1' });
  assert.equal(dash.output, '-1');
  const cut = await Sandbox.execute({ language: 'js', code: "'x'.repeat(1000)", maxOutputSize: 10 });
  assert.equal(cut.output, 'xxxxxxxxxx\n[Output truncated]');
});

test('sessions live on', async () => {
  const session = `node-${process.pid}`;
  assert.equal((await Sandbox.execute({ language: 'js', code: 'let n = 41; n', session })).output, '41');
  assert.equal((await Sandbox.execute({ language: 'js', code: 'n + 1', session })).output, '42');
  const forked = await Sandbox.execute({ language: 'js', code: 'n += 9', session: `${session}-b`, fork: session });
  assert.equal(forked.output, '50');
});

test('check, exec, queue and audit give their objects', async () => {
  assert.equal((await Sandbox.check('rm -rf /tmp/*')).risk_level, 'dangerous');
  assert.equal((await Sandbox.exec('echo out; echo err >&2')).stdout, 'out\n');
  assert.equal((await Sandbox.exec('cat', { stdin: 'typed' })).stdout, 'typed');
  const queued = await Sandbox.exec('rm -rf build');
  assert.equal(queued.queued, true);
  assert.ok((await Sandbox.queue.list()).some((entry) => entry.id === queued.queue_id));
  assert.equal((await Sandbox.queue.show(queued.queue_id)).command, 'rm -rf build');
  assert.equal((await Sandbox.queue.reject(queued.queue_id, { reason: 'no' })).status, 'rejected');
  await assert.rejects(Sandbox.queue.show('cmd_nowhere0000'), Sandbox.CordonError);
  assert.ok((await Sandbox.audit.log({ last: 5 })).entries.length > 0);
  assert.ok((await Sandbox.audit.stats({ period: 'all' })).total_commands > 0);
  assert.equal((await Sandbox.audit.verify()).good, true);
});

test('aborting ends the run', async () => {
  const abort = new AbortController();
  const running = Sandbox.execute({ language: 'bash', code: 'sleep 60', signal: abort.signal });
  setImmediate(() => abort.abort());
  assert.equal((await running).success, false);
});

test('it is an ES module too', async () => {
  const module = await import('../index.mjs');
  assert.equal(module.default.execute, Sandbox.execute);
  assert.equal((await module.execute({ language: 'js', code: '6 * 7' })).output, '42');
});
