import { expect, test } from 'vitest';
import { stepsOf, waitingFor } from './applied.ts';

const applied = {
  ...{ saved: { revision: 'b' }, fetched: { revision: 'b' }, applied: { revision: 'b' } },
  ...{ held: undefined, heldReason: '', lastError: '', savedVersion: 4n },
} as unknown as Parameters<typeof stepsOf>[0];
const done = (newest?: bigint) =>
  stepsOf(applied, newest).flatMap(({ name, state }) => (state === 'done' ? [name] : []));

test('a version is applied once the machine runs the revision that was saved', () => {
  expect(done()).toEqual(['saved', 'fetched', 'applied']);
  expect(done(4n)).toEqual(['saved', 'fetched', 'applied']);
});

test('a version that the page just saved is not applied while the cloud still reports the version before it, which is', () => {
  expect(done(5n)).toEqual(['saved']);
  expect(waitingFor({ ...applied, lastError: 'of version 4' }, 5n)).toBe('');
});

test('a machine that runs the saved revision and reports an error shows no green "applied" beside it', () => {
  const broken = { ...applied, lastError: 'sensor oven: no such port' };
  expect(stepsOf(broken).map(({ state }) => state)).toEqual(['done', 'done', 'failed']);
  expect(waitingFor(broken)).toBe('Version 4 is applied with problems: sensor oven: no such port');
  const refused = { ...broken, applied: { revision: 'a' } } as typeof applied;
  expect(stepsOf(refused).map(({ state }) => state)).toEqual(['done', 'done', 'failed']);
  expect(waitingFor(refused)).toBe('Version 4 could not be applied: sensor oven: no such port');
});

test('steps that are not done say what they wait for; an earlier error says nothing about a version that is held or not fetched', () => {
  const at = (more: object) => ({ ...applied, ...more }) as typeof applied;
  const states = (more: object) => stepsOf(at(more)).map(({ state }) => state);
  const before = { revision: 'a' };
  expect(states({ applied: before })).toEqual(['done', 'done', 'open']);
  expect(waitingFor(at({ applied: before }))).toBe('The machine is applying it.');
  expect(states({ fetched: before, applied: before, lastError: 'of a' })).toEqual(['done', 'open', 'open']);
  const held = { applied: before, held: { revision: 'b' }, heldReason: 'at work', lastError: 'of a' };
  expect(states(held)).toEqual(['done', 'done', 'open']);
  expect(waitingFor(at(held))).toBe('Version 4 waits for the maintenance window: at work.');
});
