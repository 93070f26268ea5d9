import { expect, test } from 'vitest';
import { stepsOf, waitingFor } from './applied.ts';

const applied = {
  ...{ saved: { revision: 'b' }, fetched: { revision: 'b' }, applied: { revision: 'b' } },
  ...{ held: undefined, heldReason: '', lastError: '', savedVersion: 4n },
} as unknown as Parameters<typeof stepsOf>[0];
const done = (newest?: bigint) => stepsOf(applied, newest).flatMap((step) => (step.done ? [step.name] : []));

test('a version is applied once the machine runs the revision that was saved', () => {
  expect(done()).toEqual(['saved', 'fetched', 'applied']);
  expect(done(4n)).toEqual(['saved', 'fetched', 'applied']);
});

test('a version that the page just saved is not applied while the cloud still reports the version before it, which is', () => {
  expect(done(5n)).toEqual(['saved']);
  expect(waitingFor({ ...applied, lastError: 'of version 4' }, 5n)).toBe('');
});
