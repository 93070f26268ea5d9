/** Every operation of this feature that names an object, for a caller who may not know of any. */
import type { DescMethodUnary } from '@bufbuild/protobuf';
import { asPlatformError } from '@platform/base';
import { app, fleet, robot } from './open-machines.ts';

export interface KnownIds {
  readonly machineId: string;
  readonly partId: string;
  readonly locationId: string;
  readonly organizationId: string;
}

type Asked = readonly [DescMethodUnary, Record<string, unknown>, Record<string, unknown>];

/** Method, a request that names an existing object, and the same request for a nonexistent one. */
export function authorizedAsNobody(ids: KnownIds): readonly Asked[] {
  const about = (id: string, key: string, methods: readonly DescMethodUnary[], rest: object = {}): readonly Asked[] =>
    methods.map((method) => [method, { ...rest, [key]: id }, { ...rest, [key]: 'nobody' }] as const);
  return [
    ...about(ids.locationId, 'locationId', [app.listRobots]),
    ...about(ids.locationId, 'locationId', [app.getRobotPartByNameAndLocation], { name: 'press-main' }),
    ...about(ids.locationId, 'location', [app.newRobot], { name: 'x' }),
    ...about(ids.organizationId, 'orgId', [app.listRobotsForOrg]),
    ...about(ids.organizationId, 'organizationId', [app.listMachineSummaries]),
    ...about(ids.machineId, 'id', [
      app.getRobot,
      app.deleteRobot,
      app.getRobotMetadata,
      app.updateRobotMetadata,
      app.updateRobot,
    ]),
    ...about(ids.machineId, 'robotId', [app.getRobotParts]),
    ...about(ids.machineId, 'robotId', [app.newRobotPart], { partName: 'x' }),
    ...about(ids.partId, 'id', [
      app.getRobotPart,
      app.getRobotPartHistory,
      app.getRobotPartMetadata,
      app.updateRobotPart,
      app.updateRobotPartMetadata,
      robot.config,
      robot.certificate,
      robot.needsRestart,
      robot.log,
    ]),
    ...about(ids.partId, 'partId', [
      app.createRobotPartSecret,
      app.deleteRobotPart,
      app.deleteRobotPartSecret,
      app.markPartAsMain,
      app.markPartForRestart,
      fleet.getConfigurationVersion,
      fleet.getPartStatus,
      fleet.listConfigurationVersions,
      fleet.reportPartStatus,
      fleet.restoreConfigurationVersion,
      fleet.validateConfiguration,
    ]),
  ];
}

/** `<code> <message>` of the refusal; throws if the call is not refused. */
export async function messageOf(call: Promise<unknown>): Promise<string> {
  const refusal = await call.then(
    () => undefined,
    (caught: unknown) => asPlatformError(caught),
  );
  if (refusal === undefined) throw new Error('expected a refusal, found an answer');
  return `${refusal.code} ${refusal.message}`;
}
