import { AppService } from '@platform/proto/platform/app/v1/app';
import { connect } from '@platform/rpc/client';
import { mapConcurrently } from '../figures/map-concurrently.ts';
import type { FleetCloud } from './fleet-cloud.ts';

export interface FleetPart {
  readonly partId: string;
  readonly secret: string;
}

const lanes = 32;

/** Creates machines through the API, as a user's script does. @param configuration saved for each part, if given */
export async function provisionFleet(
  cloud: FleetCloud,
  count: number,
  configuration?: object,
): Promise<readonly FleetPart[]> {
  const { keyId, key, locationId, running } = cloud;
  await using link = connect({
    baseUrl: running.url,
    credentials: { entity: keyId, type: 'api-key', payload: key },
    timeoutMs: 120_000,
  });
  const app = link.client(AppService);
  const robotConfigJson = configuration && JSON.stringify(configuration);
  return await mapConcurrently(lanes, count, async (index) => {
    const { id } = await app.newRobot({ name: `machine-${index}`, location: locationId });
    const { parts } = await app.getRobotParts({ robotId: id });
    const part = parts[0];
    if (part === undefined) throw new Error(`machine ${id} has no part`);
    if (robotConfigJson !== undefined) await app.updateRobotPart({ id: part.id, name: part.name, robotConfigJson });
    return { partId: part.id, secret: part.secret };
  });
}
