/**
 * Repair: restores lost rows of the ingest log from the log in a backup. Followers that have already passed these positions do not read
 * them again. Instead, readings that are not yet sealed are reloaded, sealed ones are written to separate files, and images and files are
 * listed. Triggers do not fire.
 */
import { rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Repaired } from '@platform/base';
import { readBackedUpLog } from '../../backup/read-backed-up-log.ts';
import type { LogLoss } from '../../ingest/log/log.ts';
import type { VerifiedRow } from '../../ingest/losses/row-checksums.ts';
import { syncPath } from '../../instance/sync-path.ts';
import { openUpload } from '../../reading-codec/open-upload.ts';
import type { Delete } from '../../tabular/catalog/row-filter.ts';
import { recentDeletesMs } from '../../tabular/deletion/recent-deletes.ts';
import { findLogDamage } from '../doctor/find-log-damage.ts';
import type { Backup } from './open-backup.ts';
import type { RepairOptions } from './repair.ts';
import { quarantine } from './repair-files.ts';
import { encodeRow } from './row-json.ts';

export interface Positions {
  readonly first: number;
  readonly last: number;
}

/** Bytes of rows sent in one message. */
const sendBytes = 4 << 20;
/** Bytes of readings that are written to files at once. */
const writeBytes = 64 << 20;
const someRows = 1_000;

export function nameOfPositions({ first, last }: Positions): string {
  return `ingest log ${first === last ? first : `${first}–${last}`}`;
}

/** @param inFiles the outcome for damaged files. Also returns the positions that were restored, or would be. */
export async function repairLog(
  options: RepairOptions,
  backup: Backup | undefined,
  inFiles: readonly Repaired[],
): Promise<{ readonly report: readonly Repaired[]; readonly back: readonly Positions[] }> {
  if (backup === undefined) return { report: [], back: [] };
  const { store, ask, apply } = options;
  const { losses } = (await ask('repair.losses', { accept: false })) as { losses: readonly LogLoss[] };
  const { damages } = await store.log(findLogDamage);
  const lost = merged([...losses, ...damages]);
  const found: number[] = [];
  for await (const rows of someOf(rowsOf(backup, lost), sendBytes)) {
    const sent = { rows: JSON.stringify(rows.map(encodeRow)), apply };
    found.push(...((await ask('repair.rows', sent)) as { restored: readonly number[] }).restored);
  }
  const from = `the ingest log of ${backup.directory}`;
  const passed = found.filter((position) =>
    losses.some(({ lossIn, first, last }) => lossIn === 'readings' && first <= position && position <= last),
  );
  const late =
    apply && passed.length > 0 ? await restorePassed(options, backup, { passed, from, inFiles }) : new Set<number>();
  const positions = found.filter((position) => !late.has(position));
  if (apply && positions.length > 0)
    await ask('repair.rows-back', { positions: JSON.stringify(positions), loaded: JSON.stringify(passed), from });
  const back = merged(positions.map((position) => ({ first: position, last: position })));
  const report = back.map((range): Repaired => {
    const isPassed = losses.some(({ lossIn, first, last }) => lossIn === 'triggers' && overlap({ first, last }, range));
    return {
      what: nameOfPositions(range),
      damage: 'uploads that were acknowledged could not be read',
      outcome: apply ? 'restored' : 'can be restored',
      detail: `from ${from}${isPassed ? '; triggers had passed them and fire none' : ''}`,
    };
  });
  return { report, back };
}

/** Adds rows that are already missing from sealed files. Returns the positions whose readings cannot be restored. */
async function restorePassed(
  options: RepairOptions,
  backup: Backup,
  passing: {
    /** Positions that the tabular store has skipped. */
    readonly passed: readonly number[];
    readonly from: string;
    readonly inFiles: readonly Repaired[];
  },
): Promise<ReadonlySet<number>> {
  const { passed, from, inFiles } = passing;
  const { store, parquetDir, ask, nowMs } = options;
  const { sealed } = (await ask('repair.load-again', {})) as { sealed: number };
  // The content of these files is unknown.
  const lost = new Set(inFiles.filter(({ outcome }) => outcome === 'lost').map(({ what }) => what));
  const damaged = (await store.catalog()).files.filter(({ file }) => lost.has(`parquet/${file}`));
  const late = new Set<number>();
  const write = async (uploads: readonly VerifiedRow[]): Promise<void> => {
    // Load DuckDB only here: most repairs never need it.
    const { restoreReadings } = await import('./restore-readings.ts');
    const workDir = join(parquetDir, quarantine, 'restoring');
    try {
      const files = await restoreReadings({
        uploads,
        listed: (await store.catalog()).files,
        parquetDir,
        deletesOf: async (organizationId, position) => {
          const { deletes } = (await ask('repair.deletes', { organizationId, position })) as { deletes: Delete[] };
          return deletes;
        },
        workDir,
      });
      for (const { file } of files) await rename(join(workDir, file), join(parquetDir, file));
      if (files.length > 0) await syncPath(parquetDir);
      if (files.length > 0) await ask('repair.replaced', { files: '[]', as: JSON.stringify(files), from });
    } finally {
      await rm(workDir, { recursive: true, force: true });
    }
  };
  const ranges = merged(passed.filter((position) => position <= sealed).map((at) => ({ first: at, last: at })));
  for await (const rows of someOf(rowsOf(backup, ranges), writeBytes)) {
    for (const row of rows) {
      const mayBeInFile = damaged.some(
        (file) => file.min_position <= row.position && row.position <= file.max_position,
      );
      // Older deletions are no longer known, so deleted readings would reappear.
      if (mayBeInFile || nowMs - syncedMs(row) > recentDeletesMs) late.add(row.position);
    }
    const uploads = rows.filter(({ position }) => !late.has(position));
    if (uploads.length > 0) await write(uploads);
  }
  return late;
}

async function* rowsOf({ directory, manifest }: Backup, ranges: readonly Positions[]): AsyncGenerator<VerifiedRow> {
  for (const { first, last } of ranges) yield* readBackedUpLog(directory, manifest, first, last);
}

/** Yields at least one row each time; stops after the row with which they exceed `bytes`. */
async function* someOf(rows: AsyncIterable<VerifiedRow>, bytes: number): AsyncGenerator<readonly VerifiedRow[]> {
  let some: VerifiedRow[] = [];
  let held = 0;
  for await (const row of rows) {
    some.push(row);
    held += row.batch.length;
    if (held < bytes && some.length < someRows) continue;
    yield some;
    some = [];
    held = 0;
  }
  if (some.length > 0) yield some;
}

function syncedMs({ batch }: VerifiedRow): number {
  return Number(openUpload(batch).timeSynced?.seconds ?? 0) * 1_000;
}

/** Sorted, without overlaps; adjacent ranges are joined. */
function merged(ranges: readonly Positions[]): Positions[] {
  const result: { first: number; last: number }[] = [];
  for (const { first, last } of ranges.toSorted((a, b) => a.first - b.first)) {
    const before = result.at(-1);
    if (before !== undefined && first <= before.last + 1) before.last = Math.max(before.last, last);
    else result.push({ first, last });
  }
  return result;
}

function overlap(a: Positions, b: Positions): boolean {
  return a.first <= b.last && b.first <= a.last;
}
