"""Puts sucrase and what it needs into one script that defines __removeTypes(text): bundle_types.py NODE_MODULES OUT"""
import json
import os
import re
import sys

modules, target = sys.argv[1:3]
order = []
numbers = {}


def resolve(base, name):
    if name.startswith('.'):
        path = os.path.normpath(os.path.join(os.path.dirname(base), name))
        for candidate in (path, path + '.js', os.path.join(path, 'index.js')):
            if os.path.isfile(candidate):
                return candidate
        return None
    folder = os.path.join(modules, name)
    if not os.path.isdir(folder):
        return None
    with open(os.path.join(folder, 'package.json')) as file:
        main = json.load(file).get('main', 'index.js')
    return resolve(os.path.join(folder, 'package.json'), './' + main)


def add(path):
    if path in numbers:
        return numbers[path]
    numbers[path] = len(order)
    order.append(None)
    with open(path) as file:
        text = file.read()
    text = re.sub(r'//# sourceMappingURL=.*', '', text)

    def replaced(match):
        found = resolve(path, match.group(2))
        return match.group(0) if found is None else 'require(%d)' % add(found)

    text = re.sub(r'''\brequire\((['"])([^'"]+)\1\)''', replaced, text)
    order[numbers[path]] = text
    return numbers[path]


entry = add(os.path.join(modules, 'sucrase', 'dist', 'index.js'))
with open(target, 'w') as out:
    out.write('(function () {\nconst parts = [\n')
    for text in order:
        out.write('function (module, exports, require) {\n' + text + '\n},\n')
    out.write('''];
const loaded = [];
const require = (number) => {
  if (!loaded[number]) {
    const module = (loaded[number] = { exports: {} });
    parts[number].call(module.exports, module, module.exports, require);
  }
  return loaded[number].exports;
};
const { transform } = require(%d);
globalThis.__removeTypes = (text) =>
  transform(text, { transforms: ['typescript'], disableESTransforms: true, keepUnusedImports: true }).code;
})();
''' % entry)
