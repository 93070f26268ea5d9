import { deserialize, EJSON, serialize } from 'bson';

/** A row of a query; BSON dates are Dates, numbers are numbers, other BSON types are classes of npm's `bson`. */
export type Row = Readonly<Record<string, unknown>>;

/** One BSON document per row, as received. */
export function rowsOf(documents: readonly Uint8Array[]): Row[] {
  return documents.map((document) => deserialize(document, { promoteBuffers: true }));
}

/** A stage as BSON: plain objects with Dates and classes of `bson`, or Extended JSON (`{"$date": …}`). */
export function stageBytes(stage: Readonly<Record<string, unknown>>): Uint8Array {
  return serialize(EJSON.deserialize(EJSON.serialize(stage, { relaxed: false }), { relaxed: false }));
}
