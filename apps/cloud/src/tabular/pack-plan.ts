/** A plan on its way to the child: structured clone forgets classes, so BSON values travel as BSON. */
import { BsonDocument, type BsonValue, decodeBson, encodeBson } from '@platform/query';

interface Packed {
  readonly packedBson: Uint8Array;
}

/** Plain objects, arrays and primitives pass; an instance of a class is a BSON value and is encoded. */
export function packPlan(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(packPlan);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype === Object.prototype || prototype === null) {
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, packPlan(member)]));
  }
  return { packedBson: encodeBson(new BsonDocument([['v', value as BsonValue]])) } satisfies Packed;
}

export function unpackPlan(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(unpackPlan);
  const { packedBson } = value as Partial<Packed>;
  if (packedBson instanceof Uint8Array) return decodeBson(packedBson).get('v');
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, unpackPlan(member)]));
}
