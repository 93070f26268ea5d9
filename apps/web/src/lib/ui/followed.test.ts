import { expect, test } from 'vitest';
import { followed } from './followed.ts';

test('a followed value is read when it is first needed, and not at all if it was set before', () => {
  let reads = 0;
  const read = (): string => `read ${++reads}`;
  const late = followed(read);
  expect(reads).toBe(0);
  expect([late.get(), late.get()]).toEqual(['read 1', 'read 1']);
  late.set('set');
  expect(late.get()).toBe('set');
  const early = followed(read);
  early.set('before');
  expect([early.get(), reads]).toEqual(['before', 1]);
});
