import { expect, test } from 'vitest';
import { migrations } from './migrations.ts';

test('migrations are numbered in order, from 1, without gaps or repeats: a store applies those above its own number', () => {
  expect(migrations.map(({ version }) => version)).toEqual(migrations.map((_, at) => at + 1));
});
