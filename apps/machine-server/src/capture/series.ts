import type { DataCaptureMetadata } from '@platform/proto/platform/app/datasync/v1/data_sync';

/** A unit of capture with its own files: one method of one resource with one set of parameters. */
export interface Series {
  /** Directory that is owned by this process. */
  readonly directory: string;
  readonly metadata: DataCaptureMetadata;
  readonly maxFileBytes: number;
  readonly bufferBytes: number;
  /** How many readings may wait for the disk; undefined: as many as fit into the memory for them. */
  readonly queueSize: number | undefined;
}

/** File type in the metadata of a binary reading's file. */
export type BinaryFile = Pick<DataCaptureMetadata, 'fileExtension' | 'mimeType'>;
