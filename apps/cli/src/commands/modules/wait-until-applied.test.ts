import type { Cloud } from '@platform/sdk/cloud';
import { expect, test } from 'vitest';
import { waitUntilApplied } from './wait-until-applied.ts';

/** A part that reports what it runs, one answer after the other. */
function partWith(...applied: readonly (string | undefined)[]): Cloud['fleet'] {
  const answers = applied.values();
  const getPartStatus = async () => {
    const revision = answers.next().value;
    return { saved: { revision: 'new' }, applied: revision && { revision }, lastError: 'the port is busy' };
  };
  return { getPartStatus } as unknown as Cloud['fleet'];
}

const { signal } = new AbortController();

test('waits until the part runs the saved configuration, and reports the part’s errors', async () => {
  const part = partWith(undefined, 'old', 'new');
  expect(await waitUntilApplied(part, 'part', 60_000, signal)).toEqual({ state: 'applied', error: 'the port is busy' });
});

test('the wait ends after its limit, or when the command is stopped', async () => {
  expect(await waitUntilApplied(partWith('old'), 'part', 0, signal)).toEqual({ state: 'waiting', error: '' });
  const stop = new AbortController();
  const waiting = waitUntilApplied(partWith('old', 'old'), 'part', 60_000, stop.signal);
  stop.abort(new Error('interrupted'));
  await expect(waiting).rejects.toThrow('interrupted');
});
