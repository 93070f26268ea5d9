import { expect, test } from 'vitest';
import { onEach } from './bulk.ts';
import type { FleetRow } from './rows.ts';

test('an action runs once on each machine, a few at a time, and failures are listed with their reasons', async () => {
  const rows = Array.from({ length: 30 }, (_, at) => ({ name: `press-${at}` }) as FleetRow);
  const asked: string[] = [];
  let [running, most, counted] = [0, 0, 0];
  const result = await onEach(
    rows,
    async ({ name }) => {
      most = Math.max(most, ++running);
      asked.push(name);
      await Promise.resolve();
      running -= 1;
      if (name === 'press-7') throw new Error('it is locked');
    },
    (done) => (counted = done),
  );
  expect(new Set(asked).size).toBe(30);
  expect(most).toBe(4);
  expect(counted).toBe(30);
  expect(result).toEqual({ done: 29, failed: [{ row: rows[7], why: 'it is locked' }] });
});
