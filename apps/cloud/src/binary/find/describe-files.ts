/** Converts rows of the tables to BinaryMetadata, with their boxes and datasets. */
import { create, fromBinary, type MessageInitShape } from '@bufbuild/protobuf';
import { chunks } from '@platform/base';
import {
  type BinaryMetadataSchema,
  type CaptureMetadata,
  CaptureMetadataSchema,
} from '@platform/proto/platform/app/data/v1/data';
import { rowsPerStatement } from '../../metadata/rows-per-statement.ts';
import type { BinaryOperationDeps } from '../binary-deps.ts';
import { readCoordinates } from '../change/box-coordinates.ts';
import { downloadPath } from '../download/download-path.ts';
import { type BinaryTables, datasetFiles, fileBoxes } from '../store.ts';
import { tagsOf } from '../tags-text.ts';
import { timestampOf } from '../times.ts';
import type { StoredClassification } from '../uploads/read-upload.ts';
import type { FileRow } from './find-files.ts';

export type FileMetadata = MessageInitShape<typeof BinaryMetadataSchema>;

/**
 * @param baseUrl of the addresses in the answer
 * @param seesDatasets whether the caller may see an organization's datasets
 * @throws data_loss when a row of what is shown was altered
 */
export async function describeFiles(
  { db, rows: watch }: Pick<BinaryOperationDeps, 'db' | 'rows'>,
  rows: readonly FileRow[],
  baseUrl: string,
  seesDatasets: (organizationId: string) => boolean,
): Promise<readonly FileMetadata[]> {
  const boxes: BinaryTables['binary_data_boxes'][] = [];
  const members: BinaryTables['dataset_files'][] = [];
  for (const some of chunks(rows, rowsPerStatement)) {
    const ids = some.map(({ id }) => id);
    const placed = db.selectFrom('binary_data_boxes').selectAll().where('binary_data_id', 'in', ids);
    const inDatasets = db.selectFrom('dataset_files').selectAll().where('binary_data_id', 'in', ids);
    const [placedHere, membersHere] = await Promise.all([
      placed.orderBy('created_ms').orderBy('id').execute(),
      inDatasets.execute(),
    ]);
    boxes.push(...placedHere);
    members.push(...membersHere);
  }
  watch.requireRight(fileBoxes, boxes);
  watch.requireRight(datasetFiles, members);
  const fileOf = ({ binary_data_id }: { readonly binary_data_id: string }): string => binary_data_id;
  const boxesOf = Map.groupBy(boxes, fileOf);
  const membersOf = Map.groupBy(members, fileOf);
  return rows.map((row) =>
    metadataOf(row, {
      boxes: boxesOf.get(row.id) ?? [],
      datasetIds: seesDatasets(row.organization_id)
        ? (membersOf.get(row.id) ?? []).map(({ dataset_id }) => dataset_id).toSorted()
        : [],
      baseUrl,
    }),
  );
}

interface Beside {
  readonly boxes: readonly BinaryTables['binary_data_boxes'][];
  readonly datasetIds: string[];
  readonly baseUrl: string;
}

function metadataOf(row: FileRow, { boxes, datasetIds, baseUrl }: Beside): FileMetadata {
  const classifications: readonly StoredClassification[] =
    row.classifications === '[]' ? [] : JSON.parse(row.classifications);
  return {
    // Read by clients older than binary_data_id.
    id: row.id,
    binaryDataId: row.id,
    captureMetadata: captureMetadataOf(row),
    timeRequested: timestampOf(row.time_requested_us),
    timeReceived: timestampOf(row.time_received_us),
    fileName: row.file_name,
    fileExt: row.file_ext,
    uri: `${baseUrl}${downloadPath}${row.id}`,
    annotations: {
      bboxes: boxes.map(({ id, label, place }) => ({ id, label, ...readCoordinates(place) })),
      classifications: classifications.map((one) => ({ ...one })),
    },
    datasetIds,
    fileSizeBytes: BigInt(row.size_bytes),
  };
}

function captureMetadataOf(row: FileRow): CaptureMetadata {
  const methodParameters =
    row.method_parameters === ''
      ? {}
      : fromBinary(CaptureMetadataSchema, new Uint8Array(Buffer.from(row.method_parameters, 'base64')))
          .methodParameters;
  return create(CaptureMetadataSchema, {
    organizationId: row.organization_id,
    locationId: row.location_id,
    robotName: row.robot_name,
    robotId: row.robot_id,
    partName: row.part_name,
    partId: row.part_id,
    componentType: row.component_type,
    componentName: row.component_name,
    methodName: row.method_name,
    mimeType: row.mime_type,
    methodParameters,
    tags: tagsOf(row),
  });
}
