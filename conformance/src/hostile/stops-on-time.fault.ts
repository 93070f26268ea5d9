/** D48: stops, heartbeats and capture ticks of a machine-server, while callers and a module send it what is expensive to decode. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { StopRequestSchema } from '@platform/proto/platform/component/motor/v1/motor';
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { RobotService, SendSessionHeartbeatRequestSchema } from '@platform/proto/platform/robot/v1/robot';
import { connect } from '@platform/rpc/client';
import { faultProgress, reportFault } from '@platform/testkit';
import { expect, test } from 'vitest';
import { writeProgram } from '../../../apps/machine-server/src/testing/modules/write-module.ts';
import { readFaultSettings } from '../crash/fault-settings.ts';
import { startMachine } from '../machine/start-machine.ts';
import { startAttackers } from './attackers.ts';
import { longestDelay, tickTimes } from './capture-ticks.ts';
import { encodedCall } from './encoded-call.ts';
import { expectShortWaits, longestWait, startWaits } from './waits.ts';

const { requests, longestWaitMs } = readFaultSettings();
/** Of a captured sensor whose readings take no time. */
const ticksHz = 20;
const mebibyte = 1024 * 1024;
const module = fileURLToPath(new URL('./long-answers-module.ts', import.meta.url));

test('D48 no caller and no module delays a stop, a heartbeat or a capture tick', async () => {
  await using stack = new AsyncDisposableStack();
  const directory = mkdtempSync(join(tmpdir(), 'stops-'));
  stack.defer(() => rmSync(directory, { recursive: true, force: true }));
  const node = `'${process.execPath}' --conditions=@platform/source --disable-warning=ExperimentalWarning`;
  const executable_path = await writeProgram(directory, 'long-answers.sh', `exec ${node} '${module}' "$@"`);
  const capturing = (capture_frequency_hz: number) => [
    { type: 'data_manager', attributes: { capture_methods: [{ method: 'Readings', capture_frequency_hz }] } },
  ];
  const captureDirectory = join(directory, 'captured');
  const machine = stack.use(
    await startMachine({
      modules: [{ name: 'long-answers', type: 'local', executable_path }],
      components: [
        { name: 'motor', api: 'core:component:motor', model: 'core:builtin:fake' },
        { name: 'generic', api: 'core:component:generic', model: 'core:builtin:fake' },
        {
          ...{ name: 'ticker', api: 'core:component:sensor', model: 'core:builtin:fake' },
          service_configs: capturing(ticksHz),
        },
        {
          ...{ name: 'far', api: 'core:component:sensor', model: 'acme:demo:counter' },
          service_configs: capturing(2),
        },
      ],
      services: [
        {
          ...{ name: 'data', api: 'core:service:data_manager', model: 'core:builtin:builtin' },
          attributes: { capture_dir: captureDirectory },
        },
      ],
    }),
  );
  const { url } = machine;
  const link = stack.use(connect({ baseUrl: url }));
  const robot = link.client(RobotService);
  const sensor = link.client(SensorService);
  await expect
    .poll(() => sensor.doCommand({ name: 'far', command: {} }).then(() => 'answers', String), { timeout: 60_000 })
    .toBe('answers');
  const { id } = await robot.startSession({});
  const waits = stack.use(
    await startWaits({
      ...{ url, pid: machine.process.pid },
      calls: [
        encodedCall('/platform.component.motor.v1.MotorService/Stop', StopRequestSchema, { name: 'motor' }),
        { path: '/platform.robot.v1.RobotService/StopAll' },
        encodedCall('/platform.robot.v1.RobotService/SendSessionHeartbeat', SendSessionHeartbeatRequestSchema, { id }),
      ],
    }),
  );
  const attackers = stack.use(startAttackers(3));
  const method = 'platform.component.generic.v1.GenericService/DoCommand';
  const shapes = ['map entries', 'unknown fields', 'levels', 'packed numbers'];
  const rounds = Math.ceil(requests / 10);
  const strike = (shape: string, codec: string, bytes: number) =>
    attackers.strike(Array.from({ length: 3 }, () => ({ url, method, shape, codec, bytes, headers: {} })));
  // The start of the attackers needs the processors, too.
  await strike('map entries', 'gRPC', 1_000);
  await waits.discard();
  const beganMs = Date.now();
  for (let round = 0; round < rounds; round++) {
    const shape = shapes[round % shapes.length] as string;
    const bytes = [mebibyte, 4 * mebibyte, 31 * mebibyte][round % 3] as number;
    const codec = round % 2 === 0 ? 'gRPC' : 'Connect, gzip';
    const [struck] = await Promise.all([
      strike(shape, codec, bytes),
      // Its answer comes from the module, through the machine-server.
      sensor.doCommand({ name: 'far', command: {} }),
    ]);
    await waits.note(`${shape} ${codec} ${bytes}: ${struck.map(({ outcome }) => outcome)}`);
    faultProgress('rounds of calls to a machine-server', round + 1, rounds);
  }
  const endedMs = Date.now();
  // Seals the capture files.
  await machine.process.kill('SIGTERM');
  const ticks = tickTimes(captureDirectory, 'ticker').filter((time) => time >= beganMs && time <= endedMs);
  const tickDelayMs = longestDelay(ticks, 1_000 / ticksHz);
  const { figures } = waits;
  reportFault('stops', { rounds, ...figures, ticks: ticks.length, tickDelayMs });
  // Where other tests keep the processors busy, the session may expire.
  expect(Object.keys(figures.failures).filter((call) => !call.includes('SendSessionHeartbeat'))).toEqual([]);
  if (longestWaitMs === Number.POSITIVE_INFINITY) return;
  expect(figures.failures).toEqual({});
  expectShortWaits(figures, longestWaitMs);
  expect(tickDelayMs).toBeLessThanOrEqual(longestWait(figures, longestWaitMs));
});
