/** Readings, pictures, staged files and edits sent to a cloud whose disk fails, each until it is acknowledged, and the proof that they are stored. */
import { createHash, randomBytes } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { DataService } from '@platform/proto/platform/app/data/v1/data';
import { DataSyncService, DataType, SensorDataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { UploadService } from '@platform/proto/platform/upload/v1/upload';
import type { Link } from '@platform/rpc/client';
import { countOf, type Demo, pauseMs } from '../crash/cloud-under-load.ts';

export interface Acknowledged {
  readings: number;
  pictures: number;
  /** Sent as large files are: staged first, and the staged bytes are removed once the file is stored. */
  files: number;
  /** The number in the newest acknowledged name of the organization. */
  edit: number;
}

export interface Load {
  readonly acknowledged: Readonly<Acknowledged>;
  /** Ends with the next acknowledgement of each kind. */
  stop(): Promise<void>;
}

const component = 'counter';
const camera = 'camera';
const folder = 'folder';
const readingsEach = 10;
const betweenMs = 10;

export function startLoad(link: Link, { partId, organizationId }: Demo): Load {
  const acknowledged: Acknowledged = { readings: 0, pictures: 0, files: 0, edit: 0 };
  const sync = link.client(DataSyncService);
  let isOver = false;
  /** The same request until it is acknowledged. */
  const untilAcknowledged = async (send: () => Promise<unknown>): Promise<void> => {
    for (;;) {
      try {
        return void (await send());
      } catch {
        await pauseMs(30);
      }
    }
  };
  const each = async (send: (n: number) => Promise<void>): Promise<void> => {
    for (let n = 1; !isOver; n++) {
      await send(n);
      await pauseMs(betweenMs);
    }
  };
  const upload = (stream: Uint8Array, n: number, of: Parameters<typeof uploadOf>[1]): Promise<void> =>
    untilAcknowledged(() => sync.dataCaptureUpload(uploadOf({ partId, stream, n }, of)));
  const [readings, pictures] = [randomBytes(16), randomBytes(16)];
  const loops = [
    each(async (n) => {
      await upload(readings, n, 'readings');
      acknowledged.readings = n * readingsEach;
    }),
    each(async (n) => {
      await upload(pictures, n, 'picture');
      acknowledged.pictures = n;
    }),
    each(async (n) => {
      await untilAcknowledged(() => sendFile(link, partId, n));
      acknowledged.files = n;
    }),
    each(async (n) => {
      const { updateOrganization } = link.client(AppService);
      await untilAcknowledged(() => updateOrganization({ organizationId, name: `Name ${n}` }));
      acknowledged.edit = n;
    }),
  ];
  return {
    acknowledged,
    async stop() {
      isOver = true;
      await Promise.all(loops);
    },
  };
}

function uploadOf(
  { partId, stream, n }: { readonly partId: string; readonly stream: Uint8Array; readonly n: number },
  of: 'readings' | 'picture',
) {
  const isPicture = of === 'picture';
  const at = { timeReceived: timestampFromMs(1_760_000_000_000 + n) };
  return {
    metadata: {
      partId,
      componentType: isPicture ? 'core:component:camera' : 'core:component:sensor',
      componentName: isPicture ? camera : component,
      methodName: isPicture ? 'GetImages' : 'Readings',
      type: isPicture ? DataType.BINARY_SENSOR : DataType.TABULAR_SENSOR,
      ...(isPicture && { fileName: String(n) }),
      identity: { stream, seq: BigInt(n), floor: BigInt(n) },
    },
    sensorContents: isPicture
      ? [create(SensorDataSchema, { metadata: at, data: { case: 'binary', value: pictureOf(n) } })]
      : Array.from({ length: readingsEach }, (_, index) =>
          create(SensorDataSchema, {
            metadata: at,
            data: { case: 'struct', value: { readings: { n: (n - 1) * readingsEach + index + 1 } } },
          }),
        ),
  };
}

async function sendFile(link: Link, partId: string, n: number): Promise<void> {
  const uploads = link.client(UploadService);
  const data = fileOf(n);
  const sha256 = createHash('sha256').update(data).digest();
  const key = createHash('sha256').update(`${partId} ${n}`).digest();
  const { binaryDataId, offset } = await uploads.beginUpload({ partId, key, size: BigInt(data.length) });
  if (binaryDataId !== '') return;
  await uploads.writeUpload({ partId, key, offset, data: data.subarray(Number(offset)) });
  await uploads.finishUpload({
    ...{ key, sha256 },
    metadata: {
      ...{ partId, type: DataType.FILE, componentName: folder, fileName: String(n) },
      fileModifyTime: timestampFromMs(1_760_000_000_000 + n),
    },
  });
}

function fileOf(n: number): Uint8Array {
  return new TextEncoder().encode(`file ${n} `.repeat(5_000));
}

function pictureOf(n: number): Uint8Array {
  return new TextEncoder().encode(`picture ${n} `.repeat(500));
}

/** What a cloud has of it, if nothing was lost, doubled or changed: the same numbers, or later edits. */
export async function storedOf(link: Link, { organizationId }: Demo): Promise<Record<keyof Acknowledged, unknown>> {
  const { distinct, rows } = await countOf(link, organizationId, component);
  const { organization } = await link.client(AppService).getOrganization({ organizationId });
  return {
    readings: distinct === rows ? rows : `${distinct} in ${rows} rows`,
    pictures: await binaryOf(link, camera, pictureOf),
    files: await binaryOf(link, folder, fileOf),
    edit: Number(/^Name (\d+)$/.exec(organization?.name ?? '')?.[1] ?? 0),
  };
}

/** How many there are; a text if some are doubled or changed. @param bytesOf what the one with this name must contain */
async function binaryOf(
  link: Link,
  componentName: string,
  bytesOf: (n: number) => Uint8Array,
): Promise<number | string> {
  const client = link.client(DataService);
  const names = new Set<string>();
  let count = 0;
  for (let last = ''; ; ) {
    const dataRequest = { last, limit: 1_000n, filter: { componentName } };
    const page = await client.binaryDataByFilter({ dataRequest, includeBinary: true });
    if (page.data.length === 0) break;
    for (const { metadata, binary } of page.data) {
      const name = metadata?.fileName ?? '';
      if (!Buffer.from(binary).equals(bytesOf(Number(name)))) return `${componentName} ${name} has other bytes`;
      names.add(name);
      count++;
    }
    ({ last } = page);
  }
  return names.size === count ? count : `${names.size} names, ${count} items of ${componentName}`;
}
