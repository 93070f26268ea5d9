/** Which part a call is for (D39). */
import { invalidArgument } from '@platform/base';
import { type CloudCall, grantsOf, type Principal } from '../access/principal.ts';
import type { AccountTree } from '../accounts/tree.ts';
import type { MachineNames } from '../machines/machine-names.ts';
import type { Registry } from '../machines/registry.ts';

/** The request header that names the part by its id. */
export const partHeader = 'platform-part';
/** The request header in which public clients send the address that they were given, with its port. */
export const hostHeader = 'rpc-host';

export interface NamedPartDeps {
  readonly names: Pick<MachineNames, 'lead' | 'domain'>;
  readonly registry: Pick<Registry, 'partsOf' | 'machinesOf'>;
  readonly tree: Pick<AccountTree, 'locationsOf' | 'descendants'>;
}

/**
 * The part that the call names by header or by address, whether or not it exists; if it names none, the main part of the only machine of the caller's key.
 *
 * @throws invalid_argument if it names several, or none and the key has several machines
 */
export function namedPart(deps: NamedPartDeps, call: Pick<CloudCall, 'method' | 'metadata' | 'principal'>): string {
  const { method, metadata, principal } = call;
  const given = metadata.get(partHeader);
  const hosts = [metadata.get(hostHeader), metadata.get('host')].flatMap((text) => (text ?? '').split(','));
  const led = hosts.map((host) => deps.names.lead(host));
  const named = new Set(
    [given ?? '', ...led.map((one) => (one.to === 'part' ? one.partId : ''))].filter((id) => id !== ''),
  );
  const [partId, ...others] = named;
  if (others.length > 0) {
    throw invalidArgument(
      `${method}: expected one machine in the headers ${partHeader} and ${hostHeader} and in the address, found ${[...named].map((id) => `"${id.slice(0, 64)}"`).join(' and ')}`,
    );
  }
  if (partId !== undefined) return partId;
  const elsewhere = led.find(({ to }) => to === 'elsewhere');
  // A header without an id is a mistake of the caller, not a choice.
  const only = elsewhere === undefined && given === null ? onlyMachineOf(deps, principal) : undefined;
  const [main] = only === undefined ? [] : deps.registry.partsOf(only);
  if (main !== undefined) return main.id;
  const found =
    elsewhere?.to === 'elsewhere'
      ? `found the name ${JSON.stringify(elsewhere.host.slice(0, 100))}, which is neither a machine's nor this cloud's`
      : given === null
        ? 'found none, and the caller has no key of only one machine'
        : 'found an empty id';
  throw invalidArgument(
    `${method}: expected the id of a part in the header ${partHeader}, or the address <part id>.${deps.names.domain}, ${found}; this is a cloud, which passes such calls on to machines`,
  );
}

/** The machine of a key that reaches exactly one. */
function onlyMachineOf({ registry, tree }: NamedPartDeps, principal: Principal): string | undefined {
  if (principal.kind !== 'key') return undefined;
  const found = new Set<string>();
  for (const { robotId, locationId, organizationId } of grantsOf(principal)) {
    if (robotId !== null) found.add(robotId);
    else {
      const locations =
        locationId === null ? tree.locationsOf(organizationId).map(({ id }) => id) : tree.descendants(locationId);
      for (const location of locations) {
        for (const { id } of registry.machinesOf(location)) {
          found.add(id);
          if (found.size > 1) return undefined;
        }
      }
    }
    if (found.size > 1) return undefined;
  }
  const [only] = found;
  return only;
}
