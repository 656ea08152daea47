// Our JSON5 reader against npm json5: the same value, or both refuse. Usage: node json5_oracle.mjs DUMP NPM_DIR [COUNT] [SEED]
//
// Documents are made from a grammar of everything JSON5 1.0 allows, then part of them are damaged.
// Where the two may differ, and which is right by the JSON5 1.0 text:
//   1. Lone surrogates written as escapes ("\uD800"). The standard takes them (strings are UTF-16 units); settings are UTF-8 and cannot
//      hold them. We refuse, npm accepts.
//   2. Depth. The standard has no limit; we stop at 256 levels. (Not generated here; a test of its own.)
//   3. Identifier letters. The standard says "Unicode 3.0 or later"; both use Unicode 10, npm's tables (see identifier_ranges.mjs).
//   4. Bytes that are not UTF-8 never reach npm, which is given a decoded string: its side is a strict decoder.
import {spawnSync} from 'node:child_process';
import {existsSync} from 'node:fs';
import {createRequire} from 'node:module';

const [dump, npm, count = '4000', seed = '20260215'] = process.argv.slice(2);
if (!existsSync(`${npm}/node_modules/json5`)) {
  console.log(`skipped: no json5 in ${npm}/node_modules (npm ci --ignore-scripts there)`);
  process.exit(77);
}
const JSON5 = createRequire(`${npm}/`)('json5');
console.warn = () => {};  // npm warns about U+2028 in strings

let state = BigInt(seed);
function random(below) {  // splitmix64: the same documents on every machine
  state = (state + 0x9e3779b97f4a7c15n) & 0xffffffffffffffffn;
  let z = state;
  z = ((z ^ (z >> 30n)) * 0xbf58476d1ce4e5b9n) & 0xffffffffffffffffn;
  z = ((z ^ (z >> 27n)) * 0x94d049bb133111ebn) & 0xffffffffffffffffn;
  return Number((z ^ (z >> 31n)) % BigInt(below));
}
const pick = (list) => list[random(list.length)];
const many = (most, make, between = '') => Array.from({length: random(most + 1)}, make).join(between);
const digits = (least = 1) => Array.from({length: least + random(4)}, () => random(10)).join('');

const blank = () => many(2, () => pick([' ', '\t', '\n', '\r\n', '\r', '\v', '\f', '\u00a0', '\ufeff', '\u2028', '\u2029',
  '\u1680', '\u2003', '\u202f', '\u205f', '\u3000', '// comment\n', '//\u2028', '/* a\n* b **/', '/**/', '// é \r']));
const exponent = () => pick(['', '', pick(['e', 'E']) + pick(['', '+', '-']) + pick([digits(), '308', '400', '324'])]);
const number = () => pick(['', '', '+', '-']) + pick([
  '0', '-0', '.5', '5.', 'Infinity', 'NaN', '0.1', '9007199254740993', '1e999', '5e-324', '0x' + random(2 ** 31).toString(16),
  '0XDEADbeef', '0x' + 'f'.repeat(1 + random(20)), '123456789012345678901234567890', '2.2250738585072011e-308',
  pick(['0', String(1 + random(9)) + digits(0)]) + pick(['', '.', '.' + digits()]) + exponent(), '.' + digits() + exponent(),
]);
const character = (quote) => pick([
  'a', 'Z', ' ', 'é', '漢', '😀', '\u2028', '\u2029', '\t', '\u0001', '\u007f', quote === '"' ? "'" : '"', '\\n', '\\t', '\\b', '\\f', '\\r',
  '\\v', '\\0', '\\\\', '\\"', "\\'", '\\/', '\\a', '\\é', '\\😀', '\\x41', '\\xff', '\\u0041', '\\u2028', '\\uD83D\\uDE00', '\\\n', '\\\r\n',
  '\\\r', '\\\u2028', '\\\u2029', '\\uD83D\\\n\\uDE00', '\\u{41}', '/*', '//',
]);
function string() {
  const quote = pick(['"', "'"]);
  return quote + many(6, () => character(quote)) + quote;
}
const key = () => pick([
  string, () => pick(['a', 'b', 'key', '$', '_', '$a_1', 'null', 'true', 'Infinity', 'NaN', '__proto__', 'constructor', 'ünïcödé', 'ℵ', '漢字',
    '\\u0061b', 'a\\u200cb', 'a\u200db', '𐐀x', '0'.repeat(0) + 'x0', 'toString', 'a\u0301', 'ﬀ', 'x٣']),
])();
function value(depth) {
  const kind = random(depth > 5 ? 5 : 8);
  if (kind < 1) return pick(['null', 'true', 'false']);
  if (kind < 3) return number();
  if (kind < 5) return string();
  const list = (make) => blank() + many(4, make, ',') + blank();
  const closed = (inner) => inner + (inner.trim() && random(3) === 0 && !/,\s*$/.test(inner) ? ',' + blank() : '');
  if (kind < 6) return '[' + closed(list(() => blank() + value(depth + 1) + blank())) + ']';
  return '{' + closed(list(() => blank() + key() + blank() + ':' + blank() + value(depth + 1) + blank())) + '}';
}

const pieces = ['{', '}', '[', ']', ',', ':', '"', "'", '\\', '/', '*', '-', '+', '.', '0', '1', '9', 'e', 'x', 'u', 'N', 'I', 'n', 't', ' ', '\n',
  '\u2028', '\ufeff', '\0', '\\u', '\\x', '\\1', '\\0', '/*', '*/', '//', 'é', '😀', '\ud800', 'null', 'Infinity', '0x', '...', '#', '`'];
function damaged(text) {
  for (let times = 1 + random(2); times > 0; times--) {
    const characters = Array.from(text);
    const at = random(characters.length + 1);
    const way = random(4);
    if (way === 0) characters.splice(at, 1);
    if (way === 1) characters.splice(at, 0, pick(pieces));
    if (way === 2) characters.splice(at, 1, pick(pieces));
    if (way === 3) characters.length = at;
    text = characters.join('');
  }
  return text;
}

const fixed = ['', ' ', '\ufeff', '{}', '[]', '{,}', '[,]', '[1,,2]', '[1 2]', '{a:1,,b:2}', '{a 1}', '{a:}', '01', '-01', '00', '0x', '0xg', '1.e5',
  '.', '+', '-', '+-1', '- 1', '1_000', '0b1', '0o7', '1e', '1e+', '.e1', '-.5', '+.5e-1', 'infinity', '-Infinity', '+NaN', 'nan', 'undefined',
  'True', 'nul', 'nulll', 'truefalse', "'a", '"a', "'a\nb'", '"a\rb"', '"\u2028"', '"\\1"', '"\\00"', '"\\0a"', '"\\x4"', '"\\u004"', '"\\u{1}"',
  '"\\', '{"a":1,"a":2}', '{a:1,"\\u0061":2}', '{__proto__:1}', '{"__proto__":{x:1}}', '{\\u0030a:1}', '{a\\u0020b:1}', '{1:2}', '{-a:1}', '{a-b:1}',
  '{"a":1}x', '{}{}', '// only', '/* open', '/* a */ 1 /', '1//', '1/**/', '/', '/a', '[1,]', '{a:1,}', '[[[[]]]]', '{\ud800:1}', 'a', '{a}', '\\u006eull',
  '{a\u00a0:1}', '{\u200ca:1}', '1\u180e', '\u180e1', '\u200b1', '\u00851', '1\0', '"\0"', '{if:1,class:2}', '"\\\u2028b"', '0xFFFFFFFFFFFFFFFFF', '-0x0'];

const documents = [...fixed];
while (documents.length < Number(count)) {
  const text = blank() + value(0) + blank();
  documents.push(random(5) < 2 ? damaged(text) : text);
}
const encoded = documents.map((text) => {
  const bytes = Buffer.from(text, 'utf8');  // lone surrogates become U+FFFD here, so decode again for npm's side
  if (random(40) === 0 && bytes.length > 0) bytes[random(bytes.length)] = 0x80 + random(128);
  return bytes;
});

function bits(number) {
  if (Number.isNaN(number)) return 'NaN';
  const buffer = Buffer.alloc(8);
  buffer.writeDoubleBE(number);
  return buffer.toString('hex');
}
function spelled(made) {
  if (made === null || typeof made === 'boolean') return made;
  if (typeof made === 'number') return ['n', bits(made)];
  if (typeof made === 'string') return ['s', made];
  if (Array.isArray(made)) return ['a', made.map(spelled)];
  return ['o', Object.keys(made).map((name) => [name, spelled(made[name])])];
}
// JavaScript moves number-like keys to the front; order is not what is compared here.
function sorted(made) {
  if (!Array.isArray(made)) return made;
  if (made[0] === 'a') return ['a', made[1].map(sorted)];
  if (made[0] !== 'o') return made;
  const members = made[1].map(([name, inner]) => [name, sorted(inner)]);
  return ['o', members.sort(([left], [right]) => (left < right ? -1 : 1))];
}
const lone = (made) => typeof made === 'string' ? /\p{Surrogate}/u.test(made) : Array.isArray(made) && made.some(lone);

const ran = spawnSync(dump, {input: encoded.map((bytes) => bytes.toString('base64')).join('\n') + '\n', maxBuffer: 1 << 30});
const answers = ran.stdout.toString('utf8').split('\n').slice(0, -1);
if (ran.status !== 0 || answers.length !== documents.length) {
  console.log(`json5_dump gave ${answers.length} answers to ${documents.length} documents (status ${ran.status})`);
  process.exit(1);
}
let valid = 0, refused = 0, surrogates = 0, wrong = 0;
encoded.forEach((bytes, index) => {
  let expected;
  try {
    expected = JSON.stringify(sorted(spelled(JSON5.parse(new TextDecoder('utf-8', {fatal: true, ignoreBOM: true}).decode(bytes)))));
  } catch { }
  const ours = answers[index].startsWith('refused: ') ? undefined : JSON.stringify(sorted(JSON.parse(answers[index])));
  if (ours === expected) return ours === undefined ? refused++ : valid++;
  if (ours === undefined && lone(JSON.parse(expected))) return surrogates++;
  if (wrong++ < 20) console.log(`differs: ${JSON.stringify(bytes.toString('utf8'))}\n  npm  ${expected}\n  ours ${answers[index]}`);
});
console.log(`${documents.length} documents: ${valid} the same value, ${refused} refused by both, ` +
            `${surrogates} refused by us alone for a lone surrogate, ${wrong} different`);
process.exit(wrong === 0 && valid > 1000 && refused > 500 ? 0 : 1);
