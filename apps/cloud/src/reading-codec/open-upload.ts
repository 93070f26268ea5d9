/** Opens a row of the ingest log (LoggedUpload) lazily: each part is decoded when it is accessed, and readings are ranges of its bytes. */
import { fromBinary } from '@bufbuild/protobuf';
import { type Timestamp, TimestampSchema } from '@bufbuild/protobuf/wkt';
import { dataLoss, WireReader } from '@platform/base';
import { type UploadMetadata, UploadMetadataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { type Blob, BlobSchema, type Place, PlaceSchema } from '@platform/proto/platform/ingest/v1/log';
import { ReadingRanges } from './reading-ranges.ts';

/**
 * @param batch LoggedUpload; must not change afterwards. Nothing is read yet: missing or broken parts are detected when they are accessed.
 */
export function openUpload(batch: Uint8Array): OpenedUpload {
  return new OpenedUpload(batch);
}

const fileIdField = 4;
const readingsField = 5;

/** Each property throws data_loss if the bytes are not a LoggedUpload, or an Error if that part is not a valid message. */
export class OpenedUpload {
  readonly bytes: Uint8Array;
  readonly #wire: WireReader;
  #metadata: UploadMetadata | undefined;
  /** Start and end of the content by field number; 0: not yet found. */
  readonly #starts = [0, 0, 0, 0, 0, 0, 0, 0];
  readonly #ends = [0, 0, 0, 0, 0, 0, 0, 0];
  readonly #readings: ReadingRanges;

  constructor(batch: Uint8Array) {
    this.bytes = batch;
    this.#readings = new ReadingRanges(batch);
    this.#wire = new WireReader(batch, 0, batch.length);
  }

  /** Ingest writes it first, so readings need not be skipped if only the metadata is wanted. */
  get metadata(): UploadMetadata | undefined {
    while (this.#starts[1] === 0 && this.#step());
    const bytes = this.#content(1);
    this.#metadata ??= bytes && fromBinary(UploadMetadataSchema, bytes);
    return this.#metadata;
  }

  get place(): Place | undefined {
    const bytes = this.#part(2);
    return bytes && fromBinary(PlaceSchema, bytes);
  }

  get timeSynced(): Timestamp | undefined {
    const bytes = this.#part(3);
    return bytes && fromBinary(TimestampSchema, bytes);
  }

  /** Empty if there is none. */
  get fileId(): string {
    const bytes = this.#part(fileIdField);
    return bytes === undefined ? '' : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
  }

  get blob(): Blob | undefined {
    const bytes = this.#part(7);
    return bytes && fromBinary(BlobSchema, bytes);
  }

  /** Number of readings. Reading i is the SensorData in bytes[readingStart(i)..readingEnd(i)). */
  get readingCount(): number {
    while (this.#step());
    return this.#readings.count;
  }

  readingStart(index: number): number {
    return this.#readings.start(index);
  }

  readingEnd(index: number): number {
    return this.#readings.end(index);
  }

  #part(field: number): Uint8Array | undefined {
    while (this.#step());
    return this.#content(field);
  }

  #content(field: number): Uint8Array | undefined {
    const start = this.#starts[field];
    return start === 0 ? undefined : this.bytes.subarray(start, this.#ends[field]);
  }

  /** Scans the next field; false at the end. */
  #step(): boolean {
    const wire = this.#wire;
    if (!wire.next()) {
      if (wire.broken) throw dataLoss('expected a logged upload, found other bytes or a part of one');
      return false;
    }
    if (wire.type !== 2) return true;
    if (wire.number === readingsField) this.#readings.add(wire.contentStart, wire.contentEnd);
    else if (wire.number <= 7) {
      this.#starts[wire.number] = wire.contentStart;
      this.#ends[wire.number] = wire.contentEnd;
    }
    return true;
  }
}
