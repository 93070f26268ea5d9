/** I15 under load: rows are sealed, files merged and removed, and the log truncated while backups are taken. */
import { follow, type Log, silentLog, systemClock } from '@platform/base';
import { documentsOf } from '@platform/query';
import { parseMql } from '@platform/query/mql';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { dataVersion } from '../data-directory.ts';
import type { IngestLog } from '../ingest/log/log.ts';
import { openIngestLog } from '../ingest/log/open-ingest-log.ts';
import { createDeletionPause, type DeletionPause } from '../instance/deletion-pause.ts';
import { throwUncaught } from '../metadata/testing/throw-uncaught.ts';
import { openStores } from '../open-stores.ts';
import { createTabular } from '../tabular/feature.ts';
import type { Tabular } from '../tabular/tabular.ts';
import { encodeUpload, plain, wholeOrganization } from '../tabular/testing/open-tabular.ts';
import { standaloneTabular } from '../tabular/testing/standalone-tabular.ts';
import { restoreBackup } from './restore-backup.ts';
import { writeBackup } from './write-backup.ts';

const log: Log = silentLog;
const uploadRows = 25;
const { signal } = new AbortController();

interface Store extends AsyncDisposable {
  readonly ingestLog: IngestLog;
  readonly tabular: Tabular;
  readonly deletions: DeletionPause;
  /** Acknowledges one upload of consecutive readings. */
  append(seq: number): Promise<void>;
  /** How often each number occurs. */
  counts(): Promise<Map<number, number>>;
}

/** Composed as in compose.ts, with small files, so that seals, merges and truncations never stop. */
async function openStore(dataDirectory: string): Promise<Store> {
  await using unwind = new AsyncDisposableStack();
  const settings = { dataDirectory, instanceKey: undefined, nextInstanceKey: undefined, keepBeforeUpgrade: true };
  const { data, db } = unwind.use(
    await openStores(settings, {
      clock: systemClock,
      log,
      onFatal: (caught): never => {
        throw caught;
      },
    }),
  );
  data.complete();
  const ingestLog = unwind.use(
    await openIngestLog({ onFatal: throwUncaught, file: data.at('ingest.sqlite'), log, clock: systemClock }),
  );
  const deletions = createDeletionPause();
  const tabular = unwind.use(
    createTabular({
      ...standaloneTabular(),
      ...{ dataDir: data.path, db, ingestLog, log, clock: systemClock, deletions },
      settings: { sealRows: 100, mergeFiles: 3 },
    }),
  );
  await tabular.start();
  unwind.use(
    follow({
      ...{ name: 'truncate', idleMs: 20, clock: systemClock, log },
      step: async () => {
        if (!deletions.held) await deletions.run(() => ingestLog.truncate(tabular.sealedPosition(), 100));
        return false;
      },
    }),
  );
  const opened = unwind.move();
  return {
    ingestLog,
    tabular,
    deletions,
    async append(seq) {
      const first = (seq - 1) * uploadRows;
      await ingestLog.append({
        ...{ partId: 'part-1', stream: new Uint8Array(16), seq, lowWaterMark: seq },
        ...{ sha256: new Uint8Array(32), fileId: `f${seq}` },
        batch: encodeUpload({ readings: Array.from({ length: uploadRows }, (_, i) => ({ data: { i: first + i } })) }),
      });
    },
    async counts() {
      const plan = parseMql([]);
      const result = await tabular.query({ plan, scope: wholeOrganization, vocabulary: 'core' });
      const counts = new Map<number, number>();
      for (const row of documentsOf(result)) {
        const { i } = (plain(row) as { data: { i: number } }).data;
        counts.set(i, (counts.get(i) ?? 0) + 1);
      }
      return counts;
    },
    [Symbol.asyncDispose]: () => opened.disposeAsync(),
  };
}

test('I15 backups taken while rows are sealed, merged and truncated hold each reading acknowledged before them exactly once', async () => {
  await using directory = await temporaryDirectory();
  await using store = await openStore(directory.file('data'));
  let uploads = 0;
  let stopped = false;
  const writing = (async () => {
    for (; !stopped; await systemClock.sleep(2)) await store.append(++uploads);
  })();
  const backups: { readonly path: string; readonly acknowledged: number }[] = [];
  for (let round = 0; round < 4; round++) {
    // Each backup begins during a seal, and with a different number of files to merge.
    const sealed = store.tabular.sealedPosition();
    while (store.tabular.sealedPosition() <= sealed + 20) await systemClock.sleep(5 + round);
    const acknowledged = (uploads - 1) * uploadRows;
    const path = directory.file(`backup-${round}`);
    await writeBackup({
      dataDirectory: directory.file('data'),
      destination: path,
      hold: async () => {
        const hold = await store.deletions.hold();
        return { stands: async () => {}, [Symbol.asyncDispose]: async () => hold[Symbol.dispose]() };
      },
      key: { kind: 'included' },
      keyInEnvironment: false,
      program: 'test',
      now: systemClock.now,
      monotonic: systemClock.monotonic,
      // Gives seals and merges time between the copy of the catalog and that of the listed files.
      progress: () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 30),
      signal,
    });
    backups.push({ path, acknowledged });
  }
  stopped = true;
  await writing;

  for (const [round, { path, acknowledged }] of backups.entries()) {
    const target = directory.file(`restored-${round}`);
    await restoreBackup({
      ...{ source: path, target, newestDataVersion: dataVersion, now: systemClock.now, progress: () => {}, signal },
    });
    await using restored = await openStore(target);
    const counts = await restored.counts();
    expect([...counts.values()].filter((copies) => copies !== 1)).toEqual([]);
    expect(Array.from({ length: acknowledged }, (_, i) => i).filter((i) => !counts.has(i))).toEqual([]);
    // The restored log continues: new uploads are sealed after the skipped positions.
    await restored.append(1_000_000);
    await restored.tabular.seal();
    expect((await restored.counts()).size).toBe(counts.size + uploadRows);
  }
});
