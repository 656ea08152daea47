'use strict';
// Code and commands under Cordon: over the daemon's socket where one listens, else by starting `cordon`.
// Every call resolves to Cordon's own result object; what goes wrong inside a run is in it, never thrown.

const { spawn } = require('node:child_process');
const { createHash } = require('node:crypto');
const fs = require('node:fs');
const net = require('node:net');
const os = require('node:os');
const path = require('node:path');

const PROTOCOL = 1;
const LARGEST_ARGUMENT = 100_000; // bytes; the kernel refuses longer ones at 128 KiB

class CordonError extends Error {
  constructor(message, code) {
    super(message);
    this.name = 'CordonError';
    this.code = code;
  }
}

function stateDirectory(options) {
  if (options.stateDir) return options.stateDir;
  if (process.env.CORDON_STATE_DIR) return process.env.CORDON_STATE_DIR;
  const base = process.env.XDG_STATE_HOME;
  return base && base.startsWith('/') ? `${base}/cordon` : `${os.homedir()}/.local/state/cordon`;
}

function socketPath(options) {
  const given = options.socket || process.env.CORDON_SOCKET;
  if (given) return given;
  const state = stateDirectory(options);
  const runtime = process.env.XDG_RUNTIME_DIR;
  if (!runtime || !runtime.startsWith('/')) return `${state}/run/serve.sock`;
  const hash = createHash('sha256').update(state).digest('hex').slice(0, 16);
  return `${runtime}/cordon/serve-${hash}.sock`;
}

// Node has no way to ask who is at the other end; that only we can have put a socket there says the same.
function isOurs(file) {
  try {
    const uid = process.geteuid();
    const folder = fs.lstatSync(path.dirname(file));
    const socket = fs.lstatSync(file);
    return socket.isSocket() && socket.uid === uid && folder.uid === uid && (folder.mode & 0o077) === 0;
  } catch {
    return false;
  }
}

function exact(value) {
  if (typeof value === 'string') return value;
  return { base64: Buffer.from(value).toString('base64') };
}

// Resolves to the daemon's answer, or to null where it is to be done without one.
function askDaemon(message, options) {
  const file = socketPath(options);
  if (options.daemon === false || process.env.CORDON_NO_DAEMON !== undefined || !isOurs(file)) {
    return Promise.resolve(null);
  }
  return new Promise((resolve, reject) => {
    const connection = net.connect(file);
    let received = Buffer.alloc(0);
    let connected = false;
    const giveUp = () => connection.destroy(new CordonError('the call was aborted', 'aborted'));
    if (options.signal) {
      if (options.signal.aborted) return reject(new CordonError('the call was aborted', 'aborted'));
      options.signal.addEventListener('abort', giveUp, { once: true });
    }
    const done = (settle, value) => {
      if (options.signal) options.signal.removeEventListener('abort', giveUp);
      connection.destroy();
      settle(value);
    };
    connection.on('connect', () => {
      connected = true;
      const body = Buffer.from(JSON.stringify(message));
      const length = Buffer.alloc(4);
      length.writeUInt32LE(body.length);
      connection.write(Buffer.concat([length, body]));
    });
    connection.on('data', (bytes) => {
      received = Buffer.concat([received, bytes]);
      while (received.length >= 4 && received.length >= 4 + received.readUInt32LE(0)) {
        const end = 4 + received.readUInt32LE(0);
        const answer = JSON.parse(received.subarray(4, end).toString());
        received = received.subarray(end);
        if (answer.type === 'answer') return done(resolve, answer.object);
        if (answer.type === 'decline') return done(resolve, null);
        if (answer.type === 'error') return done(reject, new CordonError(answer.message, answer.fault));
      }
    });
    connection.on('error', (error) => (connected ? done(reject, error) : done(resolve, null)));
    connection.on('close', () => done(reject, new CordonError('the daemon ended while it worked on this', 'unavailable')));
  });
}

// Resolves to { code, stdout, stderr } of the command line.
function startCordon(words, options) {
  return new Promise((resolve, reject) => {
    const global = [];
    if (options.stateDir) global.push('--state-dir', options.stateDir);
    if (options.agent) global.push('--agent', options.agent);
    const child = spawn(options.binary || process.env.CORDON_BINARY || 'cordon', [...global, ...words], {
      cwd: options.cwd,
      env: { ...process.env, ...(options.daemon === false ? { CORDON_NO_DAEMON: '1' } : {}) },
      stdio: ['pipe', 'pipe', 'pipe'],
      signal: options.signal,
    });
    const out = [];
    const err = [];
    child.stdout.on('data', (bytes) => out.push(bytes));
    child.stderr.on('data', (bytes) => err.push(bytes));
    child.stdin.on('error', () => {}); // it need not read
    child.stdin.end(options.stdin === undefined ? '' : options.stdin);
    child.on('error', (error) => {
      const missing = error.code === 'ENOENT' ? 'cordon was not found; install it or give { binary: PATH }' : error.message;
      reject(new CordonError(missing, error.code === 'ABORT_ERR' ? 'aborted' : 'unavailable'));
    });
    child.on('close', (code) => {
      resolve({ code, stdout: Buffer.concat(out).toString(), stderr: Buffer.concat(err).toString() });
    });
  });
}

async function askCordon(words, options) {
  const done = await startCordon(words, options);
  try {
    return JSON.parse(done.stdout);
  } catch {
    throw new CordonError(done.stderr.trim().replace(/^cordon: /, '') || `cordon ended with ${done.code}`, 'unavailable');
  }
}

function refused(error) {
  return {
    success: false, output: '', stderr: '', exitCode: -1, executionTime: 0, error,
    isolation: null, artifacts: [], session: null,
  };
}

async function executeByBinary(options) {
  const words = ['run', '--json', '--lang', options.language];
  if (options.timeout !== undefined) words.push('--timeout', String(options.timeout));
  if (options.maxOutputSize !== undefined) words.push('--max-output', String(options.maxOutputSize));
  if (options.session) words.push('--session', options.session);
  if (options.fork) words.push('--fork', options.fork);
  if (options.step !== undefined) words.push('--step', String(options.step));
  if (options.access) words.push('--access', options.access);
  let folder = null;
  const place = (name, content) => {
    folder = folder || fs.mkdtempSync(path.join(os.tmpdir(), 'cordon-'));
    const file = path.join(folder, String(fs.readdirSync(folder).length));
    fs.writeFileSync(file, content, { mode: 0o600 });
    return name === null ? file : `${name}=${file}`;
  };
  try {
    for (const [name, content] of Object.entries(options.files || {})) words.push('--file', place(name, content));
    const tail = (options.args || []).length > 0 ? ['--', ...options.args] : [];
    const long = Buffer.byteLength(options.code) > LARGEST_ARGUMENT;
    // The equals sign keeps code that begins with a dash from being read as an option.
    const code = long ? [place(null, options.code)] : [`--code=${options.code}`];
    return await askCordon([...words, ...code, ...tail], options);
  } finally {
    if (folder) fs.rmSync(folder, { recursive: true, force: true });
  }
}

/** Runs code in a sandbox of its own. */
async function execute(options) {
  const given = options || {};
  if (!given.language || typeof given.language !== 'string') return refused('Language is required and must be a string');
  if (!given.code || typeof given.code !== 'string') return refused('Code is required and must be a string');
  try {
    const snippet = { language: given.language, code: given.code };
    for (const key of ['maxOutputSize', 'session', 'fork', 'step', 'access']) {
      if (given[key] !== undefined) snippet[key] = given[key];
    }
    if (given.args) snippet.arguments = given.args;
    if (given.files) snippet.files = Object.entries(given.files).map(([name, content]) => [name, exact(content)]);
    const message = { protocol: PROTOCOL, verb: 'run', snippet, cwd: given.cwd || process.cwd() };
    if (given.timeout !== undefined) message.timeout = given.timeout;
    if (given.stdin !== undefined) message.input = exact(given.stdin);
    if (given.agent) message.agent = given.agent;
    return (await askDaemon(message, given)) || (await executeByBinary(given));
  } catch (error) {
    return refused(error.message);
  }
}

/** What Cordon thinks of a command; nothing runs. */
function check(command, options = {}) {
  return askCordon(['check', '--', command], options);
}

/** Judges a command, runs it in a sandbox or queues it, and records it. */
function exec(command, options = {}) {
  const words = ['exec', '--json'];
  if (options.timeout !== undefined) words.push('--timeout', String(options.timeout));
  if (options.dryRun) words.push('--dry-run');
  if (options.requireApproval) words.push('--require-approval');
  if (options.wait) words.push('--wait', String(options.wait));
  if (options.approval) words.push('--approval', options.approval);
  for (const [name, value] of Object.entries(options.env || {})) words.push('--env', `${name}=${value}`);
  if (options.stdin !== undefined) words.push('--stdin');
  return askCordon([...words, '--', command], options);
}

const queue = {
  list: (options = {}) => askCordon(['queue', 'list', '--json', ...(options.status ? ['--status', options.status] : [])], options),
  show: (id, options = {}) => askCordon(['queue', 'show', '--json', id], options),
  approve: (id, options = {}) => askCordon(['queue', 'approve', '--json', id, ...(options.by ? ['--by', options.by] : []),
    ...(options.notes ? ['--notes', options.notes] : [])], options),
  reject: (id, options = {}) => askCordon(['queue', 'reject', '--json', id, '--reason', options.reason || '',
    ...(options.by ? ['--by', options.by] : [])], options),
  wait: (id, options = {}) => askCordon(['queue', 'wait', '--json', id], options),
};

const audit = {
  log: (options = {}) => {
    const words = ['audit', 'log', '--json'];
    if (options.last !== undefined) words.push('--last', String(options.last));
    if (options.riskLevel) words.push('--risk-level', options.riskLevel);
    if (options.since) words.push('--since', options.since);
    if (options.commandPattern) words.push('--command-pattern', options.commandPattern);
    return askCordon(words, options);
  },
  stats: (options = {}) => askCordon(['audit', 'stats', '--json', ...(options.period ? ['--period', options.period] : [])], options),
  verify: async (options = {}) => {
    const done = await startCordon(['audit', 'verify'], options);
    return { good: done.code === 0 || done.code === 3, signed: done.code === 0, text: done.stdout.trim() };
  },
};

module.exports = { execute, check, exec, queue, audit, CordonError };
module.exports.default = module.exports;
