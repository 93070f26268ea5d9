/** A running cloud with its web UI and the large installation: what every main page shows has a length that a person meets in production. */
import { randomBytes } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { AppService } from '@platform/proto/platform/app/v1/app';
import { RobotService } from '@platform/proto/platform/app/v1/robot';
import { AuthService } from '@platform/proto/proto/rpc/v1/auth';
import { connect } from '@platform/rpc/client';
import { openUploader } from '../cloud/unary-session.ts';
import { mapConcurrently } from '../figures/map-concurrently.ts';
import { type FleetCloud, startFleetCloud } from '../fleet/fleet-cloud.ts';
import { type FleetPart, provisionFleet } from '../fleet/provision-fleet.ts';
import { readingAt } from '../queries/readings.ts';
import { encodeBatches, sensorData } from '../readings/encode-batches.ts';
import { largeFleet, sensorName, seriesCount } from '../readings/large-fleet.ts';
import { capturing, dataManager } from '../readings/part-configuration.ts';

const { machines, sensors, everyMs } = largeFleet;
const inFlight = 16;
const linesPerCall = 500;

export interface LargeInstallation extends AsyncDisposable {
  readonly cloud: FleetCloud;
  readonly readings: number;
  readonly logLines: number;
  /** The name of its trigger whose target is refused. */
  readonly failingTrigger: string;
  /** A machine with a long log. */
  readonly machineId: string;
}

/** Its triggers have fired when it resolves. @param build of the web UI @param readings of all machines */
export async function startLargeInstallation(build: string, readings: number): Promise<LargeInstallation> {
  await using stack = new AsyncDisposableStack();
  const cloud = stack.use(await startFleetCloud({ env: { PLATFORM_WEB_UI: build } }));
  const { keyId, key, machineId, partId, organizationId, running } = cloud;
  const credentials = { entity: keyId, type: 'api-key', payload: key };
  const link = stack.use(connect({ baseUrl: running.url, credentials, timeoutMs: 120_000 }));
  const inbox = `${running.url}/test-inbox/webhooks/too-hot`;
  const parts = await provisionFleet(cloud, machines - 1, configurationWith(tooHot('too-hot', inbox)));
  const app = link.client(AppService);
  const failingTrigger = 'reaches-nobody';
  // A port that nothing listens on, and that webhooks may not reach.
  const failing = configurationWith(tooHot(failingTrigger, 'http://127.0.0.1:9/nobody'));
  await app.updateRobotPart({ id: partId, robotConfigJson: JSON.stringify(failing) });
  await app.updateOrganizationMetadata({ organizationId, data: { dashboards } });
  await using plain = connect({ baseUrl: running.url });
  const { accessToken } = await plain
    .client(AuthService)
    .authenticate({ entity: keyId, credentials: { type: 'api-key', payload: key } });
  const each = Math.max(1, Math.floor(readings / seriesCount));
  await upload(running.url, accessToken, [{ partId, secret: '' }, ...parts], each);
  const logLines = 5_000;
  for (let at = 0; at < logLines; at += linesPerCall)
    await link.client(RobotService).log({ id: partId, logs: logOf(at, logLines) });
  const kept = stack.move();
  return {
    ...{ cloud, readings: each * seriesCount, logLines, failingTrigger, machineId },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  };
}

function configurationWith(trigger: object): object {
  const sensor = { name: sensorName(0), api: 'core:component:sensor', model: 'core:builtin:fake' };
  const components = [{ ...sensor, service_configs: [capturing('Readings', 1)] }];
  return { components, services: [dataManager(1)], triggers: [trigger] };
}

function tooHot(name: string, target: string): object {
  const conditional = {
    data_capture_method: `sensor:${sensorName(0)}:Readings`,
    conditions: { evals: [{ operator: 'gt', value: { temperature: -1_000 } }] },
  };
  return {
    ...{ name, event: { type: 'conditional_data_ingested', conditional } },
    notifications: [{ type: 'webhook', value: target, seconds_between_notifications: 3_600 }],
  };
}

const byComponent = '[{ "$group": { "_id": "$component_name", "readings": { "$sum": 1 } } }]';
const dashboards = {
  morning: {
    ...{ name: 'Every morning', rangeMs: 3_600_000 },
    panels: [
      { id: 'a', title: 'Readings by component', language: 'mql', text: byComponent, show: 'bars' },
      { id: 'b', title: 'Readings', language: 'mql', text: '[{ "$count": "readings" }]', show: 'number' },
    ],
  },
};

/** One upload for each series; the newest reading is of now. */
async function upload(url: string, token: string, parts: readonly FleetPart[], each: number): Promise<void> {
  using uploader = await openUploader(url, token);
  const startMs = Date.now() - each * everyMs;
  await mapConcurrently(inFlight, parts.length, async (machine) => {
    const messages = encodeBatches({
      ...{ partId: '', stream: randomBytes(16), batches: sensors, readingsEach: each, inFlight: sensors },
      uploadOf: (sensor) => ({
        ...{ partId: parts[machine]?.partId ?? '', componentName: sensorName(sensor) },
        reading(n) {
          const values = readingAt(machine * sensors + sensor, n, everyMs);
          const { temperature, humidity, pressure, door, state } = values;
          return sensorData((startMs + (n + 1) * everyMs) * 1_000, { temperature, humidity, pressure, door, state });
        },
      }),
    });
    for (const message of messages) await uploader.upload(message);
  });
}

/** Lines of the last hours, a second apart. */
function logOf(from: number, of: number) {
  const endMs = Date.now();
  return Array.from({ length: Math.min(linesPerCall, of - from) }, (_, at) => {
    const line = from + at;
    return {
      ...{
        host: 'press-7',
        level: line % 50 === 0 ? 'error' : 'info',
        loggerName: `machine.${sensorName(line % sensors)}`,
      },
      ...{
        time: timestampFromMs(endMs - (of - line) * 1_000),
        message: `line ${line}: the reading took ${line % 17} ms`,
      },
    };
  });
}
