import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createTurns } from './turns.ts';

const never = new AbortController().signal;

test('D34 what runs alone waits for what runs together, and the other way round, in the order of arrival', async () => {
  const turns = createTurns();
  const events: string[] = [];
  const together = async (name: string): Promise<Disposable> => {
    const turn = await turns.together(never);
    events.push(name);
    return turn;
  };
  const [first, second] = [await together('query 1'), await together('query 2')];
  const { promise: written, resolve: endWrite } = Promise.withResolvers<void>();
  const writing = turns.alone(async () => {
    events.push('write');
    await written;
    events.push('written');
  });
  const third = together('query 3');
  first[Symbol.dispose]();
  await setImmediate();
  expect(events).toEqual(['query 1', 'query 2']);
  second[Symbol.dispose]();
  await setImmediate();
  expect(events).toEqual(['query 1', 'query 2', 'write']);
  endWrite();
  await writing;
  (await third)[Symbol.dispose]();
  expect(events).toEqual(['query 1', 'query 2', 'write', 'written', 'query 3']);
});

test('D34 a cancelled query leaves the queue at once, and a failed write ends its turn', async () => {
  const turns = createTurns();
  const { promise, reject } = Promise.withResolvers<void>();
  const writing = turns.alone(() => promise);
  const cancel = new AbortController();
  const cancelled = turns.together(cancel.signal);
  const waiting = turns.together(never);
  cancel.abort();
  (await cancelled)[Symbol.dispose]();
  reject(new Error('full'));
  await expect(writing).rejects.toThrow('full');
  (await waiting)[Symbol.dispose]();
  expect(await turns.alone(async () => 'alone')).toBe('alone');
});
