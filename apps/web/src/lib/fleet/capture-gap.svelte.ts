/** What keeps readings of a part from arriving, judging by its newest saved configuration. */
import { type CaptureGap, captureGap } from '@platform/machine-config/first-configuration';
import { FleetService } from '@platform/proto/platform/fleet/v1/fleet';
import { clientOf } from '../api/clients.ts';
import { type Polled, poll } from '../api/poll.svelte.ts';

const fleet = clientOf(FleetService);
const everyMs = 5_000;

/** Call it while a component is being created; it stops when the component is destroyed. */
export function pollCaptureGap(partId: () => string): Polled<CaptureGap | 'none'> {
  return poll(async (signal) => {
    const { document, effectiveDocument } = await fleet.getConfigurationVersion({ partId: partId() }, { signal });
    return captureGap(JSON.parse(effectiveDocument || document || '{}')) ?? 'none';
  }, everyMs);
}
