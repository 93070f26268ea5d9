import { expect, test } from 'vitest';
import type { CheckedCase } from './check-case.ts';
import { type CheckLinesOptions, checkLines } from './check-lines.ts';

const line = (name: string, pipeline: object[]): string =>
  JSON.stringify({ name, source: 'own', docs: [{ a: 1 }], pipeline, ordered: true, expected: [{ a: 1 }] });

test('cases are checked in the order of their lines', async () => {
  const lines = [line('one', []), line('two', [{ $limit: 0 }]), line('three', [{ $limit: 1 }])];
  const checked = await all(lines, { selfTest: false });
  expect(checked.map(({ name, verdict }) => [name, verdict])).toEqual([
    ['one', 'passed'],
    ['two', 'failed'],
    ['three', 'passed'],
  ]);
});

test('a case that never ends is stopped and counts as failed, and the following ones are still checked', async () => {
  const checked = await all([line('one', []), line('two', [])], { selfTest: false, silenceMs: 1 });
  expect(checked.map(({ name, verdict }) => [name, verdict])).toEqual([
    ['one', 'failed'],
    ['two', 'failed'],
  ]);
  expect(checked[0]?.details?.actual).toBe('it was ended after 1 ms');
});

async function all(lines: readonly string[], options: CheckLinesOptions): Promise<CheckedCase[]> {
  const checked: CheckedCase[] = [];
  for await (const each of checkLines(lines, options)) checked.push(each);
  return checked;
}
