/** The links in notification mails: unsubscribing, and the page of a notification. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import type { Principal } from '../access/principal.ts';
import { unsubscribedAt, unsubscribeLink } from '../outbox/email/unsubscribe.ts';
import { enqueueWebhooks, type OutboxRig, openOutboxRig } from '../outbox/testing/open-outbox.ts';
import { webhookMessage } from '../outbox/testing/webhook-message.ts';
import type { Route } from '../wire/route.ts';
import { notificationRoute } from './notification-route.ts';
import { unsubscribeRoute } from './unsubscribe-route.ts';

async function serving(route: Route): Promise<string> {
  const server = createServer((request, response) => {
    void route(request, response, new URL(request.url ?? '/', 'http://here')).then((handled) => {
      if (!handled) response.writeHead(418).end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const subscription = { organizationId: 'org', address: 'ada@example.com' };

async function unsubscribing(): Promise<{ on: OutboxRig; url: string; stopped: () => Promise<boolean> }> {
  const on = await openOutboxRig();
  const { db, instanceKey, clock } = on;
  const organizationName = (id: string): string | undefined => (id === 'org' ? 'Örg <1>' : undefined);
  const base = await serving(unsubscribeRoute({ db, instanceKey, clock, organizationName }));
  const url = base + unsubscribeLink(instanceKey, subscription);
  return { on, url, stopped: async () => (await unsubscribedAt(db, subscription)) !== undefined };
}

test('opening the link changes nothing; one click stops the mails, and the page undoes it', async () => {
  const { url, stopped } = await unsubscribing();
  const asked = await fetch(url);
  expect(await asked.text()).toMatch(/Stop these mails\?.*Örg &lt;1&gt;.*ada@example\.com/s);
  expect(await stopped()).toBe(false);
  // As posted by a mail program (RFC 8058): without cookies and without the page.
  const clicked = await fetch(url, { method: 'POST', body: new URLSearchParams({ 'List-Unsubscribe': 'One-Click' }) });
  expect([clicked.status, await stopped()]).toEqual([200, true]);
  expect(await (await fetch(url)).text()).toContain('Resume these mails');
  await fetch(url, { method: 'POST', body: new URLSearchParams({ subscribe: '1' }) });
  expect(await stopped()).toBe(false);
});

test('a link that was changed stops nothing', async () => {
  const { url, stopped } = await unsubscribing();
  const changes: readonly [string, string][] = [
    ['address', 'eve@example.com'],
    ['organization', 'other'],
    ['signature', 'AAAA'],
    ['signature', ''],
  ];
  for (const [name, value] of changes) {
    const changed = new URL(url);
    changed.searchParams.set(name, value);
    expect((await fetch(changed, { method: 'POST' })).status).toBe(403);
  }
  expect(await stopped()).toBe(false);
});

test('the page of a notification is for those who may read the part; others do not learn that it exists', async () => {
  const on = await openOutboxRig();
  await enqueueWebhooks(on, on.open(), webhookMessage(1, 'ada@example.com', { channel: 'email' }));
  const [row] = await on.db.selectFrom('outbox_messages').select('id').execute();
  const person: Principal = { kind: 'person', personId: 'ada', sessionId: 's', email: 'ada@x', grants: [] } as never;
  let principal: Principal | undefined;
  let sees = false;
  const base = await serving(
    notificationRoute({
      db: on.db,
      signIn: { principalOf: async () => principal, mayAskAgain: () => false },
      zoneOf: async (_organizationId, address) => (address === '' ? 'UTC' : 'Europe/Berlin'),
      access: { allows: (_by, action, id) => sees && action === 'part.read' && id === 'part' },
    }),
  );
  const ask = (): Promise<Response> => fetch(`${base}/notifications/${row?.id}`, { redirect: 'manual' });
  expect((await ask()).headers.get('location')).toBe(`/sign-in?next=%2Fnotifications%2F${row?.id}`);
  principal = person;
  const hidden = await ask();
  const missing = await fetch(`${base}/notifications/msg_${'0'.repeat(40)}`);
  expect([hidden.status, await hidden.text()]).toEqual([404, await missing.text()]);
  sees = true;
  const shown = await ask();
  expect([shown.status, await shown.text()]).toEqual([200, expect.stringMatching(/hot.*Europe\/Berlin.*Robot.*cpu/s)]);
});

test('a hostile name of a component or machine stays text on the page of a notification, also in its title', async () => {
  const on = await openOutboxRig();
  const hostile = `</title><meta http-equiv=refresh content="0;url='https://evil.example'">`;
  const { event, ...rest } = webhookMessage(1, 'ada@example.com', { channel: 'email', triggerName: hostile });
  const { place, data } = event;
  const named = {
    ...event,
    place: { ...place, robotName: hostile },
    ...(data && { data: { ...data, componentName: hostile } }),
  };
  await enqueueWebhooks(on, on.open(), { ...rest, event: named });
  const [row] = await on.db.selectFrom('outbox_messages').select('id').execute();
  const person: Principal = { kind: 'person', personId: 'ada', sessionId: 's', email: '', grants: [] } as never;
  const deps = {
    db: on.db,
    signIn: { principalOf: async () => person, mayAskAgain: () => false },
    access: { allows: () => true },
    zoneOf: async () => 'UTC',
  };
  const page = await (await fetch(`${await serving(notificationRoute(deps))}/notifications/${row?.id}`)).text();
  expect(page.match(/<meta [^>]*/g)).toEqual([
    '<meta charset="utf-8"',
    expect.stringContaining('viewport'),
    '<meta name="robots" content="noindex"',
  ]);
  expect(page.match(/<\/title>/g)).toHaveLength(1);
  expect(page.match(/&lt;\/title&gt;&lt;meta/g)?.length).toBeGreaterThan(2);
});
