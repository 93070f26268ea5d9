/** Words to complete in queries: fields and names that are in stored readings, and the words of the languages. */
import { runQueryRequest } from '../api/query-request.ts';
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
const dayMs = 86_400_000;

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

/** Fields, components and methods of the readings of the last day. @throws Error with the cloud's message */
export async function storedWords(
  organizationId: string,
  nowMs: number,
  signal: AbortSignal,
): Promise<readonly Word[]> {
  const mql = [
    { $sort: { time_received: 1 } },
    { $group: { _id: { name: '$component_name', method: '$method_name' }, data: { $last: '$data' } } },
    { $limit: 500 },
  ];
  const since = new Date(nowMs - dayMs).toISOString();
  const { rows } = await runQueryRequest({ organization_id: organizationId, format: 'json', mql, since }, signal);
  return wordsOf(rows);
}
