/** Moves the points of a point cloud in the PCD format (ASCII or binary, coordinates in metres as in public machine-servers). Pure. */
import { invalidArgument, type PlatformError } from '@platform/base';
import { placed, type RigidPose } from './pose.ts';

const mmPerMetre = 1_000;
const coordinates = ['x', 'y', 'z'];

interface Header {
  /** Offset of the first byte after the header. */
  readonly length: number;
  readonly data: string;
  /** By the name of the field. */
  readonly fields: ReadonlyMap<string, Field>;
  readonly points: number;
  /** Bytes of one point in binary data. */
  readonly pointBytes: number;
}

interface Field {
  /** Its place in a line of ASCII data. */
  readonly column: number;
  /** Its place in a point of binary data. */
  readonly offset: number;
  readonly size: number;
}

/** @throws invalid_argument that says which feature of the file is not supported */
export function transformPointCloud(pcd: Uint8Array, pose: RigidPose): Uint8Array {
  const header = readHeader(pcd);
  return header.data === 'ascii' ? transformText(pcd, header, pose) : transformBinary(pcd, header, pose);
}

function transformBinary(pcd: Uint8Array, { length, fields, points, pointBytes }: Header, pose: RigidPose): Uint8Array {
  if (pcd.length < length + points * pointBytes)
    throw wrong(`expected ${points} points of ${pointBytes} bytes, found ${pcd.length - length} bytes`);
  const moved = pcd.slice();
  const view = new DataView(moved.buffer, moved.byteOffset, moved.byteLength);
  const places = coordinates.map((name) => fields.get(name) ?? { column: 0, offset: 0, size: 4 });
  for (let at = length; at < length + points * pointBytes; at += pointBytes) {
    const [x = 0, y = 0, z = 0] = places.map(({ offset, size }) =>
      size === 8 ? view.getFloat64(at + offset, true) : view.getFloat32(at + offset, true),
    );
    moveMetres([x, y, z], pose).forEach((value, axis) => {
      const { offset, size } = places[axis] ?? { offset: 0, size: 4 };
      if (size === 8) view.setFloat64(at + offset, value, true);
      else view.setFloat32(at + offset, value, true);
    });
  }
  return moved;
}

function transformText(pcd: Uint8Array, { length, fields, points }: Header, pose: RigidPose): Uint8Array {
  const columns = coordinates.map((name) => fields.get(name)?.column ?? 0);
  const lines = new TextDecoder()
    .decode(pcd.subarray(length))
    .split('\n')
    .filter((line) => line.trim() !== '');
  if (lines.length < points) throw wrong(`expected ${points} points, found ${lines.length}`);
  const moved = lines.slice(0, points).map((line) => {
    const words = line.trim().split(/\s+/);
    const found = columns.map((column) => Number(words[column]));
    moveMetres(found, pose).forEach((value, axis) => {
      words[columns[axis] ?? 0] = String(value);
    });
    return words.join(' ');
  });
  return Buffer.concat([pcd.subarray(0, length), Buffer.from(`${moved.join('\n')}\n`)]);
}

function moveMetres([x = 0, y = 0, z = 0]: readonly number[], pose: RigidPose): number[] {
  const moved = placed(pose, { x: x * mmPerMetre, y: y * mmPerMetre, z: z * mmPerMetre });
  return [moved.x / mmPerMetre, moved.y / mmPerMetre, moved.z / mmPerMetre];
}

function readHeader(pcd: Uint8Array): Header {
  const words = new Map<string, string[]>();
  let length = 0;
  while (!words.has('DATA')) {
    const end = pcd.indexOf(0x0a, length);
    if (end < 0 || words.size > 20)
      throw wrong('expected a header with FIELDS, SIZE, TYPE, POINTS and DATA, found none');
    const [key = '', ...values] = Buffer.from(pcd.subarray(length, end)).toString('latin1').trim().split(/\s+/);
    if (!key.startsWith('#')) words.set(key, values);
    length = end + 1;
  }
  const names = words.get('FIELDS') ?? [];
  const counts = names.map((_name, at) => Number(words.get('COUNT')?.[at] ?? 1));
  const sizes = names.map((_name, at) => Number(words.get('SIZE')?.[at]));
  const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
  const before = (at: number, values: readonly number[]): number => sum(values.slice(0, at));
  const bytes = sizes.map((size, at) => size * (counts[at] ?? 1));
  const fields = new Map(
    names.map((name, at) => [name, { column: before(at, counts), offset: before(at, bytes), size: sizes[at] ?? 0 }]),
  );
  const isFloat = coordinates.every((name) => {
    const size = fields.get(name)?.size;
    return words.get('TYPE')?.[names.indexOf(name)] === 'F' && (size === 4 || size === 8);
  });
  if (!isFloat) throw wrong(`expected fields x, y and z of type F and size 4 or 8, found ${names.join(' ')}`);
  const [data = ''] = words.get('DATA') ?? [];
  if (data !== 'ascii' && data !== 'binary') throw wrong(`expected DATA ascii or binary, found "${data}"`);
  const points = Number(words.get('POINTS')?.[0]);
  if (!Number.isInteger(points) || points < 0)
    throw wrong(`expected a number of POINTS, found ${words.get('POINTS')?.[0]}`);
  return { length, data, fields, points, pointBytes: sum(bytes) };
}

function wrong(message: string): PlatformError {
  return invalidArgument(`point_cloud_pcd: ${message}`);
}
