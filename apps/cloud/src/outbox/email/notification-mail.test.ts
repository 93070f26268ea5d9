import { expect, test } from 'vitest';
import type { TriggerEvent } from '../event.ts';
import { webhookMessage } from '../testing/webhook-message.ts';
import { type MailEntry, notificationMail } from './notification-mail.ts';

const none = { groups: 0, count: 0 };
const branding = { organizationName: 'Örg & <Söhne>', logoUrl: 'https://cloud.example/logos/1' };

function entry(event: Partial<TriggerEvent> = {}, more: Partial<MailEntry> = {}): MailEntry {
  const base = webhookMessage(1, 'ada@example.com').event;
  return {
    triggerName: 'hot',
    event: { ...base, ...event },
    ...{ eventAtMs: 1_000, firstAtMs: 1_000, count: 1, link: 'https://cloud.example/notifications/msg_1' },
    ...more,
  };
}

test('a mail shows trigger, machine, time, reading, link and organization, as text and as HTML', () => {
  const data = {
    ...webhookMessage(1, '').event.data!,
    reading: { receivedAt: null, requestedAt: null, data: { readings: { temperature: 91.5 } } },
  };
  const mail = notificationMail([entry({ data })], none, branding, 'https://cloud.example/unsubscribe?x=1');
  expect(mail.subject).toBe('hot: cpu Readings of Robot arrived');
  for (const shown of [
    'Robot',
    'hot',
    '1970-01-01T00:00:01.000Z',
    '91.5',
    'https://cloud.example/notifications/msg_1',
  ]) {
    expect(mail.text).toContain(shown);
    expect(mail.html).toContain(shown);
  }
  expect(mail.text).toContain('Stop these mails: https://cloud.example/unsubscribe?x=1');
  expect(mail.html).toContain('<img src="https://cloud.example/logos/1"');
});

test('text from machines and people is escaped in HTML, and cannot add headers', () => {
  const place = {
    ...webhookMessage(1, '').event.place,
    robotName: '<script>alert(1)</script>\r\nBcc: eve@example.com',
  };
  const condition = { '"><img src=x onerror=alert(2)>': 1 };
  const mail = notificationMail(
    [entry({ place, condition }, { triggerName: '<b>hot</b>' })],
    none,
    branding,
    'https://x',
  );
  expect(mail.subject).not.toMatch(/[\r\n]/);
  expect(mail.html).not.toMatch(/<script|<b>hot|<img src=x|<Söhne/);
  expect(mail.html).toContain('&lt;script&gt;');
});

test('a merged mail counts every notification', () => {
  const first = entry({}, { count: 30, firstAtMs: 0 });
  const second = entry({ type: 'part_offline' }, { triggerName: 'gone', count: 1 });
  const mail = notificationMail([first, second], { groups: 2, count: 9 }, branding, 'https://x');
  expect(mail.subject).toBe('40 notifications from Robot');
  expect(mail.text).toContain('Notifications: 30');
  expect(mail.text).toContain('First: 1970-01-01T00:00:00.000Z');
  expect(mail.text).toContain('gone: Robot is offline');
  expect(mail.text).toContain('9 more notifications from 2 other triggers');
});
