/** Reads and changes triggers in the configuration of a part. */
import type { JsonObject } from '@bufbuild/protobuf';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { FleetService } from '@platform/proto/platform/fleet/v1/fleet';
import { clientOf } from '../api/clients.ts';

const app = clientOf(AppService);
const fleet = clientOf(FleetService);

/** Undefined if the part's own configuration has none of this name; it may come from a fragment. @throws ConnectError */
export async function readTrigger(partId: string, name: string): Promise<JsonObject | undefined> {
  const { document } = await fleet.getConfigurationVersion({ partId });
  return triggersOf(JSON.parse(document || '{}')).find((one) => one['name'] === name);
}

/**
 * Adds the trigger to the newest configuration of the part, or replaces the one that was called `before`. Everything else stays. A trigger
 * that is stored as it is needs nothing: the answer to an earlier attempt may have been lost.
 *
 * @param before empty: it is new. @throws ConnectError; Error if another trigger has the name
 */
export async function saveTrigger(partId: string, before: string, trigger: JsonObject): Promise<void> {
  await changeTriggers(partId, (triggers) => {
    const text = JSON.stringify(trigger);
    if (triggers.some((one) => JSON.stringify(one) === text)) return triggers;
    const at = before === '' ? -1 : triggers.findIndex((one) => one['name'] === before);
    if (triggers.some((one, index) => index !== at && one['name'] === trigger['name']))
      throw new Error(
        `This machine already has a trigger called ${JSON.stringify(trigger['name'])}. Choose another name.`,
      );
    return at < 0 ? [...triggers, trigger] : triggers.with(at, trigger);
  });
}

/** @throws ConnectError */
export async function deleteTrigger(partId: string, name: string): Promise<void> {
  await changeTriggers(partId, (triggers) => triggers.filter((one) => one['name'] !== name));
}

async function changeTriggers(
  partId: string,
  change: (triggers: readonly JsonObject[]) => readonly JsonObject[],
): Promise<void> {
  const { document, version } = await fleet.getConfigurationVersion({ partId });
  const configuration: JsonObject = JSON.parse(document || '{}');
  const next = { ...configuration, triggers: [...change(triggersOf(configuration))] };
  // The cloud refuses this if someone else saves in between.
  const savedAt = version?.version === 0n ? undefined : version?.savedAt;
  const robotConfigJson = JSON.stringify(next, null, 2);
  await app.updateRobotPart({
    id: partId,
    robotConfigJson,
    ...(savedAt !== undefined && { lastKnownUpdate: savedAt }),
  });
}

function triggersOf(configuration: JsonObject): readonly JsonObject[] {
  const { triggers } = configuration;
  return Array.isArray(triggers) ? (triggers as readonly JsonObject[]) : [];
}
