/**
 * Uploads over a network that changes one byte of what the machine sends, at every byte of each kind of upload; on the slower store, which
 * runs the same code, at one in five, others at each run.
 */
import { once } from 'node:events';
import { type AddressInfo, connect as connectSocket, createServer } from 'node:net';
import { DataSyncService, DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { checksumHeader, checksumKind, connect, type Link } from '@platform/rpc/client';
import { rollingSeed } from '@platform/testkit';
import { expect, test } from 'vitest';
import { defaultStore } from '../metadata/testing/test-store.ts';
import { startUploadServer } from './testing/upload-server.ts';
import { celsius, logged, metadata, reading, refusal, stream, times } from './testing/uploads.ts';

interface Damager extends AsyncDisposable {
  readonly url: string;
  /** Bytes that the machine sent over the last connection. */
  readonly sent: number;
  /** Changes this byte of the next connection. */
  damage(at: number): void;
}

async function startDamager(targetPort: number): Promise<Damager> {
  let [next, sent] = [Number.POSITIVE_INFINITY, 0];
  const server = createServer((client) => {
    const at = next;
    [next, sent] = [Number.POSITIVE_INFINITY, 0];
    const target = connectSocket(targetPort, '127.0.0.1');
    client.on('data', (bytes: Buffer) => {
      const place = at - sent;
      sent += bytes.length;
      if (place >= 0 && place < bytes.length) bytes[place] = (bytes[place] ?? 0) ^ 0x15;
      target.write(bytes);
    });
    target.on('data', (bytes) => client.write(bytes));
    for (const [one, other] of [
      [client, target],
      [target, client],
    ] as const)
      one.on('error', () => {}).on('close', () => other.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get sent() {
      return sent;
    },
    damage(at) {
      next = at;
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

/** Damage to the length of a frame makes both sides wait. */
const damagedMs = 3_000;
const atOnce = 8;
const step = defaultStore === 'postgres' ? 5 : 1;
/** As machine-servers ask for it: see `machine-server/src/sync/files/checked-uploads.test.ts`. */
const optionsOf = (timeoutMs: number) => ({ headers: { [checksumHeader]: checksumKind }, timeoutMs });
const identity = { stream, seq: 1n, floor: 1n };
const picture = { componentName: 'camera', methodName: 'ReadImage', type: DataType.BINARY_SENSOR };

const uploads: Readonly<Record<string, (link: Link, timeoutMs: number) => Promise<unknown>>> = {
  'a capture file': (link, timeoutMs) =>
    link
      .client(DataSyncService)
      .dataCaptureUpload(
        { metadata: metadata({ identity }), sensorContents: [reading(21), reading(22)] },
        optionsOf(timeoutMs),
      ),
  'a large binary reading': (link, timeoutMs) =>
    link.client(DataSyncService).streamingDataCaptureUpload(
      (async function* () {
        const value = { uploadMetadata: metadata({ ...picture, identity }), sensorMetadata: times };
        yield { uploadPacket: { case: 'metadata' as const, value } };
        for (const text of ['first', 'second'])
          yield { uploadPacket: { case: 'data' as const, value: Buffer.from(text) } };
      })(),
      optionsOf(timeoutMs),
    ),
  'a file': (link, timeoutMs) =>
    link.client(DataSyncService).fileUpload(
      (async function* () {
        const value = metadata({ type: DataType.FILE, fileName: 'a.txt', fileCreateTime: times.timeReceived });
        yield { uploadPacket: { case: 'metadata' as const, value } };
        for (const text of ['first', 'second'])
          yield { uploadPacket: { case: 'fileContents' as const, value: { data: Buffer.from(text) } } };
      })(),
      optionsOf(timeoutMs),
    ),
};

/** D15: a machine would set the file aside. */
const final: ReadonlySet<string> = new Set(['invalid_argument', 'already_exists', 'data_loss', 'unknown']);

/** The one reason for which these uploads may be ABORTED. */
const damagedText =
  /^\/platform\.app\.datasync\.v1\.DataSyncService\/\w+: expected a message with the checksum .* its bytes were damaged on the way/;

test.each(Object.entries(uploads))(
  'D15 I5 %s of which a byte was damaged on the way is never stored differently nor refused for good, but with that reason, and is stored when it is sent again',
  async (what, upload) => {
    await using server = await startUploadServer();
    await using damagers = new AsyncDisposableStack();
    const lanes = await Promise.all(Array.from({ length: atOnce }, () => startDamager(server.port)));
    for (const lane of lanes) damagers.use(lane);
    const send = async (lane: Damager, timeoutMs = 120_000): Promise<{ code: string; message: string }> => {
      await using link = connect({ baseUrl: lane.url });
      return await refusal(upload(link, timeoutMs));
    };
    const [firstLane] = lanes;
    if (firstLane === undefined) throw new Error('there is no lane');
    expect(await send(firstLane)).toMatchObject({ code: 'ok' });
    const length = firstLane.sent;
    const [stored] = await logged(server.log);
    const codes = new Map<string, number>();
    const faults: string[] = [];
    let next = step === 1 ? 0 : rollingSeed() % step;
    const damageEach = async (lane: Damager): Promise<void> => {
      for (let at = next; at < length; at = next) {
        next += step;
        lane.damage(at);
        const { code, message } = await send(lane, damagedMs);
        codes.set(code, (codes.get(code) ?? 0) + 1);
        if (final.has(code) || (code === 'aborted' && !damagedText.test(message)))
          faults.push(`byte ${at} of ${length}: ${code}: ${message}`);
      }
    };
    await Promise.all(lanes.map(damageEach));
    expect(faults).toEqual([]);
    expect(codes.get('aborted') ?? 0, JSON.stringify([...codes])).toBeGreaterThan(20 / step);
    expect(await send(firstLane)).toMatchObject({ code: 'ok' });
    const rows = await logged(server.log);
    expect(rows.map(({ metadata: found }) => found)).toEqual([stored?.metadata]);
    if (what === 'a capture file') expect(rows.map(celsius)).toEqual([[21, 22]]);
  },
);
