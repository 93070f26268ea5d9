import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { silentLog, systemClock } from '@platform/base';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { openIngestLog } from '../ingest/log/open-ingest-log.ts';
import type { VerifiedRow } from '../ingest/losses/row-checksums.ts';
import { throwUncaught } from '../metadata/testing/throw-uncaught.ts';
import { copyDatabase } from './copy/copy-database.ts';
import { type Manifest, newManifest, type StoreKind } from './manifest.ts';
import { readBackedUpLog } from './read-backed-up-log.ts';
import { readTables } from './read-tables.ts';
import { openTableFile } from './table-file.ts';

const manifestOf = (store: StoreKind): Manifest =>
  newManifest({
    ...{
      createdMs: 1,
      program: 'test',
      dataVersion: 100,
      store,
      metaVersion: 100,
      ingestVersion: 100,
      sealedPosition: 0,
    },
    ...{ lastPosition: 4, instanceKey: 'left-out' },
    files: store === 'sqlite' ? [] : [{ path: 'tables/ingest.log.ndjson', bytes: 1, sha256: '' }],
  });

test.each(['sqlite', 'postgres'] as const)(
  'D33 a backup of %s yields the rows of the log that their checksums prove',
  async (store) => {
    await using directory = await temporaryDirectory();
    const rowsOf = async (path: string, first: number, last: number) => {
      const rows: VerifiedRow[] = [];
      for await (const row of readBackedUpLog(path, manifestOf(store), first, last)) rows.push(row);
      return rows;
    };
    const backup = directory.file('backup');
    mkdirSync(join(backup, 'tables'), { recursive: true });
    const file = directory.file('ingest.sqlite');
    {
      await using log = await openIngestLog({ onFatal: throwUncaught, file, log: silentLog, clock: systemClock });
      for (let seq = 1; seq <= 5; seq++) {
        const stream = new Uint8Array(16).fill(seq);
        const sha256 = new Uint8Array(32).fill(seq);
        await log.append({
          ...{
            partId: 'p',
            stream,
            seq,
            lowWaterMark: 0,
            sha256,
            batch: Uint8Array.of(0, 255, seq),
            fileId: `f${seq}`,
          },
        });
      }
    }
    using db = new DatabaseSync(file);
    // Contents of one row, and a checksum of another.
    db.exec(`update log set batch = x'00' where position = 3; update log set head_checksum = 0 where position = 4`);
    await copyDatabase(file, join(backup, 'ingest.sqlite'));
    if (store === 'postgres') {
      // The same rows as Postgres writes them.
      new DatabaseSync(join(backup, 'meta.sqlite')).close();
      const tables = await readTables(backup, manifestOf('sqlite'));
      const log = tables.find(({ head }) => head.table === 'log');
      const written = openTableFile(join(backup, 'tables', 'ingest.log.ndjson'));
      written.write(log?.head);
      for await (const row of log?.rows() ?? []) written.write(JSON.parse(row));
      written.close();
    }

    const rows = await rowsOf(backup, 2, 5);
    expect(rows.map(({ position, seq, batch }) => [position, seq, [...batch]])).toEqual([
      [2, 2, [0, 255, 2]],
      [5, 5, [0, 255, 5]],
    ]);
    expect(existsSync(join(backup, 'ingest.sqlite-wal'))).toBe(false);
    expect(await rowsOf(directory.file('none'), 1, 5)).toEqual([]);
  },
);
