/** The machines of an organization as rows of one table, problems first. */
import { OnlineState } from '@platform/proto/platform/app/v1/app';
import { ConfigurationState, type FleetChanges, type FleetMachine } from '@platform/proto/platform/live/v1/live';
import { dateOf } from '../ui/time.ts';

export type MachineState = 'online' | 'offline' | 'waiting';
export type ConfigurationWord = 'applied' | 'applying' | 'held' | 'failed' | 'unknown';

export interface FleetRow {
  readonly id: string;
  readonly name: string;
  readonly locationId: string;
  readonly location: string;
  readonly state: MachineState;
  readonly lastSeen: Date | undefined;
  /** Of the machine-server; empty: unknown. */
  readonly version: string;
  readonly platform: string;
  readonly parts: number;
  readonly mainPartId: string;
  readonly configuration: ConfigurationWord;
  /** Capture files that wait to be uploaded. */
  readonly waitingFiles: number;
  /** Since when the oldest of them waits. */
  readonly oldestWaiting: Date | undefined;
}

const urgency: Readonly<Record<MachineState, number>> = { offline: 0, waiting: 1, online: 2 };
/** docs/specs/states.md says what makes each true. */
export const configurationWords: Readonly<Record<ConfigurationState, ConfigurationWord>> = {
  [ConfigurationState.UNSPECIFIED]: 'unknown',
  [ConfigurationState.APPLIED]: 'applied',
  [ConfigurationState.APPLYING]: 'applying',
  [ConfigurationState.HELD]: 'held',
  [ConfigurationState.FAILED]: 'failed',
};

export function stateOf(state: OnlineState): MachineState {
  if (state === OnlineState.ONLINE) return 'online';
  return state === OnlineState.OFFLINE ? 'offline' : 'waiting';
}

/** Machines that are online but fail to apply their configuration come before those that are fine. */
function rankOf({ state, configuration }: FleetRow): number {
  return urgency[state] - (configuration === 'failed' && state === 'online' ? 0.5 : 0);
}

const order = new Intl.Collator(undefined, { numeric: true });

/** @param before the rows so far; undefined: none */
export function rowsAfter({ whole, machines, removed }: FleetChanges, before: readonly FleetRow[] = []): FleetRow[] {
  const changed = new Map(machines.map((machine) => [machine.id, rowOf(machine)]));
  const gone = new Set(removed);
  let isSorted = true;
  const kept = whole
    ? []
    : before.flatMap((row) => {
        const next = changed.get(row.id);
        if (next === undefined) return gone.has(row.id) ? [] : [row];
        changed.delete(row.id);
        isSorted &&= rankOf(next) === rankOf(row) && next.name === row.name;
        return [next];
      });
  const rows = [...kept, ...changed.values()];
  if (isSorted && changed.size === 0) return rows;
  return rows.sort((a, b) => rankOf(a) - rankOf(b) || order.compare(a.name, b.name));
}

function rowOf(machine: FleetMachine): FleetRow {
  const { id, name, locationId, platform, parts, mainPartId } = machine;
  return {
    ...{ id, name, locationId, platform, parts, mainPartId },
    location: machine.locationName,
    state: stateOf(machine.onlineState),
    lastSeen: dateOf(machine.lastSeen),
    version: machine.serverVersion,
    configuration: configurationWords[machine.configuration] ?? 'unknown',
    waitingFiles: Number(machine.waitingFiles),
    oldestWaiting: dateOf(machine.oldestWaiting),
  };
}
