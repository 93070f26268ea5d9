/** Refuses answers that altered, missing or added tags and boxes could change (D33). */
import type { Filter } from '@platform/proto/platform/app/data/v1/data';
import { dayOfUs } from '../../metadata/row-checks/checked-table.ts';
import type { DayRange } from '../../metadata/row-checks/require-complete.ts';
import type { RowWatch } from '../../metadata/row-checks/row-watch.ts';
import { fileBoxes, fileTags, labelsChecked } from '../store.ts';
import type { FileRow } from './find-files.ts';

type Watch = Pick<RowWatch, 'requireComplete' | 'requireIntact'>;

/** For answers that show them. @throws data_loss when some of these organizations and days are known to be missing */
export async function requireLabels(watch: Watch, organizationIds: readonly string[], days: DayRange): Promise<void> {
  for (const table of labelsChecked) await watch.requireComplete(table, organizationIds, days);
}

/** For named files: the days from the first to the last of each organization. @throws data_loss */
export async function requireLabelsOf(watch: Watch, files: readonly FileRow[]): Promise<void> {
  for (const [organizationId, some] of Map.groupBy(files, (file) => file.organization_id)) {
    const days = some.map((file) => dayOfUs(file.captured_us));
    await requireLabels(watch, [organizationId], { from: Math.min(...days), to: Math.max(...days) });
  }
}

/**
 * For statements that find files by them, and do not read those that do not match: also compares their values.
 *
 * @throws data_loss
 */
export async function requireFoundBy(
  watch: Watch,
  { tagsFilter, bboxLabels }: Pick<Filter, 'tagsFilter' | 'bboxLabels'>,
  organizationIds: readonly string[],
  days: DayRange,
): Promise<void> {
  const tables = [...(tagsFilter === undefined ? [] : [fileTags]), ...(bboxLabels.length === 0 ? [] : [fileBoxes])];
  for (const table of tables) {
    await watch.requireComplete(table, organizationIds, days);
    await watch.requireIntact(table, organizationIds, days);
  }
}
