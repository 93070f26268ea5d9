import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { asPlatformError, systemClock } from '@platform/base';
import { DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { expect, onTestFinished, test } from 'vitest';
import type { Principal } from '../../access/principal.ts';
import { on as grant } from '../../access/testing/open-fleet.ts';
import { callers, data, type OpenBinary, openBinary } from '../testing/open-binary.ts';

interface Downloads extends OpenBinary {
  /** Requests an address of this cloud, or a path on it. */
  get(path: string, headers?: Record<string, string>, method?: string): Promise<Response>;
  /** A signed address made by the owner. */
  link(id: string, expirationMinutes?: number): Promise<string>;
  laterMs(ms: number): void;
}

/** The route on a separate port; refusals are reported by their code. */
async function openDownloads(): Promise<Downloads> {
  let shiftMs = 0;
  const on = await openBinary({ clock: { ...systemClock, now: () => systemClock.now() + shiftMs } });
  for (const principal of [
    callers.owner,
    callers.operator,
    callers.hallOperator,
    callers.millOperator,
    callers.stranger,
  ])
    if (principal.kind === 'key') on.standing.set(principal.keyId, principal);
  const server: Server = createServer((request, response) => {
    on.binary.download(request, response, new URL(request.url ?? '', 'http://cloud.test')).then(
      (handled) => {
        if (!handled) response.writeHead(501).end();
      },
      (caught: unknown) => response.writeHead(400).end(asPlatformError(caught).code),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    ...on,
    get: (path, headers = {}, method = 'GET') =>
      fetch(`http://127.0.0.1:${port}${path.replace('http://cloud.test', '')}`, { headers, method }),
    async link(id, expirationMinutes) {
      const asked = { binaryDataId: id, ...(expirationMinutes !== undefined && { expirationMinutes }) };
      return (await on.ask(callers.owner, data.createBinaryDataSignedURL, asked)).signedUrl;
    },
    laterMs: (ms) => {
      shiftMs += ms;
    },
  };
}

test('a signed address gives anyone the file, as an attachment that is not interpreted', async () => {
  const on = await openDownloads();
  const id = await on.upload({
    content: '<script>alert(1)</script>',
    metadata: { type: DataType.FILE, fileName: 'häßlich/"page".html', mimeType: 'text/html' },
  });
  const answer = await on.get(await on.link(id));
  expect(answer.status).toBe(200);
  expect(await answer.text()).toBe('<script>alert(1)</script>');
  expect(Object.fromEntries(answer.headers)).toMatchObject({
    'content-type': 'text/html',
    'content-length': '25',
    'content-disposition': `attachment; filename="_page_.html"; filename*=UTF-8''%22page%22.html`,
    'x-content-type-options': 'nosniff',
    'content-security-policy': "default-src 'none'; sandbox",
    'cache-control': 'private, no-store',
    'referrer-policy': 'no-referrer',
    'access-control-allow-origin': '*',
  });
  const head = await on.get(await on.link(id), {}, 'HEAD');
  expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '25', '']);
});

test('an invalid media type never becomes a header', async () => {
  const on = await openDownloads();
  const id = await on.upload({ metadata: { mimeType: 'text/html\r\nset-cookie: a=b' } });
  const answer = await on.get(await on.link(id));
  expect(answer.headers.get('content-type')).toBe('application/octet-stream');
  expect(answer.headers.get('set-cookie')).toBe(null);
});

test('ranges are answered with exactly their bytes', async () => {
  const on = await openDownloads();
  const url = await on.link(await on.upload({ content: '0123456789' }));
  const range = async (value: string, more: Record<string, string> = {}) => {
    const answer = await on.get(url, { range: value, ...more });
    return [answer.status, answer.headers.get('content-range'), await answer.text()];
  };
  expect(await range('bytes=2-4')).toEqual([206, 'bytes 2-4/10', '234']);
  expect(await range('bytes=7-')).toEqual([206, 'bytes 7-9/10', '789']);
  expect(await range('bytes=-3')).toEqual([206, 'bytes 7-9/10', '789']);
  expect(await range('bytes=8-99')).toEqual([206, 'bytes 8-9/10', '89']);
  expect(await range('bytes=10-')).toEqual([416, 'bytes */10', '']);
  expect(await range('bytes=-0')).toEqual([416, 'bytes */10', '']);
  for (const whole of ['bytes=4-2', 'bytes=0-1,3-4', 'bytes=-', 'lines=1-2', 'bytes=a-b'])
    expect(await range(whole)).toEqual([200, null, '0123456789']);
  const etag = (await on.get(url)).headers.get('etag') ?? '';
  expect(await range('bytes=2-4', { 'if-range': etag })).toEqual([206, 'bytes 2-4/10', '234']);
  expect(await range('bytes=2-4', { 'if-range': '"other"' })).toEqual([200, null, '0123456789']);
});

test('a signed address that was changed in any part or has expired is refused', async () => {
  const on = await openDownloads();
  const [id, other] = [await on.upload(), await on.upload({ content: 'another' })];
  const url = new URL(await on.link(id, 60));
  const refused = async (change: (changed: URL) => void) => {
    const changed = new URL(url);
    change(changed);
    const answer = await on.get(`${changed.pathname}${changed.search}`);
    expect([answer.status, await answer.text()], changed.href).toEqual([400, 'permission_denied']);
  };
  expect((await on.get(url.href)).status).toBe(200);
  await refused((changed) => {
    changed.pathname = changed.pathname.replace(id, other);
  });
  for (const name of ['made', 'expires']) {
    await refused(({ searchParams }) => searchParams.set(name, String(Number(searchParams.get(name)) + 1)));
    await refused(({ searchParams }) => searchParams.delete(name));
  }
  for (const by of ['key:operator', 'person:owner', 'part:press-main', 'key:', ''])
    await refused(({ searchParams }) => searchParams.set('by', by));
  await refused(({ searchParams }) => searchParams.set('signature', 'A'.repeat(43)));
  await refused(({ searchParams }) => searchParams.set('signature', ''));
  // A signature that the instance key made for another purpose.
  await refused(({ searchParams }) => searchParams.set('signature', on.instanceKey.sign(`token ${id}`)));
  on.laterMs(59 * 60_000);
  expect((await on.get(url.href)).status).toBe(200);
  on.laterMs(61_000);
  await refused(() => {});
});

test('an address is valid for 15 minutes by default, and for seven days at most', async () => {
  const on = await openDownloads();
  const id = await on.upload();
  const lasts = async (expirationMinutes?: number) => {
    const asked = { binaryDataId: id, ...(expirationMinutes !== undefined && { expirationMinutes }) };
    const { expiresAt, signedUrl } = await on.ask(callers.hallOperator, data.createBinaryDataSignedURL, asked);
    const { searchParams } = new URL(signedUrl);
    expect(searchParams.get('expires')).toBe(String(expiresAt?.seconds));
    return (Number(searchParams.get('expires')) - Number(searchParams.get('made'))) / 60;
  };
  expect([await lasts(), await lasts(0), await lasts(1), await lasts(10_080)]).toEqual([15, 15, 1, 10_080]);
  await expect(lasts(10_081)).rejects.toMatchObject({ code: 'invalid_argument' });
  const asked = { binaryDataId: id };
  for (const caller of [callers.millOperator, callers.stranger, callers.part])
    await expect(on.ask(caller, data.createBinaryDataSignedURL, asked)).rejects.toMatchObject({ code: 'not_found' });
});

test("an address ends with the file, with its creator's right to read it, and with its key", async () => {
  const on = await openDownloads();
  const [id, other] = [await on.upload(), await on.upload({ content: 'another' })];
  const [url, url2] = [await on.link(id), await on.link(other)];
  const told = async (address: string) => (await on.get(address)).text();
  on.standing.set('owner', callers.millOperator);
  expect(await told(url)).toBe('not_found');
  on.standing.delete('owner');
  expect(await told(url)).toBe('not_found');
  on.standing.set('owner', callers.owner);
  expect(await told(url)).toBe('a picture');
  await on.ask(callers.owner, data.deleteBinaryDataByIDs, { binaryDataIds: [id] });
  expect(await told(url)).toBe('not_found');
  expect(await told(url2)).toBe('another');
});

test('D49 D5 an address that a person makes works for one file and 10 minutes, and ends with the session in which it was made, not with another', async () => {
  const on = await openDownloads();
  const id = await on.upload();
  const other = await on.upload({ content: 'another' });
  const person = (sessionId: string): Principal => ({
    ...{ kind: 'person', personId: 'ada', sessionId, email: 'ada@example.com' },
    grants: [grant.location('operator', 'hall')],
  });
  for (const session of ['session-1', 'session-2']) on.standing.set(session, person(session));
  on.standing.set('ada', person(''));
  const linkOf = async (session: string): Promise<string> =>
    (await on.ask(person(session), data.createBinaryDataSignedURL, { binaryDataId: id, expirationMinutes: 10 }))
      .signedUrl;
  const [first, second] = [await linkOf('session-1'), await linkOf('session-2')];
  const told = async (address: string) => (await on.get(address)).text();
  expect([await told(first), await told(second)]).toEqual(['a picture', 'a picture']);
  expect(await told(first.replace(id, other))).toBe('permission_denied');
  expect(await told(first.replace('session-1', 'session-2'))).toBe('permission_denied');
  on.standing.delete('session-1');
  expect([await told(first), await told(second)]).toEqual(['not_found', 'a picture']);
  on.laterMs(10 * 60_000 - 30_000);
  expect(await told(second)).toBe('a picture');
  on.laterMs(30_000);
  expect(await told(second)).toBe('permission_denied');
});

test('without a signature a caller authenticates as for an RPC, and gets only files that it may read', async () => {
  const on = await openDownloads();
  const id = await on.upload();
  const as = async (who: string) => {
    const answer = await on.get(`/binary-data/${id}`, { 'x-who': who });
    return [await answer.text(), answer.headers.get('access-control-allow-origin')];
  };
  expect(await as('hall-operator')).toEqual(['a picture', null]);
  expect(await as('mill-operator')).toEqual(['not_found', null]);
  expect(await as('stranger')).toEqual(['not_found', null]);
  const unknown = await on.get('/binary-data/never', { 'x-who': 'owner' });
  expect(await unknown.text()).toBe('not_found');
});

test('R16 a running download ends when the file is deleted or the right to it is revoked', async () => {
  const on = await openDownloads();
  const [one, two] = [
    await on.upload({ content: new Uint8Array(40_000_000) }),
    await on.upload({ content: new Uint8Array(40_000_001) }),
  ];
  /** Reads a little, calls `end`, then reads slowly enough for the right to be checked first: the rest must not arrive. */
  const cut = async (url: string, end: () => Promise<unknown> | unknown): Promise<boolean> => {
    const reader = (await on.get(url)).body?.getReader();
    await reader?.read();
    await end();
    for (;;) {
      await systemClock.sleep(50);
      const chunk = await reader?.read().catch(() => 'cut' as const);
      if (chunk === 'cut') return true;
      if (chunk === undefined || chunk.done) return false;
    }
  };
  const { signedUrl: urlOne } = await on.ask(callers.operator, data.createBinaryDataSignedURL, { binaryDataId: one });
  const urlTwo = await on.link(two);
  expect(
    await Promise.all([
      cut(urlOne, () => on.ask(callers.owner, data.deleteBinaryDataByIDs, { binaryDataIds: [one] })),
      cut(urlTwo, () => on.standing.delete('owner')),
    ]),
  ).toEqual([true, true]);
});
