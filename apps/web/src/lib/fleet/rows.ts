/** The machines of an organization as rows of one table, problems first. */
import { type ListMachineSummariesResponse, OnlineState } from '@platform/proto/platform/app/v1/app';
import { dateOf } from '../ui/time.ts';

export type MachineState = 'online' | 'offline' | 'waiting';

export interface FleetRow {
  readonly id: string;
  readonly name: string;
  readonly locationId: string;
  readonly location: string;
  readonly state: MachineState;
  readonly lastSeen: Date | undefined;
  /** Of the machine-server; empty: not told. */
  readonly version: string;
  readonly platform: string;
  readonly parts: number;
}

const urgency: Readonly<Record<MachineState, number>> = { offline: 0, waiting: 1, online: 2 };

export function stateOf(state: OnlineState): MachineState {
  if (state === OnlineState.ONLINE) return 'online';
  return state === OnlineState.OFFLINE ? 'offline' : 'waiting';
}

export function rowsOf(answer: ListMachineSummariesResponse): readonly FleetRow[] {
  return answer.locationSummaries
    .flatMap(({ locationId, locationName, machineSummaries }) =>
      machineSummaries.map((machine): FleetRow => {
        const main = machine.partSummaries.find((part) => part.isMainPart) ?? machine.partSummaries[0];
        const worst = machine.partSummaries
          .map((part) => stateOf(part.onlineState))
          .toSorted((a, b) => urgency[a] - urgency[b])[0];
        return {
          id: machine.machineId,
          name: machine.machineName,
          locationId,
          location: locationName,
          state: worst ?? 'waiting',
          lastSeen: dateOf(main?.lastAccess),
          version: String(main?.viamServerVersion?.version.value ?? ''),
          platform: main?.platform ?? '',
          parts: machine.partSummaries.length,
        };
      }),
    )
    .toSorted((a, b) => urgency[a.state] - urgency[b.state] || a.name.localeCompare(b.name));
}
