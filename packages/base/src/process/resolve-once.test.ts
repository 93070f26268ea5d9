import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'platform-resolved-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Runs `main.ts` of these files after `resolveOnce`. */
function run(files: Readonly<Record<string, string>>): string {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  const own = JSON.stringify(new URL('./resolve-once.ts', import.meta.url).href);
  writeFileSync(
    join(folder, 'start.ts'),
    `import { resolveOnce } from ${own}; resolveOnce(); await import('./main.ts');`,
  );
  const { stdout, stderr, status } = spawnSync(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', join(folder, 'start.ts')],
    { encoding: 'utf8' },
  );
  expect(status, stderr).toBe(0);
  return stdout.trim();
}

const named = (name: string, more: object = {}): string =>
  JSON.stringify({ name, type: 'module', exports: './index.js', ...more });
const say = (name: string): string => `import { value } from 'dep'; console.log('${name}', value);`;

test('each package gets its own version of what it imports, however deep the importing file is', () => {
  const printed = run({
    'package.json': named('root'),
    'node_modules/dep/package.json': named('dep'),
    'node_modules/dep/index.js': "export const value = 'outer';",
    'src/deep/one.ts': say('root'),
    'other/package.json': named('other'),
    'other/node_modules/dep/package.json': named('dep'),
    'other/node_modules/dep/index.js': "export const value = 'inner';",
    'other/src/deep/two.ts': say('other'),
    'main.ts': "import './src/deep/one.ts'; import './other/src/deep/two.ts'; import 'dep';",
  });
  expect(printed).toBe('root outer\nother inner');
});

test('packages of others keep what Node decides: CommonJS beside modules, conditions, files without extension', () => {
  const printed = run({
    'package.json': named('root'),
    'node_modules/both/package.json': JSON.stringify({
      name: 'both',
      exports: { import: './wrapper.mjs', require: './index.js' },
    }),
    'node_modules/both/index.js': "const { part } = require('./part'); module.exports = { kind: 'require', part };",
    'node_modules/both/part.js': "exports.part = 'part';",
    'node_modules/both/wrapper.mjs':
      "import inner from './index.js'; export const kind = 'import'; export default inner;",
    'main.ts': `
      import { createRequire } from 'node:module';
      import inner, { kind } from 'both';
      const required = createRequire(import.meta.url)('both');
      console.log(kind, inner.kind, inner.part, required === inner);`,
  });
  expect(printed).toBe('import require part true');
});

test('a missing file or package fails with its name', () => {
  const printed = run({
    'package.json': named('root'),
    'main.ts': `
      for (const name of ['./gone.ts', 'gone-package'])
        console.log(await import(name).catch(({ code, message }) => code + ' ' + message.includes(name.replace('./', ''))));`,
  });
  expect(printed).toBe('ENOENT true\nERR_MODULE_NOT_FOUND true');
});

test('attributes and queries of an import are kept', () => {
  const printed = run({
    'package.json': named('root'),
    'data.json': '{"a": 1}',
    'twice.ts': 'export const id = Symbol();',
    'main.ts': `
      import data from './data.json' with { type: 'json' };
      const [one, same, other] = await Promise.all([import('./twice.ts'), import('./twice.ts'), import('./twice.ts?2')]);
      console.log(data.a, one.id === same.id, one.id === other.id);`,
  });
  expect(printed).toBe('1 true false');
});
