/** Reads and writes the dashboards of an organization. Every member reads them; owners write. */
import { AppService } from '@platform/proto/platform/app/v1/app';
import { clientOf } from '../api/clients.ts';
import { type Dashboard, dashboardsOf, withDashboard } from './dashboard.ts';

const app = clientOf(AppService);

/** @throws ConnectError */
export async function readDashboards(organizationId: string, signal?: AbortSignal): Promise<readonly Dashboard[]> {
  const { data = {} } = await app.getOrganizationMetadata({ organizationId }, signal && { signal });
  return dashboardsOf(data);
}

/**
 * Changes one dashboard in the metadata as stored now, so that changes that others made to other dashboards stay.
 *
 * @param change undefined for a dashboard that does not exist; returns undefined to remove it. @throws ConnectError
 */
export async function changeDashboard(
  organizationId: string,
  id: string,
  change: (stored: Dashboard | undefined) => Dashboard | undefined,
): Promise<void> {
  const { data = {} } = await app.getOrganizationMetadata({ organizationId });
  const stored = dashboardsOf(data).find((one) => one.id === id);
  await app.updateOrganizationMetadata({ organizationId, data: withDashboard(data, id, change(stored)) });
}
