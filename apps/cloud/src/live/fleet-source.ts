/** The machines of an organization that the caller may read: first all of them, then changes. */
import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Clock } from '@platform/base';
import { OnlineState } from '@platform/proto/platform/app/v1/app';
import type { FleetMachineSchema } from '@platform/proto/platform/live/v1/live';
import type { Access } from '../access/authorize.ts';
import type { AccountTree } from '../accounts/tree.ts';
import type { PartStatus, PartStatuses } from '../machines/part-status.ts';
import type { PartPresence, Presence } from '../machines/presence/presence.ts';
import type { MachineRow, PartRow, Registry } from '../machines/registry.ts';
import { configurationOf, worstConfiguration } from './configuration-state.ts';
import { contactStepMs, fleetEveryMs, fleetPause, fleetSlice, maxMachinesOfUpdate } from './limits.ts';
import type { Content, Reader, Source } from './source.ts';

export interface FleetSourceDeps {
  readonly access: Pick<Access, 'authorize' | 'allows'>;
  readonly tree: Pick<AccountTree, 'locationsOf'>;
  readonly registry: Pick<Registry, 'machinesOf' | 'partsOf'>;
  readonly presence: Pick<Presence, 'of'>;
  readonly statuses: Pick<PartStatuses, 'of'>;
  readonly clock: Clock;
}

type Machine = MessageInitShape<typeof FleetMachineSchema>;
type Location = ReturnType<AccountTree['locationsOf']>[number];

export function fleetSource(deps: FleetSourceDeps, organizationId: string): Source {
  const { access, clock } = deps;
  return {
    authorize: (principal) => void access.authorize(principal, 'organization.see', organizationId),
    async *contents(reader) {
      const known = new Map<string, string>();
      let whole = true;
      for (;;) {
        const startMs = clock.monotonic();
        const seen = new Set<string>();
        let changed: Machine[] = [];
        for await (const machine of machinesOf(deps, organizationId, reader)) {
          seen.add(machine.id ?? '');
          const stamp = stampOf(machine);
          if (known.get(machine.id ?? '') === stamp) continue;
          known.set(machine.id ?? '', stamp);
          changed.push(machine);
          if (changed.length < maxMachinesOfUpdate) continue;
          yield changesOf(whole, changed, []);
          [whole, changed] = [false, []];
        }
        const removed = [...known.keys()].filter((id) => !seen.has(id));
        for (const id of removed) known.delete(id);
        if (whole || changed.length > 0 || removed.length > 0) yield changesOf(whole, changed, removed);
        whole = false;
        await clock.sleep(Math.max(fleetEveryMs, fleetPause * (clock.monotonic() - startMs)), reader.signal);
      }
    },
  };
}

function changesOf(whole: boolean, machines: Machine[], removed: string[]): Content {
  return { case: 'fleet', value: { whole, machines, removed } };
}

async function* machinesOf(
  { access, tree, registry, presence, statuses, clock }: FleetSourceDeps,
  organizationId: string,
  reader: Reader,
): AsyncGenerator<Machine> {
  const { principal } = reader.call();
  let count = 0;
  for (const location of tree.locationsOf(organizationId)) {
    for (const machine of registry.machinesOf(location.id)) {
      if (++count % fleetSlice === 0) await clock.sleep(0, reader.signal);
      if (!access.allows(principal, 'machine.read', machine.id)) continue;
      const parts = registry
        .partsOf(machine.id)
        .map((part) => ({ part, presence: presence.of(part.id), status: statuses.of(part.id) }));
      yield machineOf(machine, location, parts);
    }
  }
}

interface Part {
  readonly part: PartRow;
  readonly presence: PartPresence;
  readonly status: PartStatus;
}

function machineOf(machine: MachineRow, location: Location, parts: readonly Part[]): Machine {
  const main = parts.find(({ part }) => part.main === 1) ?? parts[0];
  const waiting = parts.map(({ status }) => waitingOf(status));
  const oldestMs = Math.min(...waiting.map(({ oldestMs }) => oldestMs));
  const seenMs = main?.presence.lastSeenMs ?? null;
  const shownMs = main?.presence.state === 'online' && seenMs !== null ? seenMs - (seenMs % contactStepMs) : seenMs;
  return {
    ...{ id: machine.id, name: machine.name, locationId: location.id, locationName: location.name },
    onlineState: worstOf(parts.map(({ presence }) => presence.state)),
    ...(shownMs !== null && { lastSeen: timestampFromMs(shownMs) }),
    ...{ serverVersion: main?.status.server_version ?? '', platform: main?.status.platform ?? '' },
    ...{ parts: parts.length, mainPartId: main?.part.id ?? '' },
    configuration: worstConfiguration(parts.map(({ status }) => configurationOf(status))),
    waitingFiles: BigInt(waiting.reduce((sum, { files }) => sum + files, 0)),
    ...(Number.isFinite(oldestMs) && { oldestWaiting: timestampFromMs(oldestMs) }),
  };
}

function stampOf(machine: Machine): string {
  return JSON.stringify(machine, (_, value: unknown) => (typeof value === 'bigint' ? Number(value) : value));
}

function worstOf(states: readonly PartPresence['state'][]): OnlineState {
  if (states.includes('offline')) return OnlineState.OFFLINE;
  return states.length === 0 || states.includes('awaiting_setup') ? OnlineState.AWAITING_SETUP : OnlineState.ONLINE;
}

interface Waiting {
  readonly files: number;
  /** Infinity: nothing waits. */
  readonly oldestMs: number;
}

/** Rows of statuses are replaced, never changed. */
const waitingFiles = new WeakMap<PartStatus, Waiting>();

function waitingOf(status: PartStatus): Waiting {
  const known = waitingFiles.get(status);
  if (known !== undefined) return known;
  const told: Record<string, unknown> = status.data_status === '' ? {} : JSON.parse(status.data_status);
  const { waiting_files: files, oldest_waiting: oldest } = told;
  const oldestMs = typeof oldest === 'string' ? Date.parse(oldest) : Number.NaN;
  const waiting = {
    files: typeof files === 'number' && files > 0 ? Math.floor(files) : 0,
    oldestMs: Number.isNaN(oldestMs) ? Number.POSITIVE_INFINITY : oldestMs,
  };
  waitingFiles.set(status, waiting);
  return waiting;
}
