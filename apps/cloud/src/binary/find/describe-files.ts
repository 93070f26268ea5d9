/** Rows of the tables as BinaryMetadata, with their tags, boxes and datasets. */
import { create, fromBinary, type MessageInitShape } from '@bufbuild/protobuf';
import { chunks } from '@platform/base';
import {
  type BinaryMetadataSchema,
  type CaptureMetadata,
  CaptureMetadataSchema,
} from '@platform/proto/platform/app/data/v1/data';
import type { Kysely } from 'kysely';
import { rowsPerStatement } from '../../metadata/rows-per-statement.ts';
import type { CloudTables } from '../../metadata/tables.ts';
import { readCoordinates } from '../change/box-coordinates.ts';
import { downloadPath } from '../download/download-path.ts';
import { timestampOf } from '../times.ts';
import type { StoredClassification } from '../uploads/read-upload.ts';
import type { FileRow } from './find-files.ts';

export type FileMetadata = MessageInitShape<typeof BinaryMetadataSchema>;

interface Box {
  readonly id: string;
  readonly label: string;
  readonly place: string;
}

/**
 * @param baseUrl of the addresses in the answer.
 * @param seesDatasets whether the caller may know of an organization's datasets.
 */
export async function describeFiles(
  db: Kysely<CloudTables>,
  rows: readonly FileRow[],
  baseUrl: string,
  seesDatasets: (organizationId: string) => boolean,
): Promise<readonly FileMetadata[]> {
  const tags = new Map<string, string[]>();
  const boxes = new Map<string, Box[]>();
  const datasets = new Map<string, string[]>();
  for (const some of chunks(rows, rowsPerStatement)) {
    const ids = some.map(({ id }) => id);
    for (const { binary_data_id, tag } of await db
      .selectFrom('binary_data_tags')
      .selectAll()
      .where('binary_data_id', 'in', ids)
      .execute())
      add(tags, binary_data_id, tag);
    for (const box of await db
      .selectFrom('binary_data_boxes')
      .selectAll()
      .where('binary_data_id', 'in', ids)
      .orderBy('created_ms')
      .orderBy('id')
      .execute())
      add(boxes, box.binary_data_id, box);
    for (const { binary_data_id, dataset_id } of await db
      .selectFrom('dataset_files')
      .selectAll()
      .where('binary_data_id', 'in', ids)
      .execute())
      add(datasets, binary_data_id, dataset_id);
  }
  return rows.map((row) =>
    metadataOf(row, {
      tags: (tags.get(row.id) ?? []).toSorted(),
      boxes: boxes.get(row.id) ?? [],
      datasetIds: seesDatasets(row.organization_id) ? (datasets.get(row.id) ?? []).toSorted() : [],
      baseUrl,
    }),
  );
}

interface Beside {
  readonly tags: string[];
  readonly boxes: readonly Box[];
  readonly datasetIds: string[];
  readonly baseUrl: string;
}

function metadataOf(row: FileRow, { tags, boxes, datasetIds, baseUrl }: Beside): FileMetadata {
  const classifications: readonly StoredClassification[] = JSON.parse(row.classifications);
  return {
    // Clients before binary_data_id read this one.
    id: row.id,
    binaryDataId: row.id,
    captureMetadata: captureMetadataOf(row, tags),
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

function captureMetadataOf(row: FileRow, tags: string[]): CaptureMetadata {
  const { methodParameters } = fromBinary(
    CaptureMetadataSchema,
    new Uint8Array(Buffer.from(row.method_parameters, 'base64')),
  );
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
    tags,
  });
}

function add<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}
