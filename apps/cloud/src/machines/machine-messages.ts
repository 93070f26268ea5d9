/** Machines and parts as messages for a caller. */
import type { JsonObject, MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { maskSecrets } from '@platform/machine-config/mask-secrets';
import {
  OnlineState,
  type RobotPartSchema,
  type RobotSchema,
  SharedSecret_State,
} from '@platform/proto/platform/app/v1/app';
import type { Access } from '../access/authorize.ts';
import type { CloudCall, Principal } from '../access/principal.ts';
import type { ConfigurationVersion } from './configuration/configuration.ts';
import { dialedName } from './dialed-name.ts';
import type { MachineNames } from './machine-names.ts';
import type { PartSecret } from './part-secrets.ts';
import type { PartStatuses } from './part-status.ts';
import type { Presence, PresenceState } from './presence/presence.ts';
import { publicVersion } from './public-version.ts';
import type { MachineRow, PartRow, Registry } from './registry.ts';

export const onlineStates: Readonly<Record<PresenceState, OnlineState>> = {
  online: OnlineState.ONLINE,
  offline: OnlineState.OFFLINE,
  awaiting_setup: OnlineState.AWAITING_SETUP,
};

export interface MachineMessages {
  /** When any of these parts last had contact, and whether one of them is online. */
  contact(partIds: readonly string[]): {
    readonly onlineState: OnlineState;
    readonly secondsSinceOnline: bigint;
    readonly lastAccess?: ReturnType<typeof timestampFromMs>;
  };
  robot(machine: MachineRow): MessageInitShape<typeof RobotSchema>;
  /** Parts with their configurations and, for owners and the part itself, their secrets (D6). */
  parts(
    parts: readonly { readonly part: PartRow; readonly version: ConfigurationVersion }[],
    call: Pick<CloudCall, 'principal' | 'metadata'>,
  ): Promise<MessageInitShape<typeof RobotPartSchema>[]>;
  /** The text of a configuration in the form that this caller may read. */
  document(partId: string, document: string, principal: Principal): string;
}

export function createMachineMessages(deps: {
  readonly access: Access;
  readonly registry: Registry;
  readonly presence: Presence;
  readonly statuses: PartStatuses;
  readonly names: Pick<MachineNames, 'fqdn' | 'localFqdn'>;
  readonly now: () => number;
}): MachineMessages {
  const { access, registry, presence, statuses, names, now } = deps;

  const contact: MachineMessages['contact'] = (partIds) => {
    const all = partIds.map((id) => presence.of(id));
    const seen = all.flatMap((one) => (one.lastSeenMs === null ? [] : [one.lastSeenMs]));
    const lastMs = seen.length === 0 ? null : seen.reduce((a, b) => Math.max(a, b));
    const state = all.some((one) => one.state === 'online') ? 'online' : lastMs === null ? 'awaiting_setup' : 'offline';
    return {
      onlineState: onlineStates[state],
      secondsSinceOnline: BigInt(lastMs === null ? 0 : Math.max(0, Math.round((now() - lastMs) / 1_000))),
      ...(lastMs === null ? {} : { lastAccess: timestampFromMs(lastMs) }),
    };
  };
  const document: MachineMessages['document'] = (partId, text, principal) =>
    access.allows(principal, 'part.secrets', partId) ? text : JSON.stringify(maskSecrets(JSON.parse(text)));

  return {
    contact,
    document,
    robot: (machine) => ({
      id: machine.id,
      name: machine.name,
      location: machine.location_id,
      createdOn: timestampFromMs(machine.created_ms),
      ...contact(registry.partsOf(machine.id).map((part) => part.id)),
    }),
    async parts(asked, { principal, metadata }) {
      const own = asked.flatMap(({ part }) => (access.allows(principal, 'part.secrets', part.id) ? [part.id] : []));
      const secrets = Map.groupBy(await registry.secrets.list([...new Set(own)]), ({ partId }) => partId);
      return asked.map(({ part, version }) => {
        const place = registry.placeOf(part.id);
        const living = secrets.get(part.id) ?? [];
        // The oldest versions no longer have their documents.
        const text = version.document === '' ? '' : document(part.id, version.document, principal);
        const status = statuses.of(part.id);
        const info: Record<string, string> = {};
        if (status.server_version !== '') info['version'] = publicVersion(status.server_version);
        if (status.platform !== '') info['platform'] = status.platform;
        if (status.os !== '') info['os'] = status.os;
        return {
          id: part.id,
          name: part.name,
          robot: part.machine_id,
          locationId: place.locationId,
          mainPart: part.main === 1,
          fqdn: dialedName(names.fqdn(part.id), metadata),
          localFqdn: names.localFqdn(part.id),
          dnsName: names.fqdn(part.id),
          secret: living[0]?.text ?? '',
          secrets: living.map(secretMessage),
          ...(text === '' ? {} : { robotConfig: JSON.parse(text) as JsonObject, robotConfigJson: text }),
          createdOn: timestampFromMs(part.created_ms),
          ...(Object.keys(info).length === 0 ? {} : { userSuppliedInfo: info }),
          ...(version.version === 0 ? {} : { lastUpdated: timestampFromMs(version.createdMs) }),
          ...contact([part.id]),
        };
      });
    },
  };
}

function secretMessage({ id, text, createdMs }: PartSecret): {
  id: string;
  secret: string;
  createdOn: ReturnType<typeof timestampFromMs>;
  state: SharedSecret_State;
} {
  return { id, secret: text, createdOn: timestampFromMs(createdMs), state: SharedSecret_State.ENABLED };
}
