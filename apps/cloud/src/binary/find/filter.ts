import { invalidArgument, type PlatformError } from '@platform/base';
import { type Filter, type TagsFilter, TagsFilterType } from '@platform/proto/platform/app/data/v1/data';
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import type { CloudTables } from '../../metadata/tables.ts';
import { typesNamed } from '../../text-rules/types-named.ts';
import { maxNamed } from '../limits.ts';
import { isKept } from '../retention-days/is-kept.ts';
import type { Scopes } from '../scopes.ts';
import type { BinaryTables } from '../store.ts';
import { microsecondsOf } from '../times.ts';

export type DataExpressions = ExpressionBuilder<CloudTables, 'binary_data'>;
type Condition = Expression<SqlBool>;

/**
 * An empty list of tags is no condition when files are read. When files are changed, it would match all of them.
 * @throws invalid_argument
 */
export function requireTags({ tagsFilter }: Pick<Filter, 'tagsFilter'>): void {
  if (tagsFilter?.type === TagsFilterType.MATCH_BY_OR && tagsFilter.tags.length === 0)
    throw refused('tags_filter.tags', 'at least one tag with TAGS_FILTER_TYPE_MATCH_BY_OR', 'none');
}

/** @throws invalid_argument naming the field, the expected and the found value */
export function checkFilter(filter: Filter): void {
  const lists: readonly (readonly [string, readonly string[]])[] = [
    ['organization_ids', filter.organizationIds],
    ['location_ids', filter.locationIds],
    ['mime_type', filter.mimeType],
    ['tags_filter.tags', filter.tagsFilter?.tags ?? []],
    ['bbox_labels', filter.bboxLabels],
  ];
  for (const [name, { length }] of lists)
    if (length > maxNamed) throw refused(name, `at most ${maxNamed} entries`, `${length}`);
  const { start, end } = filter.interval ?? {};
  if (start !== undefined && end !== undefined && microsecondsOf(start) > microsecondsOf(end))
    throw refused('interval', 'a start that is not after the end', 'one that is');
  const { type } = filter.tagsFilter ?? { type: TagsFilterType.UNSPECIFIED };
  if (!Object.values<number>(TagsFilterType).includes(type)) throw refused('tags_filter.type', '0 to 3', `${type}`);
}

/** All given fields must match; within a list, one entry must. Only files in the scopes and kept at `nowMs` match (D24). */
export function matching(eb: DataExpressions, filter: Filter, scopes: Scopes, nowMs: number): Condition {
  const equal: readonly (readonly [keyof BinaryTables['binary_data'], string])[] = [
    ['component_name', filter.componentName],
    ['method_name', filter.method],
    ['robot_name', filter.robotName],
    ['robot_id', filter.robotId],
    ['part_name', filter.partName],
    ['part_id', filter.partId],
  ];
  const among: readonly (readonly [keyof BinaryTables['binary_data'], readonly string[]])[] = [
    ['organization_id', filter.organizationIds],
    ['location_id', filter.locationIds],
    ['mime_type', filter.mimeType],
    ['component_type', typesNamed(filter.componentType)],
  ];
  return eb.and([
    inScopes(scopes),
    isKept(nowMs),
    ...equal.flatMap(([column, value]) => (value === '' ? [] : [eb(column, '=', value)])),
    ...among.flatMap(([column, values]) => (values.length === 0 ? [] : [eb(column, 'in', values)])),
    ...intervalConditions(eb, filter),
    ...tagConditions(eb, filter.tagsFilter),
    ...(filter.bboxLabels.length === 0 ? [] : [hasBox(eb, filter.bboxLabels)]),
    ...(filter.datasetId === '' ? [] : [isInDataset(eb, filter.datasetId)]),
  ]);
}

/** For every table with columns for the place of its rows. */
export function inScopes(scopes: Scopes): Condition {
  const one = ({ organizationId, locationIds, robotIds }: Scopes[number]): Condition => {
    if (locationIds === null && robotIds === null) return sql<SqlBool>`organization_id = ${organizationId}`;
    const places = [
      ...(locationIds?.length ? [sql`location_id in (${sql.join(locationIds)})`] : []),
      ...(robotIds?.length ? [sql`robot_id in (${sql.join(robotIds)})`] : []),
    ];
    return places.length === 0
      ? sql<SqlBool>`1 = 0`
      : sql<SqlBool>`(organization_id = ${organizationId} and (${sql.join(places, sql` or `)}))`;
  };
  return scopes.length === 0 ? sql<SqlBool>`1 = 0` : sql<SqlBool>`(${sql.join(scopes.map(one), sql` or `)})`;
}

/** From the start, to before the end. */
export function intervalConditions(eb: DataExpressions, { interval }: Filter): Condition[] {
  const { start, end } = interval ?? {};
  return [
    ...(start === undefined ? [] : [eb('captured_us', '>=', microsecondsOf(start))]),
    ...(end === undefined ? [] : [eb('captured_us', '<', microsecondsOf(end))]),
  ];
}

function tagConditions(eb: DataExpressions, filter: TagsFilter | undefined): Condition[] {
  const { type, tags } = filter ?? { type: TagsFilterType.UNSPECIFIED, tags: [] };
  const tagged = eb.selectFrom('binary_data_tags').select('tag').whereRef('binary_data_id', '=', 'binary_data.id');
  if (type === TagsFilterType.TAGGED) return [eb.exists(tagged)];
  if (type === TagsFilterType.UNTAGGED) return [eb.not(eb.exists(tagged))];
  return tags.length === 0 ? [] : [eb.exists(tagged.where('tag', 'in', tags))];
}

function hasBox(eb: DataExpressions, labels: readonly string[]): Condition {
  const boxes = eb.selectFrom('binary_data_boxes').select('id').whereRef('binary_data_id', '=', 'binary_data.id');
  return eb.exists(boxes.where('label', 'in', labels));
}

function isInDataset(eb: DataExpressions, datasetId: string): Condition {
  const members = eb.selectFrom('dataset_files').select('dataset_id').whereRef('binary_data_id', '=', 'binary_data.id');
  return eb.exists(members.where('dataset_id', '=', datasetId));
}

function refused(field: string, expected: string, found: string): PlatformError {
  return invalidArgument(`filter.${field}: expected ${expected}, found ${found}`);
}
