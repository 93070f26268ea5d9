/** Uploads numbered readings while something else happens, and compares what is stored with what was acknowledged. */
import { randomBytes } from 'node:crypto';
import { systemClock } from '@platform/base';
import { DataSyncService, DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { connect } from '@platform/rpc/client';
import type { Cloud } from '@platform/sdk/cloud';
import type { CloudProcess } from '../start-cloud.ts';

const readingsEach = 5;
const everyMs = 200;
const component = 'ledger';

export interface Ledger extends AsyncDisposable {
  /** Ends the uploads. @returns how many readings were acknowledged, and are missing or stored twice */
  finish(client: Cloud): Promise<{ readonly acknowledged: number; readonly lost: number; readonly doubled: number }>;
}

export function startLedger({ url, partId, partSecret, organizationId }: CloudProcess): Ledger {
  const over = new AbortController();
  let acknowledged = 0;
  const run = async (): Promise<void> => {
    const credentials = { entity: partId, type: 'robot-secret', payload: partSecret };
    await using link = connect({ baseUrl: url, credentials });
    const service = link.client(DataSyncService);
    const stream = randomBytes(16);
    for (let seq = 1n; !over.signal.aborted; seq++) {
      const first = acknowledged;
      const sensorContents = Array.from({ length: readingsEach }, (_, index) => ({
        metadata: {},
        data: { case: 'struct' as const, value: { readings: { n: first + index + 1 } } },
      }));
      const metadata = {
        ...{ partId, componentType: 'core:component:sensor', componentName: component, methodName: 'Readings' },
        ...{ type: DataType.TABULAR_SENSOR, identity: { stream, seq, floor: seq } },
      };
      // Unchanged until it is acknowledged, as machines do.
      for (;;) {
        const isStored = await service.dataCaptureUpload({ metadata, sensorContents }).then(
          () => true,
          () => false,
        );
        if (isStored) break;
        await systemClock.sleep(everyMs);
      }
      acknowledged += readingsEach;
      await systemClock.sleep(everyMs, over.signal).catch(() => {});
    }
  };
  const running = run();
  return {
    async finish(client) {
      over.abort();
      await running;
      const [row] = await client.queryMql(organizationId, [
        { $match: { component_name: component } },
        { $group: { _id: '$data.readings.n', times: { $sum: 1 } } },
        { $group: { _id: null, kinds: { $sum: 1 }, times: { $sum: '$times' } } },
      ]);
      const [kinds, times] = [Number(row?.['kinds'] ?? 0), Number(row?.['times'] ?? 0)];
      return { acknowledged, lost: acknowledged - kinds, doubled: times - kinds };
    },
    async [Symbol.asyncDispose]() {
      over.abort();
      await running;
    },
  };
}
