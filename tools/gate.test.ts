import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { runSteps, stepsOf } from './gate.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'platform-gate-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** A step that writes the file `own`, and ends when there is `other`. */
const meeting = (own: string, other: string) => ({
  name: own,
  command: [
    'node',
    '-e',
    `const fs = require('node:fs'); fs.writeFileSync('${join(folder, own)}', '');
     while (!fs.existsSync('${join(folder, other)}')) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);`,
  ],
});

test('steps run at the same time, and a failed one shows its whole output when it ends', async () => {
  const said: string[] = [];
  const log = vi.spyOn(console, 'log').mockImplementation((line: string) => void said.push(line));
  const failing = {
    name: 'failing',
    command: ['node', '-e', 'console.log("x".repeat(1 << 20)); console.error("why"); process.exitCode = 1'],
    remedy: 'do that',
  };
  const absent = { name: 'absent', command: ['no-such-program'] };
  try {
    const count = await runSteps([meeting('a', 'b'), meeting('b', 'a'), failing, absent], 2);
    expect(count).toEqual({ passed: 2, failed: 2 });
  } finally {
    log.mockRestore();
  }
  const lines = said.map((line) => line.replace(/ \(\d+\.\d s\)/, ''));
  expect(lines.slice(0, 2).toSorted()).toEqual(['ok     a', 'ok     b']);
  expect(lines).toContain('FAILED failing');
  expect(lines).toContain('FAILED absent');
  const shown = lines.find((line) => line.includes('do that')) ?? '';
  expect(shown.match(/x+/)?.[0]).toHaveLength(1 << 20);
  expect(shown).toContain('why');
  expect(lines.join('\n')).toContain('ENOENT');
});

test('with changed files, only the steps that they can affect run, over these files where a step can', () => {
  const namesOf = (...paths: string[]) => stepsOf(paths).map(({ name }) => name);
  const always = ['types', 'sources and documents', 'lockfile'];
  expect(namesOf('docs/architecture.md')).toEqual(always);
  expect(namesOf('packages/proto/proto/gone.proto')).toEqual([
    'types',
    'generated files',
    'types of the web UI',
    ...always.slice(1),
  ]);
  expect(stepsOf(['tools/gate.ts', 'tools/gone.ts', 'docs/architecture.md'])).toEqual([
    expect.objectContaining({ name: 'types' }),
    { name: 'promises', command: ['oxlint', '--type-aware', 'tools/gate.ts'] },
    expect.objectContaining({ command: ['biome', 'check', '--no-errors-on-unmatched', 'tools/gate.ts'] }),
    expect.objectContaining({ name: 'sources and documents' }),
    expect.objectContaining({ name: 'lockfile' }),
  ]);
  expect(stepsOf().map(({ name }) => name)).toEqual([
    'types',
    'promises',
    'generated files',
    'types of the web UI',
    'format and lint',
    'unused code',
    ...always.slice(1),
  ]);
});
