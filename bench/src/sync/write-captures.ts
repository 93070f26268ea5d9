/** Writes sealed capture files, as an offline machine-server leaves them. */
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { create, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { captureFileBytes } from '@platform/capture-file';
import { DataType, SensorDataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { CaptureFileHeaderSchema } from '@platform/proto/platform/capture/v1/capture_file';
import { sensorData } from '../readings/encode-batches.ts';

export interface CapturesOptions {
  /** PLATFORM_HOME. */
  readonly home: string;
  readonly partId: string;
  readonly files: number;
  readonly readingsEach: number;
  /** `bench-backlog-0` and so on, in turn. */
  readonly components: number;
  readonly fromMs: number;
  /** Time between two readings of a component. */
  readonly intervalMs: number;
}

export const captureFolder = (home: string): string => join(home, 'capture');

export function writeCaptures(options: CapturesOptions): void {
  const { home, partId, files, readingsEach, components, fromMs, intervalMs } = options;
  const directory = captureFolder(home);
  const stream = new Uint8Array(randomBytes(16));
  const template = readingTemplate(fromMs);
  for (let file = 0; file < files; file++) {
    const component = `bench-backlog-${file % components}`;
    const startMs = Math.floor(fromMs + Math.floor(file / components) * readingsEach * intervalMs);
    const name = `${new Date(startMs).toISOString().slice(0, -1).replaceAll(':', '_')}000Z_${file + 1}`;
    const header = create(CaptureFileHeaderSchema, {
      ...{ stream, seq: BigInt(file + 1), partId, created: timestampFromMs(startMs) },
      metadata: {
        ...{ componentType: 'core:component:sensor', componentName: component, methodName: 'Readings' },
        ...{ type: DataType.TABULAR_SENSOR, fileExtension: '.dat' },
      },
    });
    const folder = join(directory, 'core_component_sensor', component, 'Readings');
    if (file < components) mkdirSync(folder, { recursive: true, mode: 0o700 });
    const readings = Array.from({ length: readingsEach }, (_, index) =>
      template(startMs + index * intervalMs, index).slice(),
    );
    writeFileSync(join(folder, `${name}.capture`), captureFileBytes(header, readings), { mode: 0o600 });
  }
  writeFileSync(join(home, 'capture_directories.json'), JSON.stringify([directory]));
}

/** Encoding ten million messages would take minutes, so one is encoded, and its times and number are overwritten. */
function readingTemplate(fromMs: number): (ms: number, n: number) => Uint8Array {
  const probeUs = Math.floor(fromMs / 1_000) * 1e6 + 987_654;
  const bytes = toBinary(SensorDataSchema, sensorData(probeUs, { n: 0.5, temperature: 21.25, door: true }));
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const at = (found: readonly number[]): number[] =>
    [...bytes.keys()].filter((start) => found.every((byte, index) => bytes[start + index] === byte));
  const seconds = at(varint(Math.floor(probeUs / 1e6)));
  const nanos = [987_654, 988_154].flatMap((us) => at(varint(us * 1_000)));
  const [number] = at([...new Uint8Array(new Float64Array([0.5]).buffer)]);
  if (seconds.length !== 2 || nanos.length !== 2 || number === undefined) throw new Error('the template is ambiguous');
  return (ms, n) => {
    for (const start of seconds) bytes.set(varint(Math.floor(ms / 1_000)), start);
    // Between 2^28 and 10^9 ns, so that the length stays the same.
    const micros = 300_000 + (Math.round(ms * 1_000) % 600_000);
    for (const start of nanos) bytes.set(varint(micros * 1_000), start);
    view.setFloat64(number, n, true);
    return bytes;
  };
}

function varint(value: number): number[] {
  const bytes: number[] = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return [...bytes, rest];
    bytes.push((rest % 128) | 128);
  }
}
