/** The environment variables. */
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:http2';
import { join } from 'node:path';
import { MotorService } from '@platform/proto/platform/component/motor/v1/motor';
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { ResourceStatus_State, RobotService } from '@platform/proto/platform/robot/v1/robot';
import { expect } from 'vitest';
import { partId } from '../fake-cloud.ts';
import { until } from '../start-test-server.ts';
import type { Run } from './machine-run.ts';
import type { Row } from './row.ts';

const notDuration = (name: string): Row['wrong'] => ({
  given: { env: { [name]: 'soon' } },
  says: new RegExp(`${name}: expected a duration such as 30s or 1m30s .*, found "soon"`),
});

export const variableRows: readonly Row[] = [
  {
    name: 'PLATFORM_HOME',
    async effect(machine, { credentials }) {
      const env = { PLATFORM_HOME: machine.path('own'), HOME: machine.path('account') };
      await (await machine.run({ document: credentials, env })).stop();
      expect(await readdir(machine.path('own'))).toContain(`cached_cloud_config_${partId}.json`);
    },
    async usual(machine, { credentials }) {
      const env = { PLATFORM_HOME: '', HOME: machine.path('account') };
      await (await machine.run({ document: credentials, env })).stop();
      expect(await readdir(machine.path('account', '.platform'))).toContain(`cached_cloud_config_${partId}.json`);
    },
    wrong: { given: { env: { PLATFORM_HOME: '/dev/null' } }, says: /\/dev\/null.*set PLATFORM_HOME/ },
  },
  {
    name: 'PLATFORM_CONFIG_READ_TIMEOUT',
    async effect(machine) {
      using silent = await silentServer();
      const env = { PLATFORM_CONFIG_READ_TIMEOUT: '200ms' };
      const { code, error } = await machine.end({ document: silent.document, env });
      expect([code, error]).toEqual([1, expect.stringContaining('longer than the call may: 200 ms')]);
    },
    async usual(machine) {
      using silent = await silentServer();
      const { code, error } = await machine.end({ document: silent.document });
      expect([code, error]).toEqual([1, expect.stringContaining('longer than the call may: 15000 ms')]);
    },
    wrong: notDuration('PLATFORM_CONFIG_READ_TIMEOUT'),
  },
  {
    name: 'PLATFORM_RESOURCE_REQUESTS_LIMIT',
    async effect(machine) {
      const run = await machine.run({ document: slowMotor, env: { PLATFORM_RESOURCE_REQUESTS_LIMIT: '2' } });
      expect(await refusedOf(run, 3)).toEqual(['exceeded request limit 2 on resource wheel']);
    },
    async usual(machine) {
      const run = await machine.run({ document: slowMotor });
      expect(await refusedOf(run, 101)).toEqual(['exceeded request limit 100 on resource wheel']);
    },
    wrong: {
      given: { env: { PLATFORM_RESOURCE_REQUESTS_LIMIT: 'many' } },
      says: /PLATFORM_RESOURCE_REQUESTS_LIMIT: expected a whole number from 1 to 1000000, found "many"/,
    },
  },
  {
    name: 'PLATFORM_MODULE_STARTUP_TIMEOUT',
    async effect(_machine, { shared }) {
      const { hasty } = await shared.waiting();
      await hasty.says('it was not ready within 1000 ms (PLATFORM_MODULE_STARTUP_TIMEOUT)');
    },
    async usual(_machine, { shared }) {
      const { patient, hasty } = await shared.waiting();
      await hasty.says('it was not ready within 1000 ms');
      expect(await patient.resources()).toMatchObject([{ state: ResourceStatus_State.CONFIGURING }]);
    },
    wrong: notDuration('PLATFORM_MODULE_STARTUP_TIMEOUT'),
  },
  {
    name: 'PLATFORM_RESOURCE_CONFIGURATION_TIMEOUT',
    async effect(_machine, { shared }) {
      const { hasty } = await shared.adding();
      await hasty.says(/could not be built.*1000 ms/);
    },
    async usual(_machine, { shared }) {
      const { patient, hasty } = await shared.adding();
      await hasty.says(/could not be built.*1000 ms/);
      expect(await patient.resources()).toMatchObject([{ state: ResourceStatus_State.CONFIGURING }]);
    },
    wrong: notDuration('PLATFORM_RESOURCE_CONFIGURATION_TIMEOUT'),
  },
  {
    name: 'PLATFORM_LOGFILE',
    async effect(_machine, { shared }) {
      const { run, home } = await shared.equipped();
      await run.says('"msg":"running"');
      // The file is opened while the first lines are logged, and contains none of them until it exists.
      const lines = () => readFile(join(home, 'also.log'), 'utf8').catch(() => '');
      await until('the line in the file', async () => /running/.test(await lines()));
    },
    async usual(_machine, { shared }) {
      const { home } = await shared.stopped();
      expect((await readdir(home)).filter((name) => name.endsWith('.log'))).toEqual([]);
    },
    async wrong(machine) {
      const run = await machine.run({ env: { PLATFORM_LOGFILE: '/dev/null/nowhere/file' } });
      await run.says('the log file /dev/null/nowhere/file cannot be written (ENOTDIR');
    },
  },
  {
    // Its effect is on Windows only: logging/windows-event-log.test.ts.
    name: 'PLATFORM_NO_WINDOWS_EVENT_LOGGER',
    async effect(_machine, { shared }) {
      expect((await shared.withoutDiagnostics()).code).toBe(0);
    },
    async usual(_machine, { shared }) {
      expect((await shared.stopped()).code).toBe(0);
    },
    wrong: undefined,
  },
  {
    name: 'PLATFORM_BIND_ADDRESS',
    async effect(_machine, { plain }) {
      // As each of these processes, it has the variable.
      const run = await plain();
      expect(await run.link.client(SensorService).getReadings({ name: 'probe' })).toHaveProperty('readings');
      await run.says(new RegExp(`"msg":"serving".*"address":"127\\.0\\.0\\.1:${run.port}"`));
    },
    async usual(machine) {
      const run = await machine.run({ env: { PLATFORM_BIND_ADDRESS: '' } });
      expect(run.port).toBeGreaterThanOrEqual(8_080);
    },
    wrong: { given: { env: { PLATFORM_BIND_ADDRESS: 'nonsense' } }, says: /nonsense/ },
  },
  {
    name: 'PLATFORM_TRUSTED_PROXIES',
    async effect(_machine, { shared }) {
      const { run } = await shared.equipped();
      expect(await clientsOf(run, '203.0.113.7')).toEqual(['203.0.113.7']);
    },
    async usual(_machine, { plain }) {
      const run = await plain();
      expect(await clientsOf(run, '203.0.113.7')).toEqual([expect.stringMatching(/^127\.0\.0\.1:\d+$/)]);
    },
    wrong: {
      given: { env: { PLATFORM_TRUSTED_PROXIES: 'proxy.local' } },
      says: /PLATFORM_TRUSTED_PROXIES: expected addresses or networks such as .*, found "proxy.local"/,
    },
  },
];

/** The addresses of the clients that the machine sees, after a client with this header has started a session. */
async function clientsOf(run: Run, forwardedFor: string): Promise<(string | undefined)[]> {
  const robot = run.link.withHeaders(async () => ({ 'x-forwarded-for': forwardedFor })).client(RobotService);
  await robot.startSession({});
  const { sessions } = await robot.getSessions({});
  return sessions.map(({ peerConnectionInfo }) => peerConnectionInfo?.remoteAddress);
}

/** A cloud that never answers a call. It answers PING, so that links go on waiting. */
async function silentServer(): Promise<Disposable & { readonly document: object }> {
  const server = createServer().on('stream', (stream) => void stream.on('error', () => {}).resume());
  server.listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  return {
    document: { cloud: { id: 'part', secret: 's', app_address: `http://127.0.0.1:${port}` } },
    [Symbol.dispose]: () => void server.close(),
  };
}

const slowMotor = {
  components: [
    {
      ...{ name: 'wheel', api: 'core:component:motor', model: 'core:builtin:fake' },
      attributes: { delays_ms: { GetPosition: 1_500 } },
    },
  ],
};

/** Makes this many simultaneous calls; returns the messages of the refused ones. */
async function refusedOf(run: Run, count: number): Promise<string[]> {
  const motor = run.link.client(MotorService);
  const calls = Array.from({ length: count }, () => motor.getPosition({ name: 'wheel' }));
  const ended = await Promise.allSettled(calls);
  return ended.flatMap((one) => (one.status === 'rejected' ? [String(one.reason.message)] : []));
}
