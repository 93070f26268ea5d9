/** DatasetService, and the methods of DataService that add files to datasets or remove them. */
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { invalidArgument } from '@platform/base';
import type { DataService } from '@platform/proto/platform/app/data/v1/data';
import {
  type Dataset as DatasetMessage,
  DatasetSchema,
  type DatasetService,
  DatasetType,
} from '@platform/proto/platform/app/dataset/v1/dataset';
import { refusal } from '@platform/rpc/server';
import { audit } from '../../access/audit.ts';
import { type CloudCall, type CloudHandlers, notVisible } from '../../access/principal.ts';
import type { Database } from '../../metadata/tables.ts';
import { requireAtMost, requireSome } from '../../text-rules/require-at-most.ts';
import { type ChangeDeps, changeNamed } from '../change/change-files.ts';
import { namedFiles } from '../find/find-files.ts';
import { maxNamed } from '../limits.ts';
import { datasets } from '../store.ts';
import {
  addToDataset,
  createDataset,
  deleteDataset,
  mergeDatasets,
  removeFromDataset,
  renameDataset,
} from './datasets.ts';
import { type Dataset, requireDataset } from './find-dataset.ts';

export function datasetHandlers(deps: ChangeDeps): CloudHandlers<typeof DatasetService> {
  const { db, access, clock } = deps;

  /** Changes a dataset of an organization that the caller owns, in one transaction. */
  const change = (
    call: CloudCall,
    id: string,
    action: string,
    detail: Readonly<Record<string, unknown>>,
    run: (trx: Database, dataset: Dataset) => Promise<void>,
  ): Promise<void> =>
    db.transaction().execute(async (trx) => {
      const dataset = await requireDataset({ ...deps, db: trx }, call.principal, id, 'organization.manage');
      await run(trx, dataset);
      await auditDataset(trx, call, dataset, action, detail, clock.now());
    });

  return {
    async createDataset({ name, organizationId, type = DatasetType.BINARY_DATA }, call) {
      access.authorize(call.principal, 'organization.manage', organizationId);
      const made = await db.transaction().execute(async (trx) => {
        const dataset = await createDataset(trx, { name, organizationId, type }, clock.now());
        await auditDataset(trx, call, dataset, 'DatasetService.CreateDataset', { name: dataset.name }, clock.now());
        return dataset;
      });
      return { id: made.id };
    },

    async renameDataset({ id, name }, call) {
      const run = (trx: Database, dataset: Dataset) => renameDataset(trx, dataset, name);
      await change(call, id, 'DatasetService.RenameDataset', { name }, run);
    },

    async deleteDataset({ id }, call) {
      await change(call, id, 'DatasetService.DeleteDataset', {}, deleteDataset);
    },

    async listDatasetsByOrganizationID({ organizationId, type }, call) {
      access.authorize(call.principal, 'organization.read', organizationId);
      const rows = await db
        .selectFrom('datasets')
        .selectAll()
        .where('organization_id', '=', organizationId)
        .$if(type !== undefined, (query) => query.where('type', '=', type ?? 0))
        .orderBy('created_ms')
        .orderBy('id')
        .execute();
      deps.rows.requireRight(datasets, rows);
      await deps.rows.requireComplete(datasets, [organizationId]);
      return { datasets: rows.map(messageOf) };
    },

    async listDatasetsByIDs({ ids }, call) {
      // Public command lines send no ids to get the datasets of an organization: an empty list would be a wrong answer.
      if (ids.length === 0)
        throw invalidArgument(
          'ids: expected at least one id, found none; ListDatasetsByOrganizationID lists those of an organization',
        );
      requireAtMost('ids', maxNamed, ids.length, ' ids');
      const found: DatasetMessage[] = [];
      for (const id of new Set(ids))
        found.push(messageOf(await requireDataset(deps, call.principal, id, 'organization.read')));
      return { datasets: found };
    },

    async mergeDatasets({ datasetIds, name, organizationId }, call) {
      access.authorize(call.principal, 'organization.manage', organizationId);
      const ids = [...new Set(datasetIds)];
      requireSome('dataset_ids', maxMerged, ids.length, ' ids');
      const made = await db.transaction().execute(async (trx) => {
        const merged: Dataset[] = [];
        for (const id of ids) {
          const dataset = await requireDataset({ ...deps, db: trx }, call.principal, id, 'organization.manage');
          // The caller may own several organizations, but all datasets must belong to this one.
          if (dataset.organization_id !== organizationId) throw notVisible('dataset', id);
          merged.push(dataset);
        }
        const type = typeOf(merged[0]);
        if (merged.some((one) => typeOf(one) !== type))
          throw invalidArgument(
            'dataset_ids: expected datasets of one type, found some of binary data and some of sequences',
          );
        const into = await createDataset(trx, { name, organizationId, type }, clock.now());
        await mergeDatasets(trx, merged, into);
        const detail = { name: into.name, of: ids };
        await auditDataset(trx, call, into, 'DatasetService.MergeDatasets', detail, clock.now());
        return into;
      });
      return { datasetId: made.id };
    },

    startSequenceDatasetExport: notPacked('StartSequenceDatasetExport'),
    getSequenceDatasetExport: notPacked('GetSequenceDatasetExport'),
  };
}

const maxMerged = 100;

function notPacked(operation: string): () => never {
  return refusal(
    `${operation}: datasets of sequences are not packed for download; call SequencesByDatasetID, then GetSequenceBinaryData, and download each file from its uri`,
  );
}

/** Files must belong to the caller and to the dataset's organization. */
export function memberHandlers(deps: ChangeDeps): CloudHandlers<typeof DataService> {
  return {
    async addBinaryDataToDatasetByIDs({ binaryDataIds, binaryIds, datasetId }, call) {
      await requireDataset(deps, call.principal, datasetId, 'organization.manage');
      const named = namedFiles(binaryDataIds, binaryIds);
      const kind = { action: 'DataService.AddBinaryDataToDatasetByIDs', detail: { dataset: datasetId } };
      await changeNamed(deps, call, named, kind, async (trx, files) => {
        const dataset = await requireDataset({ ...deps, db: trx }, call.principal, datasetId, 'organization.manage');
        await addToDataset(trx, dataset, files);
        return files.length;
      });
    },

    async removeBinaryDataFromDatasetByIDs({ binaryDataIds, binaryIds, datasetId }, call) {
      await requireDataset(deps, call.principal, datasetId, 'organization.manage');
      const named = namedFiles(binaryDataIds, binaryIds);
      const kind = { action: 'DataService.RemoveBinaryDataFromDatasetByIDs', detail: { dataset: datasetId } };
      await changeNamed(deps, call, named, kind, async (trx, files) => {
        const dataset = await requireDataset({ ...deps, db: trx }, call.principal, datasetId, 'organization.manage');
        await removeFromDataset(trx, dataset, files);
        return files.length;
      });
    },
  };
}

function messageOf({ id, name, organization_id, created_ms, type }: Dataset): DatasetMessage {
  return create(DatasetSchema, {
    id,
    name,
    organizationId: organization_id,
    timeCreated: timestampFromMs(created_ms),
    type: typeOf({ type }),
  });
}

function typeOf(dataset: Pick<Dataset, 'type'> | undefined): DatasetType {
  return dataset?.type === DatasetType.SEQUENCE_DATA ? DatasetType.SEQUENCE_DATA : DatasetType.BINARY_DATA;
}

async function auditDataset(
  trx: Database,
  call: CloudCall,
  { id, organization_id: organizationId }: Dataset,
  action: string,
  detail: Readonly<Record<string, unknown>>,
  nowMs: number,
): Promise<void> {
  await audit(trx, call, nowMs, action, ['dataset', id, organizationId], detail);
}
