import { expect, test } from 'vitest';
import { type SyncFacts, syncStateOf, syncStates } from './data-status.ts';

const sending: SyncFacts = {
  ...{ sends: true, heldReason: undefined, pause: 'none', failedFiles: 0, waitingFiles: 0, lastError: '' },
};

test.each<[string, Partial<SyncFacts>]>([
  ['off', { sends: false, heldReason: 'at work', lastError: 'unavailable: gone', failedFiles: 1 }],
  ['held: at work', { heldReason: 'at work', pause: 'waits' }],
  ['waiting for the cloud', { pause: 'waits' }],
  ['waiting for the cloud', { pause: 'probes', waitingFiles: 1, lastError: 'unavailable: gone' }],
  ['on', { pause: 'probes', lastError: 'unavailable: gone' }],
  ['failing', { failedFiles: 1, waitingFiles: 3, lastError: 'internal: no space' }],
  // Another file was sent since, or the failed one is set aside.
  ['on', { failedFiles: 1, waitingFiles: 3 }],
  ['on', { lastError: 'invalid_argument: too large' }],
  ['on', {}],
])('sync is "%s" if %j', (word, facts) => {
  expect(syncStateOf({ ...sending, ...facts })).toBe(word);
  expect(syncStates).toContain(word.replace(/:.*/, ''));
});
