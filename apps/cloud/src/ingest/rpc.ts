/** DataSyncService: converts the three upload calls to uploads, and refuses malformed ones by name before anything is stored. */
import { create, toBinary } from '@bufbuild/protobuf';
import { invalidArgument, runInTurns, varintBytes, writeVarint } from '@platform/base';
import {
  DataCaptureUploadRequestSchema,
  DataSyncService,
  DataType,
  SensorDataSchema,
  type UploadMetadata,
} from '@platform/proto/platform/app/datasync/v1/data_sync';
import { type Call, encodedUnary, type Handlers, type ServiceBinding, serve } from '@platform/rpc/server';
import { ReadingRanges } from '../reading-codec/reading-ranges.ts';
import { SensorDataView } from '../reading-codec/sensor-data-view.ts';
import { type AcceptDeps, acceptUpload, type Payload, type Sender } from './accept-upload.ts';
import type { FreeSpace } from './disk/free-space.ts';
import { spaceChecked } from './disk/space-checked.ts';
import type { Place } from './place.ts';
import { partitionReadings } from './readings/partition-readings.ts';
import { readRequest, type UploadRequest } from './readings/read-request.ts';
import { scanReading } from './readings/scan-reading.ts';
import { type CheckedMetadata, checkMetadata, requireMetadata } from './upload-metadata.ts';

/** Of a picture: times, type, and annotations, of which each takes about 100 bytes. Followers of the log decode it. */
const maxReadingMetadataBytes = 256 << 10;

export interface UploadRpcDeps<P> extends AcceptDeps {
  readonly space: FreeSpace;
  /** Throws unauthenticated, not_found (no such part) or permission_denied (not this caller's part). */
  readonly authorizeUpload: (principal: P, partId: string) => Promise<Place>;
  /** More of an upload for the part has arrived: a long one takes minutes. */
  readonly heard: (principal: P, partId: string) => void;
}

interface Admitted {
  readonly place: Place;
  readonly checked: CheckedMetadata;
  readonly sender: Sender;
}

interface UploadAnswer {
  readonly fileId: string;
  readonly binaryDataId: string;
}

export function uploadBindings<P>(deps: UploadRpcDeps<P>): ServiceBinding<P>[] {
  const { dataCaptureUpload, fileUpload, streamingDataCaptureUpload } = DataSyncService.method;

  /** The part is checked first, so that a caller learns nothing else about uploads for another owner's part. */
  const admit = async (
    call: Call<P>,
    given: UploadMetadata | undefined,
    types: readonly DataType[],
    held: DataType,
    method: string,
    mayBeUnnamed = false,
  ): Promise<Admitted> => {
    const metadata = requireMetadata(given, method);
    const place = await deps.authorizeUpload(call.principal, metadata.partId);
    return { place, checked: checkMetadata(metadata, types, held, method, mayBeUnnamed), sender: call };
  };
  const accept = async (
    { place, checked, sender }: Admitted,
    content: Parameters<typeof acceptUpload>[3],
    payload: Payload | null,
  ): Promise<UploadAnswer> => {
    if (payload !== null) await deps.space.require();
    const { fileId } = await acceptUpload(deps, place, checked, content, payload, sender);
    // Public clients read either field, depending on the call and the language.
    return { fileId, binaryDataId: fileId };
  };

  /** In steps, because an upload may have a million readings (D48). */
  const captured = async (bytes: Uint8Array, call: Call<P>): Promise<UploadAnswer> => {
    const request = await runInTurns(readRequest(bytes));
    const types = [DataType.TABULAR_SENSOR, DataType.BINARY_SENSOR];
    const held = holdsBytes(request) ? DataType.FILE : DataType.TABULAR_SENSOR;
    const admitted = await admit(call, request.metadata, types, held, dataCaptureUpload.name);
    if (admitted.checked.metadata.type === DataType.TABULAR_SENSOR) {
      const { stored, refused, untimed } = await runInTurns(partitionReadings(request));
      return accept(admitted, { readings: stored, refused, untimed }, null);
    }
    const { reading, payload } = binaryReading(request);
    return accept(admitted, { readings: reading, refused: [] }, payload);
  };
  const encoded = encodedUnary<typeof dataCaptureUpload.output, P>(dataCaptureUpload, captured);
  const handlers: Handlers<typeof DataSyncService, P> = {
    dataCaptureUpload: (request, call) => captured(toBinary(DataCaptureUploadRequestSchema, request), call),
    async fileUpload(requests, call) {
      const { first, rest } = await splitFirst(requests);
      const packet = first?.uploadPacket;
      const given = packet?.case === 'metadata' ? packet.value : undefined;
      const admitted = await admit(call, given, [DataType.FILE], DataType.FILE, fileUpload.name);
      const chunks = spaceChecked(
        deps.space,
        contentsOf(rest, fileUpload.name, ({ uploadPacket }) =>
          uploadPacket.case === 'fileContents' ? uploadPacket.value.data : undefined,
        ),
        () => deps.heard(call.principal, admitted.place.partId),
      );
      return accept(admitted, { readings: ReadingRanges.of([]), refused: [] }, { chunks, timeReceivedMs: null });
    },

    async streamingDataCaptureUpload(requests, call) {
      const { first, rest } = await splitFirst(requests);
      const packet = first?.uploadPacket;
      const given = packet?.case === 'metadata' ? packet.value : undefined;
      const method = streamingDataCaptureUpload.name;
      const admitted = await admit(call, given?.uploadMetadata, [DataType.BINARY_SENSOR], DataType.FILE, method, true);
      const metadata = given?.sensorMetadata;
      const reading = toBinary(SensorDataSchema, create(SensorDataSchema, metadata ? { metadata } : {}));
      const chunks = spaceChecked(
        deps.space,
        contentsOf(rest, method, ({ uploadPacket }) => (uploadPacket.case === 'data' ? uploadPacket.value : undefined)),
        () => deps.heard(call.principal, admitted.place.partId),
      );
      const { timeReceivedMs } = scanReading(reading);
      return accept(admitted, { readings: ReadingRanges.of([reading]), refused: [] }, { chunks, timeReceivedMs });
    },
  };
  // I13: no body is read if the disk has no room for it.
  return [serve(DataSyncService, handlers, { beforeBody: () => deps.space.requireForReadings(), splitAt }), encoded];
}

/** Public SDKs send a whole file in one message; Protocol Buffers allow just under 2 GiB. */
const maxContentBytes = 2 ** 31;
const splitAt = {
  // FileUploadRequest.file_contents.data
  fileUpload: { path: [2, 1], maxBytes: maxContentBytes },
  // StreamingDataCaptureUploadRequest.data
  streamingDataCaptureUpload: { path: [2], maxBytes: maxContentBytes },
};

function holdsBytes({ first }: UploadRequest): boolean {
  if (first === undefined) return false;
  const view = new SensorDataView();
  view.read(first, 0, first.length);
  return view.kind === 'binary';
}

/** Separates the single reading of a binary upload from its bytes. Times may be missing, because public clients may omit them. */
function binaryReading({ first: content, count }: UploadRequest): { reading: ReadingRanges; payload: Payload } {
  if (!content || count > 1) {
    throw invalidArgument(
      `an upload of type DATA_TYPE_BINARY_SENSOR expected one reading in sensor_contents, found ${count}`,
    );
  }
  const view = new SensorDataView();
  view.read(content, 0, content.length);
  // Other content is not even scanned: it may be a document of any size.
  const scanned = view.kind === 'binary' || !view.isWhole ? scanReading(content) : undefined;
  if (scanned?.kind !== 'binary') {
    throw invalidArgument(
      `an upload of type DATA_TYPE_BINARY_SENSOR expected bytes in sensor_contents[0], found ${view.kind === 'struct' ? 'a document' : (scanned?.problem ?? 'neither bytes nor a document')}`,
    );
  }
  const { metadataStart, metadataEnd } = view;
  if (metadataEnd - metadataStart > maxReadingMetadataBytes)
    throw invalidArgument(
      `expected at most ${maxReadingMetadataBytes} bytes of metadata in sensor_contents[0], found ${metadataEnd - metadataStart}`,
    );
  const chunks = [content.subarray(view.contentStart, view.contentEnd)];
  const metadata = metadataEnd < 0 ? undefined : content.subarray(metadataStart, metadataEnd);
  return {
    reading: ReadingRanges.of([metadata ? withoutContent(metadata) : new Uint8Array()]),
    payload: { chunks, timeReceivedMs: scanned.timeReceivedMs },
  };
}

/** A SensorData with only this metadata (field 1), encoded as the sender gave it. */
function withoutContent(metadata: Uint8Array): Uint8Array {
  const reading = new Uint8Array(1 + varintBytes(metadata.length) + metadata.length);
  reading[0] = 0x0a;
  reading.set(metadata, writeVarint(reading, 1, metadata.length));
  return reading;
}

async function splitFirst<T>(requests: AsyncIterable<T>): Promise<{ first: T | undefined; rest: AsyncIterator<T> }> {
  const rest = requests[Symbol.asyncIterator]();
  const { value, done } = await rest.next();
  return { first: done ? undefined : value, rest };
}

async function* contentsOf<T>(
  rest: AsyncIterator<T>,
  method: string,
  bytesOf: (request: T) => Uint8Array | undefined,
): AsyncIterable<Uint8Array> {
  for (let next = await rest.next(); !next.done; next = await rest.next()) {
    const bytes = bytesOf(next.value);
    if (!bytes) {
      throw invalidArgument(`${method} expected contents after the first message, found metadata again`);
    }
    yield bytes;
  }
}
