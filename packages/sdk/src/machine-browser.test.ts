import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { rolldown } from 'rolldown';
import { expect, test } from 'vitest';
import * as ofNode from './machine.ts';
import * as ofBrowser from './machine-browser.ts';

const source = fileURLToPath(new URL('./machine-browser.ts', import.meta.url));

test('browsers load the machine client without anything of Node, in 150 kB', async () => {
  const problems: string[] = [];
  await using bundle = await rolldown({
    input: source,
    platform: 'browser',
    resolve: { conditionNames: ['@platform/source', 'browser', 'import', 'default'] },
    onLog: (_level, { message }) => void problems.push(message),
  });
  const { output } = await bundle.generate({ format: 'esm', minify: true, codeSplitting: false });
  expect(problems).toEqual([]);
  const [{ code, imports, dynamicImports }] = output;
  expect([imports, dynamicImports]).toEqual([[], []]);
  // One that asks first whether there is a process.
  expect(code.match(/\b(Buffer|process)\.\w+/g)).toEqual(['process.env', 'process.env']);
  expect(gzipSync(code).length).toBeLessThan(150_000);
});

test('both entry points have the same names', () => {
  expect(Object.keys(ofBrowser).sort()).toEqual(Object.keys(ofNode).sort());
});
