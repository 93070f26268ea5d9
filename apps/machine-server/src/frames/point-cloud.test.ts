import { expect, test } from 'vitest';
import { transformPointCloud } from './point-cloud.ts';
import { rigidPose } from './pose.ts';

/** 1000 mm along x, and a quarter turn about z. */
const pose = rigidPose({ x: 1_000, y: 0, z: 0, oX: 0, oY: 0, oZ: 1, theta: 90 });
const header = (data: string): string =>
  `VERSION .7\nFIELDS x y z rgb\nSIZE 4 4 4 4\nTYPE F F F I\nCOUNT 1 1 1 1\nWIDTH 2\nHEIGHT 1\nVIEWPOINT 0 0 0 1 0 0 0\nPOINTS 2\nDATA ${data}\n`;

test('points of a binary point cloud are moved in metres, and their other fields stay', () => {
  const points = Buffer.alloc(32);
  for (const [at, value] of [1, 2, 3].entries()) points.writeFloatLE(value, 4 * at);
  points.writeInt32LE(255, 12);
  const head = Buffer.from(header('binary'));
  const moved = Buffer.from(transformPointCloud(Buffer.concat([head, points]), pose));
  expect(moved.subarray(0, head.length)).toEqual(head);
  const body = moved.subarray(head.length);
  expect([0, 4, 8].map((at) => Math.round(body.readFloatLE(at) * 1e4) / 1e4)).toEqual([-1, 1, 3]);
  expect(body.readInt32LE(12)).toBe(255);
  expect([16, 20, 24].map((at) => Math.round(body.readFloatLE(at) * 1e4) / 1e4 + 0)).toEqual([1, 0, 0]);
});

test('points of an ASCII point cloud are moved; a cloud that is not supported says why', () => {
  const moved = Buffer.from(
    transformPointCloud(Buffer.from(`${header('ascii')}1 2 3 255\n0 0 0 1\n`), pose),
  ).toString();
  const [first = '', second = ''] = moved.slice(header('ascii').length).split('\n');
  expect(first.split(' ').map((word) => Math.round(Number(word) * 1e4) / 1e4)).toEqual([-1, 1, 3, 255]);
  expect(second).toMatch(/ 1$/);
  const refused = (text: string) => () => transformPointCloud(Buffer.from(text), pose);
  expect(refused('no header')).toThrow('point_cloud_pcd: expected a header');
  expect(refused(header('binary_compressed'))).toThrow('expected DATA ascii or binary, found "binary_compressed"');
  expect(refused(header('binary'))).toThrow('expected 2 points of 16 bytes, found 0 bytes');
  expect(refused(header('ascii').replace('FIELDS x', 'FIELDS a'))).toThrow('expected fields x, y and z');
});
