import { expect, test } from 'vitest';
import { baselineVersion } from './baseline-version.ts';
import { migrations } from './migrations.ts';

test('migrations are numbered in order, from the baseline, without gaps or repeats: a store applies those above its own number', () => {
  expect(migrations.map(({ version }) => version)).toEqual(migrations.map((_, at) => baselineVersion + at));
});
