import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { create, type MessageInitShape, toBinary } from '@bufbuild/protobuf';
import {
  type FileDescriptorProto,
  FileDescriptorProtoSchema,
  FieldDescriptorProto_Label as Label,
  MethodOptionsSchema,
  FieldDescriptorProto_Type as Type,
} from '@bufbuild/protobuf/wkt';
import { expect, test } from 'vitest';
import { root } from '../repository.ts';
import { apiElements } from './api-elements.ts';
import { compare, isClean } from './compare.ts';
import { omissions } from './omissions.ts';
import { descriptorInPython } from './python-descriptors.ts';

type Init = MessageInitShape<typeof FileDescriptorProtoSchema>;
const [optional, repeated] = [Label.OPTIONAL, Label.REPEATED];

/** A service with one method; the fields of its request are given. */
function door(prefix: string, more: Init = {}, fields: NonNullable<Init['messageType']>[number]['field'] = []) {
  const name = `${prefix}.door.v1`;
  const request = { name: 'OpenRequest', field: [{ name: 'name', number: 1, type: Type.STRING, label: optional }] };
  return create(FileDescriptorProtoSchema, {
    name: 'door.proto',
    package: name,
    service: [
      {
        name: 'DoorService',
        method: [{ name: 'Open', inputType: `.${name}.OpenRequest`, outputType: `.${name}.OpenResponse` }],
      },
    ],
    messageType: [{ ...request, field: [...request.field, ...(fields ?? [])] }, { name: 'OpenResponse' }],
    enumType: [{ name: 'Side', value: [{ name: 'SIDE_UNSPECIFIED', number: 0 }] }],
    ...more,
  });
}

const ofPublic = (...files: FileDescriptorProto[]) => apiElements(files);
const ofOurs = (...files: FileDescriptorProto[]) => apiElements(files, (name) => name.replace(/^platform\./, 'viam.'));

test('APIs that differ only in the prefix of their packages are alike; own fields from number 1000 on are allowed', () => {
  const own = [{ name: 'ours', number: 1000, type: Type.STRING, label: optional }];
  const drift = compare(ofPublic(door('viam')), ofOurs(door('platform', {}, own)), []);
  expect(isClean(drift)).toBe(true);
  expect(drift.ours).toEqual(['viam.door.v1.OpenRequest.ours: string = 1000']);
});

test('missing fields, types and services are listed, and of what is missing as a whole only the whole', () => {
  const name = 'viam.door.v1';
  const lock = {
    messageType: [
      { name: 'OpenRequest', field: [{ name: 'name', number: 1, type: Type.STRING, label: optional }] },
      { name: 'OpenResponse', field: [field('lock', 1, `.${name}.Lock`)] },
      { name: 'Lock', field: [{ name: 'code', number: 1, type: Type.STRING, label: optional }] },
      { name: 'NeverSent', field: [{ name: 'code', number: 1, type: Type.STRING, label: optional }] },
    ],
  };
  const bell = create(FileDescriptorProtoSchema, {
    ...{ name: 'bell.proto', package: 'viam.bell.v1' },
    service: [
      { name: 'BellService', method: [{ name: 'Ring', inputType: `.${name}.Lock`, outputType: `.${name}.Lock` }] },
    ],
  });
  const drift = compare(ofPublic(door('viam', lock), bell), ofOurs(door('platform')), []);
  expect(drift.missing).toEqual([
    ...['viam.door.v1.OpenResponse.lock: viam.door.v1.Lock = 1', 'viam.door.v1.Lock: message'],
    'viam.bell.v1.BellService: service',
  ]);
  expect(isClean(drift)).toBe(false);
});

function field(name: string, number: number, typeName: string) {
  return { name, number, typeName, type: Type.MESSAGE, label: optional };
}

test('changed numbers, types, labels, presence, streams and stops at the end of a session are differences', () => {
  const before = [
    { name: 'number', number: 2, type: Type.INT32, label: optional },
    { name: 'type', number: 3, type: Type.INT32, label: optional },
    { name: 'label', number: 4, type: Type.INT32, label: optional },
    { name: 'presence', number: 5, type: Type.INT32, label: optional },
  ];
  const after = [
    { ...before[0], number: 6 },
    { ...before[1], type: Type.INT64 },
    { ...before[2], label: repeated },
    { ...before[3], proto3Optional: true, oneofIndex: 0 },
  ];
  const publicDoor = door('viam', {}, after);
  const [open] = publicDoor.service[0]?.method ?? [];
  if (open === undefined) throw new Error('expected a method');
  open.serverStreaming = true;
  open.options = create(MethodOptionsSchema);
  open.options.$unknown = [{ no: 84260, wireType: 0, data: Uint8Array.of(1) }];
  const { different, missing } = compare(ofPublic(publicDoor), ofOurs(door('platform', {}, before)), []);
  expect(missing).toEqual([]);
  expect(different).toEqual([
    'viam.door.v1.DoorService.Open: public rpc (viam.door.v1.OpenRequest) returns (stream viam.door.v1.OpenResponse), ends with the session; ours rpc (viam.door.v1.OpenRequest) returns (viam.door.v1.OpenResponse)',
    'viam.door.v1.OpenRequest.number: public int32 = 6; ours int32 = 2',
    'viam.door.v1.OpenRequest.type: public int64 = 3; ours int32 = 3',
    'viam.door.v1.OpenRequest.label: public repeated int32 = 4; ours int32 = 4',
    'viam.door.v1.OpenRequest.presence: public optional int32 = 5; ours int32 = 5',
  ]);
});

test('our own fields and values with numbers below 1000 in public types are found', () => {
  const own = [{ name: 'ours', number: 9, type: Type.STRING, label: optional }];
  const sides = {
    enumType: [{ name: 'Side', value: ['SIDE_UNSPECIFIED', 'SIDE_OURS'].map((name, number) => ({ name, number })) }],
  };
  const drift = compare(ofPublic(door('viam')), ofOurs(door('platform', sides, own)), []);
  expect(drift.unsafe).toEqual(['viam.door.v1.OpenRequest.ours: string = 9', 'viam.door.v1.Side.SIDE_OURS: value = 1']);
  expect(isClean(drift)).toBe(false);
});

test('an omission covers everything in it; one that covers nothing is reported', () => {
  const [used, idle] = ['viam.door.v1', 'viam.window.v1'].map((name) => ({ name, reason: 'no doors' }));
  const drift = compare(ofPublic(door('viam')), ofOurs(), [used, idle] as never);
  expect(drift).toMatchObject({ missing: [], omitted: [used], idle: [idle] });
  expect(isClean(drift)).toBe(true);
});

test('the page about the public API names everything that is left out', () => {
  const page = readFileSync(join(root, 'docs/specs/public-api.md'), 'utf8');
  // Of a package its last two names, of anything else the last one.
  const shown = omissions.map(({ name }) => /\w+\.(v1|examples)$/.exec(name)?.[0] ?? name.split('.').at(-1) ?? '');
  expect(shown.filter((name) => !page.includes(name))).toEqual([]);
});

test('a descriptor is read from generated Python code, whatever its bytes are escaped as', () => {
  const file = door('viam', { options: { javaPackage: `'"\\ \n\t\r ü\u0001` } });
  const escaped = [...toBinary(FileDescriptorProtoSchema, file)].map((byte) => {
    if (byte === 10) return '\\n';
    if (byte === 39 || byte === 92) return `\\${String.fromCharCode(byte)}`;
    if (byte === 1) return '\\001';
    return byte < 32 || byte > 126 ? `\\x${byte.toString(16).padStart(2, '0')}` : String.fromCharCode(byte);
  });
  const text = `DESCRIPTOR = _pool.Default().AddSerializedFile(b'${escaped.join('')}')\n`;
  expect(descriptorInPython(text, 'door_pb2.py')).toEqual(file);
  expect(() => descriptorInPython('DESCRIPTOR = None', 'door_pb2.py')).toThrow(
    "door_pb2.py: expected AddSerializedFile(b'…'), found no such call",
  );
});
