/** Sequences: time ranges of a part in which files of some of its resources belong together. They refer to files but hold none. */

import { create } from '@bufbuild/protobuf';
import { type Timestamp, timestampFromMs } from '@bufbuild/protobuf/wkt';
import { failedPrecondition, invalidArgument, newId } from '@platform/base';
import {
  type Sequence,
  type SequenceResourceFilter,
  SequenceResourceFilterSchema,
  SequenceSchema,
} from '@platform/proto/platform/app/data/v1/data';
import { DatasetType } from '@platform/proto/platform/app/dataset/v1/dataset';
import type { Expression, SqlBool } from 'kysely';
import type { Lineage } from '../../access/principal.ts';
import { notVisible } from '../../access/principal.ts';
import { countRows } from '../../metadata/count-rows.ts';
import { insertMissing } from '../../metadata/insert-missing.ts';
import { requireIntactSet } from '../../metadata/row-checks/require-complete.ts';
import type { Database } from '../../metadata/tables.ts';
import { requireAtMost } from '../../text-rules/require-at-most.ts';
import { checkedLabel, checkedTags } from '../change/check-texts.ts';
import { type DataExpressions, inScopes } from '../find/filter.ts';
import { keysetAfter } from '../find/keyset-condition.ts';
import type { PagePlace } from '../find/page-token.ts';
import type { Scopes } from '../scopes.ts';
import { type BinaryTables, sequences } from '../store.ts';
import { microsecondsOf, timestampOf } from '../times.ts';
import type { Dataset } from './find-dataset.ts';

export type SequenceRow = BinaryTables['sequences'];

/** The fields of a sequence that a client sets. */
export interface GivenSequence {
  readonly startTime?: Timestamp | undefined;
  readonly endTime?: Timestamp | undefined;
  readonly resources: readonly SequenceResourceFilter[];
  readonly sequenceTags: readonly string[];
}

type SequenceFields = Pick<SequenceRow, 'start_us' | 'end_us' | 'resources' | 'tags'>;

const maxResources = 100;
/** Limit per organization. */
const maxSequences = 100_000;

/** @throws invalid_argument */
export function checkedSequence({ startTime, endTime, resources, sequenceTags }: GivenSequence): SequenceFields {
  if (startTime === undefined || endTime === undefined)
    throw invalidArgument(
      `sequence: expected start_time and end_time, found ${startTime === undefined ? 'no start_time' : 'no end_time'}`,
    );
  const [start, end] = [microsecondsOf(startTime), microsecondsOf(endTime)];
  if (start >= end) throw invalidArgument('sequence: expected a start_time before the end_time, found a later one');
  requireAtMost('resources', maxResources, resources.length);
  const named = resources.map(({ resourceName, methodName }) => ({
    resourceName: checkedLabel(resourceName, 'resources.resource_name'),
    methodName,
  }));
  const tags = sequenceTags.length === 0 ? [] : checkedTags(sequenceTags);
  return { start_us: start, end_us: end, resources: JSON.stringify(named), tags: JSON.stringify(tags) };
}

/** @throws failed_precondition when the organization has too many */
export async function insertSequence(
  trx: Database,
  fields: SequenceFields,
  partId: string,
  { organizationId, locationIds: [locationId = ''], robotId = '' }: Lineage,
  nowMs: number,
): Promise<SequenceRow> {
  const others = await countRows(trx.selectFrom('sequences').where('organization_id', '=', organizationId));
  if (others >= maxSequences)
    throw failedPrecondition(
      `organization ${organizationId}: expected at most ${maxSequences} sequences, found that it already has that many; delete some first`,
    );
  const row = {
    ...{ id: newId(), organization_id: organizationId, location_id: locationId, robot_id: robotId, part_id: partId },
    ...{ ...fields, created_ms: nowMs, updated_ms: nowMs },
  };
  await trx.insertInto('sequences').values(row).execute();
  return row;
}

export async function deleteSequence(trx: Database, { id }: Pick<SequenceRow, 'id'>): Promise<void> {
  await trx.deleteFrom('dataset_sequences').where('sequence_id', '=', id).execute();
  await trx.deleteFrom('sequences').where('id', '=', id).execute();
}

/** @throws not_found when the sequence is not in the scopes */
export async function sequenceNamed(db: Database, id: string, scopes: Scopes): Promise<SequenceRow> {
  const row = await db
    .selectFrom('sequences')
    .selectAll()
    .where('id', '=', id)
    .where(inScopes(scopes))
    .executeTakeFirst();
  if (row !== undefined) return row;
  // It could be a missing or moved one.
  for (const { organizationId } of scopes) await requireIntactSet(db, sequences, organizationId);
  throw notVisible('sequence', id);
}

export type WithinSequences = { readonly organizationId: string } | { readonly datasetId: string };

/** Oldest first. @param within an organization or a dataset */
export function pageOfSequences(
  db: Database,
  within: WithinSequences,
  scopes: Scopes,
  after: PagePlace | undefined,
  limit: number,
): Promise<SequenceRow[]> {
  return sequencesIn(db, within, scopes)
    .selectAll()
    .where(keysetAfter('sequences.created_ms', after))
    .orderBy('created_ms')
    .orderBy('id')
    .limit(limit)
    .execute();
}

export async function countSequences(db: Database, within: WithinSequences, scopes: Scopes): Promise<bigint> {
  return BigInt(await countRows(sequencesIn(db, within, scopes)));
}

function sequencesIn(db: Database, within: WithinSequences, scopes: Scopes) {
  const all = db.selectFrom('sequences').where(inScopes(scopes));
  return 'organizationId' in within
    ? all.where('organization_id', '=', within.organizationId)
    : all.where('id', 'in', (eb) =>
        eb.selectFrom('dataset_sequences').select('sequence_id').where('dataset_id', '=', within.datasetId),
      );
}

/** Files that belong to a sequence: of its part and resources, from its start to before its end. */
export function inSequence(eb: DataExpressions, sequence: SequenceRow): Expression<SqlBool> {
  const resources = resourcesOf(sequence);
  return eb.and([
    eb('part_id', '=', sequence.part_id),
    eb('captured_us', '>=', sequence.start_us),
    eb('captured_us', '<', sequence.end_us),
    ...(resources.length === 0
      ? []
      : [
          eb.or(
            resources.map(({ resourceName, methodName }) =>
              methodName === ''
                ? eb('component_name', '=', resourceName)
                : eb.and([eb('component_name', '=', resourceName), eb('method_name', '=', methodName)]),
            ),
          ),
        ]),
  ]);
}

/** @throws invalid_argument for a dataset of files, and for sequences of another organization */
export async function addSequences(trx: Database, dataset: Dataset, sequences: readonly SequenceRow[]): Promise<void> {
  if (dataset.type !== DatasetType.SEQUENCE_DATA)
    throw invalidArgument(
      `dataset ${dataset.id}: expected one of sequences, found one of binary data; see AddBinaryDataToDatasetByIDs`,
    );
  const foreign = sequences.find(({ organization_id }) => organization_id !== dataset.organization_id);
  if (foreign !== undefined)
    throw invalidArgument(
      `sequence ${foreign.id}: expected one of the dataset's organization ${dataset.organization_id}, found one of ${foreign.organization_id}`,
    );
  const members = sequences.map(({ id }) => ({ dataset_id: dataset.id, sequence_id: id }));
  await insertMissing(trx.insertInto('dataset_sequences'), members);
}

/** @param datasetIds those visible to the caller */
export function sequenceMessage(row: SequenceRow, datasetIds: readonly string[]): Sequence {
  return create(SequenceSchema, {
    id: row.id,
    partId: row.part_id,
    sequenceTags: tagsOf(row),
    createdAt: timestampFromMs(row.created_ms),
    updatedAt: timestampFromMs(row.updated_ms),
    startTime: timestampOf(row.start_us),
    endTime: timestampOf(row.end_us),
    resources: resourcesOf(row),
    datasetIds: [...datasetIds],
  });
}

export function resourcesOf({ resources }: SequenceRow): SequenceResourceFilter[] {
  const stored: readonly { readonly resourceName: string; readonly methodName: string }[] = JSON.parse(resources);
  return stored.map((one) => create(SequenceResourceFilterSchema, one));
}

export function tagsOf({ tags }: SequenceRow): string[] {
  return JSON.parse(tags);
}
