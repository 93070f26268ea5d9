/** Refuses answers that altered, missing or added tags and boxes could change (D33). */
import type { Filter } from '@platform/proto/platform/app/data/v1/data';
import { type CheckedTable, dayOfUs } from '../../metadata/row-checks/checked-table.ts';
import type { DayRange } from '../../metadata/row-checks/require-complete.ts';
import type { RowWatch } from '../../metadata/row-checks/row-watch.ts';
import { fileBoxes, fileTags } from '../store.ts';
import type { FileRow } from './find-files.ts';

type Watch = Pick<RowWatch, 'requireComplete' | 'requireIntact'>;

/** For answers that show boxes; tags are shown from the rows of the files. @throws data_loss */
export async function requireBoxes(watch: Watch, organizationIds: readonly string[], days: DayRange): Promise<void> {
  await watch.requireComplete(fileBoxes, organizationIds, days);
}

/** For named files: the days from the first to the last of each organization. @throws data_loss */
export async function requireBoxesOf(watch: Watch, files: readonly FileRow[]): Promise<void> {
  for (const [organizationId, some] of Map.groupBy(files, (file) => file.organization_id)) {
    const days = some.map((file) => dayOfUs(file.captured_us));
    await requireBoxes(watch, [organizationId], { from: Math.min(...days), to: Math.max(...days) });
  }
}

interface FoundBy {
  readonly filter: Pick<Filter, 'tagsFilter' | 'bboxLabels'>;
  readonly organizationIds: readonly string[];
  readonly days: DayRange;
}

/** For statements that find files by them, and do not read those that do not match. @throws data_loss */
export async function requireFoundBy(watch: Watch, { filter, organizationIds, days }: FoundBy): Promise<void> {
  for (const table of tablesOf(filter)) {
    await watch.requireComplete(table, organizationIds, days);
    await watch.requireIntact(table, organizationIds, days);
  }
}

function tablesOf({ tagsFilter, bboxLabels }: FoundBy['filter']): readonly CheckedTable[] {
  return [...(tagsFilter === undefined ? [] : [fileTags]), ...(bboxLabels.length === 0 ? [] : [fileBoxes])];
}
