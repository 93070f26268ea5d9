/** The names by which others call this machine (D39), from its configuration. Pure. */
import type { CloudConfig } from '@platform/proto/platform/app/v1/robot';

/** @returns the full name first; empty without a cloud */
export function machineNames(cloud: CloudConfig | undefined): string[] {
  if (cloud === undefined) return [];
  const { id, locationId, fqdn, localFqdn } = cloud;
  // Programs written for earlier versions of the cloud use this name.
  const earlier = id === '' || locationId === '' ? '' : `${id}.${locationId}.machines.local`;
  return [...new Set([fqdn, localFqdn, earlier])].filter((name) => name !== '');
}
