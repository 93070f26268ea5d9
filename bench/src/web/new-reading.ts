/** Time from the acknowledgement of a reading until a page shows it. */
import { timestampNow } from '@bufbuild/protobuf/wkt';
import { DataSyncService, DataType } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { connect } from '@platform/rpc/client';
import type { Page } from 'playwright-core';
import { percentile } from '../figures/statistics.ts';
import type { FleetCloud } from '../fleet/fleet-cloud.ts';
import type { Figure } from '../store/figure.ts';
import { timeOfText } from './browser.ts';

const readings = 30;

/** @param page shows the newest readings of the part */
export async function newReading(cloud: FleetCloud, partId: string, page: Page): Promise<Figure> {
  const { keyId, key, running } = cloud;
  await using link = connect({
    baseUrl: running.url,
    credentials: { entity: keyId, type: 'api-key', payload: key },
    timeoutMs: 120_000,
  });
  const sync = link.client(DataSyncService);
  const metadata = {
    ...{ partId, componentType: 'core:component:sensor', componentName: 'bench', methodName: 'Readings' },
    type: DataType.TABULAR_SENSOR,
  };
  const pageMs: number[] = [];
  for (let nth = 0; nth < readings; nth++) {
    const n = 700_001 + nth;
    const shown = timeOfText(page, String(n));
    const time = timestampNow();
    await sync.dataCaptureUpload({
      metadata,
      sensorContents: [
        { metadata: { timeRequested: time, timeReceived: time }, data: { case: 'struct', value: { readings: { n } } } },
      ],
    });
    const acknowledgedMs = Date.now();
    // It may be on the page before we read the acknowledgement.
    pageMs.push(Math.max(0, (await shown) - acknowledgedMs));
  }
  return {
    ...{ name: 'a new reading on the page, p95', value: percentile(pageMs, 0.95), unit: 'ms', most: 1_000 },
    note: `after its acknowledgement; longest ${percentile(pageMs, 1)} ms`,
  };
}
