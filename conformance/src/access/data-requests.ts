/** Requests for operations on uploads, readings, binary data and datasets that need more than an id. */
import type { DescMethod } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { IndexableCollection } from '@platform/proto/platform/app/data/v1/data';
import { DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { serialize } from 'bson';
import type { Known } from './build-data.ts';
import { type Caller, organizationOf, type Subject } from './rules.ts';
import type { World } from './world.ts';

const sensor = { componentType: 'rdk:component:sensor', componentName: 's', methodName: 'Readings' };
const everything = [serialize({ $match: {} })];
const readingsOf: Builder = ({ id }) => ({
  partId: id,
  resourceName: 's',
  resourceSubtype: 'rdk:component:sensor',
  methodName: 'Readings',
});
const inHotStore = (organizationId: string): object => ({
  organizationId,
  collectionType: IndexableCollection.HOT_STORE,
});

const inOrganization = (id: string): object => ({ filter: { organizationIds: [id] } });
const fileIds = ({ id }: Subject): object => ({ binaryDataIds: [id] });
const byFileIds: Builder = fileIds;
/** The first that the keeper of the subject has. */
const firstOf = (all: readonly Known[], { keptBy }: Subject): string[] =>
  all
    .filter((one) => organizationOf(one.keptBy) === keptBy)
    .slice(0, 1)
    .map(({ id }) => id);
const fileInDataset: Builder = (subject, { files }) => ({
  datasetId: subject.id,
  binaryDataIds: firstOf(files, subject),
});
const sequenceInDataset: Builder = (subject, { sequences }) => ({
  datasetId: subject.id,
  sequenceIds: firstOf(sequences, subject),
});

export const dataRequests: Readonly<Record<string, Builder>> = {
  'DataSyncService.DataCaptureUpload': ({ id }) => ({
    metadata: { partId: id, ...sensor, type: DataType.TABULAR_SENSOR },
    sensorContents: [
      {
        metadata: { timeRequested: now(), timeReceived: now() },
        data: { case: 'struct', value: { readings: { n: 1 } } },
      },
    ],
  }),
  'DataSyncService.FileUpload': ({ id }) => [
    {
      uploadPacket: {
        case: 'metadata',
        value: { partId: id, type: DataType.FILE, fileName: 'f', fileExtension: '.txt' },
      },
    },
    { uploadPacket: { case: 'fileContents', value: { data: new Uint8Array([1, 2, 3]) } } },
  ],
  'DataSyncService.StreamingDataCaptureUpload': ({ id }) => [
    {
      uploadPacket: {
        case: 'metadata',
        value: {
          uploadMetadata: { partId: id, ...sensor, type: DataType.BINARY_SENSOR, fileExtension: '.bin' },
          sensorMetadata: { timeRequested: now(), timeReceived: now() },
        },
      },
    },
    { uploadPacket: { case: 'data', value: new Uint8Array([1, 2, 3]) } },
  ],
  'UploadService.BeginUpload': ({ id }) => ({ partId: id, key: new Uint8Array(32), size: 3n }),
  'UploadService.WriteUpload': ({ id }) => ({ partId: id, key: new Uint8Array(32), data: new Uint8Array([1, 2, 3]) }),
  'UploadService.FinishUpload': ({ id }) => ({
    metadata: { partId: id, type: DataType.FILE, fileName: 'f' },
    key: new Uint8Array(32).fill(1),
  }),
  'DataService.TabularDataBySQL': ({ id }) => ({ organizationId: id, sqlQuery: 'SELECT * FROM readings' }),
  'DataService.TabularDataByMQL': ({ id }) => ({ organizationId: id, mqlBinary: everything }),
  'DataService.ExportTabularData': readingsOf,
  'DataService.GetLatestTabularData': readingsOf,
  'DataService.BinaryDataByFilter': () => ({ includeBinary: true }),
  'DataService.BinaryDataByIDs': ({ id }) => ({ binaryDataIds: [id], includeBinary: true }),
  'DataService.DeleteTabularData': ({ id }) => ({
    organizationId: id,
    filter: { componentName: 'nothing-of-this-name' },
  }),
  'DataService.DeleteBinaryDataByFilter': ({ id }) => ({
    filter: { organizationIds: [id], componentName: 'nothing-of-this-name' },
  }),
  'DataService.DeleteBinaryDataByIDs': byFileIds,
  'DataService.AddTagsToBinaryDataByIDs': (subject) => ({ ...fileIds(subject), tags: ['made'] }),
  'DataService.AddTagsToBinaryDataByFilter': ({ id }) => ({ ...inOrganization(id), tags: ['made'] }),
  'DataService.RemoveTagsFromBinaryDataByIDs': (subject) => ({ ...fileIds(subject), tags: ['made'] }),
  'DataService.RemoveTagsFromBinaryDataByFilter': ({ id }) => ({ ...inOrganization(id), tags: ['made'] }),
  'DataService.AddBoundingBoxToImageByID': ({ id }) => ({
    binaryDataId: id,
    label: 'made',
    xMaxNormalized: 1,
    yMaxNormalized: 1,
  }),
  'DataService.RemoveBoundingBoxFromImageByID': ({ id, second = '' }) => ({ binaryDataId: id, bboxId: second }),
  'DataService.UpdateBoundingBox': ({ id, second = '' }) => ({ binaryDataId: id, bboxId: second, confidence: 0.5 }),
  'DataService.AddBinaryDataToDatasetByIDs': fileInDataset,
  'DataService.RemoveBinaryDataFromDatasetByIDs': fileInDataset,
  'DataService.AddSequencesToDataset': sequenceInDataset,
  'DataService.RemoveSequencesFromDataset': sequenceInDataset,
  'DataService.CreateIndex': ({ id }, _world, unique) => ({
    ...inHotStore(id),
    indexSpec: [serialize({ keys: { [`made-${unique}`]: 1 } })],
  }),
  'DataService.ListIndexes': ({ id }) => inHotStore(id),
  'DataService.DeleteIndex': ({ id, second = 'nothing-of-this-name' }) => ({ ...inHotStore(id), indexName: second }),
  'DataService.CreateSavedQuery': ({ id }, _world, unique) => ({
    organizationId: id,
    name: `made-${unique}`,
    mqlBinary: everything,
  }),
  'DataService.UpdateSavedQuery': ({ id, label }, world) => ({
    id,
    name: world.savedQueries.find((one) => one.label === label)?.name ?? 'some name',
    mqlBinary: everything,
  }),
  'DataService.CreateBinaryDataSignedURL': ({ id }) => ({ binaryDataId: id }),
  'DataService.CreateSequence': ({ id }) => ({ partId: id, startTime: timestampFromMs(1_000), endTime: now() }),
  'DataService.UpdateSequence': ({ id }) => ({ id, endTime: timestampFromMs(Date.now() + 3_600_000) }),
  'DataService.SequencesByDatasetID': ({ id }) => ({ datasetId: id }),
  'DataService.GetSequenceBinaryData': ({ id }) => ({ sequenceId: id }),
  'DatasetService.CreateDataset': ({ id }, _world, unique) => ({ organizationId: id, name: `made-${unique}` }),
  'DatasetService.RenameDataset': ({ id }, _world, unique) => ({ id, name: `renamed-${unique}` }),
  'DatasetService.ListDatasetsByIDs': ({ id }) => ({ ids: [id] }),
  'DatasetService.MergeDatasets': ({ id }, { datasets }, unique) => ({
    datasetIds: datasets.filter(({ keptBy }) => keptBy.id === id).map((one) => one.id),
    name: `merged-${unique}`,
    organizationId: id,
  }),
};

/** `unique`: a number that no other request in the run has. */
export type Builder = (subject: Subject, world: World, unique: number, caller: Caller) => object | readonly object[];

const idFields: ReadonlySet<string> = new Set(
  'organizationId orgId locationId robotId machineId partId fragmentId id'.split(' '),
);

/**
 * Builds the request of one operation; most requests contain one id. For operations without a builder: puts the subject into the only id
 * field, or nothing if the table says `-`.
 */
export function requestById({ name, input }: DescMethod, on: string, { id }: Subject): object {
  if (on === '-') return {};
  const fields = input.fields.filter(({ localName, fieldKind }) => idFields.has(localName) && fieldKind === 'scalar');
  if (fields.length > 1)
    throw new Error(`${name}: expected one field for an id, found ${fields.length}: say in requests.ts what is sent`);
  return Object.fromEntries(fields.map(({ localName }) => [localName, id]));
}

export const now = () => timestampFromMs(Date.now());
