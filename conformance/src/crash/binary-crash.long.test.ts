/** kill -9 of the cloud while pictures are uploaded and deleted: each acknowledged one exists once, and no deleted one exists. */
import { randomBytes } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { PlatformError } from '@platform/base';
import { DataService } from '@platform/proto/platform/app/data/v1/data';
import { DataSyncService, DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import type { Link } from '@platform/rpc/client';
import { expect, test } from 'vitest';
import { CloudUnderFire, linkOfOwner, pauseMs, seededRandom } from './cloud-under-load.ts';
import { readFaultSettings } from './fault-settings.ts';

const { kills, seed } = readFaultSettings();
const component = 'camera-under-fire';

/** Repeats the call until the cloud itself answers. */
async function again<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call();
    } catch (caught) {
      const isOutage =
        caught instanceof PlatformError &&
        ['unavailable', 'unknown', 'aborted', 'canceled', 'deadline_exceeded'].includes(caught.code);
      if (!isOutage) throw caught;
      await pauseMs(20);
    }
  }
}

async function upload(link: Link, partId: string, stream: Uint8Array, seq: number): Promise<string> {
  const request = {
    metadata: {
      partId,
      componentType: 'core:component:camera',
      componentName: component,
      methodName: 'GetImages',
      type: DataType.BINARY_SENSOR,
      fileName: `${seq}`,
      identity: { stream, seq: BigInt(seq), floor: BigInt(seq) },
    },
    sensorContents: [
      {
        metadata: { timeReceived: timestampFromMs(1_760_000_000_000 + seq) },
        data: { case: 'binary' as const, value: new TextEncoder().encode(`picture ${seq}`) },
      },
    ],
  };
  return (await again(() => link.client(DataSyncService).dataCaptureUpload(request))).binaryDataId;
}

test(
  `I4 I11 the cloud is killed ${kills} times while pictures are uploaded and deleted: each is listed once with its bytes, or gone`,
  async () => {
    await using cloud = await CloudUnderFire.start();
    await using link = linkOfOwner(cloud);
    const { partId } = cloud.demo;
    const files = link.client(DataService);
    const random = seededRandom(seed);
    const stream = randomBytes(16);
    const ids: string[] = [];
    const deleted = new Set<string>();
    let isOver = false;
    const flow = (async () => {
      for (let seq = 1; !isOver; seq++) {
        const id = await upload(link, partId, stream, seq);
        ids.push(id);
        if (seq % 3 !== 0) continue;
        // If the connection broke between the deletion and its answer, the next try no longer finds it.
        await again(() => files.deleteBinaryDataByIDs({ binaryDataIds: [id] })).catch((caught: unknown) => {
          if (!(caught instanceof PlatformError) || caught.code !== 'not_found') throw caught;
        });
        deleted.add(id);
      }
    })();
    for (let kill = 0; kill < kills; kill++) {
      await pauseMs(random(20, 600));
      await cloud.kill();
      await cloud.start();
    }
    while (deleted.size === 0) await pauseMs(50);
    isOver = true;
    await flow;

    const kept: string[] = [];
    for (let last = ''; ; ) {
      const dataRequest = { last, limit: 1_000n, filter: { componentName: component } };
      const page = await again(() => files.binaryDataByFilter({ dataRequest, includeBinary: true }));
      if (page.data.length === 0) break;
      for (const { metadata, binary } of page.data) {
        kept.push(metadata?.binaryDataId ?? '');
        expect(new TextDecoder().decode(binary)).toBe(`picture ${metadata?.fileName}`);
      }
      ({ last } = page);
    }
    console.log(`seed ${seed}: ${ids.length} pictures acknowledged, ${deleted.size} of them deleted`);
    expect(kept.toSorted()).toEqual(ids.filter((id) => !deleted.has(id)).toSorted());
  },
  60_000 + kills * 20_000,
);
