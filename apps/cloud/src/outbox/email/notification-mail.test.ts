import { expect, test } from 'vitest';
import type { TriggerEvent } from '../event.ts';
import { webhookMessage } from '../testing/webhook-message.ts';
import { type DigestLine, digestMail } from './digest-mail.ts';
import { type MailEntry, notificationMail } from './notification-mail.ts';

const branding = { organizationName: 'Örg & <Söhne>', logoUrl: 'https://cloud.example/logos/1' };

function entry(event: Partial<TriggerEvent> = {}, more: Partial<MailEntry> = {}): MailEntry {
  const base = webhookMessage(1, 'ada@example.com').event;
  return {
    triggerName: 'hot',
    event: { ...base, ...event },
    ...{ eventAtMs: 1_000, link: 'https://cloud.example/notifications/msg_1', zone: 'UTC' },
    ...more,
  };
}

test('a mail shows trigger, machine, time, reading, link and organization, as text and as HTML', () => {
  const data = {
    ...webhookMessage(1, '').event.data!,
    reading: { receivedAt: null, requestedAt: null, data: { readings: { temperature: 91.5 } } },
  };
  const mail = notificationMail(entry({ data }), branding, 'https://cloud.example/unsubscribe?x=1');
  expect(mail.subject).toBe('Robot: cpu Readings arrived');
  for (const shown of [
    'Robot',
    'hot',
    '1970-01-01 00:00:01 UTC',
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
  const mail = notificationMail(entry({ place, condition }, { triggerName: '<b>hot</b>' }), branding, 'https://x');
  expect(mail.subject).not.toMatch(/[\r\n]/);
  expect(mail.html).not.toMatch(/<script|<b>hot|<img src=x|<Söhne/);
  expect(mail.html).toContain('&lt;script&gt;');
});

test('D45 a mail of several notifications lists each with its time, machine and trigger, escaped', () => {
  const line = (n: number, more: Partial<DigestLine> = {}): DigestLine => ({
    ...{ atMs: n * 1_000, summary: `machine ${n} is offline`, triggerName: 'gone', machineName: `machine ${n}` },
    link: `https://cloud.example/notifications/msg_${n}`,
    ...more,
  });
  const lines = [line(1), line(2), line(3, { summary: '<b>3</b> is offline', triggerName: '<i>gone</i>' })];
  const mail = digestMail(lines, 'UTC', branding, 'https://x');
  expect(mail.subject).toBe('3 notifications from 3 machines');
  expect(mail.text).toContain(
    '1970-01-01 00:00:01 UTC  machine 1 is offline  [gone]\n  https://cloud.example/notifications/msg_1',
  );
  for (const n of [1, 2, 3]) expect(mail.html).toContain(`https://cloud.example/notifications/msg_${n}`);
  expect(mail.html).toContain('1970-01-01 00:00:02 UTC');
  expect(mail.html).not.toMatch(/<b>3|<i>gone/);
  expect(digestMail([line(1), line(1)], 'UTC', branding, 'https://x').subject).toBe('2 notifications from machine 1');
});

test('times in subject, facts, log lines and lists are in the zone of the recipient, which is named', () => {
  const at = '2026-12-01T13:05:09.500Z';
  const change = { to: 'firing', subject: '', at, reason: `nothing since ${at}` } as const;
  const { data: _none, ...silent } = webhookMessage(1, '').event;
  const berlin = '2026-12-01 14:05:09 CET (Europe/Berlin)';
  const silence = entry({}, { zone: 'Europe/Berlin', eventAtMs: Date.parse(at), event: { ...silent, change } });
  const mail = notificationMail(silence, branding, 'https://x');
  expect(mail.subject).toContain(`nothing since ${berlin}`);
  for (const line of [`Time: ${berlin}`, `Since: ${berlin}`, `Reason: nothing since ${berlin}`])
    expect(mail.text).toContain(line);
  const logs = { entries: [{ time: at, level: 'error', message: 'too hot' }], omitted: 0 };
  const lines = notificationMail(entry({ logs }, { zone: 'Europe/Berlin' }), branding, 'https://x');
  expect(lines.text).toContain(`${berlin} error`);
  for (const { text, html } of [mail, lines]) expect(text + html).not.toMatch(/UTC|\dZ/);
  const listed = { atMs: Date.parse(at), summary: 's', triggerName: 't', machineName: 'm', link: 'https://x' };
  expect(digestMail([listed, listed], 'Europe/Berlin', branding, 'https://x').text).toContain(`${berlin}  s`);
});
