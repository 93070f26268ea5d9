import { create, type DescMessage, fromBinary, fromJson, toBinary } from '@bufbuild/protobuf';
import {
  DurationSchema,
  FieldMaskSchema,
  FileDescriptorProtoSchema,
  ListValueSchema,
  SourceCodeInfo_LocationSchema,
  StructSchema,
} from '@bufbuild/protobuf/wkt';
import { rollingSeed, seededRandom } from '@platform/testkit';
import { expect, test } from 'vitest';
import { findJsonExcess } from './json-shape.ts';
import { findExcess } from './wire-shape.ts';

const struct = (json: Record<string, number>): Uint8Array => toBinary(StructSchema, fromJson(StructSchema, json));
const numbered = (count: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`key ${index}`, index]));

/** Each shape with the number of its elements, and where they are. */
const shapes: Record<string, { type: DescMessage; bytes: Uint8Array; elements: number; where: string }> = {
  'entries of a map: key, value and its number': {
    ...{ type: StructSchema, bytes: struct(numbered(50)), elements: 200, where: 'fields.value.number_value' },
  },
  'empty texts': { type: FieldMaskSchema, bytes: repeated([0x0a, 0], 90), elements: 90, where: 'paths' },
  'empty messages': { type: ListValueSchema, bytes: repeated([0x0a, 0], 90), elements: 90, where: 'values' },
  'unknown numbers': { type: DurationSchema, bytes: repeated([0x78, 1], 90), elements: 90, where: 'unknown field 15' },
  'unknown texts': {
    type: DurationSchema,
    bytes: repeated([0x7a, 2, 7, 7], 90),
    elements: 90,
    where: 'unknown field 15',
  },
  'a group of unknown fields': {
    ...{ type: DurationSchema, bytes: Uint8Array.from([0x7b, ...repeated([0x78, 1], 88), 0x7c]), elements: 90 },
    where: 'unknown field 15',
  },
  'packed numbers': {
    type: SourceCodeInfo_LocationSchema,
    ...{ bytes: toBinary(SourceCodeInfo_LocationSchema, create(SourceCodeInfo_LocationSchema, { path: many(89) })) },
    ...{ elements: 90, where: 'path' },
  },
  'repetitions of one field': { type: DurationSchema, bytes: repeated([0x08, 1], 90), elements: 90, where: 'seconds' },
  'messages read by their declared type, whatever their wire type': {
    ...{ type: ListValueSchema, bytes: Uint8Array.from([0x08, 90, ...repeated([0x78, 0], 45)]), elements: 46 },
    where: 'values.unknown field 15',
  },
};

test.each(Object.keys(shapes))('D48 %s are counted before they are decoded', (name) => {
  const { type, bytes, elements, where } = shapes[name] as (typeof shapes)[string];

  expect(findExcess(type, bytes, elements)).toBeUndefined();
  expect(findExcess(type, bytes, elements - 1)).toEqual({ of: 'elements', where });
  expect(() => fromBinary(type, bytes)).not.toThrow();
});

test('D48 the length of texts and bytes does not count', () => {
  const mask = toBinary(FieldMaskSchema, create(FieldMaskSchema, { paths: ['a'.repeat(100_000), 'b'] }));

  expect(findExcess(FieldMaskSchema, mask, 2)).toBeUndefined();
  expect(findExcess(FieldMaskSchema, mask, 1)).toEqual({ of: 'elements', where: 'paths' });
});

test('D48 levels are counted: messages in messages, and groups', () => {
  const nested = (levels: number): Uint8Array => {
    let bytes: Uint8Array = new Uint8Array();
    // A list in a value is two levels.
    for (let level = 0; level < levels / 2; level++) {
      const value = Buffer.concat([Uint8Array.from([0x32, ...length(bytes.length)]), bytes]);
      bytes = Buffer.concat([Uint8Array.from([0x0a, ...length(value.length)]), value]);
    }
    return bytes;
  };

  expect(findExcess(ListValueSchema, nested(590), 1_000)).toBeUndefined();
  expect(findExcess(ListValueSchema, nested(700), 1_000)?.of).toBe('levels');
  expect(findExcess(ListValueSchema, repeated([0x7b], 2_000), 1_000)?.of).toBe('levels');
});

test('D48 bytes that do not decode never make it wait or fail', () => {
  const valid = toBinary(
    FileDescriptorProtoSchema,
    create(FileDescriptorProtoSchema, { name: 'a', messageType: [{ name: 'b', field: [{ name: 'c', number: 3 }] }] }),
  );
  const seed = rollingSeed();
  const share = seededRandom(seed);
  const random = (below: number): number => Math.floor(share() * below);
  for (let round = 0; round < 5_000; round++) {
    const bytes = Uint8Array.from({ length: random(60) }, (_, at) =>
      random(3) === 0 ? random(256) : (valid[at % valid.length] ?? 0),
    );
    const limit = random(20);
    const found = findExcess(FileDescriptorProtoSchema, bytes, limit);
    expect(found === undefined || found.of === 'elements', `FAULT_SEED=${seed}`).toBe(true);
    // Whatever decodes has at most as many fields as were counted.
    if (found === undefined) expect(fieldsIn(bytes), `FAULT_SEED=${seed}`).toBeLessThanOrEqual(limit);
  }
});

test('D48 separators and brackets of JSON count two, and what is in texts does not', () => {
  const json = (text: string): Uint8Array => new TextEncoder().encode(text);

  expect(findJsonExcess(json('{"a": [1, 2, 3]}'), 10)).toBeUndefined();
  expect(findJsonExcess(json('{"a": [1, 2, 3]}'), 9)).toEqual({ of: 'elements', where: 'a' });
  expect(findJsonExcess(json('{"a,,,,,,:[[\\",,,,": ",,,\\\\"}'), 4)).toBeUndefined();
  expect(findJsonExcess(json('['.repeat(2_000)), 3_000)).toEqual({ of: 'levels', where: '' });
  expect(findJsonExcess(json('{"a": 1, "b": {"c": [1, 1, 1, 1]}}'), 14)).toEqual({ of: 'elements', where: 'b' });
});

/** The number of fields of a decoded message; 0 if it does not decode. */
function fieldsIn(bytes: Uint8Array): number {
  try {
    const { name, messageType, $unknown = [] } = fromBinary(FileDescriptorProtoSchema, bytes);
    return (name === '' ? 0 : 1) + messageType.length + $unknown.length;
  } catch {
    return 0;
  }
}

function repeated(bytes: readonly number[], times: number): Uint8Array {
  return Uint8Array.from({ length: bytes.length * times }, (_, at) => bytes[at % bytes.length] ?? 0);
}

function many(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index * 100);
}

function length(bytes: number): readonly number[] {
  return bytes < 128 ? [bytes] : [(bytes % 128) + 128, Math.floor(bytes / 128)];
}
