/** Documents end to end in one buffer: the only form in which layers exchange rows, cheap to move between threads and processes. */

import { BsonReader } from './decode.ts';
import { BsonWriter } from './encode.ts';
import { Binary, type BsonDocument } from './value.ts';

export interface Batch {
  /** Documents in the batch. */
  readonly count: number;
  readonly bytes: Uint8Array;
  /** Where each document ends in `bytes`; the first starts at 0. */
  readonly ends: Uint32Array;
}

/** A batch of documents in memory, which are encoded only when their bytes are needed. It cannot cross threads as it is. */
export class DocumentBatch implements Batch {
  readonly count: number;
  readonly documents: readonly BsonDocument[];
  /** Estimated cost of folding them, as bytes of documents, without encoding them. */
  readonly bytesAbout: number;
  #encoded: Batch | undefined;

  /** @param more cost beyond a few numbers and short texts per document. */
  constructor(documents: readonly BsonDocument[], more = 0) {
    this.count = documents.length;
    this.documents = documents;
    this.bytesAbout = documents.length * documentBytes + more;
  }

  get bytes(): Uint8Array {
    return this.encoded().bytes;
  }

  get ends(): Uint32Array {
    return this.encoded().ends;
  }

  /** The same batch as a plain object, for other threads and processes. */
  encoded(): Batch {
    this.#encoded ??= batchOf(this.documents, packedBytes(this.documents));
    return this.#encoded;
  }
}

/** Size of a partial group with a few accumulators. */
const documentBytes = 128;

/** Size of packed numbers, which can be most of a partial group; the rest is small. */
function packedBytes(documents: readonly BsonDocument[]): number {
  let bytes = documents.length * documentBytes;
  for (const document of documents)
    for (const value of document.values()) if (value instanceof Binary) bytes += value.bytes.length;
  return bytes;
}

/** @param bytesAbout estimated size; a buffer that has to grow is copied. */
export function batchOf(documents: Iterable<BsonDocument>, bytesAbout?: number): Batch {
  const writer = new BsonWriter(bytesAbout);
  const ends: number[] = [];
  for (const document of documents) {
    writer.document(document);
    ends.push(writer.length);
  }
  return { count: ends.length, bytes: writer.take(), ends: Uint32Array.from(ends) };
}

export function* documentsOf(batch: Batch): Generator<BsonDocument> {
  const reader = new BsonReader(batch.bytes);
  for (let index = 0; index < batch.count; index++) {
    yield reader.document(index === 0 ? 0 : batch.ends[index - 1]!);
  }
}
