import { open } from 'node:fs/promises';
import { crc32c } from '@platform/base';
import { expect, test } from 'vitest';
import { on } from '../../access/testing/open-fleet.ts';
import { archive, openPackages, part, service, type TestPackages } from '../testing/open-packages.ts';

const latest = { id: 'acme/tool', version: 'latest', includeUrl: true };
const itself = { part_id: 'press-main', secret: 'secret of press-main' };

async function urlFor(to: TestPackages, principal: typeof part = to.owner): Promise<string> {
  const { package: found } = await to.ask(principal, service.getPackage, latest);
  return found?.url ?? '';
}

async function answered(answer: Response): Promise<string> {
  return `${answer.status} ${await answer.text()}`;
}

test('a signed address returns the archive, with the headers that public machine servers expect', async () => {
  const to = await openPackages();
  await to.upload({ platform: 'linux/amd64' });
  const url = await urlFor(to);
  expect(url).toMatch(/^http:\/\/cloud\.test\/packages\/[\w-]+\/tool-1\.0\.0-linux-amd64\.tar\.gz\?made=/);
  const bytes = archive('contents');
  const answer = await to.get(url);
  expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes);
  const crc = Buffer.alloc(4);
  crc.writeUInt32BE(crc32c(bytes));
  const headers = {
    'content-type': 'application/x-gzip',
    'content-length': `${bytes.length}`,
    'x-goog-hash': `crc32c=${crc.toString('base64')}`,
    'content-disposition': 'attachment; filename="tool-1.0.0-linux-amd64.tar.gz"',
    'accept-ranges': 'bytes',
  };
  expect(Object.fromEntries(answer.headers)).toMatchObject(headers);
  const head = await to.get(url, {}, 'HEAD');
  expect([head.status, await head.text()]).toEqual([200, '']);
  expect(Object.fromEntries(head.headers)).toMatchObject(headers);
  const rest = await to.get(url, { range: 'bytes=5-' });
  expect([rest.status, Buffer.from(await rest.arrayBuffer())]).toEqual([206, bytes.subarray(5)]);
  expect((await to.get(url, { range: 'bytes=5000-' })).status).toBe(416);
});

test('an address ends after two hours, and a changed one is refused', async () => {
  const to = await openPackages();
  await to.upload();
  await to.upload({ version: '2.0.0' }, 'others');
  const url = await urlFor(to);
  expect(await urlFor(to)).toBe(url);
  const { package: other } = await to.ask(to.owner, service.getPackage, { ...latest, version: '1.0.0' });
  const query = url.slice(url.indexOf('?'));
  expect(await answered(await to.get(`${other?.url.split('?')[0]}${query}`))).toBe('400 permission_denied');
  expect(await answered(await to.get(url.replace(/expires=\d+/, 'expires=99999999999')))).toBe('400 permission_denied');
  await to.clock.advance(7_200_000);
  expect(await answered(await to.get(url))).toBe('400 permission_denied');
});

test("an address requested by a part works only with that part's credentials", async () => {
  const to = await openPackages();
  await to.upload();
  const url = await urlFor(to, part);
  expect((await to.get(url, itself)).status).toBe(200);
  expect(await answered(await to.get(url))).toBe('400 unauthenticated');
  expect(await answered(await to.get(url, { ...itself, secret: 'wrong' }))).toBe('400 permission_denied');
  const another = { part_id: 'mill-main', secret: 'secret of mill-main' };
  expect(await answered(await to.get(url, another))).toBe('400 not_found');
  const plain = url.split('?')[0] ?? '';
  expect((await to.get(plain, itself)).status).toBe(200);
  expect(await answered(await to.get(plain, { part_id: 'probe-main', secret: 'secret of probe-main' }))).toBe(
    '400 not_found',
  );
  expect(await answered(await to.get(plain))).toBe('400 unauthenticated');
});

test('an address ends with the key that created it, and with its package', async () => {
  const to = await openPackages();
  await to.upload();
  const made = await to.keyWith(on.machine('operator', 'press'));
  const url = await urlFor(to, await to.principalOf(made.token));
  expect((await to.get(url)).status).toBe(200);
  expect((await to.get(url.split('?')[0] ?? '', { key_id: made.id, key: made.key })).status).toBe(200);
  await to.db.updateTable('api_keys').set({ revoked_ms: to.clock.now() }).where('id', '=', made.id).execute();
  to.authenticator.forget();
  expect(await answered(await to.get(url))).toBe('400 not_found');
  const own = await urlFor(to);
  await to.ask(to.owner, service.deletePackage, { id: 'acme/tool', version: '1.0.0' });
  expect(await answered(await to.get(own))).toBe('400 not_found');
});

test('an archive that differs from what was stored is not served', async () => {
  const to = await openPackages();
  await to.upload();
  const { blob_path: path } = await to.db.selectFrom('packages').select('blob_path').executeTakeFirstOrThrow();
  {
    await using file = await open(`${to.blobDirectory}/${path}`, 'r+');
    await file.write(Buffer.from([0xff]), 0, 1, 12);
  }
  expect(await answered(await to.get(await urlFor(to)))).toBe('400 data_loss');
});
