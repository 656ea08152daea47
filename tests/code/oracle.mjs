// What node makes of each snippet: a JSON array on stdin, one of {value} or {error} on stdout.
import { readFileSync } from 'node:fs';
import vm from 'node:vm';
import { inspect } from 'node:util';

process.env.TZ = 'UTC';
process.on('unhandledRejection', () => {});
const answers = [];
for (const code of JSON.parse(readFileSync(0, 'utf8'))) {
  try {
    const context = vm.createContext({ queueMicrotask });
    const value = await vm.runInContext(code, context, { timeout: 5000 });
    answers.push(value === undefined || value === null ? { value: '' } : { value: typeof value === 'string' ? value : inspect(value) });
  } catch (error) {
    answers.push({ error: error?.name ?? String(error) });
  }
}
console.log(JSON.stringify(answers));
