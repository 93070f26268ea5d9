/**
 * BSON values in the engine. A double is a JavaScript number, an int64 a bigint, an int32 an Int32, a missing value `undefined`; the rest
 * are the classes below. Values never change once they are in a document that was passed on.
 */

/** An ordered document; a repeated key keeps its first position and its last value. */
export class BsonDocument extends Map<string, BsonValue> {
  /** For literals in code and tests: keys in the order in which they are written (integer-like keys excepted). */
  static of(fields: Readonly<Record<string, BsonValue>>): BsonDocument {
    return new BsonDocument(Object.entries(fields));
  }
}

export class Int32 {
  readonly value: number;
  /** @param value a whole number of 32 bits; -0, which only doubles have, becomes 0. */
  constructor(value: number) {
    this.value = value + 0;
  }
}

/** Milliseconds since 1970 UTC; a whole number. */
export class BsonDate {
  readonly ms: number;
  constructor(ms: number) {
    this.ms = ms;
  }
  /** As BSON stores it; the largest int64 is represented here by the number 2^63. */
  get int64(): bigint {
    if (this.ms >= 2 ** 63) return 2n ** 63n - 1n;
    return this.ms < -(2 ** 63) ? -(2n ** 63n) : BigInt(this.ms);
  }
}

/** Twelve bytes. */
export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

export class ObjectId {
  readonly bsonType: 'objectId' = 'objectId';
  readonly bytes: Uint8Array;
  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
  toHex(): string {
    return hexOf(this.bytes);
  }
}

/** Sixteen bytes, IEEE 754-2008 decimal128 in binary integer decimal encoding, little-endian; stored unchanged. */
export class Decimal128 {
  readonly bsonType: 'decimal' = 'decimal';
  readonly bytes: Uint8Array;
  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }
}

export class Binary {
  readonly bsonType: 'binData' = 'binData';
  readonly bytes: Uint8Array;
  readonly subtype: number;
  constructor(bytes: Uint8Array, subtype = 0) {
    this.bytes = bytes;
    this.subtype = subtype;
  }
}

export class Regex {
  readonly pattern: string;
  readonly options: string;
  constructor(pattern: string, options = '') {
    this.pattern = pattern;
    this.options = options;
  }
}

/** The internal timestamp: seconds in the high 32 bits, an ordinal in the low. */
export class Timestamp {
  readonly value: bigint;
  constructor(value: bigint) {
    this.value = value;
  }
}

export class Code {
  readonly code: string;
  readonly scope: BsonDocument | undefined;
  constructor(code: string, scope?: BsonDocument) {
    this.code = code;
    this.scope = scope;
  }
}

export class BsonSymbol {
  readonly value: string;
  constructor(value: string) {
    this.value = value;
  }
}

export class DbPointer {
  readonly namespace: string;
  readonly id: ObjectId;
  constructor(namespace: string, id: ObjectId) {
    this.namespace = namespace;
    this.id = id;
  }
}

export class MinKey {
  readonly bsonType: 'minKey' = 'minKey';
}

export class MaxKey {
  readonly bsonType: 'maxKey' = 'maxKey';
}

/** The deprecated BSON type 6, which is a value; a missing field is JavaScript's `undefined`. */
export class BsonUndefined {
  readonly bsonType: 'undefined' = 'undefined';
}

export type BsonValue =
  | number
  | bigint
  | string
  | boolean
  | null
  | Int32
  | BsonDate
  | ObjectId
  | Decimal128
  | Binary
  | Regex
  | Timestamp
  | Code
  | BsonSymbol
  | DbPointer
  | MinKey
  | MaxKey
  | BsonUndefined
  | BsonDocument
  | BsonValue[];

/** A value or its absence. */
export type Maybe = BsonValue | undefined;
