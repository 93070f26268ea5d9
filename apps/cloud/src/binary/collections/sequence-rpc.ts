/** The sequence methods of DataService. */
import { chunks, invalidArgument, permissionDenied } from '@platform/base';
import type { DataService, UpdateSequenceRequest } from '@platform/proto/platform/app/data/v1/data';
import { audit } from '../../access/audit.ts';
import type { CloudCall, CloudHandlers } from '../../access/principal.ts';
import { dayOfUs } from '../../metadata/row-checks/checked-table.ts';
import { rowsPerStatement } from '../../metadata/rows-per-statement.ts';
import type { Database } from '../../metadata/tables.ts';
import { requireSome } from '../../text-rules/require-at-most.ts';
import type { BinaryOperationDeps } from '../binary-deps.ts';
import { describeFiles } from '../find/describe-files.ts';
import { inScopes } from '../find/filter.ts';
import { type FileRow, requireFiles } from '../find/find-files.ts';
import { keysetAfter } from '../find/keyset-condition.ts';
import { type PagePlace, pageToken, readPageToken } from '../find/page-token.ts';
import { requireBoxes } from '../find/require-labels.ts';
import { defaultPage, maxNamed, maxPage } from '../limits.ts';
import { isKept } from '../retention-days/is-kept.ts';
import { isWithin, type Scopes, scopesOf } from '../scopes.ts';
import { datasetSequences, files, sequences } from '../store.ts';
import { timestampOf } from '../times.ts';
import { type Dataset, requireDataset } from './find-dataset.ts';
import {
  addSequences,
  checkedSequence,
  countSequences,
  deleteSequence,
  type GivenSequence,
  inSequence,
  insertSequence,
  pageOfSequences,
  resourcesOf,
  type SequenceRow,
  sequenceMessage,
  sequenceNamed,
  tagsOf,
} from './sequences.ts';

export function sequenceHandlers(deps: BinaryOperationDeps): CloudHandlers<typeof DataService> {
  const { db, rows: watch, access, caughtUp, baseUrl, clock } = deps;
  const seen = (call: CloudCall): Scopes => scopesOf(access, call.principal, 'operator');
  const seesDatasets = (call: CloudCall) => (organizationId: string) =>
    access.allows(call.principal, 'organization.read', organizationId);

  /** @throws not_found, data_loss */
  const named = async (from: Database, call: CloudCall, id: string): Promise<SequenceRow> => {
    const row = await sequenceNamed(from, id, seen(call));
    watch.requireRight(sequences, [row]);
    return row;
  };

  /** @throws not_found, permission_denied */
  const owned = async (trx: Database, call: CloudCall, id: string): Promise<SequenceRow> => {
    const row = await named(trx, call, id);
    if (isWithin(row, scopesOf(access, call.principal, 'owner'))) return row;
    throw permissionDenied(
      `sequence ${id}: expected an owner of its machine, location or organization, found an insufficient role`,
    );
  };

  const auditSequence = (
    trx: Database,
    call: CloudCall,
    { id, organization_id: organizationId }: SequenceRow,
    action: string,
    detail: Readonly<Record<string, unknown>> = {},
  ): Promise<void> => audit(trx, call, clock.now(), action, ['sequence', id, organizationId], detail);

  const described = async (rows: readonly SequenceRow[], call: CloudCall) => {
    const datasets = await datasetsOf(db, rows);
    const sees = seesDatasets(call);
    return rows.map((row) => sequenceMessage(row, sees(row.organization_id) ? (datasets.get(row.id) ?? []) : []));
  };

  const listed = async (
    call: CloudCall,
    within: Parameters<typeof pageOfSequences>[1],
    { pageToken: token, pageSize }: { readonly pageToken: string; readonly pageSize: number },
  ) => {
    const after = readPageToken(token, 'page_token');
    const { limit, cut } = pages(pageSize, (row: SequenceRow) => ({ at: row.created_ms, id: row.id }));
    const { rows, nextPageToken } = cut(await pageOfSequences(db, within, seen(call), after, limit));
    watch.requireRight(sequences, rows);
    if ('datasetId' in within) await watch.requireComplete(datasetSequences, [within.datasetId]);
    else await watch.requireComplete(sequences, [within.organizationId]);
    return { sequences: await described(rows, call), nextPageToken };
  };

  /** Changes a dataset's sequences, all owned by the caller, in an organization that the caller owns. */
  const changeMembers = async (
    call: CloudCall,
    { datasetId, sequenceIds }: { readonly datasetId: string; readonly sequenceIds: readonly string[] },
    action: string,
    change: (trx: Database, dataset: Dataset, sequences: readonly SequenceRow[]) => Promise<void>,
  ): Promise<void> =>
    db.transaction().execute(async (trx) => {
      const dataset = await requireDataset({ ...deps, db: trx }, call.principal, datasetId, 'organization.manage');
      const ids = [...new Set(sequenceIds)];
      requireSome('sequence_ids', maxNamed, ids.length, ' ids');
      const members: SequenceRow[] = [];
      for (const id of ids) members.push(await owned(trx, call, id));
      await change(trx, dataset, members);
      const detail = { sequences: ids.length };
      await audit(trx, call, clock.now(), action, ['dataset', dataset.id, dataset.organization_id], detail);
    });

  return {
    async createSequence(request, call) {
      const lineage = access.authorize(call.principal, 'part.manage', request.partId);
      const said = checkedSequence(request);
      const row = await db.transaction().execute(async (trx) => {
        const made = await insertSequence(trx, said, request.partId, lineage, clock.now());
        await auditSequence(trx, call, made, 'DataService.CreateSequence', { part_id: request.partId });
        return made;
      });
      return { id: row.id };
    },

    async getSequence({ id }, call) {
      const [sequence] = await described([await named(db, call, id)], call);
      return sequence === undefined ? {} : { sequence };
    },

    async updateSequence(request, call) {
      await db.transaction().execute(async (trx) => {
        const before = await owned(trx, call, request.id);
        const said = checkedSequence(changed(before, request));
        const row = { ...said, updated_ms: clock.now() };
        await trx.updateTable('sequences').set(row).where('id', '=', before.id).execute();
        const fields = request.fieldMask?.paths ?? [];
        await auditSequence(trx, call, before, 'DataService.UpdateSequence', { fields });
      });
    },

    async deleteSequence({ id }, call) {
      await db.transaction().execute(async (trx) => {
        const row = await owned(trx, call, id);
        await deleteSequence(trx, row);
        await auditSequence(trx, call, row, 'DataService.DeleteSequence');
      });
    },

    async listSequences(request, call) {
      access.authorize(call.principal, 'organization.see', request.organizationId);
      return listed(call, { organizationId: request.organizationId }, request);
    },

    async sequencesByDatasetID(request, call) {
      await requireDataset(deps, call.principal, request.datasetId, 'organization.read');
      const within = { datasetId: request.datasetId };
      if (!request.countOnly) return listed(call, within, request);
      return { count: await countSequences(db, within, seen(call)) };
    },

    async getSequenceBinaryData({ sequenceId, pageToken: token, pageSize }, call) {
      const after = readPageToken(token, 'page_token');
      await caughtUp(call.signal);
      const sequence = await named(db, call, sequenceId);
      const { limit, cut } = pages(pageSize, (row: FileRow) => ({ at: row.captured_us, id: row.id }));
      const found = await db
        .selectFrom('binary_data')
        .selectAll()
        .where(inScopes(seen(call)))
        .where(isKept(clock.now()))
        .where((eb) => inSequence(eb, sequence))
        .where(keysetAfter('binary_data.captured_us', after))
        .orderBy('captured_us')
        .orderBy('id')
        .limit(limit)
        .execute();
      const { rows, nextPageToken } = cut(found);
      watch.requireRight(files, rows);
      const days = { from: dayOfUs(sequence.start_us), to: dayOfUs(sequence.end_us) };
      await requireFiles(watch, [sequence.organization_id], days);
      await requireBoxes(watch, [sequence.organization_id], days);
      const shown = await describeFiles(deps, rows, baseUrl(call.metadata), seesDatasets(call));
      return { data: shown.map((metadata) => ({ metadata })), nextPageToken };
    },

    async addSequencesToDataset(request, call) {
      await changeMembers(call, request, 'DataService.AddSequencesToDataset', addSequences);
    },

    async removeSequencesFromDataset(request, call) {
      await changeMembers(call, request, 'DataService.RemoveSequencesFromDataset', async (trx, { id }, sequences) => {
        const ids = sequences.map((one) => one.id);
        for (const some of chunks(ids, rowsPerStatement))
          await trx
            .deleteFrom('dataset_sequences')
            .where('dataset_id', '=', id)
            .where('sequence_id', 'in', some)
            .execute();
      });
    },
  };
}

/** Reads one row more than the page holds, to find out whether there is a next page. @param size 0: the default */
function pages<Row>(size: number, placeOf: (row: Row) => PagePlace) {
  const wanted = size === 0 ? defaultPage : Math.min(size, maxPage);
  return {
    limit: wanted + 1,
    cut(found: readonly Row[]): { readonly rows: readonly Row[]; readonly nextPageToken: string } {
      const rows = found.slice(0, wanted);
      const last = rows.at(-1);
      const isLast = found.length <= wanted || last === undefined;
      return { rows, nextPageToken: isLast ? '' : pageToken(placeOf(last)) };
    },
  };
}

const updatable: ReadonlySet<string> = new Set(['resources', 'sequence_tags', 'start_time', 'end_time']);

/**
 * Fields named in the mask come from the request, the others do not change; without a mask, all fields of the request apply.
 * @throws invalid_argument
 */
function changed(before: SequenceRow, request: UpdateSequenceRequest): GivenSequence {
  const { startTime, endTime, resources, sequenceTags } = request;
  const paths = request.fieldMask?.paths ?? [
    ...(startTime === undefined ? [] : ['start_time']),
    ...(endTime === undefined ? [] : ['end_time']),
    ...(resources.length === 0 ? [] : ['resources']),
    ...(sequenceTags.length === 0 ? [] : ['sequence_tags']),
  ];
  const unknown = paths.find((path) => !updatable.has(path));
  if (unknown !== undefined)
    throw invalidArgument(
      `field_mask: expected ${[...updatable].join(', ')}, found ${JSON.stringify(unknown.slice(0, 64))}`,
    );
  const start = paths.includes('start_time') ? startTime : timestampOf(before.start_us);
  const end = paths.includes('end_time') ? endTime : timestampOf(before.end_us);
  return {
    startTime: start,
    endTime: end,
    resources: paths.includes('resources') ? resources : resourcesOf(before),
    sequenceTags: paths.includes('sequence_tags') ? sequenceTags : tagsOf(before),
  };
}

async function datasetsOf(db: Database, rows: readonly SequenceRow[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const datasets = new Map<string, string[]>();
  for (const some of chunks(rows, rowsPerStatement)) {
    const ids = some.map(({ id }) => id);
    const members = await db.selectFrom('dataset_sequences').selectAll().where('sequence_id', 'in', ids).execute();
    for (const { sequence_id, dataset_id } of members.toSorted((a, b) => (a.dataset_id < b.dataset_id ? -1 : 1)))
      datasets.set(sequence_id, [...(datasets.get(sequence_id) ?? []), dataset_id]);
  }
  return datasets;
}
