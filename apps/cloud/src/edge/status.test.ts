import { expect, test } from 'vitest';
import { outcomeText } from './status.ts';

const attempt = { attempt: 1, at: 1, duration_ms: 1, code: null, error: null, response: null } as const;

test.each([
  [{ outcome: 'accepted', code: 204 }, 'delivered (204)'],
  [{ outcome: 'accepted' }, 'delivered'],
  [{ outcome: 'retryLater', error: 'no answer within 15 s' }, 'retry-later: no answer within 15 s'],
  [{ outcome: 'rejected', code: 404 }, 'rejected: 404'],
  [{ outcome: 'kept', response: 'kept in the test inbox' }, 'kept in the test inbox'],
])('the status page says what came of the attempt %j', (given, text) => {
  expect(outcomeText({ ...attempt, ...given } as Parameters<typeof outcomeText>[0])).toBe(text);
});
