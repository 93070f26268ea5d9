/** The cloud behind a reverse proxy on this computer: its clients are told apart by the addresses that the proxy names. */
import { AppService } from '@platform/proto/platform/app/v1/app';
import { FleetService } from '@platform/proto/platform/fleet/v1/fleet';
import { connect } from '@platform/rpc/client';
import { beforeAll, expect, test } from 'vitest';
import { type CloudProcess, startCloud } from './start-cloud.ts';

let cloud: CloudProcess;
beforeAll(async () => {
  cloud = await startCloud({ PLATFORM_TRUSTED_PROXIES: '127.0.0.1' });
  return () => cloud[Symbol.asyncDispose]();
});

test('guesses of one client behind the proxy make no other one wait', async () => {
  const guess = async (forwardedFor: string): Promise<number> => {
    const headers = { 'content-type': 'application/json', 'x-forwarded-for': forwardedFor };
    const body = JSON.stringify({ entity: cloud.keyId, credentials: { type: 'api-key', payload: 'wrong' } });
    const answer = await fetch(`${cloud.url}/rpc/v1/authenticate`, { method: 'POST', headers, body });
    await answer.text();
    return answer.status;
  };
  for (let attempt = 0; attempt < 5; attempt++) expect(await guess('203.0.113.7')).toBe(403);
  expect(await guess('203.0.113.7')).toBe(429);
  // What stands before the last address is made up.
  expect(await guess('203.0.113.99, 203.0.113.7')).toBe(429);
  expect(await guess('203.0.113.8')).toBe(403);
});

test('the audit trail names the client behind the proxy', async () => {
  const credentials = { entity: cloud.keyId, type: 'api-key', payload: cloud.key };
  await using link = connect({ baseUrl: cloud.url, credentials });
  const proxied = link.withHeaders(async () => ({ 'x-forwarded-for': '2001:db8::7' }));
  const { location } = await proxied
    .client(AppService)
    .createLocation({ organizationId: cloud.organizationId, name: 'Behind the proxy' });
  const { entries } = await link
    .client(FleetService)
    .listAuditEntries({ organizationId: cloud.organizationId, targetId: location?.id ?? '' });
  expect(entries.map(({ peerAddress }) => peerAddress)).toEqual(['[2001:db8::7]']);
});
