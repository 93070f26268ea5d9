/** Uploads readings as a machine does: an upload is repeated unchanged until it is acknowledged. */
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { DataSyncService, DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { connect } from '@platform/rpc/client';
import { type MadeReading, makeReading, noReadings, plus, type Totals } from './generated-readings.ts';
import type { Tenant } from './start-limited.ts';

/** Maximum bytes of an upload, unless its only reading is larger. */
const uploadBytes = 4_000_000;
const readingsEach = 50;

export interface Uploaded {
  /** Totals of acknowledged readings. */
  readonly totals: Totals;
  /** Totals of readings that are acknowledged or in flight. */
  readonly sent: Totals;
  /** Capture time of the newest acknowledged large reading, ms; 0 if there is none. */
  readonly newestLargeMs: number;
  /** Uploads that were sent again, by the cloud's answer. */
  readonly retries: ReadonlyMap<string, number>;
}

export interface Uploading extends Uploaded {
  /** Rejects if the cloud refuses an upload permanently. */
  readonly finished: Promise<void>;
}

export interface UploadPlan {
  /** Size of the next reading; undefined ends the upload. */
  readonly nextBytes: (n: number) => number | undefined;
  /** Maximum rate. Default: as fast as possible. */
  readonly bytesPerSecond?: number;
}

export function startUploading(url: string, { partId, partSecret }: Tenant, plan: UploadPlan): Uploading {
  const state = { totals: noReadings, sent: noReadings, newestLargeMs: 0, retries: new Map<string, number>() };
  const run = async (): Promise<void> => {
    await using link = connect({
      baseUrl: url,
      credentials: { entity: partId, type: 'robot-secret', payload: partSecret },
    });
    const service = link.client(DataSyncService);
    const stream = randomBytes(16);
    const began = performance.now();
    let bytes = 0;
    let made = 0;
    for (let seq = 1n; ; seq++) {
      const readings: MadeReading[] = [];
      let size = 0;
      while (readings.length < readingsEach && size < uploadBytes) {
        const next = plan.nextBytes(made + 1);
        if (next === undefined) break;
        const reading = makeReading(++made, next);
        readings.push(reading);
        size += reading.bytes;
      }
      if (readings.length === 0) return;
      bytes += size;
      const dueMs = plan.bytesPerSecond === undefined ? 0 : (bytes / plan.bytesPerSecond) * 1_000;
      await sleep(Math.max(0, began + dueMs - performance.now()));
      state.sent = readings.reduce(plus, state.sent);
      const metadata = {
        partId,
        componentType: 'core:component:sensor',
        componentName: 'sizes',
        methodName: 'Readings',
        type: DataType.TABULAR_SENSOR,
        identity: { stream, seq, floor: seq },
      };
      for (;;) {
        try {
          await service.dataCaptureUpload({ metadata, sensorContents: readings.map(({ message }) => message) });
          break;
        } catch (caught) {
          if (!isWorthAnother(caught)) throw caught;
          const said = String(caught);
          state.retries.set(said, (state.retries.get(said) ?? 0) + 1);
          await sleep(100);
        }
      }
      state.totals = readings.reduce(plus, state.totals);
      const large = readings.findLast(({ isLarge }) => isLarge)?.message.metadata?.timeReceived;
      if (large !== undefined) state.newestLargeMs = Number(large.seconds) * 1_000 + Math.floor(large.nanos / 1e6);
    }
  };
  return Object.assign(state, { finished: run() });
}

function isWorthAnother(caught: unknown): boolean {
  const code = Reflect.get(Object(caught), 'code');
  return code === 'unavailable' || code === 'resource_exhausted' || code === 'deadline_exceeded' || code === 'aborted';
}
