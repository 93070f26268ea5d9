/** Our own cases, based on the public manual. */

import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checkCase } from '../check-case.ts';

const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.jsonl'));

/** Case files for stages and SQL rules that the imported case files hardly cover. */
const thin = ['atlas-sql.jsonl', 'densify.jsonl', 'fill.jsonl', 'sort-by-count.jsonl'];

test.each(files)('every own case of %s gives exactly the expected result', async (file) => {
  const lines = readFileSync(`${import.meta.dirname}/${file}`, 'utf8')
    .trimEnd()
    .split('\n');
  if (thin.includes(file)) expect(lines.length).toBeGreaterThanOrEqual(60);
  const failed: string[] = [];
  for (const line of lines) {
    const { verdict, name, msg, details } = await checkCase(line, false);
    if (verdict !== 'passed') failed.push(`${name} ${msg}: ${details?.actual ?? verdict}`);
  }
  expect(failed).toEqual([]);
});

test('the stages and rules that other case files hardly cover have their own cases', () => {
  expect(files).toEqual(expect.arrayContaining(thin));
});
