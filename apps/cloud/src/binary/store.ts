/**
 * Tables of binary data: the metadata of each picture and file, the annotations that people added, and the collections that they made. The
 * bytes are in the blob store.
 *
 * A follower fills `binary_data` from the ingest log (I11). A deleted row leaves the path of its payload in `binary_data_removals` until
 * the payload is removed. Times are microseconds.
 */
import type { Generated } from 'kysely';
import { type CheckedTable, checkedIn } from '../metadata/row-checks/checked-table.ts';
import type { Schema } from '../metadata/sqlite/writer-protocol.ts';

/** Whose file it is, and of which time: copies, by which the sets of rows are divided. */
interface OfFile {
  file_organization_id: string;
  file_captured_us: number;
}

export interface BinaryTables {
  /**
   * Number of days for which the files of a part, or of one of its resources, are kept ('' and '': all resources). A copy of the
   * `retention` setting in the part's configuration, as rows that statements can use.
   */
  data_retention_days: {
    part_id: string;
    component_type: string;
    component_name: string;
    days: number;
    /** The part's organization. */
    organization_id: Generated<string>;
  };
  /** One row per stored upload of a picture or file, unless it was deleted. */
  binary_data: {
    /** binary_data_id, as in the answer to the upload. */
    id: string;
    /** Position in the ingest log. */
    position: number;
    organization_id: string;
    location_id: string;
    robot_id: string;
    part_id: string;
    /** This and the next: names at the time of the upload. */
    robot_name: string;
    part_name: string;
    /** In the `core` vocabulary; empty for files that no component made. */
    component_type: string;
    component_name: string;
    method_name: string;
    mime_type: string;
    file_name: string;
    /** Including the dot; empty: none. */
    file_ext: string;
    size_bytes: number;
    /** The time by which data is filtered and sorted: that of the request, otherwise of the reading, otherwise of the upload. */
    captured_us: number;
    time_requested_us: number;
    time_received_us: number;
    /** Days since 1970 (D24). */
    capture_day: number;
    synced_ms: number;
    /** Base64 of a CaptureMetadata with only its method parameters; empty: none. */
    method_parameters: string;
    /** JSON: Classification[]. */
    classifications: string;
    /** Path in the blob store. */
    blob_path: string;
    /** SHA-256 of its bytes, hexadecimal. */
    sha256: string;
    /** JSON: string[]. A copy of the rows of its tags, for answers that show them: the row's checksum covers it. */
    tags: string;
  };
  binary_data_tags: { binary_data_id: string; tag: string } & OfFile;
  binary_data_boxes: {
    id: string;
    binary_data_id: string;
    label: string;
    /** JSON: the corners and the confidence. */
    place: string;
    created_ms: number;
  } & OfFile;
  /** Payloads whose rows are deleted. */
  binary_data_removals: { blob_path: string };
  datasets: {
    id: string;
    organization_id: string;
    name: string;
    /** DatasetType */
    type: number;
    created_ms: number;
  };
  dataset_files: { dataset_id: string; binary_data_id: string };
  /** A time range of a part, in which files of some of its resources belong together. */
  sequences: {
    id: string;
    organization_id: string;
    location_id: string;
    robot_id: string;
    part_id: string;
    start_us: number;
    end_us: number;
    /** JSON: {resourceName, methodName}[]; empty: all resources of the part. */
    resources: string;
    /** JSON: string[]. */
    tags: string;
    created_ms: number;
    updated_ms: number;
  };
  dataset_sequences: { dataset_id: string; sequence_id: string };
}

/** No references to parts and organizations, because data outlives its source unless it is explicitly deleted. */
const statements: readonly string[] = [
  'create table binary_data (id text primary key, position bigint not null, organization_id text not null, location_id text not null, robot_id text not null, part_id text not null, robot_name text not null, part_name text not null, component_type text not null, component_name text not null, method_name text not null, mime_type text not null, file_name text not null, file_ext text not null, size_bytes bigint not null, captured_us bigint not null, time_requested_us bigint not null, time_received_us bigint not null, capture_day integer not null, synced_ms bigint not null, method_parameters text not null, classifications text not null, blob_path text not null, sha256 text not null, tags text not null, row_check text)',
  'create index binary_data_by_location on binary_data (location_id, captured_us, id)',
  'create index binary_data_by_organization on binary_data (organization_id, captured_us, id)',
  'create index binary_data_by_part on binary_data (part_id, captured_us, id)',
  'create index binary_data_by_path on binary_data (blob_path)',
  'create unique index binary_data_by_position on binary_data (position)',
  'create table binary_data_tags (binary_data_id text not null references binary_data (id), tag text not null, file_organization_id text not null, file_captured_us bigint not null, row_check text, primary key (binary_data_id, tag))',
  'create index binary_data_tags_by_organization on binary_data_tags (file_organization_id, file_captured_us)',
  'create index binary_data_tags_by_tag on binary_data_tags (tag, binary_data_id)',
  'create table binary_data_boxes (id text primary key, binary_data_id text not null references binary_data (id), label text not null, place text not null, created_ms bigint not null, file_organization_id text not null, file_captured_us bigint not null, row_check text)',
  'create index binary_data_boxes_by_data on binary_data_boxes (binary_data_id, label)',
  'create index binary_data_boxes_by_label on binary_data_boxes (label, binary_data_id)',
  'create index binary_data_boxes_by_organization on binary_data_boxes (file_organization_id, file_captured_us)',
  'create table binary_data_removals (blob_path text primary key)',
  'create table datasets (id text primary key, organization_id text not null, name text not null, type integer not null, created_ms bigint not null, row_check text, unique (organization_id, name))',
  'create table dataset_files (dataset_id text not null references datasets (id), binary_data_id text not null references binary_data (id), row_check text, primary key (dataset_id, binary_data_id))',
  'create index dataset_files_by_data on dataset_files (binary_data_id, dataset_id)',
  'create table sequences (id text primary key, organization_id text not null, location_id text not null, robot_id text not null, part_id text not null, start_us bigint not null, end_us bigint not null, resources text not null, tags text not null, created_ms bigint not null, updated_ms bigint not null, row_check text)',
  'create index sequences_by_organization on sequences (organization_id, id)',
  'create table dataset_sequences (dataset_id text not null references datasets (id), sequence_id text not null references sequences (id), row_check text, primary key (dataset_id, sequence_id))',
  'create index dataset_sequences_by_sequence on dataset_sequences (sequence_id)',
  "create table data_retention_days (part_id text not null, component_type text not null, component_name text not null, days bigint not null, organization_id text not null default '', row_check text, primary key (part_id, component_type, component_name))",
  'create index data_retention_days_by_organization on data_retention_days (organization_id)',
];

const checked = checkedIn(statements);

/** Rows that decide what is served, to whom. */
export const files: CheckedTable = checked('binary_data', 'picture or file', {
  owner: 'organization_id',
  time: 'captured_us',
});

export const datasets: CheckedTable = checked('datasets', 'dataset', { owner: 'organization_id' });

export const datasetFiles: CheckedTable = checked('dataset_files', 'file of a dataset', { owner: 'dataset_id' });

export const sequences: CheckedTable = checked('sequences', 'sequence', { owner: 'organization_id' });

export const datasetSequences: CheckedTable = checked('dataset_sequences', 'sequence of a dataset', {
  owner: 'dataset_id',
});

/** Rows that decide which files are deleted, and which are listed. */
export const retentionDays: CheckedTable = checked('data_retention_days', 'retention of part', {
  owner: 'organization_id',
});

/** Rows by which files are found; boxes are also shown with them. */
export const fileTags: CheckedTable = checked('binary_data_tags', 'tag of file', {
  owner: 'file_organization_id',
  time: 'file_captured_us',
});

export const fileBoxes: CheckedTable = checked('binary_data_boxes', 'bounding box', {
  owner: 'file_organization_id',
  time: 'file_captured_us',
});

/** The copies in the rows of its tags and boxes. */
export function ofFile({
  organization_id,
  captured_us,
}: Pick<BinaryTables['binary_data'], 'organization_id' | 'captured_us'>): OfFile {
  return { file_organization_id: organization_id, file_captured_us: captured_us };
}

/** For tools that read a store directly: the path of each payload, its size and its hash. */
export const payloadsSql = 'select id, blob_path as path, size_bytes, sha256 from binary_data';

export const binarySchema: Schema = {
  statements,
  checked: [...[files, datasets, datasetFiles, sequences, datasetSequences], ...[retentionDays, fileTags, fileBoxes]],
};
