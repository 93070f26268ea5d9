/** `part_online` and `part_offline`: not caused by the log, but by part-transitions.ts. */
import type { TriggerKind } from './kind.ts';

function transition(type: 'part_online' | 'part_offline'): TriggerKind {
  return { type, keys: [], parse: () => ({ type }), ignoresInterval: 'each change of the status notifies' };
}

export const partOnline: TriggerKind = transition('part_online');
export const partOffline: TriggerKind = transition('part_offline');
