/** The cases that were written here, from what the public manual says of a stage. */

import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { checkCase } from '../check-case.ts';

const files = readdirSync(import.meta.dirname).filter((name) => name.endsWith('.jsonl'));

/** The case files that were taken over hold next to nothing about these stages and rules of SQL. */
const thin = ['atlas-sql.jsonl', 'densify.jsonl', 'fill.jsonl', 'sort-by-count.jsonl'];

test.each(files)('every own case of %s gives exactly what it says', async (file) => {
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

test('the stages and rules about which there is little elsewhere have cases of their own', () => {
  expect(files).toEqual(expect.arrayContaining(thin));
});
