import type { Cloud } from '@platform/sdk/cloud';
import { expect, test } from 'vitest';
import { waitUntilApplied } from './wait-until-applied.ts';

/** A part that says what it runs, one answer after the other. */
function partWith(...applied: readonly (string | undefined)[]): Cloud['fleet'] {
  const answers = applied.values();
  const getPartStatus = async () => {
    const revision = answers.next().value;
    return { saved: { revision: 'new' }, applied: revision && { revision }, lastError: 'the port is busy' };
  };
  return { getPartStatus } as unknown as Cloud['fleet'];
}

const { signal } = new AbortController();

test('waits until the part runs what is saved, and tells what the part says is wrong', async () => {
  const part = partWith(undefined, 'old', 'new');
  expect(await waitUntilApplied(part, 'part', 60_000, signal)).toEqual({ state: 'applied', error: 'the port is busy' });
});

test('a part that does not apply it in time is waited for no longer, and a stop ends the wait', async () => {
  expect(await waitUntilApplied(partWith('old'), 'part', 0, signal)).toEqual({ state: 'waiting', error: '' });
  const stop = new AbortController();
  const waiting = waitUntilApplied(partWith('old', 'old'), 'part', 60_000, stop.signal);
  stop.abort(new Error('interrupted'));
  await expect(waiting).rejects.toThrow('interrupted');
});
