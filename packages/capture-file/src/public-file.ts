/**
 * Capture files of public machine-servers: the same messages without our fields. They have neither checksums nor an identity, so damage
 * shows only where a message does not decode.
 */
import { create, fromBinary, type Message } from '@bufbuild/protobuf';
import { canonicalApi, dataLoss, PlatformError } from '@platform/base';
import {
  type DataCaptureMetadata,
  DataCaptureMetadataSchema,
  SensorDataSchema,
} from '@platform/proto/platform/app/datasync/v1/data_sync';
import { type CaptureFileHeader, CaptureFileHeaderSchema } from '@platform/proto/platform/capture/v1/capture_file';
import { messageAt, ourFields } from './format.ts';

/**
 * The header has no stream, no seq and no part. API names are converted to our spelling.
 *
 * @throws PlatformError data_loss: neither a public capture file nor one of ours, or one of ours with a damaged header
 */
export function readPublicHeader(bytes: Uint8Array): { header: CaptureFileHeader; end: number } {
  const message = messageAt(bytes, 0);
  if (message.content === undefined) throw dataLoss(`not a capture file: ${message.reason} (${bytes.length} bytes)`);
  let metadata: DataCaptureMetadata;
  try {
    metadata = fromBinary(DataCaptureMetadataSchema, message.content);
  } catch (caught) {
    throw dataLoss('not a capture file: it does not begin with a DataCaptureMetadata', caught);
  }
  if (isOurs(metadata)) throw dataLoss('capture file with a damaged header: its checksum does not match');
  const { componentType, componentName, methodName } = metadata;
  if (componentType === '' || componentName === '' || methodName === '')
    throw dataLoss('not a capture file: its metadata has no component and method');
  metadata.componentType = canonicalApi(componentType);
  return { header: create(CaptureFileHeaderSchema, { metadata }), end: message.end };
}

export interface PublicReadings {
  readonly readings: readonly Uint8Array[];
  readonly goodBytes: number;
  readonly cutReason: string | undefined;
}

/** @throws PlatformError data_loss: a reading has our fields, so the header is damaged */
export function readPublicReadings(bytes: Uint8Array, from: number): PublicReadings {
  const readings: Uint8Array[] = [];
  let goodBytes = from;
  while (goodBytes < bytes.length) {
    const message = messageAt(bytes, goodBytes);
    if (message.content === undefined) return { readings, goodBytes, cutReason: message.reason };
    const reason = faultOf(message.content);
    if (reason !== undefined) return { readings, goodBytes, cutReason: reason };
    readings.push(message.content);
    goodBytes = message.end;
  }
  return { readings, goodBytes, cutReason: undefined };
}

function faultOf(content: Uint8Array): string | undefined {
  try {
    const reading = fromBinary(SensorDataSchema, content);
    if (isOurs(reading)) throw dataLoss('capture file with a damaged header: its readings have checksums');
    return reading.data.case === undefined ? `message of ${content.length} bytes without a reading` : undefined;
  } catch (caught) {
    if (caught instanceof PlatformError) throw caught;
    return `message of ${content.length} bytes that is no reading`;
  }
}

function isOurs(message: Message): boolean {
  return message.$unknown?.some(({ no }) => ourFields.has(no)) ?? false;
}
