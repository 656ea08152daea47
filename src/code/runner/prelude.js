// What the engine itself does not bring: console, timers, and showing values. Evaluated once, before anybody's code, so
// everything it uses is taken by value here: code that changes a prototype changes its own world, not this one's.
(function (print) {
  'use strict';
  const call = Function.prototype.call;
  const bound = (method) => call.bind(method);
  const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, keys: objectKeys, getOwnPropertySymbols, create, is } = Object;
  const isArray = Array.isArray;
  const join = bound(Array.prototype.join);
  const push = bound(Array.prototype.push);
  const indexOf = bound(Array.prototype.indexOf);
  const sort = bound(Array.prototype.sort);
  const textSlice = bound(String.prototype.slice);
  const textIndexOf = bound(String.prototype.indexOf);
  const replace = bound(String.prototype.replace);
  const test = bound(RegExp.prototype.test);
  const regExpText = bound(RegExp.prototype.toString);
  const dateText = bound(Date.prototype.toISOString);
  const dateTime = bound(Date.prototype.getTime);
  const functionText = bound(Function.prototype.toString);
  const symbolText = bound(Symbol.prototype.toString);
  const numberText = bound(Number.prototype.toString);
  const bigIntText = bound(BigInt.prototype.toString);
  const hasOwn = bound(Object.prototype.hasOwnProperty);
  const isPrototypeOf = bound(Object.prototype.isPrototypeOf);
  const mapSize = bound(getOwnPropertyDescriptor(Map.prototype, 'size').get);
  const mapForEach = bound(Map.prototype.forEach);
  const setSize = bound(getOwnPropertyDescriptor(Set.prototype, 'size').get);
  const setForEach = bound(Set.prototype.forEach);
  const bufferLength = bound(getOwnPropertyDescriptor(ArrayBuffer.prototype, 'byteLength').get);
  const typedArray = getPrototypeOf(Uint8Array);
  const typedName = bound(getOwnPropertyDescriptor(typedArray.prototype, Symbol.toStringTag).get);
  const typedLength = bound(getOwnPropertyDescriptor(typedArray.prototype, 'length').get);
  const errorPrototype = Error.prototype;
  const stackOf = bound(getOwnPropertyDescriptor(errorPrototype, 'stack').get);
  const TypeErrorOf = TypeError;
  const { stringify } = JSON;
  const textOf = String, now = Date.now, floor = Math.floor;

  const maximumDepth = 2, maximumItems = 100, lineWidth = 72;

  const attempt = (action) => {
    try { return action(); } catch { return undefined; }
  };

  const quoted = (text) => {
    const mark = textIndexOf(text, "'") < 0 ? "'" : textIndexOf(text, '"') < 0 ? '"' : textIndexOf(text, '`') < 0 ? '`' : "'";
    let result = textSlice(stringify(text), 1, -1);
    result = replace(result, /\\"/g, '"');
    if (mark === "'") result = replace(result, /'/g, "\\'");
    return mark + result + mark;
  };

  const primitive = (value) => {
    switch (typeof value) {
      case 'string': return quoted(value);
      case 'number': return is(value, -0) ? '-0' : numberText(value);
      case 'bigint': return bigIntText(value) + 'n';
      case 'symbol': return symbolText(value);
      default: return textOf(value);
    }
  };

  const keyText = (key) => {
    if (typeof key === 'symbol') return '[' + symbolText(key) + ']';
    return test(/^[A-Za-z_$][\w$]*$/, key) ? key : quoted(key);
  };

  const constructorName = (value) => {
    for (let link = value, steps = 0; link !== null && steps < 1000; link = getPrototypeOf(link), ++steps) {
      const descriptor = getOwnPropertyDescriptor(link, 'constructor');
      if (descriptor && typeof descriptor.value === 'function') {
        const name = getOwnPropertyDescriptor(descriptor.value, 'name');
        if (name && typeof name.value === 'string' && name.value !== '') return name.value;
      }
    }
    return null;
  };

  const functionLabel = (value) => {
    const descriptor = getOwnPropertyDescriptor(value, 'name');
    const name = descriptor && typeof descriptor.value === 'string' ? descriptor.value : '';
    const source = attempt(() => functionText(value)) ?? '';
    if (test(/^class[\s{]/, source)) return '[class ' + (name || '(anonymous)') + ']';
    const kind = test(/^async\s*(function)?\s*\*/, source) ? 'AsyncGeneratorFunction'
      : test(/^async\b/, source) ? 'AsyncFunction'
      : test(/^function\s*\*/, source) ? 'GeneratorFunction' : 'Function';
    return '[' + kind + (name ? ': ' + name : ' (anonymous)') + ']';
  };

  const errorText = (value) => {
    const part = (key) => {
      const own = attempt(() => value[key]);
      return own === undefined ? '' : attempt(() => textOf(own)) ?? '';
    };
    const name = part('name'), message = part('message');
    const head = name && message ? name + ': ' + message : name || message || 'Error';
    let stack = attempt(() => stackOf(value));
    stack = typeof stack === 'string' ? replace(stack, /\n+$/, '') : '';
    return stack ? head + '\n' + stack : head;
  };

  const combine = (prefix, open, parts, close) => {
    const before = prefix ? prefix + ' ' : '';
    if (parts.length === 0) return before + open + close;
    let length = before.length + parts.length;
    let broken = false;
    for (let i = 0; i < parts.length; ++i) {
      length += parts[i].length;
      broken ||= textIndexOf(parts[i], '\n') >= 0;
    }
    if (!broken && length <= lineWidth) return before + open + ' ' + join(parts, ', ') + ' ' + close;
    const lines = [];
    for (let i = 0; i < parts.length; ++i) push(lines, '  ' + replace(parts[i], /\n/g, '\n  '));
    return before + open + '\n' + join(lines, ',\n') + '\n' + close;
  };

  const show = (value, depth, above, circles) => {
    if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return primitive(value);
    if (indexOf(above, value) >= 0) {
      if (indexOf(circles, value) < 0) push(circles, value);
      return '[Circular *' + (indexOf(circles, value) + 1) + ']';
    }
    push(above, value);
    let text = body(value, depth, above, circles);
    above.length -= 1;
    const circle = indexOf(circles, value);
    if (circle >= 0) text = '<ref *' + (circle + 1) + '> ' + text;
    return text;
  };

  const properties = (value, depth, above, circles, skip) => {
    const parts = [];
    const names = objectKeys(value);
    const symbols = getOwnPropertySymbols(value);
    for (let i = 0; i < symbols.length; ++i) {
      if (getOwnPropertyDescriptor(value, symbols[i])?.enumerable) push(names, symbols[i]);
    }
    for (let i = 0; i < names.length; ++i) {
      const key = names[i];
      if (skip && typeof key === 'string' && skip(key)) continue;
      if (parts.length >= maximumItems * 10) {
        push(parts, '... ' + (names.length - i) + ' more');
        break;
      }
      const descriptor = getOwnPropertyDescriptor(value, key);
      if (!descriptor) continue;
      const shown = hasOwn(descriptor, 'value') ? show(descriptor.value, depth + 1, above, circles)
        : descriptor.get && descriptor.set ? '[Getter/Setter]' : descriptor.get ? '[Getter]' : '[Setter]';
      push(parts, keyText(key) + ': ' + shown);
    }
    return parts;
  };

  const items = (length, at, depth, above, circles) => {
    const parts = [];
    for (let i = 0; i < length && i < maximumItems; ++i) push(parts, at(i));
    if (length > maximumItems) {
      const more = length - maximumItems;
      push(parts, '... ' + more + ' more item' + (more > 1 ? 's' : ''));
    }
    return parts;
  };

  const arrayParts = (value, depth, above, circles) => {
    const parts = [];
    let index = 0, shown = 0;
    const length = value.length;
    while (index < length && shown < maximumItems) {
      const descriptor = getOwnPropertyDescriptor(value, index);
      if (!descriptor) {
        const start = index;
        while (index < length && index - start < 100000 && !getOwnPropertyDescriptor(value, index)) ++index;
        const holes = index - start;
        push(parts, '<' + holes + ' empty item' + (holes > 1 ? 's' : '') + '>');
      } else {
        push(parts, hasOwn(descriptor, 'value') ? show(descriptor.value, depth + 1, above, circles) : '[Getter]');
        ++index;
      }
      ++shown;
    }
    if (index < length) push(parts, '... ' + (length - index) + ' more item' + (length - index > 1 ? 's' : ''));
    return parts;
  };

  const isIndex = (key) => test(/^(0|[1-9]\d*)$/, key);
  const add = (into, from) => {
    for (let i = 0; i < from.length; ++i) push(into, from[i]);
    return into;
  };

  const body = (value, depth, above, circles) => {
    const name = attempt(() => constructorName(value)) ?? null;
    const tooDeep = depth > maximumDepth;
    if (isArray(value)) {
      const prefix = name === 'Array' ? '' : (name ?? '[Array: null prototype]') + '(' + value.length + ')';
      if (tooDeep) return '[' + (name ?? 'Array') + ']';
      return combine(prefix, '[', add(arrayParts(value, depth, above, circles), properties(value, depth, above, circles, isIndex)), ']');
    }
    if (typeof value === 'function') {
      const parts = tooDeep ? [] : properties(value, depth, above, circles);
      return parts.length === 0 ? functionLabel(value) : combine(functionLabel(value), '{', parts, '}');
    }
    if (attempt(() => isPrototypeOf(errorPrototype, value))) {
      const text = errorText(value);
      const shown = above.length > 1 && textIndexOf(text, '\n') < 0 ? '[' + text + ']' : text;
      const parts = tooDeep ? [] : properties(value, depth, above, circles, (key) => key === 'stack' || key === 'message');
      return parts.length === 0 ? shown : combine(shown, '{', parts, '}');
    }
    const count = attempt(() => mapSize(value));
    if (count !== undefined) {
      if (tooDeep) return '[Map]';
      const parts = [];
      mapForEach(value, (item, key) => {
        if (parts.length < maximumItems) push(parts, show(key, depth + 1, above, circles) + ' => ' + show(item, depth + 1, above, circles));
      });
      if (count > maximumItems) push(parts, '... ' + (count - maximumItems) + ' more items');
      return combine((name ?? 'Map') + '(' + count + ')', '{', parts, '}');
    }
    const members = attempt(() => setSize(value));
    if (members !== undefined) {
      if (tooDeep) return '[Set]';
      const parts = [];
      setForEach(value, (item) => {
        if (parts.length < maximumItems) push(parts, show(item, depth + 1, above, circles));
      });
      if (members > maximumItems) push(parts, '... ' + (members - maximumItems) + ' more items');
      return combine((name ?? 'Set') + '(' + members + ')', '{', parts, '}');
    }
    const typed = typedName(value);
    if (typed !== undefined) {
      const length = typedLength(value);
      if (tooDeep) return '[' + typed + ']';
      return combine(typed + '(' + length + ')', '[', items(length, (i) => primitive(value[i])), ']');
    }
    const time = attempt(() => dateTime(value));
    if (time !== undefined) return time !== time ? 'Invalid Date' : dateText(value);
    if (attempt(() => isPrototypeOf(RegExp.prototype, value))) {
      const text = attempt(() => regExpText(value));
      if (typeof text === 'string') return text;
    }
    const bytes = attempt(() => bufferLength(value));
    if (bytes !== undefined) return 'ArrayBuffer { byteLength: ' + bytes + ' }';
    if (name === 'Promise') return 'Promise {}';
    if (name === 'WeakMap' || name === 'WeakSet') return name + ' { <items unknown> }';
    if (name === 'Number' || name === 'String' || name === 'Boolean' || name === 'BigInt' || name === 'Symbol') {
      const inner = attempt(() => value.valueOf());
      if (inner !== undefined && typeof inner !== 'object') return '[' + name + ': ' + primitive(inner) + ']';
    }
    const tagged = attempt(() => getOwnPropertyDescriptor(getPrototypeOf(value) ?? create(null), Symbol.toStringTag)?.value);
    const tag = typeof tagged === 'string' && tagged !== '' && tagged !== name ? ' [' + tagged + ']' : '';
    const prefix = name === 'Object' && !tag ? '' : (name ?? '[Object: null prototype]') + tag;
    if (tooDeep) return '[' + (name ?? 'Object: null prototype') + ']';
    return combine(prefix, '{', properties(value, depth, above, circles), '}');
  };

  const inspect = (value) => {
    try {
      return show(value, 0, [], []);
    } catch (trouble) {
      return '[cannot be shown]';
    }
  };
  const plain = (value) => (typeof value === 'string' ? value : inspect(value));

  const format = (values) => {
    let text = '';
    let next = 0;
    if (typeof values[0] === 'string' && values.length > 1 && textIndexOf(values[0], '%') >= 0) {
      const pattern = values[0];
      next = 1;
      for (let i = 0; i < pattern.length; ++i) {
        const letter = pattern[i] === '%' ? pattern[i + 1] : undefined;
        if (letter === '%') { text += '%'; ++i; continue; }
        if (letter === undefined || textIndexOf('sdifjoOc', letter) < 0 || next >= values.length) { text += pattern[i]; continue; }
        const value = values[next++];
        ++i;
        if (letter === 's') text += typeof value === 'object' && value !== null ? inspect(value) : typeof value === 'symbol' ? symbolText(value) : textOf(value);
        else if (letter === 'd') text += typeof value === 'bigint' ? value + 'n' : typeof value === 'object' ? 'NaN' : primitive(+value);
        else if (letter === 'i') text += typeof value === 'object' ? 'NaN' : primitive(parseInt(value, 10));
        else if (letter === 'f') text += typeof value === 'symbol' ? 'NaN' : primitive(parseFloat(value));
        else if (letter === 'j') text += attempt(() => stringify(value)) ?? 'undefined';
        else if (letter !== 'c') text += inspect(value);
      }
      if (next < values.length) text += ' ';
    }
    for (let i = next; i < values.length; ++i) text += (i > next ? ' ' : '') + plain(values[i]);
    return text;
  };

  // ── console ──────────────────────────────────────────────────────────────────────────────────────────────
  let indentation = '';
  const counts = create(null), starts = create(null);
  const write = (stream, values) => {
    let text = format(values);
    if (indentation) text = indentation + replace(text, /\n/g, '\n' + indentation);
    print(stream, text + '\n');
  };
  const out = (...values) => write(1, values);
  const err = (...values) => write(2, values);
  const named = (name, action) => defineProperty(action, 'name', { value: name });
  const console = {};
  const methods = {
    log: out, info: out, debug: out, dir: (value) => out(inspect(value)), dirxml: out, table: out,
    warn: err, error: err,
    trace: (...values) => err('Trace' + (values.length ? ': ' + format(values) : '')),
    assert: (condition, ...values) => { if (!condition) err('Assertion failed' + (values.length ? ': ' + format(values) : '')); },
    group: (...values) => { if (values.length) out(...values); if (indentation.length < 80) indentation += '  '; },
    groupEnd: () => { indentation = textSlice(indentation, 2); },
    count: (label = 'default') => { label = textOf(label); counts[label] = (counts[label] ?? 0) + 1; out(label + ': ' + counts[label]); },
    countReset: (label = 'default') => { delete counts[textOf(label)]; },
    time: (label = 'default') => { starts[textOf(label)] = now(); },
    timeEnd: (label = 'default') => { label = textOf(label); if (label in starts) { out(label + ': ' + (now() - starts[label]) + 'ms'); delete starts[label]; } },
    timeLog: (label = 'default', ...values) => { label = textOf(label); if (label in starts) out(label + ': ' + (now() - starts[label]) + 'ms', ...values); },
  };
  methods.groupCollapsed = methods.group;
  const methodNames = objectKeys(methods);
  for (let i = 0; i < methodNames.length; ++i) {
    const method = methods[methodNames[i]];
    console[methodNames[i]] = named(methodNames[i], (...values) => method(...values));
  }
  const place = (name, value) => defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
  place('console', console);

  // ── timers ───────────────────────────────────────────────────────────────────────────────────────────────
  let timers = [];
  let lastTimer = 0;
  const addTimer = (action, delay, repeat, values) => {
    if (typeof action !== 'function') throw new TypeErrorOf('The "callback" argument must be of type function');
    delay = +delay;
    if (!(delay >= 1 && delay <= 2147483647)) delay = 1;
    const timer = { id: ++lastTimer, due: now() + floor(delay), action, values, repeat: repeat ? floor(delay) : 0 };
    push(timers, timer);
    return timer.id;
  };
  const removeTimer = (id) => {
    const rest = [];
    for (let i = 0; i < timers.length; ++i) if (timers[i].id !== id) push(rest, timers[i]);
    timers = rest;
  };
  place('setTimeout', named('setTimeout', (action, delay, ...values) => addTimer(action, delay, false, values)));
  place('setInterval', named('setInterval', (action, delay, ...values) => addTimer(action, delay, true, values)));
  place('setImmediate', named('setImmediate', (action, ...values) => addTimer(action, 1, false, values)));
  place('clearTimeout', named('clearTimeout', removeTimer));
  place('clearInterval', named('clearInterval', removeTimer));
  place('clearImmediate', named('clearImmediate', removeTimer));

  // Runs the one that is due; says how many milliseconds the next one is away, or −1 when there is none.
  const tick = () => {
    if (timers.length === 0) return -1;
    sort(timers, (a, b) => a.due - b.due || a.id - b.id);
    const timer = timers[0];
    const wait = timer.due - now();
    if (wait > 0) return wait;
    if (timer.repeat) timer.due = now() + timer.repeat;
    else removeTimer(timer.id);
    const { action, values } = timer;
    action(...values);
    return 0;
  };

  // What went wrong, told without running a getter of anybody's.
  const describe = (value) => {
    if (value === null || typeof value !== 'object' || !attempt(() => isPrototypeOf(errorPrototype, value))) {
      return ['', 'Uncaught ' + plain(value), ''];
    }
    const find = (key) => {
      for (let link = value, steps = 0; link && steps < 100; link = getPrototypeOf(link), ++steps) {
        const descriptor = getOwnPropertyDescriptor(link, key);
        if (descriptor) return typeof descriptor.value === 'string' ? descriptor.value : '';
      }
      return '';
    };
    return attempt(() => [find('name') || 'Error', find('message'), textOf(attempt(() => stackOf(value)) ?? '')]) ?? ['Error', '[cannot be shown]', ''];
  };
  return { plain, tick, describe };
})
