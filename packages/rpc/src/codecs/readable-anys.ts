/**
 * `google.protobuf.Any` in JSON: only the well-known types have a JSON form. In an answer, a value of any other type, or one whose bytes do
 * not match its type, becomes a Struct with its `type_url` and its bytes in base64, so that one such value does not fail the whole answer.
 */
import {
  clone,
  create,
  createRegistry,
  type DescField,
  type DescMessage,
  type Message,
  type Registry,
  toJson,
} from '@bufbuild/protobuf';
import { isReflectMessage, type ReflectMessage, reflect } from '@bufbuild/protobuf/reflect';
import * as wkt from '@bufbuild/protobuf/wkt';

/** For the JSON codec, in both directions. */
export const jsonTypes: Registry = /* @__PURE__ */ createRegistry(
  ...[wkt.BoolValueSchema, wkt.BytesValueSchema, wkt.DoubleValueSchema, wkt.FloatValueSchema, wkt.Int32ValueSchema],
  ...[wkt.Int64ValueSchema, wkt.StringValueSchema, wkt.UInt32ValueSchema, wkt.UInt64ValueSchema],
  ...[wkt.DurationSchema, wkt.EmptySchema, wkt.FieldMaskSchema, wkt.TimestampSchema],
  ...[wkt.ListValueSchema, wkt.StructSchema, wkt.ValueSchema],
);

/** The message with values that have a JSON form; a copy if anything may differ. */
export function withReadableAnys(schema: DescMessage, message: Message): Message {
  if (!leadsToAny(schema)) return message;
  const copy = clone(schema, message);
  convert(reflect(schema, copy));
  return copy;
}

const leading = new Map<DescMessage, boolean>();

function leadsToAny(schema: DescMessage): boolean {
  const leads = leading.get(schema) ?? hasAny(schema, new Set());
  leading.set(schema, leads);
  return leads;
}

function hasAny(schema: DescMessage, seen: Set<DescMessage>): boolean {
  if (schema.typeName === wkt.AnySchema.typeName) return true;
  if (seen.has(schema)) return false;
  seen.add(schema);
  return schema.fields.some((field) => {
    const inner = messageOf(field);
    return inner !== undefined && hasAny(inner, seen);
  });
}

function messageOf(field: DescField): DescMessage | undefined {
  return field.fieldKind === 'message' || field.fieldKind === 'list' || field.fieldKind === 'map'
    ? field.message
    : undefined;
}

function convert(message: ReflectMessage): void {
  if (message.desc.typeName === wkt.AnySchema.typeName) {
    const any = message.message as wkt.Any;
    if (!isReadable(any)) Object.assign(any, opaque(any));
    return;
  }
  for (const field of message.fields) {
    const inner = messageOf(field);
    if (inner === undefined || !leadsToAny(inner) || !message.isSet(field)) continue;
    if (field.fieldKind === 'message') convertItem(message.get(field));
    else if (field.fieldKind === 'list') for (const item of message.get(field)) convertItem(item);
    else if (field.fieldKind === 'map') for (const [, item] of message.get(field)) convertItem(item);
  }
}

function convertItem(item: unknown): void {
  if (isReflectMessage(item)) convert(item);
}

function isReadable(any: wkt.Any): boolean {
  // Without a type it is an empty object.
  if (any.typeUrl === '') return true;
  try {
    const value = wkt.anyUnpack(any, jsonTypes);
    return value !== undefined && hasJson(value);
  } catch {
    return false;
  }
}

/** Numbers that are not finite, and times beyond the year 9999, have no JSON form in these types. */
function hasJson(value: Message): boolean {
  const schema = jsonTypes.getMessage(value.$typeName);
  if (schema === undefined) return false;
  toJson(schema, value);
  return true;
}

function opaque({ typeUrl, value }: wkt.Any): wkt.Any {
  const struct = create(wkt.StructSchema, {
    fields: {
      type_url: { kind: { case: 'stringValue', value: typeUrl } },
      value: { kind: { case: 'stringValue', value: Buffer.from(value).toString('base64') } },
    },
  });
  return wkt.anyPack(wkt.StructSchema, struct);
}
