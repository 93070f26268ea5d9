/** Words to complete in queries: fields and names that are in stored readings, and the words of the languages. */
import { SeriesService } from '@platform/proto/platform/series/v1/series';
import { clientOf } from '../api/clients.ts';
import type { Word } from '../editor/complete-words.ts';
import { wordsOf } from './names-in-rows.ts';
import type { QueryLanguage } from './run-query.ts';

const columns =
  'organization_id location_id robot_id part_id component_type component_name method_name time_requested time_received tags additional_parameters data'.split(
    ' ',
  );
const stages =
  '$match $project $group $sort $limit $skip $unwind $addFields $set $unset $count $bucket $bucketAuto $facet $lookup $sortByCount $setWindowFields $replaceRoot $sample $densify $fill'.split(
    ' ',
  );
const operators =
  '$sum $avg $min $max $first $last $push $addToSet $gte $gt $lte $lt $eq $ne $in $nin $exists $and $or $not $regex $cond $dateTrunc $dateToString $round $add $subtract $multiply $divide'.split(
    ' ',
  );
/** As many as one call returns. */
const mostSeries = 200;
const client = clientOf(SeriesService);

/** Words that every query can use. */
export function languageWords(language: QueryLanguage): readonly Word[] {
  const fixed = columns.map((label) => ({ label, detail: 'column' }));
  if (language === 'sql') return [{ label: 'readings', detail: 'table' }, ...fixed];
  return [
    ...stages.map((label) => ({ label, detail: 'stage' })),
    ...operators.map((label) => ({ label, detail: 'operator' })),
    ...fixed,
  ];
}

/** Components, methods, and the fields of the newest readings of the first series. Counts towards no limit. @throws ConnectError */
export async function storedWords(organizationId: string, signal: AbortSignal): Promise<readonly Word[]> {
  const [{ series }, { componentNames, methodNames }] = await Promise.all([
    client.listSeries({ organizationId, pageSize: mostSeries }, { signal }),
    client.listSeriesChoices({ organizationId }, { signal }),
  ]);
  return wordsOf([
    ...series.map(({ componentName, methodName, data }) => ({
      _id: { name: componentName, method: methodName },
      data: data ?? {},
    })),
    ...componentNames.map((name) => ({ _id: { name } })),
    ...methodNames.map((method) => ({ _id: { method } })),
  ]);
}
