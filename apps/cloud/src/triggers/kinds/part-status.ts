/** `part_online` and `part_offline`: each transition of the part (D17, D22). */
import type { TriggerKind } from './kind.ts';

function transition(type: 'part_online' | 'part_offline', status: 'online' | 'offline'): TriggerKind {
  return {
    type,
    keys: [],
    parse: () => ({
      type,
      transitions: status,
      next(state, input) {
        if (input.kind !== 'transition' || input.status !== status) return { state, occurrences: [] };
        const { number, atMs, place } = input;
        const cause = ['transition', number];
        return {
          state,
          occurrences: [{ cause, atMs, reason: `the part went ${status}`, event: () => ({ type, place }) }],
        };
      },
    }),
    ignoresInterval: 'each change of the status notifies',
  };
}

export const partOnline: TriggerKind = transition('part_online', 'online');
export const partOffline: TriggerKind = transition('part_offline', 'offline');
