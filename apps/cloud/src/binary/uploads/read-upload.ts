/** Reads a log row's data about a picture or file; all other rows are skipped after a few bytes. */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { dataLoss } from '@platform/base';
import { type Annotations, type BoundingBox, CaptureMetadataSchema } from '@platform/proto/platform/app/data/v1/data';
import {
  DataType,
  type SensorMetadata,
  SensorMetadataSchema,
  type UploadMetadata,
} from '@platform/proto/platform/app/datasync/v1/data_sync';
import { captureDay } from '../../reading-codec/capture-day.ts';
import { type OpenedUpload, openUpload } from '../../reading-codec/open-upload.ts';
import { SensorDataView } from '../../reading-codec/sensor-data-view.ts';
import { maxTags } from '../limits.ts';
import type { BinaryTables } from '../store.ts';
import { tagsText } from '../tags-text.ts';
import { microsecondsOf } from '../times.ts';
import { extensionOf, mimeTypeOf } from './file-type.ts';

export interface BinaryUpload {
  readonly row: BinaryTables['binary_data'];
  readonly tags: readonly string[];
  readonly boxes: readonly BoundingBox[];
  /** Datasets to which the sender wants it added. */
  readonly datasetIds: readonly string[];
}

/** @param batch LoggedUpload. Null: it has no payload. @throws data_loss when it cannot be read */
export function readBinaryUpload(position: number, batch: Uint8Array): BinaryUpload | null {
  const upload = openUpload(batch);
  // The metadata comes first, so that readings need not even be scanned.
  if (upload.metadata?.type === DataType.TABULAR_SENSOR) return null;
  const { metadata, place, timeSynced, fileId, blob } = upload;
  if (blob === undefined) return null;
  if (metadata === undefined || place === undefined || timeSynced === undefined || fileId === '')
    throw dataLoss('expected a logged upload with metadata, place, time and file id, found one without');
  const sensor = sensorMetadataOf(upload);
  const syncedUs = microsecondsOf(timeSynced);
  const requestedUs = sensor?.timeRequested && microsecondsOf(sensor.timeRequested);
  const receivedUs = sensor?.timeReceived && microsecondsOf(sensor.timeReceived);
  const fileExt = extensionOf(metadata.fileExtension, metadata.fileName, metadata.mimeType);
  const capturedUs = requestedUs ?? receivedUs ?? syncedUs;
  const syncedMs = Math.floor(syncedUs / 1_000);
  const tags = distinct(metadata.tags).slice(0, maxTags);
  return {
    row: {
      id: fileId,
      position,
      organization_id: place.organizationId,
      location_id: place.locationId,
      robot_id: place.robotId,
      part_id: place.partId,
      robot_name: place.robotName,
      part_name: place.partName,
      component_type: metadata.componentType,
      component_name: metadata.componentName,
      method_name: metadata.methodName,
      mime_type: mimeTypeOf([metadata.mimeType], sensor?.mimeType, fileExt),
      file_name: metadata.fileName,
      file_ext: fileExt,
      size_bytes: Number(blob.sizeBytes),
      captured_us: capturedUs,
      time_requested_us: capturedUs,
      time_received_us: receivedUs ?? capturedUs,
      capture_day: captureDay(receivedUs === undefined ? undefined : Math.floor(receivedUs / 1_000), syncedMs),
      synced_ms: syncedMs,
      method_parameters: methodParametersOf(metadata),
      classifications: JSON.stringify(classificationsOf(sensor?.annotations)),
      blob_path: blob.path,
      sha256: Buffer.from(blob.sha256).toString('hex'),
      tags: tagsText(tags),
    },
    tags,
    boxes: sensor?.annotations?.bboxes ?? [],
    datasetIds: distinct(metadata.datasetIds),
  };
}

function sensorMetadataOf(upload: OpenedUpload): SensorMetadata | undefined {
  if (upload.readingCount === 0) return undefined;
  const view = new SensorDataView();
  view.read(upload.bytes, upload.readingStart(0), upload.readingEnd(0));
  if (!view.isWhole) throw dataLoss('expected a SensorData message, found other bytes');
  if (view.metadataEnd < 0) return undefined;
  return fromBinary(SensorMetadataSchema, upload.bytes.subarray(view.metadataStart, view.metadataEnd));
}

function methodParametersOf({ methodParameters }: UploadMetadata): string {
  if (Object.keys(methodParameters).length === 0) return '';
  const message = create(CaptureMetadataSchema, { methodParameters });
  return Buffer.from(toBinary(CaptureMetadataSchema, message)).toString('base64');
}

function classificationsOf(annotations: Annotations | undefined): readonly StoredClassification[] {
  return (annotations?.classifications ?? []).map(({ id, label, confidence }) => ({
    id,
    label,
    ...(confidence !== undefined && { confidence }),
  }));
}

/** Stored in the column `classifications`. */
export interface StoredClassification {
  readonly id: string;
  readonly label: string;
  readonly confidence?: number;
}

function distinct(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)].filter((text) => text !== '');
}
