import { expect, test } from 'vitest';
import { messageOf } from './inbox.ts';

test('a mail has its address, subject and text; a webhook its name and its indented JSON', () => {
  const common = { id: 1, receivedAt: 0 };
  expect(
    messageOf({
      ...{ ...common, method: 'MAIL', path: '/test-inbox/mail/ada%40example.com' },
      headers: { To: 'ada@example.com', Subject: 'Join' },
      body: JSON.stringify({ text: 'Hello', html: '<b>Hello</b>' }),
    }),
  ).toMatchObject({ kind: 'mail', to: 'ada@example.com', subject: 'Join', body: 'Hello' });
  expect(
    messageOf({ ...common, method: 'POST', path: '/test-inbox/webhooks/too%20hot?a=1', headers: {}, body: '{"a":1}' }),
  ).toMatchObject({ kind: 'webhook', to: 'too hot', subject: '{"a":1}', body: '{\n  "a": 1\n}' });
});

test('a post from anyone is shown unchanged', () => {
  const posted = {
    id: 2,
    receivedAt: 0,
    method: 'POST',
    path: '/test-inbox/webhooks/%E0%A4',
    headers: {},
    body: 'x<y',
  };
  expect(messageOf(posted)).toMatchObject({ to: '%E0%A4', subject: 'x<y', body: 'x<y' });
});
