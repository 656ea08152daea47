// Prints src/base/json5_identifier.inc: the code points beyond ASCII that may begin or continue a JSON5 key without
// quotes, as ranges, from the tables of npm json5 (Unicode 10), so that both readers take the same keys.
// Usage: node identifier_ranges.mjs NODE_MODULES_PARENT > src/base/json5_identifier.inc
import {createRequire} from 'node:module';

const require = createRequire(process.argv[2] + '/');
const util = require('json5/lib/util.js');

function ranges(holds) {
  const found = [];
  let start = -1;
  for (let code = 0x80; code <= 0x110000; code++) {
    const surrogate = code >= 0xd800 && code < 0xe000;
    const inside = code < 0x110000 && !surrogate && holds(String.fromCodePoint(code));
    if (inside && start < 0) start = code;
    if (!inside && start >= 0) {
      found.push(`{0x${start.toString(16)}, 0x${(code - 1).toString(16)}}`);
      start = -1;
    }
  }
  return found;
}

function print(name, found) {
  let line = '   ';
  console.log(`constexpr Range ${name}[] = {`);
  for (const range of found) {
    if (line.length + range.length > 115) {
      console.log(line);
      line = '   ';
    }
    line += ` ${range},`;
  }
  console.log(`${line}\n};`);
}

console.log('// Made by tests/config/identifier_ranges.mjs from Unicode 10; do not edit.');
print('identifier_start', ranges(util.isIdStartChar));
print('identifier_part', ranges(util.isIdContinueChar));
