/** The options of the command line. */
import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { readFtdc } from '@platform/ftdc';
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { resourceTypes } from '@platform/resources';
import { expect } from 'vitest';
import { until } from '../start-test-server.ts';
import type { Given, Machine, Run } from './machine-run.ts';
import type { Row, Surroundings } from './row.ts';
import { open, programs } from './shared-runs.ts';

/** No file can be created below it. */
const noPlace = '/dev/null/nowhere/file';
const far = (): object => ({ cloud: { id: 'part', secret: 's', app_address: 'http://192.0.2.1:1' } });
const soon = { PLATFORM_CONFIG_READ_TIMEOUT: '300ms' };

const notBoolean = (name: string): { given: Given; says: RegExp } => ({
  given: { args: [`${name}=maybe`] },
  says: new RegExp(`option ${name}: expected true or false, found "maybe"`),
});
const noFile = (name: string): { given: Given; says: RegExp } => ({
  given: { args: [name, noPlace] },
  says: new RegExp(`option ${name}: expected a file that can be written, found ${noPlace}`),
});

export const optionRows: readonly Row[] = [
  {
    name: '-allow-insecure-creds',
    async effect(machine) {
      const { code, error } = await machine.end({ document: far(), args: ['-allow-insecure-creds'], env: soon });
      expect([code, error]).toEqual([1, expect.stringMatching(/no configuration/)]);
    },
    async usual(machine) {
      const { code, error } = await machine.end({ document: far(), env: soon });
      expect([code, error]).toEqual([1, expect.stringMatching(/192\.0\.2\.1:1 in plaintext/)]);
    },
    wrong: notBoolean('-allow-insecure-creds'),
  },
  {
    name: '-config',
    async effect(_machine, { plain }) {
      expect(await (await plain()).errors()).toEqual({ probe: '' });
    },
    async usual(machine) {
      expect(await machine.end({ bare: true })).toMatchObject({
        code: 1,
        error: expect.stringContaining('expected -config <file>'),
      });
    },
    wrong: {
      given: { bare: true, args: ['-config', '/nowhere/machine.json'] },
      says: /expected a JSON file, found no such file/,
    },
  },
  {
    name: '-cpuprofile',
    async effect(_machine, { shared }) {
      const { home } = await shared.withoutDiagnostics();
      const { nodes } = JSON.parse(await readFile(join(home, 'run.cpuprofile'), 'utf8')) as { nodes: object[] };
      expect(nodes.length).toBeGreaterThan(100);
    },
    async usual(_machine, { shared }) {
      const { home } = await shared.stopped();
      expect((await readdir(home)).filter((name) => name.includes('profile'))).toEqual([]);
    },
    wrong: noFile('-cpuprofile'),
  },
  {
    name: '-debug',
    async effect(_machine, { shared }) {
      const { run } = await shared.equipped();
      await run.log('debug', 'a debug line');
      await run.says(/"level":"debug".*a debug line/);
    },
    async usual(_machine, { plain }) {
      const run = await plain();
      await run.log('debug', 'an unseen line');
      await run.log('info', 'the line after the unseen one');
      await run.says('the line after the unseen one');
      expect(run.count('an unseen line')).toBe(0);
    },
    wrong: notBoolean('-debug'),
  },
  {
    name: '-disable-mdns',
    async effect(_machine, { shared }) {
      const { run } = await shared.open();
      expect(await hasMulticastPort(run.pid)).toBe(false);
    },
    async usual(machine) {
      const run = await machine.run({ ...open, args: ['-no-tls'] });
      await until('the port of multicast DNS', () => hasMulticastPort(run.pid));
    },
    wrong: notBoolean('-disable-mdns'),
  },
  {
    name: '-dump-resources',
    async effect(machine) {
      const file = machine.path('dump.json');
      expect(await machine.end({ bare: true, args: ['-dump-resources', file] })).toEqual({
        code: 0,
        out: '',
        error: '',
      });
      const dumped = JSON.parse(await readFile(file, 'utf8')) as { api: string; model: string }[];
      expect(new Set(dumped.map(({ api }) => api))).toEqual(new Set(resourceTypes.map(({ api }) => api)));
      expect(dumped).toContainEqual(
        expect.objectContaining({ api: 'core:component:sensor', model: 'core:builtin:mqtt' }),
      );
    },
    async usual(_machine, { shared }) {
      const { home } = await shared.stopped();
      expect(await readdir(home)).not.toContain('dump.json');
    },
    wrong: noFile('-dump-resources'),
  },
  {
    name: '-ftdc',
    async effect(_machine, { shared }) {
      const { home } = await shared.withoutDiagnostics();
      expect(await readdir(home)).not.toContain('ftdc');
    },
    async usual(_machine, { shared }) {
      const { home } = await shared.stopped();
      const [file = ''] = await readdir(join(home, 'ftdc'));
      const { samples, skipped } = readFtdc(await readFile(join(home, 'ftdc', file)));
      expect([samples.length > 0, skipped]).toEqual([true, []]);
      expect(samples.at(-1)?.values.get('requests.core:component:sensor/probe')).toBe(1);
      expect(samples.at(-1)?.values.get('process.rss_bytes')).toBeGreaterThan(10_000_000);
    },
    wrong: notBoolean('-ftdc'),
  },
  {
    name: '-log-file',
    async effect(machine) {
      const file = machine.path('server.log');
      const run = await machine.runLogging({ args: ['-log-file', file] }, file);
      expect(run.out).toBe('');
    },
    async usual(_machine, { plain }) {
      await (await plain()).says('"msg":"running"');
    },
    async wrong(machine) {
      const { error } = await machine.launch({ args: ['-log-file', noPlace] });
      await until('the sentence', () => error().includes(`the log file ${noPlace} cannot be written (ENOTDIR`));
    },
  },
  {
    name: '-network-check',
    async effect(machine, { credentials }) {
      const given = { document: credentials, args: ['-network-check', '-disable-mdns'] };
      const { code, out } = await machine.end(given);
      expect([code, out]).toEqual([
        0,
        expect.stringMatching(/^ok +tcp [\s\S]*^ok +sign-in [\s\S]*^all checks passed$/m),
      ]);
    },
    async usual(_machine, { plain }) {
      await (await plain()).says('"msg":"running"');
    },
    async wrong(machine) {
      const document = { cloud: { id: 'part', secret: 's', app_address: 'http://127.0.0.1:1' } };
      const { code, out } = await machine.end({ document, args: ['-network-check', '-disable-mdns'] });
      expect([code, out]).toEqual([
        1,
        expect.stringMatching(/^failed +tcp .*ECONNREFUSED.*check that the cloud runs/m),
      ]);
    },
  },
  {
    name: '-no-tls',
    async effect(_machine, { shared }) {
      const { run } = await shared.open();
      expect((await run.get('/')).status).toBe(401);
    },
    async usual(machine) {
      expect(await machine.end({ ...open, args: ['-disable-mdns'] })).toMatchObject({
        code: 1,
        error: expect.stringContaining('there is no certificate for TLS'),
      });
    },
    wrong: notBoolean('-no-tls'),
  },
  {
    name: '-output-telemetry',
    async effect(machine) {
      const run = await machine.run({ args: ['-output-telemetry'] });
      const trace = '4bf92f3577b34da6a3ce929d0e0e4736';
      const headers = { traceparent: `00-${trace}-00f067aa0ba902b7-01` };
      await run.link.client(SensorService).getReadings({ name: 'probe' }, { headers });
      await run.says(new RegExp(`"traceId":"${trace}".*SensorService/GetReadings`));
      await run.says(/"name":"resource.build".*core:component:sensor\/probe/);
      await run.says('"name":"configuration.apply"');
      expect((await run.stop()).out).toContain('rpc.server.call.duration');
    },
    async usual(_machine, { plain }) {
      const run = await plain();
      await run.link.client(SensorService).getReadings({ name: 'probe' });
      await run.log('info', 'the line after the call');
      await run.says('the line after the call');
      expect(run.out).not.toMatch(/resourceSpans|resourceMetrics/);
    },
    wrong: notBoolean('-output-telemetry'),
  },
  {
    name: '-reveal-sensitive-config-diffs',
    async effect(machine, around) {
      const run = await withEditedSecret(machine, around, ['-reveal-sensitive-config-diffs']);
      await run.says(/config\.diff.*a-long-password.*another-password/);
    },
    async usual(machine, around) {
      const run = await withEditedSecret(machine, around, ['-debug']);
      await run.says(/config\.diff.*attributes\.password \(door\): changed/);
      expect(run.out).not.toMatch(/a-long-password|another-password/);
    },
    wrong: notBoolean('-reveal-sensitive-config-diffs'),
  },
  {
    name: '-shareddir',
    async effect(_machine, { shared }) {
      const { run } = await shared.equipped();
      expect(await run.get('/static/hello.txt')).toEqual({ status: 200, body: 'hello' });
    },
    async usual(_machine, { plain }) {
      expect((await (await plain()).get('/static/hello.txt')).status).toBe(404);
    },
    wrong: {
      given: { args: ['-shareddir', '/nowhere'] },
      says: /option -shareddir: expected a directory, found nothing at \/nowhere/,
    },
  },
  {
    name: '-untrusted-env',
    async effect(machine) {
      const run = await machine.run({ document: await programs(machine.home), args: ['-untrusted-env'] });
      const errors = await run.errors();
      expect(errors['date']).toContain('-untrusted-env does not allow');
      expect(errors['sh']).toContain('-untrusted-env does not allow');
      await run.says('-untrusted-env does not allow local modules');
      await run.says('-untrusted-env does not allow changing the capture directory');
    },
    async usual(_machine, { shared }) {
      const { run } = await shared.programs();
      expect(await run.errors()).toEqual({ date: '', sh: '', dm: '' });
      await run.says(/modules\.greeter.*listening with/);
      expect(run.count('-untrusted-env')).toBe(0);
    },
    wrong: notBoolean('-untrusted-env'),
  },
  {
    name: '-version',
    async effect(machine) {
      const { code, out } = await machine.end({ bare: true, args: ['-version'] });
      expect([code, out]).toEqual([0, expect.stringMatching(/^machine-server \d+\.\d+\.\d+\n$/)]);
    },
    async usual(_machine, { shared }) {
      const { run } = await shared.equipped();
      await run.says('"msg":"running"');
    },
    wrong: notBoolean('-version'),
  },
  {
    name: '-webprofile',
    async effect(_machine, { shared }) {
      const { run } = await shared.equipped();
      const { status, body } = await run.get('/debug/profile?seconds=0.1');
      expect([status, Array.isArray((JSON.parse(body) as { nodes: unknown }).nodes)]).toEqual([200, true]);
    },
    async usual(_machine, { plain }) {
      expect((await (await plain()).get('/debug/profile?seconds=0.1')).status).toBe(404);
    },
    wrong: notBoolean('-webprofile'),
  },
  {
    name: '-webrtc',
    async effect(_machine, { shared }) {
      const { run } = await shared.equipped();
      expect(await signaling(run)).toMatch(/not reached over WebRTC/);
    },
    async usual(_machine, { plain }) {
      expect(await signaling(await plain())).toMatch(/host not preconfigured/);
    },
    wrong: notBoolean('-webrtc'),
  },
];

/** What the port of the machine says to somebody who looks for a way to reach it over WebRTC. */
async function signaling({ url }: Run): Promise<string> {
  const method = 'proto.rpc.webrtc.v1.SignalingService/OptionalWebRTCConfig';
  const headers = { 'content-type': 'application/json', 'rpc-host': 'nobody' };
  return (await fetch(`${url}/${method}`, { method: 'POST', headers, body: '{}' })).text();
}

/** A machine whose configuration gets a changed secret while it runs. */
async function withEditedSecret(machine: Machine, { fake, credentials }: Surroundings, args: string[]): Promise<Run> {
  const documentWith = (password: string): object => ({
    components: [
      {
        name: 'door',
        api: 'core:component:sensor',
        model: 'core:builtin:fake',
        attributes: { readings: {}, password },
      },
    ],
  });
  fake.document = documentWith('a-long-password');
  const run = await machine.run({ document: credentials, args });
  fake.document = documentWith('another-password');
  return run;
}

/** Whether the process holds UDP port 5353. */
async function hasMulticastPort(pid: number): Promise<boolean> {
  const table = await readFile('/proc/net/udp', 'utf8');
  const sockets = [...table.matchAll(/^ *\d+: [\dA-F]{8}:14E9 .*?(\d+) +\d+ +[\da-f]+ +\d+ *$/gm)].map(
    ([, inode]) => `socket:[${inode}]`,
  );
  const names = await readdir(`/proc/${pid}/fd`);
  const held = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => '')));
  return held.some((target) => sockets.includes(target));
}
