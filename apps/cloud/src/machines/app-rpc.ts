/** The machine half of AppService: machines ("robots" on the wire), parts, their configuration and logs. */
import type { JsonObject, MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { PlatformError } from '@platform/base';
import {
  type AppService,
  OnlineState,
  type RobotPartSchema,
  type RobotSchema,
} from '@platform/proto/platform/app/v1/app';
import type { Handlers } from '@platform/rpc/server';
import { holds, notVisible, type Principal } from '../access/principal.ts';
import { checkedName } from '../accounts/checked-name.ts';
import type { AccountTree } from '../accounts/tree.ts';
import { type Configurations, type ConfigurationVersion, requireFlat } from './configuration.ts';
import type { Presence, PresenceState } from './presence.ts';
import type { MachineRow, PartRow, Registry } from './registry.ts';

const onlineStates: Record<PresenceState, OnlineState> = {
  online: OnlineState.ONLINE,
  offline: OnlineState.OFFLINE,
  awaiting_setup: OnlineState.AWAITING_SETUP,
};

export interface MachineHandlerDeps {
  readonly tree: AccountTree;
  readonly registry: Registry;
  readonly configurations: Configurations;
  readonly presence: Presence;
  readonly now: () => number;
  markForRestart(partId: string): Promise<void>;
}

export function machineHandlers(deps: MachineHandlerDeps): Handlers<typeof AppService, Principal> {
  const { tree, registry, configurations, presence, now, markForRestart } = deps;

  const visibleMachine = (principal: Principal, id: string): MachineRow => {
    const machine = registry.machine(id);
    if (machine === undefined || !holds(principal, 'operator', registry.lineageOfMachine(machine)))
      throw notVisible('machine', id);
    return machine;
  };
  const visiblePart = (principal: Principal, id: string): PartRow => {
    const part = registry.part(id);
    const isItself = principal.kind === 'part' && principal.partId === id;
    if (part === undefined || !(isItself || holds(principal, 'operator', registry.lineageOfPart(id))))
      throw notVisible('part', id);
    return part;
  };
  const isOwner = (principal: Principal, partId: string): boolean =>
    (principal.kind === 'part' && principal.partId === partId) ||
    holds(principal, 'owner', registry.lineageOfPart(partId));
  const authorOf = (principal: Principal): string =>
    principal.kind === 'key'
      ? `api-key ${principal.keyId}`
      : principal.kind === 'person'
        ? `person ${principal.email}`
        : `part ${principal.partId}`;

  const contact = (partIds: readonly string[]): { lastAccessMs: number | null; state: PresenceState } => {
    const all = partIds.map((id) => presence.of(id));
    const lastAccessMs = all.reduce<number | null>(
      (latest, one) => (one.lastSeenMs !== null && one.lastSeenMs > (latest ?? 0) ? one.lastSeenMs : latest),
      null,
    );
    const state = all.some((one) => one.state === 'online')
      ? 'online'
      : lastAccessMs === null
        ? 'awaiting_setup'
        : 'offline';
    return { lastAccessMs, state };
  };
  const contactFields = (partIds: readonly string[]) => {
    const { lastAccessMs, state } = contact(partIds);
    return {
      onlineState: onlineStates[state],
      secondsSinceOnline: BigInt(lastAccessMs === null ? 0 : Math.max(0, Math.round((now() - lastAccessMs) / 1_000))),
      ...(lastAccessMs === null ? {} : { lastAccess: timestampFromMs(lastAccessMs) }),
    };
  };
  const robotOf = (machine: MachineRow): MessageInitShape<typeof RobotSchema> => ({
    id: machine.id,
    name: machine.name,
    location: machine.location_id,
    createdOn: timestampFromMs(machine.created_ms),
    ...contactFields(registry.partsOf(machine.id).map((part) => part.id)),
  });
  const partOf = async (
    part: PartRow,
    principal: Principal,
    version: ConfigurationVersion,
  ): Promise<MessageInitShape<typeof RobotPartSchema>> => {
    const place = registry.placeOf(part.id);
    const secret = isOwner(principal, part.id) ? await registry.secretOf(part.id) : '';
    return {
      id: part.id,
      name: part.name,
      robot: part.machine_id,
      locationId: place.locationId,
      mainPart: part.main === 1,
      secret,
      robotConfig: JSON.parse(version.document) as JsonObject,
      createdOn: timestampFromMs(part.created_ms),
      ...(version.version === 0 ? {} : { lastUpdated: timestampFromMs(version.createdMs) }),
      ...contactFields([part.id]),
    };
  };

  return {
    listRobots(request, call) {
      const location = tree.location(request.locationId);
      const machines = registry
        .machinesOf(request.locationId)
        .filter((row) => holds(call.principal, 'operator', registry.lineageOfMachine(row)));
      const seesLocation =
        location !== undefined &&
        holds(call.principal, 'operator', {
          organizationId: location.organization_id,
          locationIds: tree.ancestors(request.locationId),
        });
      if (!seesLocation && machines.length === 0) throw notVisible('location', request.locationId);
      return { robots: machines.map(robotOf) };
    },
    getRobot: (request, call) => ({ robot: robotOf(visibleMachine(call.principal, request.id)) }),
    async getRobotParts(request, call) {
      const machine = visibleMachine(call.principal, request.robotId);
      const parts = registry.partsOf(machine.id);
      return {
        parts: await Promise.all(
          parts.map(async (part) => partOf(part, call.principal, await configurations.current(part.id))),
        ),
      };
    },
    async getRobotPart(request, call) {
      const part = visiblePart(call.principal, request.id);
      const version = await configurations.current(part.id);
      return { part: await partOf(part, call.principal, version), configJson: version.document };
    },
    async getRobotPartHistory(request, call) {
      const part = visiblePart(call.principal, request.id);
      const versions = await configurations.history(part.id);
      return {
        history: await Promise.all(
          versions.map(async (version) => ({
            part: part.id,
            robot: part.machine_id,
            when: timestampFromMs(version.createdMs),
            old: { ...(await partOf(part, call.principal, version)), secret: '' },
            editedBy: { value: version.author },
          })),
        ),
      };
    },
    async updateRobotPart(request, call) {
      const part = visiblePart(call.principal, request.id);
      if (!holds(call.principal, 'operator', registry.lineageOfPart(part.id))) {
        throw new PlatformError(
          'permission_denied',
          `part ${part.id}: expected an owner or operator to change its configuration, found the part's own credentials`,
        );
      }
      // Both are checked before either is changed: a refused edit changes nothing.
      const name = request.name === '' ? part.name : checkedName(request.name);
      requireFlat(request.robotConfig);
      const version =
        request.robotConfigJson === undefined && request.robotConfig === undefined
          ? await configurations.current(part.id)
          : await configurations.save({
              partId: part.id,
              document: request.robotConfigJson ?? JSON.stringify(request.robotConfig),
              author: authorOf(call.principal),
              ...(request.lastKnownUpdate === undefined ? {} : { editedMs: timestampMs(request.lastKnownUpdate) }),
            });
      if (name !== part.name) await registry.renamePart(part.id, name);
      return { part: await partOf(registry.part(part.id) ?? part, call.principal, version) };
    },
    async markPartForRestart(request, call) {
      const part = visiblePart(call.principal, request.partId);
      await markForRestart(part.id);
      return {};
    },
  };
}
