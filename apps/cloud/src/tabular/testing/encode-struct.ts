/** Encodes a BSON document as google.protobuf.Struct: any field order, NaN and −0, which protobuf's JSON cannot express. */
import { BinaryWriter, WireType } from '@bufbuild/protobuf/wire';
import { BsonDocument, type BsonValue } from '@platform/query';

/** @throws Error for a value of a type that a Struct cannot hold. */
export function encodeStruct(document: BsonDocument): Uint8Array {
  return structInto(new BinaryWriter(), document).finish();
}

/** Whether a Struct can hold the value: only null, double, string, bool, array and document. */
export function fitsStruct(value: BsonValue): boolean {
  if (Array.isArray(value)) return value.every(fitsStruct);
  if (value instanceof BsonDocument) return [...value.values()].every(fitsStruct);
  return value === null || typeof value === 'number' || typeof value === 'string' || typeof value === 'boolean';
}

function structInto(writer: BinaryWriter, document: BsonDocument): BinaryWriter {
  for (const [name, value] of document) {
    writer.tag(1, WireType.LengthDelimited).fork();
    writer.tag(1, WireType.LengthDelimited).string(name);
    valueInto(writer.tag(2, WireType.LengthDelimited).fork(), value).join();
    writer.join();
  }
  return writer;
}

function valueInto(writer: BinaryWriter, value: BsonValue): BinaryWriter {
  if (value === null) return writer.tag(1, WireType.Varint).int32(0);
  if (typeof value === 'number') return writer.tag(2, WireType.Bit64).double(value);
  if (typeof value === 'string') return writer.tag(3, WireType.LengthDelimited).string(value);
  if (typeof value === 'boolean') return writer.tag(4, WireType.Varint).bool(value);
  if (value instanceof BsonDocument)
    return structInto(writer.tag(5, WireType.LengthDelimited).fork(), value).join() as BinaryWriter;
  if (!Array.isArray(value)) throw new Error(`a Struct has no ${value?.constructor.name}`);
  writer.tag(6, WireType.LengthDelimited).fork();
  for (const item of value) valueInto(writer.tag(1, WireType.LengthDelimited).fork(), item).join();
  return writer.join() as BinaryWriter;
}
