/** The names by which others call this machine (D39), from its configuration. Pure. */
import type { CloudConfig } from '@platform/proto/platform/app/v1/robot';

/** @returns the full name first; empty without a cloud */
export function machineNames(cloud: CloudConfig | undefined): string[] {
  if (cloud === undefined) return [];
  return [...new Set([cloud.fqdn, cloud.localFqdn])].filter((name) => name !== '');
}
