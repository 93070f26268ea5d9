import { createHash, generateKeyPairSync } from 'node:crypto';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type Clock, silentLog, systemClock } from '@platform/base';
import { memoryDirectory, type TemporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { readHostPushCredentials } from '../accounts/mobile-push/host-push-configuration.ts';
import { createFirstAccount } from '../identity/create-first-account.ts';
import type { IngestLog } from '../ingest/log/log.ts';
import { openIngestLog } from '../ingest/log/open-ingest-log.ts';
import { testEntry } from '../ingest/testing/test-entry.ts';
import { createDeletionPause, type DeletionPause } from '../instance/deletion-pause.ts';
import { LogQuota } from '../machines/logs/quota.ts';
import { throwUncaught } from '../metadata/testing/throw-uncaught.ts';
import { openStores, type Stores } from '../open-stores.ts';
import { insertFile } from '../retention/testing/insert-file.ts';
import { addFileRow } from '../tabular/catalog/catalog-rows.ts';
import { openAllowedTargets } from './allowed-targets.ts';
import { type Operations, openControlClient, openControlServer } from './control-channel.ts';
import { doctor } from './doctor/doctor.ts';
import { createAdmin } from './feature.ts';
import {
  type Limit,
  type Limits,
  machineLogAllowance,
  openLimits,
  organizationDeleting,
  type UsedLimit,
} from './limits.ts';
import { readParams } from './read-params.ts';

interface Admin extends AsyncDisposable {
  readonly operations: Operations;
  readonly stores: Stores;
  readonly ingestLog: IngestLog;
  readonly limits: Limits;
  readonly deletions: DeletionPause;
  readonly organizationId: string;
  call(method: string, params?: Readonly<Record<string, unknown>>): Promise<unknown>;
}

const fatal = (caught: unknown): never => {
  throw caught;
};

async function open(directory: TemporaryDirectory, clock: Clock = systemClock): Promise<Admin> {
  const settings = { instanceKey: undefined, nextInstanceKey: undefined, keepBeforeUpgrade: true };
  const stores = await openStores(
    { dataDirectory: directory.file('data'), ...settings },
    { clock: systemClock, log: silentLog, onFatal: fatal },
  );
  const { db, rows, data, instanceKey, keyFile, sealDocuments } = stores;
  const ingestLog = await openIngestLog({
    onFatal: throwUncaught,
    file: data.at('ingest.sqlite'),
    log: silentLog,
    clock: systemClock,
  });
  await createFirstAccount(db, instanceKey, 1);
  const limits = await openLimits(db);
  const allowedTargets = await openAllowedTargets({
    ...{ db, ownPorts: () => [8080], option: [], organizations: () => [] },
  });
  const deletions = createDeletionPause();
  const operations = createAdmin({
    ...{ db, rows, ingestLog, limits, allowedTargets, instanceKey, keyFile, sealDocuments, deletions, clock },
    log: silentLog,
    loadAgain: undefined,
    status: async () => ({ running: true }),
  });
  const { id: organizationId } = await db.selectFrom('organizations').select('id').executeTakeFirstOrThrow();
  const call: Admin['call'] = async (method, params = {}) =>
    operations[method]?.(readParams(params), new AbortController().signal);
  return {
    operations,
    stores,
    limits,
    deletions,
    organizationId,
    call,
    ingestLog,
    async [Symbol.asyncDispose]() {
      await ingestLog[Symbol.asyncDispose]();
      await stores[Symbol.asyncDispose]();
    },
  };
}

test('D26 a limit set by the host administrator applies at once and after a restart, and is audited; no value restores the default', async () => {
  await using directory = await memoryDirectory();
  await using admin = await open(directory);
  const { organizationId, limits, call } = admin;
  const name = 'query-bytes-per-month';
  expect(limits.limitOf(organizationId, name)).toBe(100e12);
  await call('limits.set', { organizationId, name, value: 5, actor: 'root' });
  expect(limits.limitOf(organizationId, name)).toBe(5);
  expect((await openLimits(admin.stores.db)).limitOf(organizationId, name)).toBe(5);
  const listed = (await call('limits.set', { organizationId, name, actor: 'root' })) as Limit[];
  expect(listed.find((limit) => limit.name === name)).toMatchObject({ value: 100e12, default: 100e12 });
  expect(await call('audit', { organizationId })).toMatchObject([
    {
      actorKind: 'admin',
      actorName: 'root',
      action: 'admin.limits.set',
      targetId: name,
      detail: { from: 5, to: 100e12 },
    },
    {
      actorKind: 'admin',
      actorName: 'root',
      action: 'admin.limits.set',
      targetId: name,
      detail: { from: 100e12, to: 5 },
    },
  ]);
});

test('deleting an organization deletes its limits, but not those of others', async () => {
  await using directory = await memoryDirectory();
  await using admin = await open(directory);
  const { db } = admin.stores;
  const name = 'fragments';
  const row = { name, value: 5, changed_ms: 1 };
  await db
    .insertInto('limits')
    .values([
      { organization_id: admin.organizationId, ...row },
      { organization_id: 'other', ...row },
    ])
    .execute();
  await db.transaction().execute((trx) => organizationDeleting(trx, admin.organizationId));
  expect(await db.selectFrom('limits').select('organization_id').execute()).toEqual([{ organization_id: 'other' }]);
});

test("the host's push credentials are checked, sealed, audited and never shown", async () => {
  await using directory = await memoryDirectory();
  await using admin = await open(directory);
  const { call, stores } = admin;
  expect(await call('push-config.show')).toEqual({ setMs: null });
  await expect(call('push-config.set', { credentials: '{"canary":1}' })).rejects.toThrow(/service_account/);
  await expect(call('push-config.unset')).rejects.toMatchObject({ code: 'not_found' });
  const { privateKey } = generateKeyPairSync('rsa', {
    modulusLength: 2048,
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  const credentials = JSON.stringify({
    ...{ type: 'service_account', project_id: 'canary', client_email: 'a@b.example', private_key: privateKey },
  });
  const answers = [await call('push-config.set', { credentials }), await call('push-config.show')];
  expect(answers).toEqual([{ setMs: expect.any(Number) }, { setMs: expect.any(Number) }]);
  expect(await readHostPushCredentials(stores)).toBe(credentials);
  const [row] = await stores.db.selectFrom('host_push_credentials').selectAll().execute();
  expect(Buffer.from(row?.credentials ?? []).includes('canary')).toBe(false);
  expect(JSON.stringify(await call('audit'))).toMatch(/admin\.push-config\.set/);
  expect(JSON.stringify(await call('audit'))).not.toMatch(/canary|PRIVATE KEY/);
  expect(await call('push-config.unset')).toEqual({ setMs: null });
  expect(await readHostPushCredentials(stores)).toBeUndefined();
});

test('D26 the limits show how much the organization has scanned this month', async () => {
  await using directory = await memoryDirectory();
  await using admin = await open(directory, { ...systemClock, now: () => Date.UTC(2026, 1, 28, 12) });
  const { organizationId, call, stores } = admin;
  for (const [of, scanned_bytes] of [
    ['2026-02', 70],
    ['2020-01', 900],
  ] as const)
    await stores.db
      .insertInto('tabular_usage')
      .values({ organization_id: organizationId, month: of, scanned_bytes, queries: 1 })
      .execute();
  const used = ((await call('limits.get', { organizationId })) as UsedLimit[]).map((limit) => limit.used);
  expect(used.filter((each) => each !== null)).toEqual([70]);
});

test.each([
  [{ name: 'no-such-limit', value: 1 }, 'invalid_argument', /expected one of query-bytes-per-month/],
  [
    { name: 'query-bytes-per-month', value: -1 },
    'invalid_argument',
    /a whole number of logical bytes from 0, found -1/,
  ],
  [{ name: 'query-bytes-per-month', value: 1.5 }, 'invalid_argument', /found 1.5/],
  [{ name: 'query-bytes-per-month', value: '5' }, 'invalid_argument', /value: expected a number, found "5"/],
  [{ name: 'query-bytes-per-month', value: 1, organizationId: 'other' }, 'not_found', /found "other"/],
])('D26 the limit %j is refused, and nothing is audited', async (params, code, message) => {
  await using directory = await memoryDirectory();
  await using admin = await open(directory);
  const { organizationId, call } = admin;
  await expect(call('limits.set', { organizationId, ...params })).rejects.toMatchObject({
    code,
    message: expect.stringMatching(message),
  });
  expect(await call('audit')).toEqual([]);
});

test('D30 an owner who cannot sign in gets a link, which is stored hashed and audited without its token', async () => {
  await using directory = await memoryDirectory();
  await using admin = await open(directory);
  const { organizationId, call, stores } = admin;
  const link = (await call('organizations.create-owner-link', { organizationId })) as { path: string };
  expect(link.path).toMatch(/^\/sign-in\?token=[\w-]{40,}$/);
  const audited = JSON.stringify(await call('audit'));
  expect(audited).toContain('admin.organizations.create-owner-link');
  expect(audited).not.toContain(link.path.split('=')[1]);
  expect(await stores.db.selectFrom('one_time_links').selectAll().execute()).toHaveLength(1);
  await expect(call('organizations.create-owner-link', { organizationId: 'other' })).rejects.toMatchObject({
    code: 'not_found',
  });
});

test('doctor finds nothing wrong in a new installation, and names what is missing', async () => {
  await using directory = await memoryDirectory();
  await using admin = await open(directory);
  const look = () =>
    doctor({
      dataDirectory: admin.stores.data.path,
      checkSecrets: async () => String(await admin.call('check-secrets')),
      deep: false,
      freeBytes: async () => 2 ** 40,
      progress: () => {},
    });
  const findings = await look();
  expect(findings.filter(({ ok }) => !ok)).toEqual([]);
  expect(findings.length).toBeGreaterThan(5);
  await admin.stores.db.transaction().execute((trx) =>
    addFileRow(trx, {
      ...{ file: 'gone.parquet', organization_id: 'o', capture_day: '2026-01-01', format: 2, rows: 1 },
      ...{ logical_bytes: 4, file_bytes: 4, min_position: 1, max_position: 1, path_sets: '{}', created_ms: 1 },
      ...{ min_time_received: null, max_time_received: null, min_time_requested: null, max_time_requested: null },
      ...{ sha256: '', block_crcs: '' },
    }),
  );
  const wrong = (await look()).filter(({ ok }) => !ok);
  expect(wrong).toEqual([
    { check: 'the listed files exist', ok: false, found: expect.stringContaining('parquet/gone.parquet') },
  ]);
});

test('D33 doctor --deep finds damaged and missing log rows and a damaged image; without --deep, only recorded losses', async () => {
  await using directory = await memoryDirectory();
  await using admin = await open(directory);
  const { ingestLog, stores, call } = admin;
  const { data, db } = stores;
  const look = async (deep: boolean) => {
    const findings = await doctor({
      dataDirectory: data.path,
      checkSecrets: async () => String(await call('check-secrets')),
      freeBytes: async () => 2 ** 40,
      progress: () => {},
      deep,
    });
    return findings.filter(({ ok }) => !ok);
  };
  for (let seq = 1; seq <= 4; seq++) await ingestLog.append(testEntry(seq));
  const followers = ['triggers', 'binary data'];
  await db
    .insertInto('log_cursors')
    .values(followers.map((name) => ({ name, position: 0 })))
    .execute();
  const sha256 = createHash('sha256').update('picture').digest('hex');
  await insertFile(db, { id: 'one', blob_path: 'a/one', size_bytes: 7, sha256 });
  mkdirSync(data.at('blobs', 'a'), { recursive: true });
  writeFileSync(data.at('blobs', 'a', 'one'), 'picture');
  expect(await look(true)).toEqual([]);

  writeFileSync(data.at('blobs', 'a', 'one'), 'picturE');
  {
    using log = new DatabaseSync(data.at('ingest.sqlite'), { timeout: 60_000 });
    log.exec('update log set seq = 9 where position = 2; delete from log where position = 3');
  }
  expect(await look(false)).toEqual([]);
  expect(await look(true)).toEqual([
    {
      check: 'pictures and files are as they were stored',
      ok: false,
      found: expect.stringMatching(/found 1 .*one \(blobs\/a\/one\): expected SHA-256/),
    },
    {
      check: 'the ingest log is as it was written',
      ok: false,
      found: expect.stringMatching(/found 2 .*position 2: its part.*; position 3 of part p: the row is missing/),
    },
  ]);
  for (const position of [2, 3])
    await ingestLog.recordLoss('readings', { first: position, last: position, parts: null, reason: 'the row is gone' });
  expect(await look(false)).toMatchObject([{ check: 'no upload is lost from the ingest log' }]);
  expect(await call('repair.losses', { accept: true })).toMatchObject({ losses: [{ first: 2 }, { first: 3 }] });
  expect(await look(false)).toEqual([]);
});

test('D30 only its owner can use the control socket; errors keep their codes, and an invalid request gets an answer', async () => {
  await using directory = await memoryDirectory();
  await using admin = await open(directory);
  const file = join(directory.path, 'control.sock');
  await using _server = await openControlServer(file, admin.operations, silentLog);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  await using client = await openControlClient(file);
  expect(await client?.call('status')).toMatchObject({ running: true, instanceKeyPlace: 'file' });
  await expect(client?.call('limits.get')).rejects.toMatchObject({ code: 'invalid_argument' });
  await expect(client?.call('no.such')).rejects.toMatchObject({ code: 'unimplemented' });
  const answer = await new Promise<string>((resolve) => {
    const socket = connect(file, () => socket.write('nonsense\n'));
    socket.once('data', (data) => {
      socket.destroy();
      resolve(data.toString());
    });
  });
  expect(JSON.parse(answer)).toMatchObject({ id: null, error: { code: 'internal' } });
});

test('I15 deletions continue when the backup releases its hold, even if its process dies', async () => {
  await using directory = await memoryDirectory();
  await using admin = await open(directory);
  const file = join(directory.path, 'control.sock');
  await using _server = await openControlServer(file, admin.operations, silentLog);
  const client = await openControlClient(file);
  await client?.call('backup.hold');
  expect(admin.deletions.held).toBe(true);
  const deleted = admin.deletions.run(async () => 'deleted');
  // A process that dies closes its sockets without a message.
  await client?.[Symbol.asyncDispose]();
  expect(await deleted).toBe('deleted');
  expect(admin.deletions.held).toBe(false);
});

test('a name with Unicode line separators passes through the control socket unchanged', async () => {
  await using directory = await memoryDirectory();
  const file = directory.file('control.sock');
  await using _server = await openControlServer(
    file,
    { echo: async ({ text }) => ({ name: text('name') }) },
    silentLog,
  );
  await using client = await openControlClient(file);
  const name = `a\u2028b\u2029c\u0085d ${'é'.repeat(100_000)}`;
  expect(await client?.call('echo', { name })).toEqual({ name });
});

test('a socket without a server is taken over by the next start', async () => {
  await using directory = await memoryDirectory();
  const file = join(directory.path, 'control.sock');
  expect(await openControlClient(file)).toBeUndefined();
  for (let start = 0; start < 2; start++) {
    await using _server = await openControlServer(file, { status: async () => start }, silentLog);
    await using client = await openControlClient(file);
    expect(await client?.call('status')).toBe(start);
  }
});

test('D29 a changed log limit of an organization applies to its machines from the next line on', async () => {
  await using directory = await memoryDirectory();
  await using admin = await open(directory);
  const { organizationId, call, limits } = admin;
  const quota = new LogQuota(() => machineLogAllowance(limits, organizationId), 0, 1, 0);
  const admits = (): boolean => quota.admits('error', 10, 0, 1);
  expect(admits()).toBe(true);
  await call('limits.set', { organizationId, name: 'machine-log-bytes-per-day', value: 15 });
  expect(admits()).toBe(false);
  await call('limits.set', { organizationId, name: 'machine-log-bytes-per-day' });
  expect(admits()).toBe(true);
});
