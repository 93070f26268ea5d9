/** A cloud that is killed and restarted on the same data and port during continuous uploads. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create, type JsonObject } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { PlatformError } from '@platform/base';
import { DataService } from '@platform/proto/platform/app/data/v1/data';
import { DataSyncService, DataType, SensorDataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { connect, type Link } from '@platform/rpc/client';
import {
  type ChildProcess,
  type ExitStatus,
  freePort,
  type ProcessDisk,
  type SmallDisk,
  spawnChild,
} from '@platform/testkit';
import { deserialize, serialize } from 'bson';
import { program } from '../../../tools/bundles/program.ts';
import { cloudCommand, cloudEnvironment } from '../cloud-command.ts';

const nodeFlags = ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning'];

export interface Demo {
  readonly organizationId: string;
  readonly partId: string;
  readonly partSecret: string;
  readonly keyId: string;
  readonly key: string;
}

export const pauseMs = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** When uploads end, and how far they are. */
export class UploadEnd {
  isDue = false;
  #asked = 0;

  /** For `uploadUntil`, which asks before each batch, so that another one has been acknowledged each time. */
  readonly ask = (): boolean => {
    this.#asked++;
    return this.isDue;
  };

  /** Resolves when this many more batches have been acknowledged. */
  async acknowledged(batches: number): Promise<void> {
    for (const until = this.#asked + batches; this.#asked < until; ) await pauseMs(5);
  }
}

/** A number in [from, to) derived from a seed, so that a failing run is reproducible. */
export function seededRandom(seed: number): (from: number, to: number) => number {
  let state = seed >>> 0;
  return (from, to) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return from + (state / 2 ** 32) * (to - from);
  };
}

export class CloudUnderFire implements AsyncDisposable {
  readonly port: number;
  readonly #directory: string;
  readonly #disk: SmallDisk | undefined;
  readonly #env: Readonly<Record<string, string>>;
  #cloud: ChildProcess | undefined;
  /** The `ready` line of the latest start. */
  ready: Readonly<Record<string, unknown>> = {};

  private constructor(port: number, place: string | SmallDisk, env: Readonly<Record<string, string>>) {
    this.#env = env;
    this.port = port;
    this.#disk = typeof place === 'string' ? undefined : place;
    this.#directory = typeof place === 'string' ? place : place.path;
  }

  /** The data directory, as this process sees it. */
  get directory(): string {
    return this.#disk?.inside ?? this.#directory;
  }

  /** @param env added to the cloud's environment. */
  static start(env: Readonly<Record<string, string>> = {}): Promise<CloudUnderFire> {
    return CloudUnderFire.startOn(mkdtempSync(join(tmpdir(), 'under-fire-')), env);
  }

  /** Starts on an existing data directory, which is also removed at the end, or on a separate disk. */
  static async startOn(place: string | SmallDisk, env: Readonly<Record<string, string>> = {}): Promise<CloudUnderFire> {
    const cloud = new CloudUnderFire(await freePort(), place, env);
    await cloud.start();
    return cloud;
  }

  /** The cloud's log since its latest start. */
  get stderr(): string {
    return this.#cloud?.stderr ?? '';
  }

  get pid(): number {
    return this.#cloud?.pid ?? -1;
  }

  /** Resolves when the process of the latest start ends. */
  get exited(): Promise<ExitStatus | undefined> {
    return this.#cloud?.exited ?? Promise.resolve(undefined);
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Signs in once. */
  get signInLink(): string {
    return String(this.ready['signInLink']);
  }

  get demo(): Demo {
    return JSON.parse(readFileSync(join(this.directory, 'demo.json'), 'utf8'));
  }

  async start(): Promise<void> {
    const args = [...cloudCommand, '--data', this.#directory, '--port', String(this.port)];
    const env = { ...cloudEnvironment, PLATFORM_LOG_LEVEL: 'error', ...this.#env };
    this.#cloud = this.#disk?.spawn(args, env) ?? spawnChild(process.execPath, args, { env });
    this.ready = await this.#cloud.waitForLine((line) => line['event'] === 'ready');
  }

  /** Whether the first start is complete: its owner key is not shown again. */
  isFirstStartOver(): boolean {
    return JSON.parse(readFileSync(join(this.directory, 'platform.json'), 'utf8')).stage === 'complete';
  }

  async firstStartOver(): Promise<void> {
    while (!this.isFirstStartOver()) await pauseMs(50);
  }

  /** kill -9 of the cloud; its tabular process notices the closed channel and ends by itself. */
  async kill(): Promise<void> {
    await this.#cloud?.kill('SIGKILL');
  }

  /** Stops the cloud cleanly; start() starts it again. */
  async stop(): Promise<void> {
    await this.#cloud?.kill('SIGTERM');
  }

  /** The process ids of the cloud's tabular processes. */
  tabularPids(): number[] {
    return childrenOf(this.#cloud?.pid ?? -1);
  }

  /** @param home a folder, or a separate disk */
  spawnMachine(configFile: string, home: string | ProcessDisk): ChildProcess {
    const args = [...nodeFlags, program('machine-server'), '-config', configFile];
    if (typeof home !== 'string') return home.spawn(args, { PLATFORM_HOME: home.path });
    return spawnChild(process.execPath, args, { env: { PLATFORM_HOME: home } });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#cloud?.kill('SIGTERM');
    if (this.#disk === undefined) rmSync(this.#directory, { recursive: true, force: true });
    await this.#disk?.[Symbol.asyncDispose]();
  }
}

/** A restarted cloud answers within seconds, even on a busy computer. */
const restartMs = 90_000;

/** Rows of a pipeline; retried while the cloud restarts. */
export async function query(
  link: Link,
  organizationId: string,
  pipeline: readonly object[],
): Promise<Record<string, unknown>[]> {
  const client = link.client(DataService);
  const startedMs = performance.now();
  for (;;) {
    try {
      const answer = await client.tabularDataByMQL({
        organizationId,
        mqlBinary: pipeline.map((stage) => serialize(stage)),
      });
      return answer.rawData.map((row) => deserialize(row));
    } catch (caught) {
      const isLate = performance.now() - startedMs > restartMs;
      if (!(caught instanceof PlatformError) || caught.code !== 'unavailable' || isLate) throw caught;
      await pauseMs(250);
    }
  }
}

/**
 * Uploads readings numbered 1, 2, … of one component until told to stop, as a machine does: an upload is repeated unchanged until it is
 * acknowledged; the low-water mark says which uploads are settled.
 *
 * @param made the values of a reading, and when it was taken (ms). Default: its number, now
 */
export async function uploadUntil(
  cloud: CloudUnderFire,
  component: string,
  stopped: () => boolean,
  made: (n: number) => { values: JsonObject; takenMs: number } = (n) => ({ values: { n }, takenMs: Date.now() }),
): Promise<{ acknowledged: number; retries: number }> {
  const { partId, partSecret } = cloud.demo;
  await using link = connect({
    baseUrl: cloud.url,
    credentials: { entity: partId, type: 'robot-secret', payload: partSecret },
  });
  const client = link.client(DataSyncService);
  const stream = randomBytes(16);
  const batchSize = 10;
  let acknowledged = 0;
  let retries = 0;
  for (let seq = 1n; !stopped(); seq++) {
    const request = {
      metadata: {
        partId,
        componentType: 'core:component:sensor',
        componentName: component,
        methodName: 'Readings',
        type: DataType.TABULAR_SENSOR,
        identity: { stream, seq, floor: seq },
      },
      sensorContents: Array.from({ length: batchSize }, (_, index) => reading(made(acknowledged + index + 1))),
    };
    for (;;) {
      try {
        await client.dataCaptureUpload(request);
        break;
      } catch {
        retries++;
        await pauseMs(20);
      }
    }
    acknowledged += batchSize;
  }
  return { acknowledged, retries };
}

function reading({ values, takenMs }: { values: JsonObject; takenMs: number }) {
  const at = timestampFromMs(takenMs);
  return create(SensorDataSchema, {
    metadata: { timeRequested: at, timeReceived: at },
    data: { case: 'struct', value: { readings: values } },
  });
}

/** The stored readings 1 … acknowledged of a component: how many distinct numbers, and how many rows. */
export async function countOf(
  link: Link,
  organizationId: string,
  component: string,
): Promise<{ distinct: number; rows: number; least: number; greatest: number }> {
  const [all] = await query(link, organizationId, [
    { $match: { component_name: component } },
    { $group: { _id: '$data.readings.n', copies: { $sum: 1 } } },
    {
      $group: {
        _id: null,
        distinct: { $sum: 1 },
        rows: { $sum: '$copies' },
        least: { $min: '$_id' },
        greatest: { $max: '$_id' },
      },
    },
  ]);
  return (all ?? { distinct: 0, rows: 0, least: 0, greatest: 0 }) as never;
}

/** Uses the demo's key, which reads and uploads. */
export function linkTo(cloud: CloudUnderFire): Link {
  const { keyId, key } = cloud.demo;
  return connect({ baseUrl: cloud.url, credentials: { entity: keyId, type: 'api-key', payload: key } });
}

/** Uses the owner's key, which only the first start shows. */
export function linkOfOwner({ url, ready }: Pick<CloudUnderFire, 'url' | 'ready'>): Link {
  const credentials = { entity: String(ready['keyId']), type: 'api-key', payload: String(ready['key']) };
  return connect({ baseUrl: url, credentials });
}

function childrenOf(parent: number): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
        return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) === parent;
      } catch {
        return false;
      }
    });
}
