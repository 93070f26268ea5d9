/** Decoded rows by column, before they are passed to DuckDB. */

/** Represents a time that the sender omitted. Used only here and in DuckDB; files and answers contain null. */
export const noTime: bigint = -(2n ** 63n);

export class RowBuffer {
  rows = 0;
  /** BSON bytes of all `data`. */
  dataBytes = 0;
  position: BigInt64Array = new BigInt64Array(4096);
  index: Int32Array = new Int32Array(4096);
  series: Int32Array = new Int32Array(4096);
  /** Microseconds since 1970 UTC, or noTime. */
  timeRequested: BigInt64Array = new BigInt64Array(4096);
  timeReceived: BigInt64Array = new BigInt64Array(4096);
  timeSynced: BigInt64Array = new BigInt64Array(4096);
  /** Days since 1970 UTC. */
  captureDay: Int32Array = new Int32Array(4096);
  /** BSON documents, in memory that is not overwritten. */
  readonly data: Uint8Array[] = [];

  /** Returns the next row to fill and makes room for it. */
  next(): number {
    if (this.rows === this.index.length) this.#grow();
    return this.rows++;
  }

  /** Drops the rows from `rows` on. */
  truncate(rows: number): void {
    this.rows = rows;
    for (const dropped of this.data.splice(rows)) this.dataBytes -= dropped.length;
  }

  #grow(): void {
    this.position = twiceAsLong(this.position);
    this.timeRequested = twiceAsLong(this.timeRequested);
    this.timeReceived = twiceAsLong(this.timeReceived);
    this.timeSynced = twiceAsLong(this.timeSynced);
    this.index = twiceAsLong(this.index);
    this.series = twiceAsLong(this.series);
    this.captureDay = twiceAsLong(this.captureDay);
  }
}

/** A copy with twice the length. */
export function twiceAsLong<A extends BigInt64Array | Int32Array | Uint8Array>(old: A): A {
  const grown = new (old.constructor as new (length: number) => A)(old.length * 2);
  grown.set(old as never);
  return grown;
}
