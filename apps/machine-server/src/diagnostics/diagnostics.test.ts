import { mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { resourceTypes } from '@platform/resources';
import { expect, onTestFinished, test } from 'vitest';
import { startCpuProfile } from './cpu-profile.ts';
import { dumpResources } from './dump-resources.ts';

async function directory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'diagnostics-'));
  onTestFinished(() => rm(path, { recursive: true }));
  return path;
}

test('D16 -dump-resources writes each model of each type, sorted, in one step', async () => {
  const path = await directory();
  const models = [
    { api: 'core:component:sensor', model: 'core:builtin:fake' },
    { api: 'core:component:arm', model: 'core:builtin:fake' },
    { api: 'core:component:sensor', model: 'acme:demo:counter' },
  ];
  await dumpResources(join(path, 'dump.json'), resourceTypes, models);
  expect(JSON.parse(await readFile(join(path, 'dump.json'), 'utf8'))).toEqual([
    {
      ...{ api: 'core:component:arm', model: 'core:builtin:fake' },
      proto_service: 'platform.component.arm.v1.ArmService',
    },
    {
      ...{ api: 'core:component:sensor', model: 'acme:demo:counter' },
      proto_service: 'platform.component.sensor.v1.SensorService',
    },
    {
      ...{ api: 'core:component:sensor', model: 'core:builtin:fake' },
      proto_service: 'platform.component.sensor.v1.SensorService',
    },
  ]);
  expect(await readdir(path)).toEqual(['dump.json']);
  await expect(dumpResources(path, resourceTypes, models)).rejects.toThrow(
    `option -dump-resources: expected a file that can be written, found ${path}: `,
  );
});

test('D16 -cpuprofile writes a profile of the run until the stop; a wrong path is refused at the start', async () => {
  const path = await directory();
  const file = join(path, 'run.cpuprofile');
  const profile = await startCpuProfile(file);
  expect((await stat(file)).size).toBe(0);
  const before = process.cpuUsage();
  const spin = function spinForTheProfile(): void {
    // Processor time: on a busy computer, hardly any passes in some milliseconds.
    while (process.cpuUsage(before).user < 200_000) Math.sqrt(2);
  };
  spin();
  await profile[Symbol.asyncDispose]();
  const { nodes } = JSON.parse(await readFile(file, 'utf8')) as { nodes: { callFrame: { functionName: string } }[] };
  expect(nodes.map(({ callFrame }) => callFrame.functionName)).toContain('spinForTheProfile');
  await expect(startCpuProfile(path)).rejects.toThrow(
    `option -cpuprofile: expected a file that can be written, found ${path}: `,
  );
});
