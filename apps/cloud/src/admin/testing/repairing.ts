/** Setup for tests of repair: a store, a backup of it, and the host administrator's commands on both. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { silentLog, systemClock } from '@platform/base';
import { copyDatabase } from '../../backup/copy/copy-database.ts';
import { measureFile } from '../../backup/copy/copy-with-hash.ts';
import { newManifest } from '../../backup/manifest.ts';
import { createDeletionPause } from '../../instance/deletion-pause.ts';
import { openInstanceKey } from '../../instance/instance-key.ts';
import { testRowWatch } from '../../metadata/testing/test-row-watch.ts';
import type { OpenTabular } from '../../tabular/testing/open-tabular.ts';
import { openAllowedTargets } from '../allowed-targets.ts';
import { checkFiles } from '../doctor/check-files.ts';
import { openDoctorStore } from '../doctor/doctor.ts';
import { createAdmin } from '../feature.ts';
import { openLimits } from '../limits.ts';
import { readParams } from '../read-params.ts';
import { type RepairOptions, repair } from '../repair/repair.ts';

const { signal } = new AbortController();

/** Creates a backup like `platform admin backup`, with these files and, if requested, the log. */
export async function backUp(store: OpenTabular, to: string, names: readonly string[], withLog = false): Promise<void> {
  await mkdir(join(to, 'parquet'), { recursive: true });
  const files = [];
  for (const name of names) {
    await writeFile(join(to, 'parquet', name), await readFile(join(store.dataDir, 'parquet', name)));
    files.push({ path: `parquet/${name}`, ...(await measureFile(join(to, 'parquet', name), signal)) });
  }
  if (withLog) {
    await copyDatabase(join(store.dataDir, 'ingest.sqlite'), join(to, 'ingest.sqlite'));
    files.push({ path: 'ingest.sqlite', ...(await measureFile(join(to, 'ingest.sqlite'), signal)) });
  }
  const manifest = newManifest({
    ...{ createdMs: 1, program: 'test', dataVersion: 100, metaVersion: 100, ingestVersion: 100, sealedPosition: 3 },
    ...{ lastPosition: 3, instanceKey: 'left-out', files },
  });
  await writeFile(join(to, 'backup.json'), JSON.stringify(manifest));
}

/** Deletes log rows, as truncation does after all followers have read them, or as a failing disk does. */
export function forgetRows(store: OpenTabular, condition: string): void {
  using db = new DatabaseSync(join(store.dataDir, 'ingest.sqlite'), { timeout: 60_000 });
  db.exec(`delete from log where ${condition}`);
}

export async function adminOf(store: OpenTabular) {
  const operations = createAdmin({
    db: store.db,
    rows: testRowWatch(store.db, { file: join(store.dataDir, 'meta.sqlite'), database: undefined }),
    ingestLog: store.ingestLog,
    loadAgain: () => store.tabular.loadAgain(),
    limits: await openLimits(store.db),
    allowedTargets: await openAllowedTargets({
      ...{ db: store.db, ownPorts: () => [], option: [], organizations: () => [] },
    }),
    instanceKey: openInstanceKey(join(store.dataDir, 'instance.key'), undefined, undefined),
    keyFile: undefined,
    sealDocuments: async () => 0,
    deletions: createDeletionPause(),
    clock: systemClock,
    log: silentLog,
    status: async () => ({ running: true, damagedFiles: [] }),
  });
  const call = async (name: string, params: Readonly<Record<string, unknown>> = {}) =>
    operations[name]?.(readParams({ actor: 'root', ...params }), signal);
  const doctorStore = await openDoctorStore(store.dataDir, undefined);
  return {
    call,
    wrong: async () => [
      ...(await checkFiles(join(store.dataDir, 'parquet'), doctorStore.catalog, true, () => {})).wrong.keys(),
    ],
    repair: (options: Partial<RepairOptions> = {}) =>
      repair({
        ...{
          parquetDir: join(store.dataDir, 'parquet'),
          blobDirectory: join(store.dataDir, 'blobs'),
          store: doctorStore,
          ask: call,
          acceptLoss: false,
          apply: true,
        },
        nowMs: systemClock.now(),
        progress: () => {},
        ...options,
      }),
  };
}
