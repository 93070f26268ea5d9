import { create } from '@bufbuild/protobuf';
import { DeliverySchema, DeliveryState } from '@platform/proto/platform/app/v1/triggers';
import { expect, test } from 'vitest';
import { outcomesOf } from './test-outcome.ts';

const delivery = (state: DeliveryState, attempt?: object, waitsBecause = '') =>
  create(DeliverySchema, {
    ...{ state, waitsBecause, channel: 'webhook', target: 'http://hook' },
    attempts: attempt === undefined ? [] : [attempt],
  });

test.each([
  [DeliveryState.DELIVERED, { code: 200, durationMs: 5 }, 'was delivered, with 200, in 5 ms.', true],
  [
    DeliveryState.KEPT,
    { response: 'kept in the test inbox: no mail server' },
    'reached nobody: kept in the test inbox: no mail',
    false,
  ],
  [DeliveryState.KEPT, undefined, 'was kept in the test inbox; nobody got it.', false],
  [DeliveryState.FAILED, { code: 404 }, 'failed: the answer was 404', false],
  [DeliveryState.FAILED, { code: 404, error: 'answered 404' }, 'failed: answered 404', false],
  [DeliveryState.PENDING, { error: 'connection refused' }, 'was not delivered, and is tried again: connection', false],
  [DeliveryState.PENDING, undefined, 'has had no answer yet.', false],
  [DeliveryState.PAUSED, undefined, 'waits: its target is paused', false],
])('D45 a test in state %s with the attempt %o', (state, attempt, text, isGood) => {
  const [outcome] = outcomesOf([delivery(state, attempt)]);
  expect(outcome?.text).toContain(`The test webhook to http://hook ${text}`);
  expect(outcome?.isGood).toBe(isGood);
});

test('a test that reaches nobody says so', () => {
  expect(outcomesOf([])).toEqual([{ isGood: false, text: 'Nothing was sent: nobody is to be notified.' }]);
});
