import { createHash } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { PlatformError } from '@platform/base';
import { PackageType } from '@platform/proto/platform/app/packages/v1/packages';
import { expect, test } from 'vitest';
import { on } from '../access/testing/open-fleet.ts';
import { organizationDeleting } from './organization-deleting.ts';
import { archive, openPackages, part, service, type TestPackages } from './testing/open-packages.ts';

const latest = { id: 'acme/tool', version: 'latest' };

async function archives({ blobDirectory }: TestPackages): Promise<readonly string[]> {
  const entries = await readdir(blobDirectory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
}

async function codeOf(asked: Promise<unknown>): Promise<string> {
  return asked.then(
    () => 'ok',
    (caught: unknown) => (caught instanceof PlatformError ? caught.code : String(caught)),
  );
}

test('a package is listed and read as it was created, with the SHA-256 of its archive', async () => {
  const to = await openPackages();
  const info = {
    platform: 'linux/amd64',
    files: [{ name: 'run.sh', size: 12n }],
    metadata: { entrypoint: 'run.sh' },
  };
  const bytes = archive('contents');
  const created = await to.upload(info, [bytes.subarray(0, 1), bytes.subarray(1, 9), bytes.subarray(9)]);
  expect(created).toMatchObject({ id: 'acme/tool', version: '1.0.0' });
  const { packages } = await to.ask(part, service.listPackages, { organizationId: 'acme' });
  expect(packages).toMatchObject([
    {
      id: 'acme/tool',
      url: '',
      info: { organizationId: 'acme', name: 'tool', version: '1.0.0', type: PackageType.MODULE, ...info },
      checksum: createHash('sha256').update(bytes).digest('hex'),
    },
  ]);
  const got = await to.ask(part, service.getPackage, { id: 'acme/tool', version: '1.0.0' });
  expect(got.package).toEqual(packages[0]);
});

test('lists are filtered by name, version and type; a version is also found with its platform appended', async () => {
  const to = await openPackages();
  await to.upload();
  await to.upload({ version: '1.1.0', platform: 'linux/arm64' });
  await to.upload({ name: 'model', type: PackageType.ML_MODEL, version: 'a' });
  const listed = async (which: object): Promise<string[]> => {
    const { packages } = await to.ask(to.owner, service.listPackages, { organizationId: 'acme', ...which });
    return packages.map(({ info }) => `${info?.name} ${info?.version}`);
  };
  expect(await listed({})).toEqual(['model a', 'tool 1.1.0', 'tool 1.0.0']);
  expect(await listed({ name: 'tool' })).toEqual(['tool 1.1.0', 'tool 1.0.0']);
  expect(await listed({ type: PackageType.ML_MODEL })).toEqual(['model a']);
  expect(await listed({ version: '1.1.0-linux-arm64' })).toEqual(['tool 1.1.0']);
});

test('repeating a version with the same bytes is accepted; with other bytes it is refused and leaves nothing behind', async () => {
  const to = await openPackages();
  await to.upload();
  expect(await to.upload()).toMatchObject({ id: 'acme/tool', version: '1.0.0' });
  await expect(to.upload({}, 'other contents')).rejects.toMatchObject({
    code: 'already_exists',
    message: expect.stringContaining('acme/tool: version 1.0.0 exists with other contents'),
  });
  expect(await archives(to)).toHaveLength(1);
  expect(await codeOf(to.upload({ platform: 'linux/arm64' }, 'other contents'))).toBe('ok');
});

test('an invalid, too large or incomplete archive leaves nothing behind', async () => {
  const to = await openPackages({ maxBytes: 1_000 });
  expect(await codeOf(to.upload({}, []))).toBe('invalid_argument');
  expect(await codeOf(to.upload({}, [Buffer.from('a plain text')]))).toBe('invalid_argument');
  const large = [archive('x'), Buffer.alloc(600), Buffer.alloc(600)];
  await expect(to.upload({}, large)).rejects.toMatchObject({
    code: 'resource_exhausted',
    message: 'contents: expected at most 1000 bytes, found more',
  });
  expect(await archives(to)).toEqual([]);
  expect((await to.ask(to.owner, service.listPackages, { organizationId: 'acme' })).packages).toEqual([]);
});

test.each([
  ['name', { name: '' }, 'info.name: expected 1 to 100 letters, digits, "_" and "-", found nothing'],
  ['name', { name: '../up' }, 'info.name: expected 1 to 100 letters, digits, "_" and "-", found "../up"'],
  ['version', { version: 'latest' }, 'info.version: expected 1 to 100 letters'],
  ['version', { version: '1/2' }, 'info.version: expected 1 to 100 letters'],
  ['version', { version: 'v1' }, 'info.version: expected a semantic version such as 1.2.0 for a module, found "v1"'],
  ['type', { type: 0 }, 'info.type: expected one of archive, ml_model, module, slam_map, ml_training, found "0"'],
  ['type', { type: 99 }, 'info.type: expected one of archive'],
  [
    'platform',
    { platform: 'linux' },
    'info.platform: expected an operating system and an architecture such as linux/amd64',
  ],
  [
    'metadata',
    { metadata: { text: 'x'.repeat(17_000) } },
    'info: expected files and metadata of at most 16384 bytes together',
  ],
])('an info with a wrong %s is refused by its field', async (_field, info: object, message) => {
  const to = await openPackages();
  await expect(to.upload(info as { name?: string })).rejects.toMatchObject({
    code: 'invalid_argument',
    message: expect.stringContaining(message),
  });
});

test('all packages of a name have one type', async () => {
  const to = await openPackages();
  await to.upload();
  await expect(to.upload({ version: '2.0.0', type: PackageType.ARCHIVE })).rejects.toMatchObject({
    code: 'failed_precondition',
    message: expect.stringContaining('expected module'),
  });
});

test('parts and keys of the organization read its packages, only its owners change them, and for others they do not exist', async () => {
  const to = await openPackages();
  await to.upload();
  const principalWith = async (...grants: Parameters<typeof to.keyWith>) =>
    to.principalOf((await to.keyWith(...grants)).token);
  const machineKey = await principalWith(on.machine('operator', 'press'));
  const operator = await principalWith(on.organization('operator'));
  to.shared.set('umbrella', [{ organizationId: 'acme', locationId: 'hall' }]);
  to.authenticator.forget();
  const guest = await principalWith(on.organization('owner', 'umbrella'));
  const codes = async (principal: typeof part): Promise<string[]> => [
    await codeOf(to.ask(principal, service.listPackages, { organizationId: 'acme' })),
    await codeOf(to.ask(principal, service.getPackage, latest)),
    await codeOf(to.upload({ name: 'another' }, 'contents', principal)),
    await codeOf(to.ask(principal, service.deletePackage, { id: 'acme/tool', version: '9.9.9' })),
  ];
  const reader = ['ok', 'ok', 'permission_denied', 'permission_denied'];
  expect(await codes(machineKey)).toEqual(reader);
  expect(await codes(operator)).toEqual(reader);
  expect(await codes(part)).toEqual(['ok', 'ok', 'not_found', 'permission_denied']);
  expect(await codes(guest)).toEqual(['permission_denied', 'not_found', 'permission_denied', 'not_found']);
  const unseen = ['not_found', 'not_found', 'not_found', 'not_found'];
  expect(await codes(to.stranger)).toEqual(unseen);
  expect(await codes({ kind: 'part', partId: 'probe-main' })).toEqual(unseen);
  const told = async (id: string): Promise<unknown> =>
    to.ask(to.stranger, service.getPackage, { id, version: '' }).catch((caught: Error) => caught.message);
  expect(String(await told('acme/tool')).replace('acme/tool', 'ID')).toBe(
    String(await told('nobody/tool')).replace('nobody/tool', 'ID'),
  );
});

test('a deleted package disappears from lists at once, and its archive with the next step', async () => {
  const to = await openPackages();
  await to.upload();
  await to.upload({ version: '2.0.0' });
  let isTold = false;
  to.packages.onDeleted(() => {
    isTold = true;
  });
  await to.ask(to.owner, service.deletePackage, { id: 'acme/tool', version: '1.0.0', type: PackageType.MODULE });
  expect(await codeOf(to.ask(to.owner, service.getPackage, { id: 'acme/tool', version: '1.0.0' }))).toBe('not_found');
  expect(await codeOf(to.ask(to.owner, service.deletePackage, { id: 'acme/tool', version: '1.0.0' }))).toBe(
    'not_found',
  );
  expect(isTold).toBe(true);
  expect(await archives(to)).toHaveLength(2);
  expect(await to.packages.removeArchives()).toBe(false);
  expect(await archives(to)).toHaveLength(1);
  const audited = await to.db.selectFrom('audit_entries').select(['action', 'target_id']).orderBy('id').execute();
  expect(audited.slice(-1)).toEqual([{ action: 'PackageService.DeletePackage', target_id: 'acme/tool@1.0.0' }]);
});

test('deleting an organization deletes its packages, and no others', async () => {
  const to = await openPackages();
  await to.upload();
  await to.upload({ organizationId: 'umbrella' }, 'theirs', to.stranger);
  await to.db.transaction().execute((trx) => organizationDeleting(trx, 'acme'));
  await to.packages.removeArchives();
  expect(await to.db.selectFrom('packages').select('organization_id').execute()).toEqual([
    { organization_id: 'umbrella' },
  ]);
  expect(await archives(to)).toHaveLength(1);
});

test('the sweep of the blob store keeps archives that a row lists', async () => {
  const to = await openPackages();
  await to.upload();
  (await to.blobs.put('packages/acme/orphan.tar.gz', [archive('orphan')]))[Symbol.dispose]();
  await to.clock.advance(Date.now() + 7_200_000);
  expect(await to.blobs.sweep((path) => to.packages.hasArchive(path))).toBe(1);
  expect(await archives(to)).toHaveLength(1);
});
