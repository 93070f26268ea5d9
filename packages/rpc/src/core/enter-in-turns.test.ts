import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { enterInTurns, requestsInOneTurn } from './enter-in-turns.ts';

/** A connection whose requests write their names into `entered`. */
function connection(entered: string[], name: string, isGone = () => false): { send(count: number): void } {
  const self = { name };
  let sent = 0;
  return {
    send(count) {
      for (let left = count; left > 0; left--) {
        const request = `${name}${sent++}`;
        enterInTurns(self, { isGone, enter: () => entered.push(request) });
      }
    },
  };
}

test('a turn of the event loop lets a few requests in, the others come in later turns, each connection in its order', async () => {
  await turn();
  const entered: string[] = [];
  connection(entered, 'a').send(3 * requestsInOneTurn);
  const counts = [entered.length];
  for (let before = -1; before !== entered.length; counts.push(entered.length - before)) {
    before = entered.length;
    await turn();
  }
  expect(counts).toEqual([requestsInOneTurn, requestsInOneTurn, requestsInOneTurn, 0]);
  expect(entered).toEqual(Array.from({ length: 3 * requestsInOneTurn }, (_, at) => `a${at}`));
});

test('a request waits for at most one of each other connection, however many those have sent', async () => {
  await turn();
  const entered: string[] = [];
  for (let number = 0; number < 20; number++) connection(entered, `flood ${number}: `).send(1_000);
  connection(entered, 'canary ').send(2);
  while (!entered.includes('canary 1')) await turn();
  expect(entered.indexOf('canary 0')).toBeLessThanOrEqual(requestsInOneTurn + 20);
  expect(entered.indexOf('canary 1') - entered.indexOf('canary 0')).toBeLessThanOrEqual(21);
  for (let left = 20_002; left > entered.length; ) await turn();
});

test('requests that are gone do not enter, and take nobody the place', async () => {
  await turn();
  const entered: string[] = [];
  let isGone = false;
  connection(entered, 'gone', () => isGone).send(1_000);
  connection(entered, 'other').send(requestsInOneTurn);
  isGone = true;
  const before = entered.length;
  await turn();
  expect(entered.slice(before)).toEqual(Array.from({ length: requestsInOneTurn }, (_, at) => `other${at}`));
});
