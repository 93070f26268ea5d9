/** JSON Schemas (2020-12) of messages, as the JSON codecs write them: the JSON mapping of Protocol Buffers. */
import { type DescEnum, type DescField, type DescMessage, type JsonObject, ScalarType } from '@bufbuild/protobuf';

export interface MessageSchemas {
  /** A reference to the schema of the message, which is collected with all that it reaches; well-known types are inline. */
  of(message: DescMessage): JsonObject;
  /** By name, in the order of their names. */
  collected(): JsonObject;
}

export function messageSchemas(): MessageSchemas {
  const schemas = new Map<string, JsonObject>();

  const of = (message: DescMessage): JsonObject => {
    const known = wellKnown[message.typeName];
    if (known !== undefined) return known;
    if (!schemas.has(message.typeName)) {
      // Set first: messages may contain themselves.
      schemas.set(message.typeName, {});
      schemas.set(message.typeName, {
        type: 'object',
        properties: Object.fromEntries(message.fields.map((field) => [field.jsonName, property(field)])),
        ...(message.proto.options?.deprecated === true && { deprecated: true }),
      });
    }
    return refTo(message.typeName);
  };
  const ofEnum = (type: DescEnum): JsonObject => {
    if (type.typeName === 'google.protobuf.NullValue') return { type: 'null' };
    schemas.set(type.typeName, { type: 'string', enum: type.values.map(({ name }) => name) });
    return refTo(type.typeName);
  };
  const property = (field: DescField): JsonObject => ({
    ...schemaOf(field),
    ...(field.oneof !== undefined && { description: `At most one of ${namesIn(field)} is set.` }),
    ...(field.proto.options?.deprecated === true && { deprecated: true }),
  });
  const schemaOf = (field: DescField): JsonObject => {
    switch (field.fieldKind) {
      case 'scalar':
        return scalars[field.scalar];
      case 'enum':
        return ofEnum(field.enum);
      case 'message':
        return of(field.message);
      case 'list':
        return { type: 'array', items: single(field) };
      case 'map':
        return {
          type: 'object',
          additionalProperties:
            field.mapKind === 'scalar'
              ? scalars[field.scalar]
              : field.mapKind === 'enum'
                ? ofEnum(field.enum)
                : of(field.message),
        };
    }
  };
  const single = (field: DescField & { fieldKind: 'list' }): JsonObject =>
    field.listKind === 'scalar'
      ? scalars[field.scalar]
      : field.listKind === 'enum'
        ? ofEnum(field.enum)
        : of(field.message);

  return { of, collected: () => Object.fromEntries([...schemas].sort(([a], [b]) => (a < b ? -1 : 1))) };
}

function refTo(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

function namesIn({ oneof }: DescField): string {
  return (oneof?.fields ?? []).map(({ jsonName }) => jsonName).join(', ');
}

const int32: JsonObject = { type: 'integer', format: 'int32' };
const uint32: JsonObject = { type: 'integer', minimum: 0, maximum: 4_294_967_295 };
/** A string, because JSON numbers do not hold 64 bits exactly. */
const int64: JsonObject = { type: 'string', format: 'int64', pattern: '^-?[0-9]+$' };
const uint64: JsonObject = { type: 'string', format: 'uint64', pattern: '^[0-9]+$' };
const number = (format: string): JsonObject => ({
  anyOf: [
    { type: 'number', format },
    { type: 'string', enum: ['NaN', 'Infinity', '-Infinity'] },
  ],
});
const bool: JsonObject = { type: 'boolean' };
const text: JsonObject = { type: 'string' };
const bytes: JsonObject = { type: 'string', contentEncoding: 'base64' };

const scalars: Readonly<Record<ScalarType, JsonObject>> = {
  [ScalarType.BOOL]: bool,
  [ScalarType.STRING]: text,
  [ScalarType.BYTES]: bytes,
  [ScalarType.DOUBLE]: number('double'),
  [ScalarType.FLOAT]: number('float'),
  [ScalarType.INT32]: int32,
  [ScalarType.SINT32]: int32,
  [ScalarType.SFIXED32]: int32,
  [ScalarType.UINT32]: uint32,
  [ScalarType.FIXED32]: uint32,
  [ScalarType.INT64]: int64,
  [ScalarType.SINT64]: int64,
  [ScalarType.SFIXED64]: int64,
  [ScalarType.UINT64]: uint64,
  [ScalarType.FIXED64]: uint64,
};

const orNull = (schema: JsonObject): JsonObject => ({ anyOf: [schema, { type: 'null' }] });

/** Messages with a special JSON form. */
const wellKnown: Readonly<Record<string, JsonObject>> = {
  'google.protobuf.Timestamp': { type: 'string', format: 'date-time' },
  'google.protobuf.Duration': { type: 'string', pattern: '^-?[0-9]+(\\.[0-9]{1,9})?s$' },
  'google.protobuf.Struct': { type: 'object' },
  'google.protobuf.Value': {},
  'google.protobuf.ListValue': { type: 'array', items: {} },
  'google.protobuf.FieldMask': text,
  // Types without a JSON form arrive as a Struct of their `type_url` and their bytes.
  'google.protobuf.Any': { type: 'object', properties: { '@type': text, value: {} } },
  'google.protobuf.BoolValue': orNull(bool),
  'google.protobuf.StringValue': orNull(text),
  'google.protobuf.BytesValue': orNull(bytes),
  'google.protobuf.DoubleValue': orNull(number('double')),
  'google.protobuf.FloatValue': orNull(number('float')),
  'google.protobuf.Int32Value': orNull(int32),
  'google.protobuf.UInt32Value': orNull(uint32),
  'google.protobuf.Int64Value': orNull(int64),
  'google.protobuf.UInt64Value': orNull(uint64),
};
