/** Makes the line that connects a part, as `platform machines connect` does. */
import { Code, ConnectError } from '@connectrpc/connect';
import { firstConfiguration, needsFirstConfiguration } from '@platform/machine-config/first-configuration';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { FleetService } from '@platform/proto/platform/fleet/v1/fleet';
import { clientOf } from '../api/clients.ts';
import { session } from '../api/session.svelte.ts';
import { connectLine } from './connect-line.ts';

const app = clientOf(AppService);
const fleet = clientOf(FleetService);

export interface ConnectingPart {
  readonly token: string;
  readonly line: string;
}

/** At which machines reach this cloud. */
export function cloudAddress(): string {
  return session.person?.cloudUrl || window.location.origin;
}

/** A part that has no configuration gets one that yields readings. */
export async function connectPart(partId: string): Promise<ConnectingPart> {
  const { version, document, effectiveDocument } = await fleet.getConfigurationVersion({ partId });
  if (needsFirstConfiguration(version?.version ?? 0n, JSON.parse(effectiveDocument || document || '{}')))
    await saveFirstConfiguration(partId);
  const { token, certificatePin } = await fleet.createConnectToken({ partId });
  return { token, line: connectLine({ cloudUrl: cloudAddress(), token, certificatePin }) };
}

/** What someone else has saved in the meantime stays: the cloud accepts this time of the last save only if there was none. */
async function saveFirstConfiguration(id: string): Promise<void> {
  const robotConfigJson = JSON.stringify(firstConfiguration);
  try {
    await app.updateRobotPart({ id, robotConfigJson, lastKnownUpdate: { seconds: 1n } });
  } catch (caught) {
    if (ConnectError.from(caught).code !== Code.Aborted) throw caught;
  }
}
