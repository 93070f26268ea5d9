/** What the cloud knows about a part, for the triggers about it (kinds/machine-facts.ts). */
import { expiringKeys } from './access/keys-by-place.ts';
import { lostReadings } from './gaps/feature.ts';
import type { Machines } from './machines/feature.ts';
import type { Database } from './metadata/tables.ts';
import type { TimesDeps } from './triggers/times/check-times.ts';

export function createFactsOf(
  db: Database,
  machines: Pick<Machines, 'presence' | 'triggersOf' | 'configurationFacts' | 'registry'>,
): TimesDeps['factsOf'] {
  return async (partId) => {
    const { state, changedMs } = machines.presence.of(partId);
    const captured = (await machines.triggersOf(partId))?.captured ?? [];
    return {
      onlineSinceMs: state === 'online' ? (changedMs ?? 0) : undefined,
      captured: captured.map(({ api, name, method, hz }) => ({
        ...{ componentType: api, componentName: name, methodName: method, hz },
      })),
      configuration: await machines.configurationFacts(partId),
      discarded: await lostReadings(db, partId),
      keys: await expiringKeys(db, machines.registry.part(partId)?.machine_id ?? ''),
    };
  };
}
