/** Converts method_parameters of an upload to the additional_parameters document of queries. */
import { createRegistry } from '@bufbuild/protobuf';
import * as wkt from '@bufbuild/protobuf/wkt';
import { Binary, BsonDocument, type BsonValue, encodeBson } from '@platform/query';

const registry = /* @__PURE__ */ createRegistry(
  wkt.BoolValueSchema,
  wkt.Int32ValueSchema,
  wkt.Int64ValueSchema,
  wkt.UInt32ValueSchema,
  wkt.UInt64ValueSchema,
  wkt.FloatValueSchema,
  wkt.DoubleValueSchema,
  wkt.StringValueSchema,
  wkt.BytesValueSchema,
  wkt.StructSchema,
  wkt.ListValueSchema,
  wkt.ValueSchema,
);

/** BSON of the parameters, sorted by name at every depth: senders write maps in any order, and equal parameters must give one series. */
export function additionalParameters(parameters: Readonly<Record<string, wkt.Any>>): Uint8Array {
  const document = new BsonDocument();
  for (const name of Object.keys(parameters).sort())
    document.set(name.replaceAll('\0', '\u2400'), bsonValue(parameters[name] as wkt.Any));
  return encodeBson(document);
}

/** A parameter whose type is unknown or does not match its bytes is kept as sent, so that no readings are lost because of it. */
function bsonValue(any: wkt.Any): BsonValue {
  const asItCame = new BsonDocument([
    ['@type', any.typeUrl],
    ['value', new Binary(any.value)],
  ]);
  try {
    return knownValue(any) ?? asItCame;
  } catch {
    return asItCame;
  }
}

function knownValue(any: wkt.Any): BsonValue | undefined {
  const message = wkt.anyUnpack(any, registry);
  if (message === undefined) return undefined;
  if (message.$typeName === 'google.protobuf.Value') return jsonValue(message as wkt.Value);
  if (message.$typeName === 'google.protobuf.Struct') return structValue(message as wkt.Struct);
  if (message.$typeName === 'google.protobuf.ListValue') return (message as wkt.ListValue).values.map(jsonValue);
  const { value } = message as unknown as { value: boolean | number | bigint | string | Uint8Array };
  if (value instanceof Uint8Array) return new Binary(value);
  if (typeof value !== 'bigint') return value;
  return Number.isSafeInteger(Number(value)) ? Number(value) : BigInt.asIntN(64, value);
}

function structValue(struct: wkt.Struct): BsonDocument {
  return new BsonDocument(
    Object.keys(struct.fields)
      .sort()
      .map((name) => [name.replaceAll('\0', '\u2400'), jsonValue(struct.fields[name] as wkt.Value)]),
  );
}

function jsonValue(value: wkt.Value): BsonValue {
  const { kind } = value;
  if (kind.case === 'structValue') return structValue(kind.value);
  if (kind.case === 'listValue') return kind.value.values.map(jsonValue);
  return kind.case === undefined || kind.case === 'nullValue' ? null : kind.value;
}
