import { OnlineState } from '@platform/proto/platform/app/v1/app';
import { expect, test } from 'vitest';
import { type SetupFacts, type SetupStatus, setupSteps } from './setup-steps.ts';

const never = { onlineState: OnlineState.AWAITING_SETUP, lastError: '' } as SetupStatus;
const online = {
  ...{ lastAccess: { seconds: 1n }, fetched: { revision: 'a' } },
  ...{ onlineState: OnlineState.ONLINE, lastError: '' },
} as SetupStatus;
/** What the page shows beside the next step. */
const missing = (facts: Partial<SetupFacts>): string | undefined =>
  setupSteps({ status: online, gap: undefined, isStored: false, ...facts }).find(({ done }) => !done)?.missing;

test('what a new machine lacks is named instead of "waiting"', () => {
  expect(missing({ status: undefined })).toBe('the machine has never connected: run the line on it');
  expect(missing({ status: never })).toBe('the machine has never connected: run the line on it');
  expect(missing({ status: { ...never, lastAccess: online.lastAccess } as SetupStatus })).toBe(
    'the machine has connected, but not fetched its configuration',
  );
  expect(missing({ status: { ...online, onlineState: OnlineState.OFFLINE } })).toBe(
    'the machine has fetched its configuration, but is not online',
  );
  expect(missing({ gap: 'nothing captured' })).toBe(
    'the configuration captures nothing: add a sensor, and turn on its capture',
  );
  expect(missing({ gap: 'no data manager' })).toContain('add the service data_manager');
  expect(missing({ gap: 'sync disabled' })).toContain('sync is off');
  expect(missing({ status: { ...online, lastError: 'no such sensor' } })).toBe(
    'the configuration could not be applied: no such sensor',
  );
  expect(missing({})).toBe('the machine captures, but no reading has arrived yet');
  expect(missing({ isStored: true })).toBeUndefined();
});
