import { expect, test } from 'vitest';
import type { TriggerEvent } from '../event.ts';
import { describeRequest } from './describe-request.ts';

const event: TriggerEvent = {
  type: 'part_offline',
  place: {
    ...{ organizationId: 'o', organizationName: 'Öfen', locationId: 'l', locationName: 'Halle', robotId: 'r' },
    ...{ robotName: 'press', partId: 'p', partName: 'main' },
  },
};
const row = { id: 'msg_1', event: JSON.stringify(event), event_at: 0, trigger_name: 'gone', application: null };

test('the request of a webhook is shown with readable headers and its id, but without anything that authenticates the sender', () => {
  const request = describeRequest({ ...row, channel: 'webhook' }, 'UTC');
  expect(request?.method).toBe('GET');
  expect(request?.headers).toMatchObject({ 'Organization-Name': 'Öfen', 'Part-Id': 'p', 'webhook-id': 'msg_1' });
  expect(Object.keys(request?.headers ?? {})).not.toContain('Authorization');
});

test('an e-mail is shown as its text, a push notification as its JSON', () => {
  const mail = describeRequest({ ...row, channel: 'email' }, 'UTC');
  expect(mail).toMatchObject({ method: 'MAIL', headers: {} });
  expect(mail?.body).toMatch(/^press is offline\n\n/);
  const push = describeRequest({ ...row, channel: 'push', application: 'com.example' }, 'UTC');
  expect(push?.method).toBe('PUSH');
  expect(JSON.parse(push?.body ?? '')).toMatchObject({ message: { data: { app_id: 'com.example' } } });
});

test('a damaged event has no request', () => {
  expect(describeRequest({ ...row, event: '{', channel: 'webhook' }, 'UTC')).toBeUndefined();
});
