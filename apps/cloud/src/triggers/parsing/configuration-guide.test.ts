import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { triggersOfDocument } from './parse-document.ts';

test('the triggers in the examples of the configuration guide have no problems', () => {
  const guide = readFileSync(new URL('../../../../../docs/guides/configuration.md', import.meta.url), 'utf8');
  const documents = [...guide.matchAll(/^```json\n([\s\S]*?)^```$/gm)].map(([, text = '']) => JSON.parse(text));
  const parsed = documents.map((document) => triggersOfDocument(document));
  expect(parsed.flatMap(({ problems }) => problems)).toEqual([]);
  expect(parsed.flatMap(({ triggers }) => triggers).length).toBeGreaterThan(1);
});
