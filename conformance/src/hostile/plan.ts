/** Which hostile requests a run sends: those that once stopped the cloud, then random ones. */
import type { Attack } from './attack.ts';
import { codecs } from './codecs.ts';
import { jsonShapes, shapes } from './shapes.ts';

export interface Target {
  readonly url: string;
  /** `package.Service/Method` */
  readonly methods: readonly string[];
  /** Ways to identify oneself: headers of each. */
  readonly callers: readonly Readonly<Record<string, string>>[];
}

const mebibyte = 1024 * 1024;
/** The limit of a message is 32 MiB. */
const largest = 31 * mebibyte;
const sizes = [64 * 1024, mebibyte, 4 * mebibyte, largest];

/** What outsiders found: each took between 7 and 28 s, for everybody. */
export function knownAttacks({ url, callers }: Target, toMachine: Readonly<Record<string, string>>): Attack[] {
  const [anonymous = {}, owner = {}, machine = {}] = callers;
  const check = 'grpc.health.v1.Health/Check';
  const upload = 'platform.app.datasync.v1.DataSyncService/DataCaptureUpload';
  const command = 'platform.component.generic.v1.GenericService/DoCommand';
  const sensor = 'platform.component.sensor.v1.SensorService/DoCommand';
  const query = 'platform.app.data.v1.DataService/TabularDataByMQL';
  const delete_ = 'platform.app.data.v1.DataService/DeleteBinaryDataByIDs';
  const found: Omit<Attack, 'url'>[] = [
    { method: check, shape: 'unknown fields', codec: 'gRPC', bytes: largest, headers: anonymous },
    { method: check, shape: 'unknown fields', codec: 'Connect, gzip', bytes: largest, headers: anonymous },
    { method: delete_, shape: 'empty messages', codec: 'gRPC', bytes: largest, headers: owner },
    { method: delete_, shape: 'empty texts', codec: 'gRPC-Web', bytes: largest, headers: owner },
    { method: upload, shape: 'empty messages', codec: 'gRPC', bytes: 4 * mebibyte, headers: machine },
    { method: upload, shape: 'empty messages', codec: 'Connect', bytes: largest, headers: machine },
    { method: command, shape: 'map entries', codec: 'gRPC', bytes: 16 * mebibyte, headers: { ...owner, ...toMachine } },
    {
      method: command,
      shape: 'unknown fields',
      codec: 'JSON',
      bytes: 16 * mebibyte,
      headers: { ...owner, ...toMachine },
    },
  ];
  // Doors of plain HTTP, which share their names with no method.
  const plain = (path: string, method: string, headers: Readonly<Record<string, string>>): Omit<Attack, 'url'>[] =>
    Object.keys(jsonShapes).flatMap((shape) =>
      [mebibyte, largest].map((bytes) => ({ path, method, shape, codec: 'JSON', bytes, headers })),
    );
  found.push(
    ...plain('/datasync/v1/data_capture_upload', upload, machine),
    ...plain('/platform/api/v1/component/sensor/sensor/do_command', sensor, { ...owner, ...toMachine }),
    ...plain('/api/query', query, owner),
  );
  return found.map((attack) => ({ url, ...attack }));
}

/** @param random in [0, 1) */
export function randomAttack({ url, methods, callers }: Target, random: () => number): Attack {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const codec = pick(Object.keys(codecs));
  const shape = pick(Object.keys(codecs[codec]?.isJson ? jsonShapes : shapes));
  return { url, method: pick(methods), shape, codec, bytes: pick(sizes), headers: pick(callers) };
}
