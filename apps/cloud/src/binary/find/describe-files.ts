/** Converts rows of the tables to BinaryMetadata, with their tags, boxes and datasets. */
import { create, fromBinary, type MessageInitShape } from '@bufbuild/protobuf';
import { chunks } from '@platform/base';
import {
  type BinaryMetadataSchema,
  type CaptureMetadata,
  CaptureMetadataSchema,
} from '@platform/proto/platform/app/data/v1/data';
import { sql } from 'kysely';
import { type CoveredRow, coveredText } from '../../metadata/row-checks/covered-text.ts';
import { rowsPerStatement } from '../../metadata/rows-per-statement.ts';
import type { BinaryOperationDeps } from '../binary-deps.ts';
import { readCoordinates } from '../change/box-coordinates.ts';
import { downloadPath } from '../download/download-path.ts';
import { type BinaryTables, datasetFiles, fileBoxes, fileTags } from '../store.ts';
import { timestampOf } from '../times.ts';
import type { StoredClassification } from '../uploads/read-upload.ts';
import type { FileRow } from './find-files.ts';

/** Read as text, which costs less to compare. */
const asCovered = [coveredText(fileTags).as('covered'), sql<string | null>`row_check`.as('row_check')] as const;

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
  const tags: (CoveredRow & Pick<BinaryTables['binary_data_tags'], 'binary_data_id' | 'tag'>)[] = [];
  const boxes: BinaryTables['binary_data_boxes'][] = [];
  const members: BinaryTables['dataset_files'][] = [];
  for (const some of chunks(rows, rowsPerStatement)) {
    const ids = some.map(({ id }) => id);
    const placed = db.selectFrom('binary_data_boxes').selectAll().where('binary_data_id', 'in', ids);
    const tagged = db.selectFrom('binary_data_tags').select(['binary_data_id', 'tag']).select(asCovered);
    tags.push(...(await tagged.where('binary_data_id', 'in', ids).execute()));
    boxes.push(...(await placed.orderBy('created_ms').orderBy('id').execute()));
    members.push(...(await db.selectFrom('dataset_files').selectAll().where('binary_data_id', 'in', ids).execute()));
  }
  watch.requireCoveredRight(fileTags, tags);
  watch.requireRight(fileBoxes, boxes);
  watch.requireRight(datasetFiles, members);
  const fileOf = ({ binary_data_id }: { readonly binary_data_id: string }): string => binary_data_id;
  const tagsOf = Map.groupBy(tags, fileOf);
  const boxesOf = Map.groupBy(boxes, fileOf);
  const membersOf = Map.groupBy(members, fileOf);
  return rows.map((row) =>
    metadataOf(row, {
      tags: (tagsOf.get(row.id) ?? []).map(({ tag }) => tag).toSorted(),
      boxes: boxesOf.get(row.id) ?? [],
      datasetIds: seesDatasets(row.organization_id)
        ? (membersOf.get(row.id) ?? []).map(({ dataset_id }) => dataset_id).toSorted()
        : [],
      baseUrl,
    }),
  );
}

interface Beside {
  readonly tags: string[];
  readonly boxes: readonly BinaryTables['binary_data_boxes'][];
  readonly datasetIds: string[];
  readonly baseUrl: string;
}

function metadataOf(row: FileRow, { tags, boxes, datasetIds, baseUrl }: Beside): FileMetadata {
  const classifications: readonly StoredClassification[] =
    row.classifications === '[]' ? [] : JSON.parse(row.classifications);
  return {
    // Read by clients older than binary_data_id.
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
    tags,
  });
}
