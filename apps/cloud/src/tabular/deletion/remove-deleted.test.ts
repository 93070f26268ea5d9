import { silentLog, systemClock } from '@platform/base';
import { seriesColumns } from '@platform/query';
import { expect, test } from 'vitest';
import { createDeletionPause } from '../../instance/deletion-pause.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { ListedFile } from '../catalog/read-catalog.ts';
import type { PathSets } from '../catalog/series.ts';
import { createSnapshotLeases } from '../catalog/snapshot-leases.ts';
import type { Child } from '../child/child.ts';
import { createCompaction } from '../compaction/compaction.ts';
import { defaultTabularSettings } from '../settings.ts';
import { createRemoveDeleted } from './remove-deleted.ts';

const { signal } = new AbortController();

test('D24 a pass is incomplete when a file was merged before it could be dropped, because its rows are in another file', async () => {
  const file: ListedFile = {
    ...{ file: '2026-05-01-a.parquet', format: 2, captureDay: '2026-05-01', rows: 1, logicalBytes: 1 },
    pathSets: Object.fromEntries(seriesColumns.map((column) => [column, ['x']])) as unknown as PathSets,
    timeReceived: { min: 1, max: 1 },
    positions: { min: 1, max: 1 },
  };
  const listed = new Set<string>([file.file]);
  const catalog = {
    sealedPosition: async () => 1,
    deletions: async () => [],
    isListed: async (name) => listed.has(name),
    replace: async (replaced) => replaced.forEach((name) => void listed.delete(name)),
    async listedFiles() {
      if (isMerged) listed.clear();
      return [file];
    },
  } as Partial<Catalog> as Catalog;
  const compaction = createCompaction({
    ...{ catalog, leases: createSnapshotLeases(), deletions: createDeletionPause(), settings: defaultTabularSettings },
    ...{ clock: systemClock, log: silentLog, stopping: signal, unlink: async () => {} },
    child: () => ({ send: () => {} }) as Partial<Child> as Child,
  });
  const expired = { expired: [{ paths: { part_id: ['x'] }, beforeDay: '2026-05-02' }], recent: [] };
  const remove = () => createRemoveDeleted({ catalog, compaction })('org-1', expired, Date.UTC(2026, 4, 3), signal);
  let isMerged = true;
  expect(await remove()).toMatchObject({ droppedFiles: 0, complete: false });
  isMerged = false;
  listed.add(file.file);
  expect(await remove()).toMatchObject({ droppedFiles: 1, complete: true });
});
