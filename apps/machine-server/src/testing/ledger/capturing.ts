/** Only capture, sync and gaps of a machine-server, with readings of a ledger. */
import { type Log, systemClock } from '@platform/base';
import { Ledger, type LedgerReading } from '@platform/testkit';
import type { CapturePlan } from '../../capture/plan-capture.ts';
import { composeData, type Data } from '../../compose-data.ts';
import type { SyncSettings } from '../../sync/rules/sync-settings.ts';
import type { MemoryGap, MemoryUpload } from './memory-cloud.ts';
import { memoryLink } from './memory-cloud.ts';

export interface CapturingDeps {
  readonly home: string;
  /** Differs after a power cut. */
  readonly bootId: string;
  readonly made: (reading: LedgerReading, atUs: number) => void;
  readonly accept: (upload: MemoryUpload) => void;
  readonly tell: (gap: MemoryGap) => void;
  readonly log: Log;
}

const settings: SyncSettings = {
  ...{ intervalMs: 1_700, disabled: false, threads: 1, tags: [], additionalPaths: [], unmodifiedMs: 0 },
  ...{ after: { action: 'delete' }, newestFirst: false, priorities: {}, maxBytesPerSecond: 0 },
};

export async function startCapturing({ home, bootId, made, accept, tell, log }: CapturingDeps): Promise<Data> {
  const ledger = new Ledger();
  const data = await composeData({
    ...{ home, bootId, partId: 'part', link: memoryLink(accept, tell), observe: undefined, clock: systemClock, log },
    ids: () => ({ organizationId: '', locationId: '', robotId: '' }),
    read(plan) {
      const reading = ledger.next('machine', plan.name);
      made(reading, Date.now() * 1_000);
      return { ...reading };
    },
    signal: new AbortController().signal,
  });
  data.sync.configure(settings, async () => undefined);
  return data;
}

/** @param bufferBytes size of the user buffer; 0: each reading is written at once */
export function ledgerPlan(directory: string, name: string, hz: number, bufferBytes: number): CapturePlan {
  const resource = `core:component:sensor/${name}`;
  return {
    ...{ key: `${resource} Readings`, resource, api: 'core:component:sensor', name, method: 'Readings' },
    ...{ kind: 'tabular', hz, extraMs: 0, params: {}, tags: [], directory, maxFileBytes: 8_192, queueSize: 250 },
    bufferBytes,
  };
}
