/** A machine-server with few descriptors, whose ports anybody can reach. */
import { once } from 'node:events';
import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import { SensorService } from '@platform/proto/platform/component/sensor/v1/sensor';
import { connect } from '@platform/rpc/client';
import { spawnChild, type TemporaryDirectory, temporaryDirectory } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { program } from '../../../tools/bundles/program.ts';

const nodeArgs = ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning'];
const document = { components: [{ name: 'probe', api: 'core:component:sensor', model: 'core:builtin:fake' }] };

function startServer(directory: TemporaryDirectory) {
  writeFileSync(directory.file('machine.json'), JSON.stringify(document));
  const main = program('machine-server');
  const server = spawnChild(
    'sh',
    [
      ...['-c', 'ulimit -n 64 && exec "$@"', 'sh', process.execPath, ...nodeArgs],
      ...[main, '-config', directory.file('machine.json'), '-debug'],
    ],
    { env: { PLATFORM_BIND_ADDRESS: '127.0.0.1:0', PLATFORM_HOME: directory.path } },
  );
  const running = async () => {
    const { port } = await server.waitForLine(({ msg }) => msg === 'running');
    return { port: Number(port), url: `http://127.0.0.1:${String(port)}` };
  };
  return { running, kill: server.kill, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/** A connection with one answered request, which is then idle. */
async function idleOverHttp1(port: number): Promise<Socket> {
  const socket = connectTcp(port, '127.0.0.1').on('error', () => {});
  socket.write('GET / HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n');
  await once(socket, 'data');
  return socket.resume();
}

async function idleOverHttp2(url: string): Promise<ClientHttp2Session> {
  const session = connectHttp2(url).on('error', () => {});
  await once(session.request({ ':path': '/' }).resume(), 'close');
  return session;
}

function inNode(limit: number, ...args: string[]) {
  return spawnChild('sh', ['-c', `ulimit -n ${limit} && exec "$@"`, 'sh', process.execPath, ...nodeArgs, ...args], {
    env: { PLATFORM_BIND_ADDRESS: '127.0.0.1:0' },
  });
}

test('R17 twice as many silent connections as it has descriptors neither end it nor keep it from its files', async () => {
  await using directory = await temporaryDirectory();
  await using server = startServer(directory);
  const { port, url } = await server.running();
  const sockets: Socket[] = [];
  onTestFinished(() => sockets.forEach((socket) => void socket.destroy()));
  for (let each = 0; each < 120; each++)
    sockets.push(
      connectTcp(port, '127.0.0.1')
        .on('error', () => {})
        .resume(),
    );
  await expect.poll(() => sockets.filter(({ closed }) => !closed).length, { timeout: 10_000 }).toBe(16);
  await using link = connect({ baseUrl: url });
  expect(await link.client(SensorService).getReadings({ name: 'probe' })).toHaveProperty('readings');
  // Full-time diagnostics are written after ten samples, one a second.
  const bytesOf = (): number =>
    readdirSync(directory.file('ftdc')).reduce((sum, name) => sum + statSync(directory.file(`ftdc/${name}`)).size, 0);
  await expect.poll(() => readdirSync(directory.path)).toContain('ftdc');
  await expect.poll(bytesOf).toBeGreaterThan(0);
  expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null });
});

test('R17 connections that were used once and then idle keep nobody out: half of the descriptors, and the one idle for longest ends first', async () => {
  await using directory = await temporaryDirectory();
  await using server = startServer(directory);
  const { port, url } = await server.running();
  // The oldest of all has an open stream, as links, tunnels and pictures have.
  const watching = connectHttp2(url);
  onTestFinished(() => watching.destroy());
  const watch = watching.request({
    ...{ ':method': 'POST', ':path': '/grpc.health.v1.Health/Watch', 'content-type': 'application/grpc' },
  });
  watch.end(Buffer.alloc(5));
  await once(watch, 'data');
  const idle: { readonly closed: boolean }[] = [];
  for (let each = 0; each < 60; each++) {
    const one = await (each % 2 === 0 ? idleOverHttp1(port) : idleOverHttp2(url));
    onTestFinished(() => void one.destroy());
    idle.push(one);
  }
  // 32 with the stream; the youngest stay.
  await expect.poll(() => idle.map(({ closed }) => closed)).toEqual(idle.map((_one, each) => each < 29));
  await using link = connect({ baseUrl: url });
  expect(await link.client(SensorService).getReadings({ name: 'probe' })).toHaveProperty('readings');
  expect(watching.closed).toBe(false);
  expect(await server.kill('SIGTERM')).toEqual({ code: 0, signal: null });
});

test('R17 without a descriptor left, measuring leaves out what the system does not tell, and throws nothing', async () => {
  const measure = JSON.stringify(new URL('./ftdc/measure-process.ts', import.meta.url).href);
  const base = JSON.stringify(import.meta.resolve('@platform/base'));
  const program = `
    import { openSync } from 'node:fs';
    import { memoryUsage } from 'node:process';
    const { measureProcess } = await import(${measure});
    const { trimWhenIdle, systemClock } = await import(${base});
    const own = measureProcess();
    let failed = '';
    try { for (;;) openSync('/dev/null'); } catch { /* none is left */ }
    try { memoryUsage(); } catch (caught) { failed = caught.code; }
    const values = new Map();
    own.measure(values);
    let tick;
    trimWhenIdle({ clock: { ...systemClock, every: (_ms, run) => { tick = run; return { [Symbol.dispose]() {} }; } }, workedMs: () => 0 });
    tick();
    console.log(JSON.stringify({ failed, names: [...values.keys()] }));`;
  await using child = inNode(64, '--input-type=module', '--eval', program);
  const { failed, names } = await child.waitForLine(() => true);
  expect(failed).toBe('EMFILE');
  expect(names).toContain('process.cpu_user_us');
  expect(names).not.toContain('process.rss_bytes');
});
