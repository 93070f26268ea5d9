import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { runLane } from './lane.ts';
import { root } from './repository.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'platform-lane-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function lane(program: string): ReturnType<typeof runLane> {
  const file = join(folder, 'check.mts');
  writeFileSync(file, `import { createSteps } from ${JSON.stringify(join(root, 'tools/steps.ts'))};\n${program}`);
  return runLane('packed', relative(root, file), ['--if-changed']);
}

test('a check beside the tests tells which of its steps passed, and which did not run because nothing changed', async () => {
  const ran = await lane(`
    const { step, end } = createSteps();
    await step('first', () => process.argv[2]);
    await step('second', async () => undefined);
    await step('third', () => { throw new Error('runs'); }, 'unchanged since then');
    await end();`);
  expect(ran).toMatchObject({ name: 'packed', passed: 2, failed: 0, titles: ['first', 'second', 'third'] });
  expect(ran.said).toMatch(/ok {5}first \(\d+\.\d s\) --if-changed\n/);
  expect(ran.said).toContain('third: unchanged since then');
});

test('a step that fails is the last one; a check that ends without a failed step, but with an error, counts as one failure', async () => {
  const failing = await lane(`
    const { step, end } = createSteps();
    await step('first', () => { throw new Error('why'); });
    await step('second', () => undefined);
    await end();`);
  expect(failing).toMatchObject({ passed: 0, failed: 1, titles: ['first'] });
  expect(failing.said).toContain('FAILED first: why');
  const crashed = await lane(`await createSteps().step('first', () => undefined); throw new Error('crash');`);
  expect(crashed).toMatchObject({ passed: 1, failed: 1 });
  expect(crashed.said).toContain('crash');
  expect(crashed.said).toContain('FAILED packed: ended with exit code 1');
});
