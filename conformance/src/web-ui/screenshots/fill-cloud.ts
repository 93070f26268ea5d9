/** Content for every page: machines in several states, components of most types, a dashboard, a bill, members; and an empty organization. */
import { AppService } from '@platform/proto/platform/app/v1/app';
import { connect } from '@platform/rpc/client';
import { billOrganization } from '../bill-organization.ts';
import { createEmptyOrganization } from '../first-steps/empty-organization.ts';
import type { RunningUi } from '../start-ui.ts';
import { uploadPicture } from '../upload-picture.ts';

export interface Filled {
  readonly emptyOrganizationId: string;
  readonly trigger: string;
}

const types = ['arm', 'base', 'button', 'camera', 'encoder', 'gantry', 'gripper', 'motor', 'servo', 'switch'];
const components = types.map((type) => ({
  ...{ name: `${type}-1`, api: `core:component:${type}`, model: 'core:builtin:fake', attributes: {} },
}));
const cpu = '[{ "$project": { "time": "$time_received", "cpu_percent": "$data.readings.cpu_percent" } }]';
const counted = '[{ "$group": { "_id": "$component_name", "readings": { "$sum": 1 } } }]';
const dashboards = {
  morning: {
    ...{ name: 'Every morning', rangeMs: 3_600_000 },
    panels: [
      { id: 'a', title: 'Processor', language: 'mql', text: cpu, show: 'lines' },
      { id: 'b', title: 'Readings by component', language: 'mql', text: counted, show: 'bars' },
      { id: 'c', title: 'Readings', language: 'mql', text: '[{ "$count": "readings" }]', show: 'number' },
    ],
  },
};

export async function fillCloud({ cloud, page }: RunningUi): Promise<Filled> {
  const { organizationId, locationId, partId } = cloud;
  await using link = connect({
    baseUrl: cloud.url,
    credentials: { entity: cloud.keyId, type: 'api-key', payload: cloud.key },
  });
  const app = link.client(AppService);
  for (const name of [
    'press-7',
    'مكبس-9',
    `a machine with a very long name ${'and more of it '.repeat(5)}`,
    '<b>crane</b>',
  ])
    await app.newRobot({ name: name.slice(0, 100), location: locationId });
  const part = (await app.getRobotPart({ id: partId })).part;
  const configuration: Record<string, unknown> = JSON.parse(JSON.stringify(part?.robotConfig ?? {}));
  const existing = (configuration['components'] ?? []) as readonly object[];
  const robotConfigJson = JSON.stringify({ ...configuration, components: [...existing, ...components] });
  await app.updateRobotPart({ id: partId, name: part?.name ?? 'main', robotConfigJson });
  await app.updateOrganizationMetadata({ organizationId, data: { dashboards } });
  await app.createOrganizationInvite({ organizationId, email: 'ada@example.com' });
  await uploadPicture(cloud);
  await billOrganization(cloud);
  await page.goto(`${cloud.url}/o/${organizationId}/machines`);
  await page.getByRole('row', { name: /Online/ }).waitFor();
  // The signed-in person creates it, so that she can see it; the key above is not hers.
  const emptyOrganizationId = await createEmptyOrganization(page);
  await page.goto(`${cloud.url}/o/${organizationId}/m/${cloud.machineId}`);
  await page.getByRole('row', { name: /Ready switch-1/ }).waitFor();
  await page.goto(`${cloud.url}/o/${organizationId}/triggers`);
  const trigger = await page.getByRole('row').nth(1).getByRole('link').first().getAttribute('href');
  return { emptyOrganizationId, trigger: trigger ?? '' };
}
