import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { type OpenTabular, openTabular } from '../../tabular/testing/open-tabular.ts';
import { adminOf, backUp, forgetRows } from '../testing/repairing.ts';

const sorted = [{ $sort: { 'data.i': 1 } }] as const;

async function fill(store: OpenTabular, count = 3): Promise<void> {
  await store.db
    .insertInto('organizations')
    .values({ id: 'org-1', name: 'First', created_ms: 1, webhook_secret: '' } as never)
    .execute();
  for (let i = 1; i <= count; i++) store.append({ readings: [{ data: { i } }] });
}

interface BackedUp extends AsyncDisposable {
  readonly store: OpenTabular;
  readonly from: string;
  readonly right: Awaited<ReturnType<OpenTabular['mql']>>;
}

/** Creates three uploads, their query results, and a backup with all of them. */
async function openBackedUp(): Promise<BackedUp> {
  await using stack = new AsyncDisposableStack();
  const directory = stack.use(await temporaryDirectory());
  const store = stack.use(await openTabular());
  await fill(store);
  const right = await store.mql(sorted);
  const from = directory.file('backup');
  await backUp(store, from, [], true);
  const opened = stack.move();
  return { store, from, right, [Symbol.asyncDispose]: () => opened.disposeAsync() };
}

function damage(store: OpenTabular, set: string, position = 2): void {
  using db = new DatabaseSync(join(store.dataDir, 'ingest.sqlite'), { timeout: 60_000 });
  db.exec(`update log set ${set} where position = ${position}`);
}

/** Makes the store read the log again and notice the loss. */
async function notice(store: OpenTabular): Promise<void> {
  const { restarts } = await store.tabular.status();
  store.tabular.killProcess();
  await expect.poll(async () => (await store.tabular.status()).restarts).toBe(restarts + 1);
  await expect.poll(() => store.count().catch(() => 'lost')).toBe('lost');
}

test.each([
  ['was changed', (store: OpenTabular) => damage(store, `batch = x'00'`)],
  ['is missing', (store: OpenTabular) => forgetRows(store, 'position = 2')],
])(
  'D33 a log row that %s is restored from a backup, and so are its readings before they are sealed',
  async (_what, lose) => {
    await using backedUp = await openBackedUp();
    const { store, from, right } = backedUp;
    lose(store);
    await notice(store);
    const admin = await adminOf(store);
    expect(await admin.repair()).toMatchObject([{ outcome: 'lost', what: 'ingest log 2' }]);
    const found = { what: 'ingest log 2', detail: `from the ingest log of ${from}` };
    expect(await admin.repair({ from, apply: false })).toMatchObject([{ ...found, outcome: 'can be restored' }]);
    await expect(store.count()).rejects.toMatchObject({ code: 'data_loss' });
    expect(await admin.repair({ from })).toMatchObject([{ ...found, outcome: 'restored' }]);
    expect(await store.mql(sorted)).toEqual(right);
    expect(store.ingestLog.losses()).toEqual([]);
    expect(await admin.repair({ from })).toEqual([]);
    await store.tabular.seal();
    expect(await store.mql(sorted)).toEqual(right);
    expect(await admin.call('audit')).toMatchObject([{ action: 'admin.repair.restored', actorName: 'root' }]);
  },
);

test('D33 a log row that was skipped while sealing is restored into a separate file, once', async () => {
  await using backedUp = await openBackedUp();
  const { store, from, right } = backedUp;
  damage(store, `part = 'q'`);
  await notice(store);
  await store.tabular.seal();
  const admin = await adminOf(store);
  expect(await admin.repair({ from })).toMatchObject([{ outcome: 'restored' }]);
  expect(await store.mql(sorted)).toEqual(right);
  expect(store.ingestLog.losses()).toEqual([]);
  // Simulates a repair interrupted before it ended the loss: nothing is restored twice.
  await store.ingestLog.recordLoss('readings', { first: 2, last: 2, parts: null, reason: 'again' });
  await expect(store.count()).rejects.toMatchObject({ code: 'data_loss' });
  expect(await admin.repair({ from })).toMatchObject([{ outcome: 'restored' }]);
  expect(await store.mql(sorted)).toEqual(right);
});

test('D33 restoring the log row does not restore deleted readings', async () => {
  await using directory = await temporaryDirectory();
  await using store = await openTabular();
  await fill(store, 2);
  store.append({ metadata: { componentName: 'gone' }, readings: [{ data: { i: 3 } }, { data: { i: 4 } }] });
  store.append({ readings: [{ data: { i: 5 } }] });
  const from = directory.file('backup');
  await backUp(store, from, [], true);
  const predicate = { paths: { component_name: ['gone'] } };
  await store.tabular.deleteRows({ organizationId: 'org-1', predicate, dryRun: false, record: async () => {} });
  const right = await store.mql(sorted);
  for (const position of [2, 3]) damage(store, `batch = x'00'`, position);
  await notice(store);
  await store.tabular.seal();
  await store.tabular.removeDeleted('org-1', new AbortController().signal);
  expect(await store.db.selectFrom('tabular_deletes').selectAll().execute()).toEqual([]);
  const admin = await adminOf(store);
  expect(await admin.repair({ from })).toMatchObject([{ what: 'ingest log 2–3', outcome: 'restored' }]);
  expect(await store.mql(sorted)).toEqual(right);
  expect(right.map(({ data }) => data)).toEqual([{ i: 1 }, { i: 2 }, { i: 5 }]);
});

test('D33 a row skipped so long ago that later deletions are forgotten stays lost, and so does one of another installation', async () => {
  await using backedUp = await openBackedUp();
  const { store, from } = backedUp;
  damage(store, `batch = x'00'`);
  await notice(store);
  await store.tabular.seal();
  const admin = await adminOf(store);
  const lost = [{ outcome: 'lost', what: 'ingest log 2' }];
  expect(await admin.repair({ from, nowMs: Date.now() + 9 * 86_400_000 })).toMatchObject(lost);
  await store.db.deleteFrom('organizations').execute();
  expect(await admin.repair({ from })).toMatchObject(lost);
  await expect(store.count()).rejects.toMatchObject({ code: 'data_loss' });
});
